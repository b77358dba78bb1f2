"""Tables of text: what was written comes back, and what is wrong is named by line and column."""

from __future__ import annotations

import csv
import gzip
import io
import os
import signal
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lowdim.data.files import checks, delimited, read, stream
from lowdim.errors import FileError, FormatError, InputError, MemoryLimitError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cs",)), max_size=6
)


def written(path, text, packed=False):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 1 << 10)
    monkeypatch.setattr(delimited, "LARGE_BLOCK", 1 << 10)


@given(
    X=arrays.arrays("float64", st.tuples(st.integers(1, 7), st.integers(2, 5)), elements=FINITE),
    words=st.lists(WORDS, min_size=7, max_size=7),
    delimiter=st.sampled_from([",", "\t", ";", "|"]),
    header=st.booleans(),
    packed=st.booleans(),
)
def test_round_trip(X, words, delimiter, header, packed, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / ("X.csv.gz" if packed else "X.csv")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow([*(f"f{k}" for k in range(X.shape[1])), "word"])
    writer.writerows([*map(repr, row.tolist()), f"w{word}"] for row, word in zip(X, words, strict=False))
    written(path, text.getvalue(), packed)
    table = read(path, label=-1, header=header, delimiter=delimiter)
    np.testing.assert_array_equal(table.X, X)
    assert table.labels.tolist() == [f"w{word}" for word in words[: len(X)]]
    assert table.feature_names == (tuple(f"f{k}" for k in range(X.shape[1])) if header else None)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_layouts_are_found(tmp_path, delimiter, end, mark):
    lines = ["a,b,kind", "1.5,-2e3,T cell", "3,.5,B cell"]
    text = end[-1:].join(line.replace(" ", "_").replace(",", delimiter) for line in lines)
    path = written(tmp_path / "X.csv", mark + text.replace("\n", end[:2] if end[0] == "\r" else "\n") + end)
    table = read(path, label="kind")
    np.testing.assert_array_equal(table.X, [[1.5, -2000], [3, 0.5]])
    assert table.feature_names == ("a", "b")
    assert table.labels.tolist() == ["T_cell", "B_cell"]


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("1,2\n3,4\n", None, 2),
        ("a,b\n3,4\n", ("a", "b"), 1),
        ("0,1,2\n5,6,7\n5,6,7\n", ("0", "1", "2"), 2),
        ("1,2,3\n5,6,7\n5,6,7\n", ("1", "2", "3"), 2),
        ("0,1,2\n3,4,5\n6,7,8\n", None, 3),
        ("0,1,2\n", None, 1),
        ("0,1\n5,6\n", None, 2),
        ("7,8,9\n5,6,7\n", None, 2),
        ('"a","b"\n3,4\n', ("a", "b"), 1),
        (" a , b\n3,4\n", ("a", "b"), 1),
        ("\n\n1,2\n3,4\n", None, 2),
        ("5\n6\n", None, 2),
        ("a\n6\n", ("a",), 1),
    ],
)
def test_headers_are_told_from_data(tmp_path, text, names, rows):
    table = read(written(tmp_path / "X.csv", text))
    assert table.feature_names == names
    assert len(table.X) == rows


def test_a_header_can_be_said(tmp_path):
    path = written(tmp_path / "X.csv", "1,2\n3,4\n")
    assert read(path, header=True).feature_names == ("1", "2")
    assert read(path, header=False).X.shape == (2, 2)
    for wrong in ("yes", None):
        with pytest.raises(InputError, match="header: must be True, False or 'auto'"):
            read(path, header=wrong)
    for wrong in (",,", '"', "é"):
        with pytest.raises(InputError, match="delimiter: must be one character"):
            read(path, delimiter=wrong)


def test_tabs_by_the_suffix(tmp_path):
    table = read(written(tmp_path / "X.tsv.gz", "a\tb,c\n1\t2\n", packed=True))
    assert table.feature_names == ("a", "b,c")


