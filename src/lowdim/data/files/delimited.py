"""CSV and TSV: read once, in blocks, into one array.

Arrow's reader parses exactly (every double comes back as it was written), names the line of what it cannot read and
takes any stream; see docs/files.md for what else was measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.messages import named, setting
from ...core.parallel import apart
from ...core.records import Floats
from ...errors import FormatError
from .arrow import from_text
from .checks import check_fits, shortened
from .sniff import DECIMAL_COMMA, MISSING, NUMBER, Layout, sniff
from .stream import Stream, opened
from .table import Assign, Request, Roles, Table, assign, quoted
from .wide_delimited import WIDE, read_wide

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK, LARGE_BLOCK = 1 << 22, 1 << 26
_CONVERSION = re.compile(
    r"column #(\d+): Row #(\d+): CSV conversion error to (\w+): (?:invalid value '(.*)')?", re.DOTALL
)


def read(source: str, request: Request, suffix: str, choose: Assign = assign) -> Table:
    """A table of text: features as float64, labels and ids as what they say; ``choose`` gives the columns roles."""
    with opened(source) as stream:
        blank = len(stream.head) - len(stream.head.lstrip(b"\r\n"))
        skipped = stream.head.count(b"\n", 0, blank)
        stream.skip(blank)
        layout = sniff(stream.head, stream.ended, request, stream.name, suffix)
        names = layout.header or tuple(f"column_{place}" for place in range(layout.n_columns))
        found = _first_texts(layout)
        numeric = [place not in found for place in range(layout.n_columns)]
        roles = choose(names, numeric, request, stream.name)
        first = 1 + skipped + (layout.header is not None)
        _check_sample(layout, found, names, roles, stream.name, first)
        rows = _Rows(stream, layout, names, roles, first)
        rows.read_all()
    ids = None if roles.id is None else from_text(rows.text(roles.id), numbers=False)
    return Table(
        rows.numbers.finished(),
        tuple(names[place] for place in roles.features) if layout.header else None,
        ids,
        {names[place]: from_text(rows.text(place)) for place in roles.labels},
        names[roles.labels[0]] if roles.labels else None,
        source,
        "id" if roles.id is None else names[roles.id] or "id",
    )


def _first_texts(layout: Layout) -> dict[int, tuple[int, str]]:
    """Of each column that holds something else than numbers in the first rows: the first such row and cell."""
    found: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(layout.sample):
        for place, cell in enumerate(row[: layout.n_columns]):
            if not NUMBER.fullmatch(cell) and cell.strip() not in MISSING:
                found.setdefault(place, (number, cell.strip()))
    return found


def _check_sample(
    layout: Layout,
    found: dict[int, tuple[int, str]],
    names: tuple[str, ...],
    roles: Roles,
    source: str,
    first: int,
) -> None:
    """Name every column of text at once, before the file is read."""
    places = [place for place in roles.features if place in found]
    if layout.delimiter != ",":
        for place in places:
            number, cell = found[place]
            if DECIMAL_COMMA.fullmatch(cell):
                _refuse_comma(source, shortened(names[place], 60), first + number, cell)
    texts = [shortened(names[place], 60) for place in places]
    if not texts:
        return
    number, cell = found[places[0]]
    example, some = f"line {first + number}: {_short(cell)}", texts[:3]
    dropped = some[0] if len(some) == 1 else tuple(some)
    raise FormatError(
        f"{source}: {_columns(texts)} {'holds' if len(texts) == 1 else 'hold'} text ({example}), not numbers. Say "
        f"what {'it is' if len(texts) == 1 else 'they are'}: {setting('label', some[0])} to colour by it, "
        f"{setting('id', some[0])} if it names the rows, or {setting('drop', dropped)} to leave out."
    )


def _columns(names: list[str]) -> str:
    return f"column {names[0]!r}" if len(names) == 1 else f"the columns {quoted(names)}"


def _refuse_comma(source: str, column: str, line: int, cell: str) -> NoReturn:
    raise FormatError(
        f"{source}: column {column!r} has a comma for the decimal point (line {line}: {cell!r}). Save the numbers "
        "with points."
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:29] + "…")


@dataclass
class _Rows:
    """The rows of one file, as they are read."""

    stream: Stream
    layout: Layout
    names: tuple[str, ...]
    roles: Roles
    first: int
    texts: dict[int, list[pa.Array]] = field(default_factory=dict)
    empty: int | None = None
    dropped: int = 0
    ragged: Any = None

    def __post_init__(self) -> None:
        lines = max(1, self.stream.head.count(b"\n"))
        width = len(self.stream.head) / lines
        guess = int(1.02 * self.stream.size / width) + 16 if self.stream.size else lines
        self.numbers = GrowingArray(len(self.roles.features), guess, self.stream.name)
        others = [*self.roles.labels, *(() if self.roles.id is None else (self.roles.id,))]
        self.texts = {place: [] for place in others}

    def text(self, place: int) -> pa.ChunkedArray:
        """A column beside the features, as it is written."""
        import pyarrow as pa

        return pa.chunked_array(self.texts[place], pa.string())

    def read_all(self) -> None:
        """Walk over the file once."""
        import pyarrow as pa

        try:
            if self.layout.n_columns >= WIDE:
                read_wide(self)
            else:
                # Arrow reads in a thread of its own and waits for it where no signal is heeded: for ever, if a pipe
                # stays open and brings nothing more.
                reader = apart(self._open)
                while (batch := apart(lambda: next(reader, None))) is not None:
                    self._take(batch)
        except pa.ArrowInvalid as error:
            self._explain(error)
        # Rows that say that all is missing are no empty lines.
        if self.empty is not None and self.dropped > self.stream.blank_lines:
            self._refuse_gap(np.array([[np.nan]]), 0, 0, np.array([[True]]), False, self.empty)
        if not self.numbers.n_rows:
            raise FormatError(f"{self.stream.name}: has no rows below its header. Write it again.")

    def _open(self) -> Any:
        """Arrow's reader of the rows, whose first block is read."""
        import pyarrow as pa
        from pyarrow import csv

        types = {str(place): pa.float64() for place in self.roles.features}
        types |= {str(place): pa.string() for place in self.texts}
        row_bytes = len(self.stream.head) // max(1, self.stream.head.count(b"\n"))
        return csv.open_csv(
            pa.PythonFile(self.stream, "r"),
            # One thread: it is as quick here, and only so does Arrow count the rows.
            read_options=csv.ReadOptions(
                use_threads=False,
                # Wide tables in larger blocks: every column of a block costs some microseconds.
                block_size=max(BLOCK, min(LARGE_BLOCK, 1000 * row_bytes), 8 * row_bytes),
                column_names=[str(place) for place in range(self.layout.n_columns)],
                skip_rows_after_names=int(self.layout.header is not None),
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=self._refuse_row,
            ),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=sorted(MISSING)
            ),
        )

    def add(self, numbers: Floats, texts: list[pa.Array], blank: bool) -> None:
        """Take a single row; ``blank`` if the line is empty."""
        line = self.first + self.numbers.n_rows + self.dropped
        block = self.numbers.block(1)
        block[0] = numbers
        for chunks, text in zip(self.texts.values(), texts, strict=True):
            chunks.append(text)
        if self.empty is not None or blank or not np.isfinite(numbers).all():
            self._check_gaps(block, np.array([blank]), line)

    def _refuse_row(self, row: Any) -> str:
        self.ragged = row
        return "error"

    def _take(self, batch: pa.RecordBatch) -> None:
        line = self.first + self.numbers.n_rows
        block = self.numbers.block(batch.num_rows)
        for k in range(block.shape[1]):
            block[:, k] = batch.column(k).to_numpy(zero_copy_only=False)
        for k, chunks in enumerate(self.texts.values(), start=block.shape[1]):
            chunks.append(batch.column(k))
        if self.empty is None and np.isfinite(block).all():
            return
        blank = np.asarray(np.isnan(block).all(axis=1))
        for k in range(len(self.texts)):
            blank &= batch.column(block.shape[1] + k).to_numpy(zero_copy_only=False) == ""
        self._check_gaps(block, blank, line)

    def _check_gaps(self, block: Floats, blank: NDArray[Any], line: int) -> None:
        """Empty lines at the end are passed by; any other value that is missing or infinite is named."""
        gaps = ~np.isfinite(block)
        full = np.flatnonzero(~blank)
        kept = int(full[-1]) + 1 if full.size else 0
        if kept and self.empty is not None:
            raise FormatError(f"{self.stream.name}: line {self.empty} is empty. Take it out.")
        if gaps[:kept].any():
            row, column = (int(place) for place in np.argwhere(gaps[:kept])[0])
            self._refuse_gap(block, row, column, gaps[:kept], bool(blank[row]), line)
        self.empty = self.empty or line + kept
        self.numbers.shorten(len(block) - kept)
        self.dropped += len(block) - kept
        self.texts = {
            place: [*chunks[:-1], chunks[-1].slice(0, kept)] for place, chunks in self.texts.items()
        }

    def _refuse_gap(
        self, block: Floats, row: int, column: int, gaps: NDArray[Any], blank: bool, line: int
    ) -> NoReturn:
        source, at = self.stream.name, line + row
        if blank:
            raise FormatError(f"{source}: line {at} is empty. Take it out.")
        if np.isinf(block[row, column]):
            name = self._name(column)
            raise FormatError(
                f"{source}: line {at}, column {name!r}: the number is infinite. Correct it, or "
                f"{setting('drop', name)}."
            )
        where = [self._name(int(k)) for k in np.flatnonzero(gaps.any(axis=0))]
        first = f" in column {self._name(column)!r}" if len(where) > 1 else ""
        raise FormatError(
            f"{source}: values are missing in {_columns(where)}, the first at line {at}{first}. Fill them in, take the "
            f"rows out, or drop the {'columns' if first else 'column'}: "
            f"{setting('drop', tuple(where[:10]) if first else where[0])}."
        )

    def _name(self, feature: int) -> str:
        return shortened(self.names[self.roles.features[feature]], 60)

    def _explain(self, error: Exception) -> NoReturn:
        """What Arrow could not read, by line and column."""
        source, offset = self.stream.name, self.first - 1 - (self.layout.header is not None)
        if (row := self.ragged) is not None:
            self.refuse_ragged(offset + row.number, row.actual_columns, row.text)
        found = _CONVERSION.search(str(error))
        if found is None:
            raise FormatError(
                f"{source}: cannot be read as a table ({shortened(str(error))}). Is a quote left open?"
            ) from None
        line, cell = offset + int(found[2]), found[4]
        if cell is None:
            raise FormatError(
                f"{source}: line {line}, column {shortened(self.names[int(found[1])], 60)!r} is not UTF-8. "
                "Save the file as UTF-8, or convert it: iconv -f latin1 -t utf-8."
            ) from None
        self.refuse_cell(line, int(found[1]), cell)

    def refuse_ragged(self, line: int, found: int, text: str) -> NoReturn:
        """A row is longer or shorter than it should be."""
        raise FormatError(
            f"{self.stream.name}: line {line} has {found} cells, and {self.layout.n_columns} are expected: "
            f"{_short(text)}. Correct it, or say {named('delimiter')} if {self.layout.delimiter!r} is wrong."
        ) from None

    def refuse_cell(self, line: int, place: int, cell: str) -> NoReturn:
        """A cell is no number."""
        source, name = self.stream.name, shortened(self.names[place], 60)
        if self.layout.delimiter != "," and DECIMAL_COMMA.fullmatch(cell):
            _refuse_comma(source, name, line, cell)
        raise FormatError(
            f"{source}: line {line}, column {name!r}: {_short(cell)} is no number. Correct it, or leave the column "
            f"out: {setting('drop', name)}; {setting('label', name)} if it is the label."
        ) from None


class GrowingArray:
    """N x D float64 of which N is known only at the end; a guess of it saves moves."""

    def __init__(self, n_columns: int, guess: int, source: str) -> None:
        self.source, self.n_rows = source, 0
        self.values: Floats = np.empty((self._affordable(max(guess, 1), n_columns), n_columns))

    def _affordable(self, rows: int, n_columns: int) -> int:
        check_fits(
            self.source,
            8 * rows * n_columns,
            "Convert it to .npy, which is mapped and not loaded, or take fewer rows.",
        )
        return rows

    def block(self, rows: int) -> Floats:
        """Room for further rows."""
        start, stop, n_columns = self.n_rows, self.n_rows + rows, self.values.shape[1]
        if stop > len(self.values):
            more = self._affordable(max(stop, len(self.values) * 5 // 4), n_columns)
            # In place: the system moves large arrays by their pages, without a second copy.
            self.values.resize((more, n_columns), refcheck=False)
        self.n_rows = stop
        return self.values[start:stop]

    def shorten(self, rows: int) -> None:
        """Give back the last rows."""
        self.n_rows -= rows

    def finished(self) -> Floats:
        """The rows that came."""
        self.values.resize((self.n_rows, self.values.shape[1]), refcheck=False)
        return self.values
