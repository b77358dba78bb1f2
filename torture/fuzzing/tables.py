"""Hostile tables: CSV, Parquet, Matrix Market and ARFF."""

from __future__ import annotations

import gzip
import io
from functools import cache
from random import Random
from typing import Any

import numpy as np

from .arrays import numbers
from .bytes import NUMBERS, mutated

CELLS = (
    "1", "2.5", "-3e4", "0", ".5", "5.", "+7", "1e999", "-1e999", "1e-999", "NaN", "nan", "inf", "-Infinity", "", " ", "NA", "null", "#N/A",
    "007", "a", "é", "\U0001f600", '"quoted"', '"a,b"', '"a\nb"', '"', '""', '"""', "'", "1,5", "0x10", "1_000", "1e", "--1", "9" * 400,
    "1" * 5000, "x" * 200_000, "=cmd|' /C calc'!A0", "\0", "\u2028", "\x85", "\ufeff1", "١٢", "1 2", "1\t2", "1;2", "True", "2020-01-01", "#",
)  # fmt: skip
NAMES = (
    "x",
    "y",
    "z",
    "x1",
    "x2",
    "id",
    "",
    "label",
    "Unnamed: 0",
    "PC_1",
    "PC_2",
    "a b",
    "é",
    '"q"',
    "0",
    "1",
    "2",
    "NaN",
    "x" * 3000,
)
ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\r", "\n\n", "\r\r\n")


def csv(random: Random) -> bytes:
    """A table: plain, with strange cells, ragged, wide, or in a strange encoding."""
    n_columns = random.choice((1, 2, 3, 3, 3, 5, 5, random.choice((50, 2000, 20_000))))
    n_rows = random.choice((0, 1, 2, 3, 5, 8, 40)) if n_columns < 100 else random.choice((1, 2))
    delimiter = random.choice((",", ",", ",", "\t", ";", "|", " ", "::", "\x01"))
    end, strange = random.choice(ENDS), random.choice((0.0, 0.0, 0.02, 0.1, 0.6))
    lines = []
    if random.random() < 0.6:
        names = [
            random.choice(NAMES) if random.random() < 0.3 else f"{random.choice('xcp')}{k}"
            for k in range(n_columns)
        ]
        lines.append(delimiter.join(names))
    for _ in range(n_rows):
        width = n_columns + (random.choice((-1, 1, 5)) if random.random() < strange / 4 else 0)
        cells = [
            random.choice(CELLS) if random.random() < strange else repr(round(random.gauss(0, 9), 4))
            for _ in range(width)
        ]
        lines.append(delimiter.join(cells))
        if random.random() < strange / 8:
            lines.append(random.choice(("", " ", "# comment", '"', delimiter * 9)))
    text = end.join(lines) + random.choice((end, end, "", end * 5))
    if random.random() < 0.05:
        text = end * random.choice((1, 3)) + text
    encoding = random.choice(
        ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin1", "utf-32", "cp500")
    )
    data = text.encode(encoding, "replace")
    data = mutated(data, random) if random.random() < 0.3 else data
    return data[:400_000]


def packed(data: bytes, random: Random) -> bytes:
    """The same in gzip: in one or several pieces, cut, packed twice, or damaged."""
    file = gzip.compress(data, mtime=0)
    how = random.randrange(8)
    if how == 0:
        file = gzip.compress(file, mtime=0)
    elif how == 1:
        file += gzip.compress(data, mtime=0)
    elif how == 2:
        file += random.randbytes(9)
    elif how == 3:
        file = mutated(file, random)
    elif random.random() < 0.01:
        file = random.choice(bombs())
    return file


@cache
def bombs() -> tuple[bytes, ...]:
    """Texts of 20 to 40 MB in some 40 KB."""
    line = b"0," * 9 + b"0\n"
    header = b"%%MatrixMarket matrix coordinate real general\n5 5 1\n1 1 1\n"
    plain = (
        bytes(40_000_000),
        b"1" * 20_000_000,
        b"\n" * 40_000_000,
        b"," * 20_000_000,
        line * 250_000,
        header + b"\n" * 40_000_000,
    )
    return tuple(gzip.compress(text, mtime=0) for text in plain)


def csv_options(random: Random, n_columns: int = 3) -> dict[str, Any]:
    """What is asked of a table, most often nothing."""
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        columns = ("x", "x1", "label", 0, -1, "0", "-1", 7, "", "9" * 5000, "é", "\0", ("x", "y"), (0, 0))
        options[random.choice(("label", "id", "drop"))] = random.choice(columns)
    if random.random() < 0.1:
        options["delimiter"] = random.choice((",", ";", "", '"', "\n", "ab", "é", "\0", "."))
    if random.random() < 0.1:
        options["header"] = random.choice((True, False, "auto", "no"))
    return options


