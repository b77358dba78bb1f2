"""Standard streams that may be closed, full or without a reader: none of it may cost a result."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Give closed standard streams a place: else the next file that is opened would get what is meant for them."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def as_typed_text(word: str) -> str:
    """A word of the command line as it was typed, where the locale has no letters for it: all tables are in UTF-8."""
    try:
        return os.fsencode(word).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # not from a command line
        return word


def write_error(text: str) -> None:
    """Write to standard error; that nobody listens is no reason to stop."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def drop_unwritable_output() -> None:
    """Keep Python from complaining at its exit of output that cannot be written: to a closed pipe, to a full disk."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        silence(sys.stdout)


def end_at_once(code: int) -> None:
    """End the process at once where a call that an interrupt has left goes on: Python would wait for its end."""
    from ...core.parallel import has_left

    if has_left():
        drop_unwritable_output()
        os._exit(code)


def silence(stream: TextIO) -> None:
    """Let whatever else is written to a stream go nowhere."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def standard_output() -> TextIO:
    """Standard output, or a FileError where it is closed."""
    if sys.stdout is None:
        from ...errors import FileError

        raise FileError("standard output is closed, so nothing can be written to it. Name a file instead.")
    return sys.stdout


def emit(text: str) -> None:
    """Write what was asked for to standard output."""
    stream = standard_output()
    stream.write(encodable(text if text.endswith("\n") else text + "\n", stream))
    stream.flush()


def encodable(text: str, stream: TextIO) -> str:
    """The text, with escapes for letters that a stream has no bytes for, as an ASCII terminal has not for an é."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
