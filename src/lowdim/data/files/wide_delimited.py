"""Tables of text with very many columns, row by row.

Arrow takes some 8 KB and 50 microseconds for every column of a block, which for tens of thousands of columns is far
more than the numbers themselves.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...core.records import Floats
from ...errors import FormatError
from .sniff import MISSING, NUMBER, Layout
from .stream import Stream
from .table import Roles

if TYPE_CHECKING:
    import pyarrow as pa

WIDE = 4096
"""Columns from which a table is wide."""


class Into(Protocol):
    """Where the rows go, and who says what is wrong with one."""

    stream: Stream
    layout: Layout
    roles: Roles
    first: int
    texts: dict[int, list[pa.Array]]

    def add(self, numbers: Floats, texts: list[pa.Array], blank: bool) -> None:
        """Take a row."""
        ...

    def refuse_ragged(self, line: int, found: int, text: str) -> Any:
        """Raise the error for a row of other length."""
        ...

    def refuse_cell(self, line: int, place: int, cell: str) -> Any:
        """Raise the error for a cell that is no number."""
        ...


def read_wide(into: Into) -> None:
    """Read all rows below the header."""
    import pyarrow as pa

    n_columns, features = into.layout.n_columns, into.roles.features
    everything = features == tuple(range(n_columns))
    missing = np.full(len(features), np.nan)
    for place, row in enumerate(_rows(into)):
        line = into.first + place
        if not row:
            into.add(missing, [pa.array([""]) for _ in into.texts], True)
            continue
        if len(row) != n_columns:
            into.refuse_ragged(line, len(row), into.layout.delimiter.join(row[:50]))
        cells = row if everything else [row[k] for k in features]
        try:
            numbers = pa.array(cells, pa.string()).cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            numbers = _one_by_one(into, cells, line)
        into.add(numbers, [pa.array([row[k]], pa.string()) for k in into.texts], False)


def _rows(into: Into) -> Iterator[list[str]]:
    source = into.stream.name
    text = io.TextIOWrapper(io.BufferedReader(into.stream, 1 << 20), "utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=into.layout.delimiter)
    try:
        if into.layout.header is not None:
            next(reader)
        yield from reader
    except csv.Error as error:
        raise FormatError(f"{source}: cannot be read as a table ({error}). Is a quote left open?") from None
    except UnicodeDecodeError:
        raise FormatError(
            f"{source}: is not UTF-8 below line {into.first}. Save the file as UTF-8, or convert it: "
            "iconv -f latin1 -t utf-8."
        ) from None
    finally:
        text.detach().detach()  # the stream is not ours to close


def _one_by_one(into: Into, cells: list[str], line: int) -> Floats:
    """A row in which a value is missing or is none."""
    for place, cell in enumerate(cells):
        if not NUMBER.fullmatch(cell) and cell.strip() not in MISSING:
            into.refuse_cell(line, into.roles.features[place], cell)
    return np.array([np.nan if cell.strip() in MISSING else float(cell) for cell in cells])