@cache
def _parquets() -> tuple[bytes, ...]:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    f = [rng.normal(size=40) for _ in range(3)]
    words = ["a", "b", "é", None] * 10
    tables = [
        pa.table({"x": f[0], "y": f[1], "label": words}),
        pa.table({"x": f[0].astype("f4"), "n": np.arange(40), "flag": f[1] > 0}),
        pa.table({"x": pa.array([1.0, None] * 20), "d": pa.array(words).dictionary_encode()}),
        pa.table({"x": pa.array([[1.0, 2.0]] * 40), "s": pa.array([{"a": 1}] * 40)}),
        pa.table(
            {"x": pa.array(range(40), pa.decimal128(30, 3)), "t": pa.array(range(40), pa.timestamp("ns"))}
        ),
        pa.table(
            {"x": pa.array([b"\xff\xfe"] * 40), "y": f[0], "u": pa.array([2**64 - 1] * 40, pa.uint64())}
        ),
        pa.table(
            {"x": pa.array(f[0].astype("f2")), "y": pa.nulls(40), "id": pa.array(range(40), pa.duration("s"))}
        ),
        pa.table({"x1": f[0], "x2": f[1], "__index_level_0__": np.arange(40)}),
        pa.table({"x": pa.array([float("nan"), float("inf")] * 20)}),
        pa.table({"x": pa.array([], pa.float64())}),
        pa.table({"x": np.zeros(300_000), "y": np.zeros(300_000)}),
    ]
    found = []
    for place, table in enumerate(tables):
        kind = ("none", "snappy", "zstd", "gzip", "brotli")[place % 5]
        file = io.BytesIO()
        parquet.write_table(
            table, file, compression=kind, use_dictionary=place % 2 == 0, row_group_size=len(table) // 2 or 1
        )
        found.append(file.getvalue())
    return tuple(found)


def parquet(random: Random) -> bytes:
    """A table of some types, most often with damage to its footer or its pages."""
    data = random.choice(_parquets())
    if random.random() < 0.9:
        footer = int.from_bytes(data[-8:-4], "little") + 8
        if random.random() < 0.6:
            inside = mutated(data[-footer:-8], random)
            return data[:-footer] + inside + len(inside).to_bytes(4, "little") + b"PAR1"
        data = mutated(data, random, random.choice(_parquets()))
    return data


def matrix_market(random: Random) -> bytes:
    """A matrix: its banner, its sizes and its entries each sound or not."""
    layout = random.choice(
        ("coordinate", "coordinate", "coordinate", "array", "array", "vector", "", "COORDINATE")
    )
    field = random.choice(
        (
            "real",
            "real",
            "integer",
            "pattern",
            "complex",
            "double",
            "unsigned-integer",
            "int",
            "",
            "real real",
        )
    )
    symmetry = random.choice(("general", "general", "symmetric", "skew-symmetric", "hermitian", "", "none"))
    rows, columns = random.choice((1, 3, 5)), random.choice((1, 3, 5))
    strange = random.random() < 0.5
    entries = random.choice((0, 1, 4, 9)) if layout.lower() == "coordinate" else rows * columns
    sizes = [
        str(n) for n in ((rows, columns, entries) if layout.lower() == "coordinate" else (rows, columns))
    ]
    if strange and random.random() < 0.5:
        sizes[random.randrange(len(sizes))] = str(
            random.choice((*NUMBERS, -5, 1.5, "x", "", "1e3", "9" * 30))
        )
    lines = [
        random.choice(("%%MatrixMarket",) * 9 + ("%%matrixmarket", "%MatrixMarket", "%%MatrixMarketx"))
        + f" matrix {layout} {field} {symmetry}"
    ]
    lines += ["% " + random.choice(("a comment", "\xff", "x" * 2000))] * random.choice((0, 0, 1, 3))
    lines.append(" ".join(sizes))
    cells = ("nan", "inf", "1e999", "-1e999", "x", "", "1e-999", "9" * 400, "0x1", "1 2", "+1", "1,5", "-0")
    for _ in range(entries + (random.choice((-1, 1, 3)) if strange and random.random() < 0.3 else 0)):
        place = [
            random.choice((*range(1, 6), *(NUMBERS if strange else ()))),
            random.choice((*range(1, 6), *(NUMBERS if strange else ()))),
        ]
        value = (
            str(random.choice(cells))
            if strange and random.random() < 0.2
            else repr(round(random.gauss(0, 3), 3))
        )
        value = str(random.choice((1, 2, -3, 2**70))) if "int" in field and random.random() < 0.8 else value
        lines.append(f"{place[0]} {place[1]} {value}" if layout.lower() == "coordinate" else value)
    text = random.choice(("\n", "\n", "\n", "\r\n", "\n\n", "\n ")).join(lines) + random.choice(
        ("\n", "", "\n\n\n", " ")
    )
    data = text.encode("utf-8", "replace")
    return mutated(data, random) if random.random() < 0.4 else data


def arff(random: Random) -> bytes:
    """What might come from the network in the place of 3 x 2 pixels and a label."""
    rows = [
        ",".join(str(random.choice((0, 1, 7, 255))) for _ in range(3))
        for _ in range(random.choice((3, 3, 3, 2, 4, 0, 1500)))
    ]
    if random.random() < 0.5 and rows:
        cells = (
            "256",
            "-1",
            "1.5",
            "nan",
            "inf",
            "1e999",
            "a",
            "'1'",
            "'",
            '"',
            "",
            "9" * 400,
            "\0",
            "é",
            "1 2",
            "#",
            "0x1",
            "1e1",
        )
        rows[random.randrange(len(rows))] = ",".join(
            random.choice(("1", *cells)) for _ in range(random.choice((3, 3, 1, 9)))
        )
    head = random.choice(
        ("@relation x\n@attribute a real\n@data\n",) * 5
        + ("@DATA\n", "", "%\n" * 50 + "@data\n", "@data\r\n% c\n")
    )
    data = (head + random.choice(("\n", "\n", "\r\n", "\n\n")).join(rows)).encode("utf-8", "replace")
    if random.random() < 0.02:
        data = b"@data\n" + random.choice((b"1", b"1,", b" ", b"\n", b"%")) * 3_000_000
    return mutated(data, random) if random.random() < 0.4 else data


def npy_like(random: Random) -> bytes:
    """An embedding as an .npy, with numbers that are none."""
    file = io.BytesIO()
    np.save(file, numbers(random, 6).reshape(3, 2))
    return mutated(file.getvalue(), random) if random.random() < 0.5 else file.getvalue()
