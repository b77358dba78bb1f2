"""Embeddings as files: what was written comes back, with ids and labels, and never over an input."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import parquet

from lowdim.data.files import Table, read, read_embedding, write_embedding
from lowdim.errors import FileError, FormatError, InputError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=6).map(
    "w{}".format
)


@given(
    E=arrays.arrays("float64", st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=FINITE),
    words=st.lists(WORDS, min_size=7, max_size=7),
    suffix=st.sampled_from([".npy", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet"]),
)
def test_round_trip(E, words, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("embedding") / f"E{suffix}"
    n_rows = len(E)
    labels = np.array(words[:n_rows], dtype=object)
    table = Table(np.zeros((n_rows, 9)), None, np.arange(n_rows), {"kind": labels}, "kind", "X.npy")
    assert write_embedding(path, E, table=table, clusters=np.arange(n_rows) % 2) == path
    embedding, back = read_embedding(path)
    np.testing.assert_array_equal(embedding, E)
    if suffix != ".npy":
        np.testing.assert_array_equal(back.ids, np.arange(n_rows))
        np.testing.assert_array_equal(back.columns["cluster"], np.arange(n_rows) % 2)
        assert back.columns["kind"].tolist() == labels.tolist()


def header(path) -> list[str]:
    return path.read_text().splitlines()[0].split(",")


@pytest.mark.parametrize(
    ("n_dimensions", "names"),
    [(1, ["x"]), (2, ["x", "y"]), (3, ["x", "y", "z"]), (4, ["x1", "x2", "x3", "x4"])],
)
def test_the_order_of_columns(tmp_path, n_dimensions, names):
    E = np.zeros((2, n_dimensions))
    write_embedding(tmp_path / "bare.csv", E)
    assert header(tmp_path / "bare.csv") == names
    columns = {"note": np.array(["a", "b"]), "kind": np.array([1, 2]), names[0]: np.array([5, 6])}
    table = Table(E, None, np.array(["r1", "r2"], dtype=object), columns, "kind", "X.csv", "name")
    write_embedding(tmp_path / "full.csv", E, table=table, clusters=["u", "v"])
    assert header(tmp_path / "full.csv") == ["name", *names, "cluster", "kind", "note", f"{names[0]}_"]
    write_embedding(tmp_path / "full.parquet", E, table=table)
    assert parquet.read_schema(tmp_path / "full.parquet").names == [
        "name",
        *names,
        "kind",
        "note",
        f"{names[0]}_",
    ]


def test_lists_and_columns_will_do(tmp_path):
    write_embedding(tmp_path / "E.npy", [1, 2, 3])
    np.testing.assert_array_equal(np.load(tmp_path / "E.npy"), [[1.0], [2.0], [3.0]])


def test_names_that_need_quotes(tmp_path):
    table = Table(np.zeros((1, 2)), columns={'a, "b"': np.array([1])})
    write_embedding(tmp_path / "E.csv", np.zeros((1, 2)), table=table)
    assert list(read_embedding(tmp_path / "E.csv")[1].columns) == ['a, "b"']


def test_the_same_rows_give_the_same_file(tmp_path):
    for name in ("E.csv.gz", "F.csv.gz"):
        write_embedding(tmp_path / name, np.eye(3))
    assert (tmp_path / "E.csv.gz").read_bytes() == (tmp_path / "F.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "E.csv.gz").read_bytes()).startswith(b"x,y,z\n1,0,0\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"path": "E.xlsx"},
            r"'E.xlsx' must end in one of .npy, .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .h5ad",
        ),
        ({"embedding": np.zeros((2, 2, 2))}, "must be N x d"),
        ({"embedding": np.zeros((0, 2))}, "must be N x d"),
        ({"embedding": np.zeros((3, 2))}, "has 3 rows, and X.csv has 2"),
        (
            {"embedding": [[0, 1], [np.nan, 2]]},
            r"1 points have no finite position, the first is row 1, coordinate 0 \(counted from 0\): nan",
        ),
        ({"clusters": [1]}, "clusters: one is needed for each of the 2 points"),
        ({"path": "E.h5ad"}, "a copy of the .h5ad that was read.*the data came from X.csv"),
    ],
)
def test_what_cannot_be_written(tmp_path, options, message):
    table = Table(np.zeros((2, 9)), source="X.csv")
    arguments = {"path": "E.csv", "embedding": np.zeros((2, 2)), "table": table, **options}
    path = tmp_path / arguments.pop("path")
    with pytest.raises(InputError, match=message):
        write_embedding(path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_there(tmp_path):
    path = tmp_path / "E.csv"
    write_embedding(path, np.zeros((2, 2)))
    with pytest.raises(FileError, match="is there already"):
        write_embedding(path, np.ones((2, 2)))
    write_embedding(path, np.ones((2, 2)), force=True)
    assert read_embedding(path)[0][0, 0] == 1.0
    with pytest.raises(FileError, match="never written over"):
        write_embedding(path, np.ones((2, 2)), force=True, inputs=[path])
    with pytest.raises(FileError, match="never written over"):
        write_embedding(path, np.ones((2, 2)), force=True, table=read(path))


def test_annotated(tmp_path):
    h5py = pytest.importorskip("h5py")
    source = tmp_path / "X.h5ad"
    with h5py.File(source, "w") as file:
        file["X"] = np.zeros((3, 4))
        file["obs/_index"] = ["a", "b", "c"]
        file["obs"].attrs["_index"] = "_index"
        file["obs"].attrs["column-order"] = np.array([], dtype="S1")
    before = source.read_bytes()
    table = read(source)
    E = np.arange(6.0).reshape(3, 2)
    path = tmp_path / "E.h5ad"
    write_embedding(path, E, table=table, clusters=[2, 0, 1])
    embedding, back = read_embedding(path)
    np.testing.assert_array_equal(embedding, E)
    np.testing.assert_array_equal(back.columns["lowdim_cluster"], [2, 0, 1])
    assert back.ids.tolist() == ["a", "b", "c"]
    again = read(path)
    write_embedding(tmp_path / "F.h5ad", 2 * E, table=again, clusters=["u", "v", "w"])
    embedding, back = read_embedding(tmp_path / "F.h5ad")
    np.testing.assert_array_equal(embedding, 2 * E)
    assert back.columns["lowdim_cluster"].tolist() == ["u", "v", "w"]
    write_embedding(tmp_path / "G.h5ad", E, table=table, name="tsne")
    np.testing.assert_array_equal(read(tmp_path / "G.h5ad", obsm="X_tsne").X, E)
    assert source.read_bytes() == before
    for name in ("", "a/b"):
        with pytest.raises(InputError, match="name: must be a word"):
            write_embedding(tmp_path / "H.h5ad", E, table=table, name=name)
    with pytest.raises(InputError, match="came from elsewhere"):
        write_embedding(tmp_path / "H.h5ad", E)
    assert not (tmp_path / "H.h5ad").exists()


def test_annotated_files_that_changed(tmp_path):
    h5py = pytest.importorskip("h5py")
    source = tmp_path / "X.h5ad"
    E = np.zeros((3, 2))
    table = Table(np.zeros((3, 4)), source=str(source))
    with pytest.raises(FileError, match="does not exist"):
        write_embedding(tmp_path / "E.h5ad", E, table=table)
    with h5py.File(source, "w") as file:
        file["X"] = np.zeros((3, 4))
    with pytest.raises(FormatError, match="has no obs with an index"):
        write_embedding(tmp_path / "E.h5ad", E, table=table)
    with h5py.File(source, "w") as file:
        file["obs/_index"] = ["a", "b"]
    with pytest.raises(InputError, match=r"has 3 rows, and the .h5ad that it goes to 2"):
        write_embedding(tmp_path / "E.h5ad", E, table=table)
    assert [entry.name for entry in tmp_path.iterdir()] == ["X.h5ad"]
