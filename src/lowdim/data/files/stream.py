"""Bytes of a text file, a compressed one or standard input, of which the beginning can be looked at first."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ...errors import FileError, FormatError, InputError
from .checks import check_file

HEAD = 1 << 20
LONGEST = 1 << 28
"""Bytes in which two lines of a table must have ended."""


class Stream(io.RawIOBase):
    """A binary stream whose ``head`` is known: its first million bytes, or more where two lines are longer."""

    def __init__(self, inner: IO[bytes], name: str, size: int | None) -> None:
        super().__init__()
        self.inner, self.name, self.size = inner, name, size
        self.head, self.ended = b"", False
        while not self.ended and (len(self.head) < HEAD or self.head.count(b"\n") < 2):
            if len(self.head) > LONGEST:
                raise FormatError(f"{name}: no line ends within {LONGEST} bytes. Is it a table of text?")
            block = self._inner_read(HEAD)
            self.head += block
            self.ended = not block
        self.rest = memoryview(self.head)

    def skip(self, count: int) -> None:
        """Leave out the first bytes of the head."""
        self.head = self.head[count:]
        self.rest = memoryview(self.head)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The head first, then what comes after it."""
        data: bytes | memoryview = self.rest[: len(buffer)]
        self.rest = self.rest[len(data) :]
        if not data:
            data = self._inner_read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _inner_read(self, count: int) -> bytes:
        try:
            return self.inner.read(count)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                f"{self.name}: the compressed file is damaged or cut off ({error}). Write or copy it again."
            ) from error
        except OSError as error:
            raise FileError(f"{self.name}: cannot be read: {error}.") from error


@contextmanager
def opened(source: str) -> Iterator[Stream]:
    """A file, or standard input for "-"; gzip is told by its first bytes, whatever the name says."""
    with ExitStack() as stack:
        if source == "-":
            if sys.stdin is None or sys.stdin.isatty():
                raise InputError("'-': nothing is piped to standard input. Pipe a CSV, or name a file.")
            name, size = "standard input", None
            inner: io.BufferedReader[Any] = io.BufferedReader(_unclosed(sys.stdin.buffer))
        else:
            name, size = source, check_file(Path(source))
            inner = stack.enter_context(Path(source).open("rb"))
        if inner.peek(2)[:2] == b"\x1f\x8b":
            packed = stack.enter_context(gzip.GzipFile(fileobj=inner))
            yield Stream(cast("IO[bytes]", packed), name, None)
        else:
            yield Stream(inner, name, size)


def _unclosed(buffer: IO[bytes]) -> io.RawIOBase:
    """Standard input behind a reader that leaves it open."""

    class Unclosed(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, target: Any) -> int:
            data = buffer.read(len(target))
            target[: len(data)] = data
            return len(data)

    return Unclosed()
