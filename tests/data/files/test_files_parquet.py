"""Parquet: types stay, columns take their roles, what is missing or damaged is named."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import parquet

from lowdim.data.files import checks, read
from lowdim.data.files import parquet as reader
from lowdim.errors import FormatError, InputError, MemoryLimitError


def written(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)
    return path


@given(
    X=arrays.arrays(
        st.sampled_from(["bool", "uint8", "int32", "int64", "float32", "float64"]),
        st.tuples(st.integers(1, 20), st.integers(1, 4)),
    ),
    group=st.integers(1, 20),
)
def test_round_trip(X, group, tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "X.parquet"
    written(path, {f"f{k}": X[:, k] for k in range(X.shape[1])}, row_group_size=group)
    table = read(path)
    assert table.X.dtype == X.dtype
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == tuple(f"f{k}" for k in range(X.shape[1]))


def test_roles_and_kinds(tmp_path):
    columns = {
        "name": ["r1", "r2", "r3"],
        "a": pa.array([1, 2, 3], pa.uint8()),
        "b": pa.array([0.5, 1.5, 2.5], pa.float32()),
        "c": pa.array([decimal.Decimal("1.25")] * 3),
        "kind": pa.array(["T", None, "T"]).dictionary_encode(),
        "count": pa.array([1, None, 3]),
        "small": pa.array([1, 2, 3], pa.uint16()),
        "day": pa.array([0, 1, 2], pa.date32()),
        "list": [[1], [2, 3], []],
        "flag": [True, False, True],
        "maybe": [True, None, True],
        "bytes": [b"a", b"b", b"c"],
    }
    path = written(tmp_path / "X.parquet", columns, row_group_size=2)
    others = ("kind", "count", "small", "day", "list", "flag", "maybe", "bytes")
    table = read(path, label=others, id="name")
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, [[1, 0.5, 1.25], [2, 1.5, 1.25], [3, 2.5, 1.25]])
    assert (table.ids.tolist(), table.id_name, table.label) == (["r1", "r2", "r3"], "name", "kind")
    assert table.labels.tolist() == ["T", "", "T"]
    np.testing.assert_array_equal(table.columns["count"], [1, np.nan, 3])
    assert table.columns["small"].dtype == np.uint64
    assert table.columns["day"].tolist() == ["1970-01-01", "1970-01-02", "1970-01-03"]
    assert table.columns["list"].tolist() == ["[1]", "[2, 3]", "[]"]
    assert table.columns["flag"].tolist() == [True, False, True]
    assert table.columns["maybe"].tolist() == ["true", "", "true"]
    assert table.columns["bytes"].tolist() == ["b'a'", "b'b'", "b'c'"]


def test_the_index_of_pandas_is_the_ids(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0]}, index=["r1", "r2"])
    frame.to_parquet(tmp_path / "X.parquet")
    table = read(tmp_path / "X.parquet")
    assert (table.ids.tolist(), table.id_name, table.feature_names) == (["r1", "r2"], "id", ("a",))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0], "kind": ["T"]}, "column 'kind' holds string, not numbers.*label='kind'"),
        ({"a": [1.0], "k": ["T"], "n": ["x"]}, r"the columns 'k', 'n' hold string.*drop=\('k', 'n'\)"),
        ({"a": [1.0, None]}, "missing in column 'a', the first in row 1"),
        ({"a": pa.array([], pa.float64())}, "has no rows"),
    ],
)
def test_bad_tables(tmp_path, columns, message):
    with pytest.raises(FormatError, match=message):
        read(written(tmp_path / "X.parquet", columns))


def test_names_twice(tmp_path):
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    parquet.write_table(table, tmp_path / "X.parquet")
    with pytest.raises(FormatError, match="'a' twice"):
        read(tmp_path / "X.parquet")


def test_columns_that_are_not_there(tmp_path):
    path = written(tmp_path / "X.parquet", {"a": [1.0], "kind": ["T"]})
    with pytest.raises(InputError, match="Did you mean 'kind'"):
        read(path, label="knd")


def test_damage_anywhere(tmp_path):
    """Every cut and many single changes end in numbers or in a FormatError, and in nothing else."""
    path = written(tmp_path / "X.parquet", {"a": np.arange(50.0), "b": np.arange(50.0)})
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    failures = 0
    for length in range(4, len(whole), 23):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="damaged or cut off"):
            read(path)
    for place in rng.integers(4, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(changed))
        try:
            read(path)
        except (FormatError, MemoryLimitError):
            failures += 1
    assert failures > 10


class Claiming:
    """An open file that declares another number of rows."""

    def __init__(self, file, claimed):
        self.file, self.schema_arrow, self.iter_batches = file, file.schema_arrow, file.iter_batches
        self.metadata = type("Metadata", (), {"num_rows": claimed})


@pytest.mark.parametrize(
    ("claimed", "error", "message"),
    [
        (2, FormatError, "holds more rows than the 2"),
        (4, FormatError, "holds 3 rows and declares 4"),
        (4 * 10**6, MemoryLimitError, "Read fewer columns"),
        (10**15, FormatError, "exhaust the memory"),
    ],
)
def test_rows_that_are_not_there(tmp_path, monkeypatch, claimed, error, message):
    path = written(tmp_path / "X.parquet", {"a": [1.0, 2.0, 3.0]})
    monkeypatch.setattr(checks, "available_memory", lambda: 1 << 20)
    claim = Claiming(parquet.ParquetFile(path), claimed)
    with pytest.raises(error, match=message):
        reader._read(path, claim, reader.Request(), reader.assign)


def test_numbers_that_signal(tmp_path, recwarn):
    """A NaN of single precision whose bits say that it should be noticed."""
    signalling = np.array([0x7FA00000], np.uint32).view(np.float32)
    path = written(tmp_path / "X.parquet", {"a": pa.array(signalling), "b": [1.0]})
    assert np.isnan(read(path).X[0, 0])
    assert not recwarn.list
