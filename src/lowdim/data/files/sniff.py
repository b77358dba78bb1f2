"""How a table of text is laid out, from its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from ...core.messages import named, setting
from ...core.messages import value as quoted
from ...errors import FormatError, InputError
from .checks import shortened
from .table import Request

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?(inf|infinity)\s*", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
MISSING = frozenset(
    [
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "n/a",
        "nan",
        "null",
    ]
)
"""What stands for a value that is not there."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""Not splitlines, which also breaks at characters that no table means as the end of a line."""
_DELIMITERS = (",", "\t", ";", "|", " ")
_LINES = 20
_LOOKED_AT = 100
_CELLS = 100_000
MOST_COLUMNS = 1 << 20
"""Columns of a table of text; wider ones are not looked at."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Delimiter, names of the columns (None without a header), and the first rows below the header."""

    delimiter: str
    header: tuple[str, ...] | None
    n_columns: int
    sample: tuple[tuple[str, ...], ...]


def sniff(head: bytes, whole: bool, request: Request, name: str, suffix: str) -> Layout:
    """The layout of a table from its first bytes; ``whole`` when there are no others."""
    lines = _lines(head, whole, name)
    _check_width(lines, request, name)
    delimiter = request.delimiter or ("\t" if suffix == ".tsv" else _delimiter(lines))
    if len(delimiter) != 1 or not (delimiter == "\t" or " " <= delimiter <= "~") or delimiter == '"':
        raise InputError(
            f"{named('delimiter')}: must be one character, such as ',' or a tab; got {shortened(delimiter)!r}."
        )
    rows = _rows(lines, delimiter, name)
    if not rows:
        raise FormatError(f"{name}: has no rows. Write it again.")
    first, n_columns = rows[0], len(rows[0])
    has_header = _is_header(rows) if request.header == "auto" else request.header
    if has_header not in (True, False):
        raise InputError(
            f"{named('header')}: must be {quoted(True)}, {quoted(False)} or 'auto'; got {quoted(request.header)}."
        )
    if not has_header:
        return Layout(delimiter, None, n_columns, rows)
    names = tuple(cell.strip() for cell in first)
    twice = next((cell for cell, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        places = [place for place, cell in enumerate(names) if cell == twice]
        raise FormatError(
            f"{name}: line 1 names two columns {shortened(twice, 60)!r} (numbers {places[0]} and {places[1]}, "
            f"counted from 0). Rename one, or give {setting('header', False)} if line 1 is data."
        )
    return Layout(delimiter, names, n_columns, rows[1:])


def _lines(head: bytes, whole: bool, name: str) -> list[str]:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(f"{name}: is text in UTF-16. Save it as UTF-8 (in Excel: 'CSV UTF-8').")
    if b"\0" in head:
        raise FormatError(f"{name}: holds null characters, so it is no text. Is it misnamed?")
    complete = head if whole else head[: head.rfind(b"\n") + 1]
    try:
        text = complete.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = complete.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{name}: line {line} is not UTF-8 (byte {error.object[error.start]:#x}). Save the file as UTF-8, or "
            "convert it: iconv -f latin1 -t utf-8."
        ) from None
    return _LINE.findall(text)


def _check_width(lines: list[str], request: Request, name: str) -> None:
    """Refuse what no table has, before a list of it is made."""
    for line in lines[: _LOOKED_AT + 1]:
        if any(line.count(delimiter) >= MOST_COLUMNS for delimiter in (request.delimiter or _DELIMITERS)):
            raise FormatError(
                f"{name}: a line has more than {MOST_COLUMNS} columns. Is it turned on its side? A table of this "
                "size is best saved as .npy."
            )


def _rows(lines: list[str], delimiter: str, name: str) -> tuple[tuple[str, ...], ...]:
    """The first rows, as many as make a look at every column cheap."""
    try:
        reader = (row for row in csv.reader(lines, delimiter=delimiter) if row)
        first = tuple(next(reader, ()))
        many = max(2, min(100, _CELLS // max(1, len(first))))
        return ((first,) if first else ()) + tuple(tuple(row) for row in islice(reader, many))
    except csv.Error as error:
        raise FormatError(f"{name}: cannot be read as a table ({error}). Is a quote left open?") from None


def _delimiter(lines: list[str]) -> str:
    """The delimiter that cuts the first lines into equally many cells, most of them numbers."""
    best, most = ",", -1.0
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in islice(csv.reader(lines, delimiter=delimiter), _LINES) if row]
        except csv.Error:
            continue
        if not rows or len(rows[0]) < 2:
            continue
        cells = [cell for row in rows[1:] or rows for cell in row[:_LOOKED_AT]]
        comma = delimiter != ","
        numbers = sum(
            1 for cell in cells if NUMBER.fullmatch(cell) or (comma and DECIMAL_COMMA.fullmatch(cell))
        )
        even = len({len(row) for row in rows}) == 1
        score = even + numbers / len(cells)
        if score > most:
            best, most = delimiter, score
    return best


def _is_header(rows: tuple[tuple[str, ...], ...]) -> bool:
    """Whether the first row names the columns: no numbers in it, or the numbers that pandas gives as names."""
    first = rows[0]
    numbers = [cell for cell in first if NUMBER.fullmatch(cell)]
    if not numbers:
        return any(cell.strip() not in MISSING for cell in first)
    counted = [str(place) for place in range(len(numbers) + 1)]
    if len(numbers) < 3 or numbers not in (counted[:-1], counted[1:]):
        return False
    return len(rows) > 1 and [cell for cell in rows[1] if NUMBER.fullmatch(cell)][:1] != [str(len(numbers))]
