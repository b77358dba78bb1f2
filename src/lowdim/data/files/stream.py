"""Bytes of a text file, a compressed one or standard input, of which the beginning can be looked at first."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ...errors import FileError, FormatError, InputError
from .checks import check_file

HEAD = 1 << 20
LONGEST = 1 << 26
"""Bytes in which two lines of a table must have ended."""


class Stream(io.RawIOBase):
    """A binary stream whose ``head`` is known: its first million bytes, or more where two lines are longer."""

    def __init__(self, inner: IO[bytes], name: str, size: int | None) -> None:
        super().__init__()
        self.inner, self.name, self.size = inner, name, size
        self.ended, self._line_ends = False, 0
        blocks, length, lines = [], 0, 0
        while not self.ended and (length < HEAD or lines < 2):
            if length > LONGEST:
                raise FormatError(f"{name}: no line ends within {LONGEST} bytes. Is it a table of text?")
            block = self._inner_read(HEAD)
            blocks.append(block)
            length, lines = length + len(block), lines + block.count(b"\n")
            self.ended = not block
        self.head = blocks[0] if len(blocks) == 1 else b"".join(blocks)
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
        self._count_blank(bytes(data))
        return len(data)

    @property
    def blank_lines(self) -> int:
        """Empty lines at the end of what was read."""
        return max(0, self._line_ends - 1)

    def _count_blank(self, end: bytes) -> None:
        ends = end[len(end.rstrip(b"\r\n")) :]
        count = max(ends.count(b"\n"), ends.count(b"\r"))
        self._line_ends = count + (self._line_ends if len(ends) == len(end) else 0)

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
def opened(source: str) -> Generator[Stream]:
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
