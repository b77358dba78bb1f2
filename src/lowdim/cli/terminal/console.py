"""What the program says while it works, on standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ..options.wording import shell
from .streams import write_error

QUIET, NORMAL, LOUD, ALL = -1, 0, 1, 2


class Console:
    """Says errors always, warnings unless quiet, and the rest on a terminal or with ``-v``.

    Parameters
    ----------
    level
        -1: errors only; 0: summaries on a terminal; 1: summaries and stages everywhere; 2: all there is.
    """

    def __init__(self, level: int = NORMAL) -> None:
        self.level = level
        self.warnings: list[str] = []

    @property
    def is_watched(self) -> bool:
        """Whether a person watches."""
        return sys.stderr is not None and sys.stderr.isatty()

    @property
    def shows_summary(self) -> bool:
        """Whether a summary would be shown."""
        return self.level >= LOUD or (self.level == NORMAL and self.is_watched)

    def say(self, text: str) -> None:
        """A line of the summary."""
        if self.shows_summary:
            self._write(text)

    def warn(self, text: str) -> None:
        """Something to know about the result, once."""
        if text not in self.warnings:
            self.warnings.append(text)
            if self.level > QUIET:
                self._write(f"Warning: {text}")

    def tell(self, text: str) -> None:
        """Something that must be known, whatever the level: an error, an interrupted run."""
        self._write(text)

    @contextmanager
    def hearing_warnings(self) -> Generator[None]:
        """Say the library's warnings in this program's way; those of other libraries only where all is wanted."""
        from ...errors import LowdimWarning

        def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
            if isinstance(message, LowdimWarning):
                self.warn(message.said(shell))
            elif self.level >= ALL:
                self.warn(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("always", LowdimWarning)
            warnings.showwarning = show  # type: ignore[assignment]  # ty: ignore[invalid-assignment]
            yield

    def _write(self, text: str) -> None:
        write_error(text + "\n")