def test_columns_by_name_and_number(tmp_path):
    path = written(tmp_path / "X.csv", "name,a,b,kind,note\nr1,1,2,T,x\nr2,3,4,B,y\n")
    table = read(path, label=("kind", "4"), id="name")
    assert (table.label, list(table.columns), table.id_name) == ("kind", ["kind", "note"], "name")
    assert table.ids.tolist() == ["r1", "r2"]
    same = read(path, label=-2, id=0, drop=[4])
    assert (same.label, list(same.columns)) == ("kind", ["kind"])
    np.testing.assert_array_equal(same.X, table.X)
    bare = read(written(tmp_path / "Y.csv", "1,2,T\n3,4,B\n"), label=-1)
    assert (bare.label, bare.labels.tolist()) == ("column_2", ["T", "B"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "knd"}, "label: .* has no column 'knd'. Did you mean 'kind'"),
        ({"drop": "zzz"}, "drop: .* has no column 'zzz'. It has 'name', 'a', 'b', 'kind'"),
        ({"id": 4}, "numbers are 0 to 3, or -1 for the last; got 4"),
        ({"label": -5}, "numbers are 0 to 3"),
        ({"label": "kind", "drop": "kind"}, "is the label or the id as well"),
        ({"id": "name", "drop": "name"}, "is the label or the id as well"),
        ({"label": "kind", "id": "name", "drop": ["a", "b"]}, "no column is left to embed"),
    ],
)
def test_columns_that_cannot_be(tmp_path, options, message):
    path = written(tmp_path / "X.csv", "name,a,b,kind\nr1,1,2,T\n")
    with pytest.raises(InputError, match=message):
        read(path, **options)


@pytest.mark.parametrize("first", ["", "Unnamed: 0", '""'])
def test_an_index_without_a_name_is_the_ids(tmp_path, first):
    path = written(tmp_path / "X.csv", f"{first},a,b\n0,1.5,2\n1,3,4\n")
    table = read(path)
    np.testing.assert_array_equal(table.ids, [0, 1])
    assert table.feature_names == ("a", "b")
    assert read(path, drop=0).ids is None
    assert read(path, id="a").feature_names[1:] == ("b",)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "-3"], [1, 2, -3]),
        (["1.5", "2", "NA"], [1.5, 2.0, np.nan]),
        (["1.5", "2", ""], [1.5, 2.0, np.nan]),
        (["007", "010", "100"], ["007", "010", "100"]),
        (["07", "a", "b"], ["07", "a", "b"]),
        (["0.5", "0", "1"], [0.5, 0.0, 1.0]),
        (["a", "", "a"], ["a", "", "a"]),
        (["NA", "NA", "NA"], ["NA", "NA", "NA"]),
        (["Zoë", "T, B", 'q"q'], ["Zoë", "T, B", 'q"q']),
    ],
)
def test_labels_are_what_they_say(tmp_path, cells, expected):
    text = io.StringIO()
    csv.writer(text).writerows([["a", "kind"], *([k, cell] for k, cell in enumerate(cells))])
    labels = read(written(tmp_path / "X.csv", text.getvalue()), label="kind").labels
    assert labels.dtype.kind == np.array(expected).dtype.kind.replace("U", "O")
    np.testing.assert_array_equal(labels, expected)


