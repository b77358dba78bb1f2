"""Wrong use of the command line, and what to say about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UsageError(Exception):
    """The command cannot be understood as typed: exit code 2."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A question that names what was probably meant; empty where nothing is near."""
    names = {name.lower(): name for name in known}
    begun = [full for name, full in names.items() if len(word) > 2 and name.startswith(word.lower())]
    if begun:
        return f" Did you mean {begun[0]}?"
    close = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f" Did you mean {names[close[0]]}?" if close else ""


class InterruptedWriting(KeyboardInterrupt):
    """The user interrupted while results were written: ``written`` are whole, the others are not there."""

    def __init__(self, written: list[str]) -> None:
        super().__init__()
        self.written = written
