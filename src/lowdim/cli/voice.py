"""What the program says while it works: on standard error, and only where someone listens."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from .streams import say_aside
from .translate import in_options

QUIET, NORMAL, LOUD, ALL = -1, 0, 1, 2


class Voice:
    """Says errors always, warnings unless quiet, and the rest on a terminal or with ``-v``.

    Parameters
    ----------
    level
        -1: errors only; 0: summaries on a terminal; 1: summaries and stages everywhere; 2: all there is.
    """

    def __init__(self, level: int = NORMAL) -> None:
        self.level = level
        self.warnings: list[str] = []
        self.flags: Mapping[str, str] = {}
        """Options by the parameters that warnings name."""

    @property
    def on_terminal(self) -> bool:
        """Whether a person watches."""
        return sys.stderr is not None and sys.stderr.isatty()

    @property
    def is_heard(self) -> bool:
        """Whether a summary would be shown."""
        return self.level >= LOUD or (self.level == NORMAL and self.on_terminal)

    def say(self, text: str) -> None:
        """A line of the summary."""
        if self.is_heard:
            self._write(text)

    def warn(self, text: str) -> None:
        """Something to know about the result, once."""
        text = in_options(text, self.flags)
        if text not in self.warnings:
            self.warnings.append(text)
            if self.level > QUIET:
                self._write(f"Warning: {text}")

    def tell(self, text: str) -> None:
        """Something that must be known, whatever the level: an error, an interrupted run."""
        self._write(text)

    @contextmanager
    def hearing_warnings(self) -> Iterator[None]:
        """Say the library's warnings in this program's way; those of other libraries only where all is wanted."""
        from ..errors import LowdimWarning

        def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
            if issubclass(category, LowdimWarning) or self.level >= ALL:
                self.warn(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("always", LowdimWarning)
            warnings.showwarning = show  # type: ignore[assignment]
            yield

    def _write(self, text: str) -> None:
        say_aside(text + "\n")


def standard_output() -> TextIO:
    """Standard output, or a FileError where it is closed."""
    if sys.stdout is None:
        from ..errors import FileError

        raise FileError("standard output is closed, so nothing can be written to it. Name a file instead.")
    return sys.stdout


def emit(text: str) -> None:
    """Write what was asked for to standard output."""
    stream = standard_output()
    stream.write(speakable(text if text.endswith("\n") else text + "\n", stream))
    stream.flush()


def speakable(text: str, stream: TextIO) -> str:
    """The text, with escapes for letters that a stream has no bytes for, as an ASCII terminal has not for an é."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