def test_ids_are_whole_numbers_or_text(tmp_path):
    path = written(tmp_path / "X.csv", "key,a\n1.50,1\n2,3\n")
    assert read(path, id="key").ids.tolist() == ["1.50", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,kind\n1,T\n2,B\n",
            r"column 'kind' holds text \(line 2: 'T'\).*label='kind'.*id='kind'.*drop='kind'",
        ),
        ("a,k,n\n1,T,x\n", r"the columns 'k', 'n' hold text .*drop=\('k', 'n'\)"),
        ("a,b\n1,2\n3,oops\n", r"column 'b' holds text \(line 3: 'oops'\)"),
        ("a;b\n1,5;2\n", r"column 'a' has a comma for the decimal point \(line 2: '1,5'\)"),
        ("a;b\n1;oops\n", "column 'b' holds text"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, and 2 are expected: '3'"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, and 2 are expected"),
        ("\n\na,b\n1,2\n3,4,5\n", "line 5 has 3 cells"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells"),
        ("a,b\n1,2\n3,\n", "values are missing in column 'b', the first at line 3\\. .*drop='b'"),
        ("a,b\n1,nan\nNA,4\n", "missing in the columns 'a', 'b', the first at line 2 in column 'b'"),
        ("a,b\n1,inf\n", "line 2, column 'b': the number is infinite"),
        ("a,b\n1,1e999\n", "line 2, column 'b': the number is infinite"),
        ("a,b\n1,2\n\n3,4\n", "line 3 is empty"),
        ("a,b\n1,2\n,\n3,4\n", "line 3 is empty"),
        ("a,b,a\n1,2,3\n", "line 1 names two columns 'a' .numbers 0 and 2"),
        ("a,b\n", "no rows below its header"),
        ("\n\n\n", "has no rows"),
        (b"\xff\xfea\0,\0b\0", "UTF-16"),
        (b"a,b\0\n1,2\n", "null characters"),
        ("a,b\n1,2\nZo\u00eb,4\n".encode("latin1"), "line 3 is not UTF-8 .byte 0xeb."),
        ('a,b\n"1,2\n3,4\n', "holds text .line 2: '1,2"),
        ('a,b\n1,"' + "x" * 200_000 + '"\n', "quote left open"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_bad_tables(tmp_path, text, message, packed):
    path = written(tmp_path / "X.csv", text, packed)
    with pytest.raises(FormatError, match=rf"X\.csv: .*({message})"):
        read(path)


LONG = "a,b,kind\n" + "1.25,2.5,T\n" * 200_000
"""Beyond the first look and the first block."""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,oops,T", "line 200002, column 'b': 'oops' is no number.*drop='b'"),
        ("1,2", "line 200002 has 2 cells"),
        ("1,,T", "values are missing in column 'b', the first at line 200002"),
        (b"1,2,\xff", "line 200002, column 'kind' is not UTF-8"),
        ("\n1,2,T", "line 200002 is empty"),
        ("\n" * 500_000 + "1,2,T", "line 200002 is empty"),
    ],
)
def test_trouble_far_down(tmp_path, line, message):
    tail = line if isinstance(line, bytes) else line.encode()
    path = written(tmp_path / "X.csv", LONG.encode() + tail + b"\n")
    with pytest.raises(FormatError, match=message):
        read(path, label="kind")


def test_decimal_commas_far_down(tmp_path):
    path = written(tmp_path / "X.csv", LONG.replace(",", ";") + "1,5;2;T\n")
    with pytest.raises(FormatError, match=r"column 'a' has a comma for the decimal point .line 200002"):
        read(path, label="kind")


