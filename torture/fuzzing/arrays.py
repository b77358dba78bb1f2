"""Hostile .npy and .npz files."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
from scipy import sparse

from .bytes import NUMBERS, mutated

TYPES: tuple[Any, ...] = (
    "<f8", "<f8", "<f8", "<f4", "|u1", "<i8", "|b1", "<f2", ">f8", ">i4", "<c16", "|O", "O", "<U5", "|S3", "<f16", "|V8",
    "<m8[s]", "<M8[ns]", "(2,3)<f8", "|S0", "<U0", "<U99999999999", "<f3", "f8,f8", "", "\0", 5, None, [("a", "<f8")],
    [("a", "|O")], [("a", [("b", "<f8")])], [("x", "<f8", (2**31, 2**31))], ["<f8"], ("<f8", (4,)), {"names": ["a"]},
)  # fmt: skip
SHAPES: tuple[Any, ...] = (
    (3, 4), (3, 4), (3, 4), (12, 1), (1, 12), (2, 2, 3), (12,), (), (0, 4), (3, 0), (0, 0), (-1, 4), (-3, -4), (3, -4), (2**62, 2**62),
    (1 << 40, 1), (2**31, 2**31), (2**63, 2), (3.0, 4), (True, 12), (1,) * 70 + (12,), (1,) * 30 + (12,), "34", 12, None, (10**30, 1),
    (3, (4,)), [3, 4],
)  # fmt: skip
CODE = "__import__('pathlib').Path('executed').touch()"
HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), 'more': 1}", "{'descr': '<f8', 'shape': (3, 4)}", CODE, "(" * 3000,
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + CODE + ",)}", "[" * 100 + "]" * 100, "{" * 90, "{}", "", "\0" * 9,
    "{'descr': '<f8', 'fortran_order': 1, 'shape': (3, 4)}", "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L)}",
    "-" * 5000 + "1", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}#" + "x" * 20000, "'" + "9" * 5000 + "'", "9" * 5000,
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), **{}}", "{" + "1:1," * 2000 + "}", "f'{1}'", "\xe9", "{'descr': '\xe9'}",
)  # fmt: skip


def whole_npy(header: str, body: bytes, version: int = 1, length: int | None = None) -> bytes:
    """An .npy of any header."""
    text = header.encode("latin1", "replace") + b"\n"
    size = len(text) if length is None else length
    packed = struct.pack("<H", size % 2**16) if version == 1 else struct.pack("<I", size % 2**32)
    return b"\x93NUMPY" + bytes([version % 256, 0]) + packed + text + body


def npy(random: Random, *, size: int = 96) -> bytes:
    """An array: sound, with an impossible header, or damaged."""
    how = random.randrange(8)
    if how == 0:
        header = random.choice(HEADERS)
    else:
        kind = "<f8" if how < 3 else random.choice(TYPES)
        shape = (3, 4) if how == 1 else random.choice(SHAPES)
        header = repr({"descr": kind, "fortran_order": random.choice((False, False, True)), "shape": shape})
    length = random.choice((None, None, None, None, *NUMBERS)) if random.random() < 0.2 else None
    version = random.choice((1, 1, 1, 1, 2, 3, 4, 255))
    body = random.choice((numbers(random, size // 8).tobytes(), random.randbytes(size), bytes(size)))
    if random.random() < 0.3:
        body = body[: random.randrange(size + 1)] + bytes(random.choice((0, 1, 8)))
    data = whole_npy(header, body, version, length)
    return mutated(data, random) if random.random() < 0.4 else data


def numbers(random: Random, count: int) -> np.ndarray[Any, Any]:
    """Numbers, some of them special."""
    special = (0.0, -0.0, 1.0, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"), 424242.5)
    return np.array(
        [random.choice(special) if random.random() < 0.1 else random.gauss(0, 1) for _ in range(count)]
    )


def _sound(values: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


def _dense_members(random: Random) -> dict[str, bytes]:
    members = {"X.npy": _sound(numbers(random, 12).reshape(3, 4)), "y.npy": _sound(np.arange(3))}
    if random.random() < 0.5:
        words = random.choice((["a", "b", "c"], ["", "\0", "\U0001f600"], [b"a", b"\xff", b"c"], ["a", "b"]))
        members["words.npy"] = _sound(np.array(words))
    for _ in range(random.randrange(3)):
        members[random.choice(list(members) + ["other.npy", "data.npy", "note.txt"])] = npy(random)
    return members


def _sparse_members(random: Random) -> dict[str, bytes]:
    matrix = sparse.random_array(
        (5, 4), density=0.4, rng=random.randrange(100), format=random.choice(("csr", "csc", "coo", "bsr"))
    )
    file = io.BytesIO()
    sparse.save_npz(file, matrix, compressed=False)
    with zipfile.ZipFile(io.BytesIO(file.getvalue())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(random.randrange(3)):
        members[random.choice(list(members))] = random.choice((_odd_part, npy))(random)
    if random.random() < 0.15:
        del members[random.choice(list(members))]
    return members


def _odd_part(random: Random) -> bytes:
    kind = random.choice((np.int32, np.int64, np.uint8, np.uint64, np.float64, np.int8, np.float32))
    count = random.choice((0, 1, 2, 5, 6, 8))
    values = [random.choice((-1, 0, 1, 2, 3, 5, 100, 2**31 - 1, 2**62)) for _ in range(count)]
    odd: Any = np.array(values, dtype=np.int64).astype(kind)
    word = random.choice(("csr", "csc", "coo", "bsr", "lil", "dia", "", "csr\0"))
    return _sound(
        random.choice(
            (odd, odd, odd.reshape(-1, 1), np.array(word), np.array(word.encode()), np.array([[1, 2]]))
        )
    )


NAMES = (
    "../X.npy",
    "/etc/X.npy",
    "a/b.npy",
    "X.npy/",
    "C:\\X.npy",
    ".npy",
    "X.npy",
    "x" * 300 + ".npy",
    "\u202eX.npy",
    "..npy",
    "X\0.npy",
)


def zipped(members: dict[str, bytes], random: Random) -> bytes:
    """An archive, in which a name may come twice or lead elsewhere."""
    file = io.BytesIO()
    kind = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", kind) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        if random.random() < 0.1:
            archive.writestr(zipfile.ZipInfo(random.choice(NAMES)), npy(random))
    return file.getvalue()


@cache
def overlapping(count: int, length: int) -> bytes:
    """An archive whose directory lists the same bytes under many names."""
    features, column = _Packed.of(np.zeros((length, 1))), _Packed.of(np.zeros(length))
    start = features.local(b"X.npy")
    data = start + column.local(b"a.npy")
    entries = [
        column.entry(b"a%d.npy" % number if number else b"a.npy", len(start)) for number in range(count)
    ]
    directory = features.entry(b"X.npy", 0) + b"".join(entries)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count + 1, count + 1, len(directory), len(data), 0)
    return data + directory + end


@dataclass(frozen=True, slots=True)
class _Packed:
    """A member of an archive, of which the parts can be put together in any way."""

    data: bytes
    checksum: int
    length: int

    @classmethod
    def of(cls, values: Any) -> _Packed:
        plain, packer = _sound(values), zlib.compressobj(9, zlib.DEFLATED, -15)
        return cls(packer.compress(plain) + packer.flush(), zlib.crc32(plain), len(plain))

    def local(self, name: bytes) -> bytes:
        """Its header and its bytes."""
        numbers = (0x04034B50, 20, 0, 8, 0, 0, self.checksum, len(self.data), self.length, len(name), 0)
        return struct.pack("<IHHHHHIIIHH", *numbers) + name + self.data

    def entry(self, name: bytes, offset: int) -> bytes:
        """Its line in the directory."""
        numbers = (
            0x02014B50,
            20,
            20,
            0,
            8,
            0,
            0,
            self.checksum,
            len(self.data),
            self.length,
            len(name),
            0,
            0,
            0,
            0,
            0,
            offset,
        )
        return struct.pack("<IHHHHHHIIIHHHHHII", *numbers) + name


@cache
def bombs() -> tuple[bytes, ...]:
    """Archives of few bytes that hold, or declare, far more."""
    found = []
    for plain in (
        bytes(30_000_000), whole_npy("x" * 20_000_000, b"", 2), _sound(np.zeros((1000, 2000))),
        whole_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000)}", bytes(100)),
    ):  # fmt: skip
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", plain)
        found.append(file.getvalue())
    return tuple(found)


def npz(random: Random) -> bytes:
    """An archive of arrays, or the parts of a sparse matrix."""
    how = random.random()
    if how < 0.02:
        return random.choice(
            (*bombs(), overlapping(random.choice((3, 100, 3000)), random.choice((10, 10_000, 1_000_000))))
        )
    members = _sparse_members(random) if how < 0.5 else _dense_members(random)
    data = zipped(members, random)
    return mutated(data, random) if random.random() < 0.5 else data
