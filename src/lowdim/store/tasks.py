"""A folder in which tasks leave their results for other tasks: the shuffle, and the checkpoint, of work over shards.

A result is a file, whole or not at all, named after the stage and the number of the task that made it. So a task may
run twice, or die and run again elsewhere, and nothing but the folder needs to outlive it. A result may come in parts,
each with a digest of its own, so that a task of the next stage reads its own part of every file and believes no byte
that was not written.

A file is eight bytes with the length of the header, the header in JSON (the arrays: name, type, shape; the bytes that
were read and written when it was put), the SHA-256
digest of both, the first row of every part and one past the last (int64), a digest for every part, and the arrays:
whole where there are no parts, else part by part, the last part first. So the parts that are read first lie at the end
of the file, and the disk has their room again once they are cut off.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..core.atomic import writing
from ..core.records import Integers
from ..core.traffic import Traffic, count, counted
from ..errors import FileError, FormatError

SUFFIX = ".task"
FINISHED = "finished"
DIGEST = 32
MOST_HEADER = 1 << 20
AGAIN = (
    "The disk, or something that writes to it, is not sound: remove the folder {root} and run this again, with a "
    "checkpoint on another disk."
)

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class TaskStore:
    """The folder; a value that goes to other processes.

    Attributes
    ----------
    root
        Where it is, in full, and the same for every process that works on the tasks.
    is_lasting
        Whether results must outlive a crash of the machine, and not only of the processes.
    """

    root: str
    is_lasting: bool = True

    def put(
        self, name: str, number: int, arrays: Mapping[str, NDArray[Any]], starts: Integers | None = None
    ) -> None:
        """Keep the arrays of a task; another result of the same task is replaced.

        Parameters
        ----------
        name, number
            The stage and the task.
        arrays
            By name.
        starts
            Where each part begins in every one of the arrays, and where the last ends, which are 0 and the number of
            their rows; None: one part.

        Raises
        ------
        FileError
            The disk is full, or cannot be written to.
        """
        path = self._path(name, number)
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(
                f"{path.parent}: cannot be made: {error.strerror}. Use another folder."
            ) from error
        plain = {key: np.asarray(array, order="C") for key, array in arrays.items()}
        count(written=sum(array.nbytes for array in plain.values()))
        with writing(path, lasting=self.is_lasting) as temporary, temporary.open("wb") as file:
            _write(file, plain, starts)

    def get(self, name: str, number: int, part: int | None = None) -> Arrays:
        """The arrays of a task, or the rows of one part of them.

        Raises
        ------
        FormatError
            The file is damaged.
        FileError
            It is not there, or cannot be read.
        """
        path = self._path(name, number)
        try:
            with path.open("rb", buffering=0) as file:
                found = _Reader(file, path, self.root).arrays(part)
        except FileNotFoundError as error:
            raise FileError(
                f"{path}: is not there: the work that made it was removed. Remove the folder {self.root} and run "
                "this again."
            ) from error
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path}: cannot be read: {error.strerror}. Check the disk.") from error
        count(read=sum(array.nbytes for array in found.values()))
        return found

    def traffic(self, name: str, number: int) -> Traffic:
        """What a task had read and written when it left its result."""
        path = self._path(name, number)
        try:
            with path.open("rb", buffering=0) as file:
                return _Reader(file, path, self.root).traffic
        except OSError:  # what became of it is said by whoever reads it
            return Traffic()

    def has(self, name: str, number: int) -> bool:
        """Whether a task has left its result."""
        return self._path(name, number).exists()

    def missing(self, name: str, count: int) -> list[int]:
        """Tasks from 0 to ``count`` - 1 that have not left their result; none of a stage that is finished."""
        if self.is_finished(name):
            return []
        try:
            with os.scandir(self._stage(name)) as entries:
                there = {entry.name for entry in entries}
        except FileNotFoundError:
            there = set()
        return [number for number in range(count) if _file_name(number) not in there]

    def finish(self, name: str) -> None:
        """Say that a stage is complete, so that it is not done again even when its results are dropped."""
        self._stage(name).mkdir(exist_ok=True)
        with writing(self._stage(name) / FINISHED, lasting=self.is_lasting) as temporary:
            temporary.touch()

    def is_finished(self, name: str) -> bool:
        """Whether a stage is complete."""
        return (self._stage(name) / FINISHED).exists()

    def shorten(self, name: str, number: int, part: int) -> None:
        """Remove the parts of a result before this one; nobody can read them any more."""
        path = self._path(name, number)
        try:
            with path.open("r+b", buffering=0) as file:
                end = _Reader(file, path, self.root).end(part)
                if end < os.fstat(file.fileno()).st_size:
                    file.truncate(end)
        except FileNotFoundError:
            return
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path}: cannot be shortened: {error.strerror}. Check the disk.") from error

    def drop(self, name: str) -> None:
        """Remove what the tasks of a stage have left; it stays finished, if it was."""
        for path in self._stage(name).glob("*" + SUFFIX):
            path.unlink(missing_ok=True)

    def names(self, beginning: str) -> list[str]:
        """Stages whose names begin so."""
        return sorted(path.name for path in Path(self.root).glob(beginning + "*") if path.is_dir())

    def clear(self) -> None:
        """Remove every stage."""
        for path in Path(self.root).iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)

    def size(self, name: str) -> int:
        """Bytes that the results of a stage take."""
        return sum(path.stat().st_size for path in self._stage(name).glob("*" + SUFFIX))

    def _stage(self, name: str) -> Path:
        return Path(self.root) / name

    def _path(self, name: str, number: int) -> Path:
        return self._stage(name) / _file_name(number)


def _file_name(number: int) -> str:
    return f"{number:08d}{SUFFIX}"


def _write(file: BinaryIO, arrays: Arrays, starts: Integers | None) -> None:
    entries = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    traffic = counted()
    content = {
        "arrays": entries,
        "parts": 0 if starts is None else starts.size - 1,
        "traffic": [traffic.read, traffic.written],
    }
    text = json.dumps(content).encode("ascii")
    header = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(header).digest()
    file.write(header + digest)
    if starts is None:
        whole = [_bytes(array) for array in arrays.values()]
        file.write(_digest(digest, -1, (0, 0), whole))
        file.writelines(whole)
        return
    file.write(starts.astype("<i8").tobytes())
    parts = []
    for part, (first, last) in enumerate(pairwise(starts.tolist())):
        parts.append([_bytes(array[first:last]) for array in arrays.values()])
        file.write(_digest(digest, part, (first, last), parts[-1]))
    file.writelines(chain.from_iterable(reversed(parts)))


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _digest(header: bytes, part: int, bounds: tuple[int, int], pieces: list[memoryview]) -> bytes:
    """Of the bytes of a part, of which file it is, and where in it: no byte of the file is outside some digest."""
    found = hashlib.sha256(header + np.array([part, *bounds], "<i8").tobytes())
    for piece in pieces:
        found.update(piece)
    return found.digest()


class _Reader:
    """An open file whose header agrees with its digest."""

    def __init__(self, file: Any, path: Path, root: str) -> None:
        self._file, self._path, self._root = file, path, root
        length = int.from_bytes(self._read(0, 8), "little")
        if length > MOST_HEADER:
            raise self._damaged()
        header = self._read(0, 8 + length)
        self._digest = self._read(8 + length, DIGEST)
        if hashlib.sha256(header).digest() != self._digest:
            raise self._damaged()
        # What its digest agrees with was written here, and is what it should be.
        content = json.loads(header[8:])
        self._entries = [(name, np.dtype(code), tuple(shape)) for name, code, shape in content["arrays"]]
        self._n_parts = content["parts"]
        self.traffic = Traffic(*content.get("traffic", ()))
        self._table = 8 + length + DIGEST

    def arrays(self, part: int | None) -> Arrays:
        """All rows, each part of them compared with its digest, or the rows of one part."""
        if self._n_parts == 0:
            found, start = {}, self._table + DIGEST
            for name, dtype, shape in self._entries:
                found[name] = self._array(start, dtype, shape)
                start += found[name].nbytes
            self._check(-1, (0, 0), self._read(self._table, DIGEST), found)
            return found
        if part is not None:
            return self._part(part)
        parts = [self._part(number) for number in range(self._n_parts)]
        return {name: np.concatenate([each[name] for each in parts]) for name, _, _ in self._entries}

    def _part(self, part: int) -> Arrays:
        bounds = np.frombuffer(self._read(self._table + 8 * part, 16), "<i8")
        first, last = int(bounds[0]), int(bounds[1])
        found, start = {}, self._start(last)
        for name, dtype, shape in self._entries:
            if not 0 <= first <= last <= shape[0]:
                raise self._damaged()
            found[name] = self._array(start, dtype, (last - first, *shape[1:]))
            start += found[name].nbytes
        place = self._table + 8 * (self._n_parts + 1) + DIGEST * part
        self._check(part, (first, last), self._read(place, DIGEST), found)
        return found

    def end(self, part: int) -> int:
        """Where the file ends without the parts before this one."""
        first = int.from_bytes(self._read(self._table + 8 * part, 8), "little")
        if first > self._entries[0][2][0]:
            raise self._damaged()
        return self._start(first)

    def _start(self, last: int) -> int:
        """Where a part begins whose rows end before this one: the rows from there on lie before it."""
        n_rows = self._entries[0][2][0]
        width = sum(math.prod(shape[1:]) * dtype.itemsize for _, dtype, shape in self._entries)
        return self._table + 8 * (self._n_parts + 1) + DIGEST * self._n_parts + (n_rows - last) * width

    def _array(self, start: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        out = np.empty(shape, dtype)
        if out.size:
            self._fill(start, _bytes(out))
        return out

    def _read(self, start: int, size: int) -> bytes:
        out = bytearray(size)
        self._fill(start, memoryview(out))
        return bytes(out)

    def _fill(self, start: int, out: memoryview) -> None:
        self._file.seek(start)
        done = 0
        while done < len(out):
            count = self._file.readinto(out[done:])
            if not count:
                raise self._damaged()
            done += count

    def _check(self, part: int, bounds: tuple[int, int], wanted: bytes, found: Arrays) -> None:
        if _digest(self._digest, part, bounds, [_bytes(array) for array in found.values()]) != wanted:
            raise self._damaged()

    def _damaged(self) -> FormatError:
        return FormatError(
            f"{self._path}: is damaged: it is not what was written. {AGAIN.format(root=self._root)}"
        )