def test_many_blocks_and_empty_lines_at_the_end(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    rows = "".join(f"{k},{k / 7!r},{'even' if k % 2 == 0 else 'odd'}\n" for k in range(3000))
    path = written(tmp_path / "X.csv", "a,b,kind\n" + rows + "\n" * 5000)
    table = read(path, label="kind")
    k = np.arange(3000)
    np.testing.assert_array_equal(table.X, np.column_stack([k, k / 7]))
    np.testing.assert_array_equal(table.labels, np.where(k % 2 == 0, "even", "odd"))


def test_blocks_of_empty_lines_between_others(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    path = written(tmp_path / "X.csv", "a,kind\n" + "1,T\n" * 3000 + "\n" * 5000 + "1,T\n")
    with pytest.raises(FormatError, match="line 3002 is empty"):
        read(path, label="kind")


def test_a_row_longer_than_a_block(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    path = written(tmp_path / "X.csv", "a,kind\n" + "1,T\n" * 300_000 + f'1,"{"T" * 100_000}"\n')
    with pytest.raises(FormatError, match="cannot be read as a table"):
        read(path, label="kind")


def test_streams_give_the_head_first():
    data = bytes(range(256)) * 10_000
    given = stream.Stream(io.BytesIO(data), "X", None)
    assert data.startswith(given.head)
    assert len(given.head) >= stream.HEAD
    assert given.readable()
    assert given.read(100) == data[:100]
    assert given.readall() == data[100:]
    short = stream.Stream(io.BytesIO(b"\n\nab"), "X", None)
    short.skip(2)
    assert (short.head, short.ended, short.readall()) == (b"ab", True, b"ab")


def test_newlines_inside_cells(tmp_path):
    path = written(tmp_path / "X.csv", 'a,kind\n1,"two\nlines"\n2,one\n')
    assert read(path, label="kind").labels.tolist() == ["two\nlines", "one"]


def test_wide_rows(tmp_path):
    wide = np.random.default_rng(0).standard_normal((3, 60_000))
    path = written(tmp_path / "X.csv", "\n".join(",".join(map(repr, row)) for row in wide.tolist()))
    np.testing.assert_array_equal(read(path).X, wide)


def test_lines_that_never_end(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "LONGEST", 1 << 21)
    path = written(tmp_path / "X.csv", b"1" * (1 << 22))
    with pytest.raises(FormatError, match="no line ends within"):
        read(path)


def test_rows_beyond_the_memory(tmp_path, monkeypatch):
    path = written(tmp_path / "X.csv.gz", "a,b\n" + "1,2\n" * 3_000_000, packed=True)
    monkeypatch.setattr(checks, "available_memory", lambda: 20_000_000)
    with pytest.raises(MemoryLimitError, match=r"X\.csv\.gz: needs .* in memory.*\.npy"):
        read(path)


def test_packed_files_that_are_damaged(tmp_path):
    packed = gzip.compress(os.urandom(3_000_000).hex().encode())
    for content in (packed[:-9], packed[:100], packed[:4], packed[:1000] + b"????" + packed[1004:]):
        path = tmp_path / "X.csv.gz"
        path.write_bytes(content)
        with pytest.raises(FormatError, match="the compressed file is damaged or cut off"):
            read(path)


def test_a_packed_file_cut_behind_the_first_look(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{a!r},{b!r}\n" for a, b in rng.standard_normal((100_000, 2)).tolist())
    packed = gzip.compress(rows.encode())
    path = tmp_path / "X.csv.gz"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    with pytest.raises(FormatError, match="the compressed file is damaged or cut off"):
        read(path)


def test_a_disk_that_fails(tmp_path):
    class Failing(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "Input/output error")

    with pytest.raises(FileError, match=r"X: cannot be read: .*Input/output error"):
        stream.Stream(Failing(), "X", None)


class Piped:
    def __init__(self, data: bytes, terminal: bool = False) -> None:
        self.buffer, self.terminal = io.BytesIO(data), terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, packed):
    data = b"a,b,kind\n" + b"1,2,T\n" * 300_000
    piped = Piped(gzip.compress(data) if packed else data)
    monkeypatch.setattr(sys, "stdin", piped)
    table = read("-", label="kind")
    assert table.X.shape == (300_000, 2)
    assert table.source == "-"
    assert not piped.buffer.closed


def test_an_interrupt_does_not_wait_for_a_pipe_that_stays_open(monkeypatch):
    beginning = b"a,b\n" + b"1,2\n" * (stream.HEAD // 2)
    goes_on, was_read = threading.Event(), []

    class Open(io.BytesIO):
        """Brings the first lines, and then nothing until somebody lets it end; the user loses patience."""

        def read(self, count=-1):
            data = super().read(count)
            if not data and not goes_on.is_set():
                signal.raise_signal(signal.SIGINT)
                goes_on.wait(120)
                goes_on.set()
                was_read.append(True)
            return data

    piped = Piped(b"")
    piped.buffer = Open(beginning)
    monkeypatch.setattr(sys, "stdin", piped)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            read("-")
        assert not was_read
    finally:
        goes_on.set()
        signal.signal(signal.SIGINT, before)


def test_standard_input_in_trouble(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Piped(b"a,b\n1,x\n"))
    with pytest.raises(FormatError, match="standard input: column 'b' holds text"):
        read("-")
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(FormatError, match="standard input: has no rows"):
        read("-")
    for nothing in (Piped(b"", terminal=True), None):
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(InputError, match="nothing is piped"):
            read("-")
