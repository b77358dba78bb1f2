"""AnnData's files, as anndata writes them: X, layers, obsm, annotations."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

from lowdim.data.files import annotated, checks, h5ad, hdf5, read, write_embedding
from lowdim.errors import FileError, FormatError, InputError, MemoryLimitError, MissingExtraError

h5py = pytest.importorskip("h5py")

X = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
KINDS = np.array(["T", "B", "T", "NK", "", "B"], dtype=object)


def put(group, name, values, **options):
    is_text = values.dtype.kind == "O"
    if is_text:
        stored = group.create_dataset(name, data=list(values), dtype=h5py.string_dtype())
    else:
        stored = group.create_dataset(name, data=values, **options)
    stored.attrs["encoding-type"] = "string-array" if is_text else "array"
    return stored


def put_sparse(group, name, matrix):
    part = group.create_group(name)
    part.attrs["encoding-type"] = f"{matrix.format}_matrix"
    part.attrs["shape"] = matrix.shape
    for field in ("data", "indices", "indptr"):
        part[field] = getattr(matrix, field)
    return part


def put_frame(file, name, index, columns=()):
    frame = file.create_group(name)
    frame.attrs["encoding-type"] = "dataframe"
    frame.attrs["_index"] = "_index"
    frame.attrs["column-order"] = list(columns)
    put(frame, "_index", np.array(index, dtype=object))
    return frame


@pytest.fixture
def path(tmp_path):
    """What anndata 0.12 would write."""
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        put(file, "X", X)
        layers = file.create_group("layers")
        put_sparse(layers, "counts", sparse.csr_array(np.round(X)))
        put_sparse(layers, "by_gene", sparse.csc_array(np.round(X)))
        put(layers, "packed", np.arange(24.0).reshape(6, 4), compression="gzip", chunks=(2, 4))
        obsm = file.create_group("obsm")
        put(obsm, "X_pca", X[:, :2].astype(np.float64))
        obs = put_frame(
            file, "obs", [f"cell{k}" for k in range(6)], ["kind", "depth", "batch", "maybe", "words", "gone"]
        )
        kind = obs.create_group("kind")
        put(kind, "categories", np.array(["B", "NK", "T"], dtype=object))
        put(kind, "codes", np.array([2, 0, 2, 1, -1, 0], np.int8))
        put(obs, "depth", np.arange(6) / 2)
        batch = obs.create_group("batch")
        put(batch, "categories", np.array([10, 20]))
        put(batch, "codes", np.array([0, 1, 0, 1, 0, 1], np.int8))
        maybe = obs.create_group("maybe")
        put(maybe, "values", np.arange(6))
        put(maybe, "mask", np.array([False, True, False, False, False, False]))
        words = obs.create_group("words")
        put(words, "values", np.array(list("abcdef"), dtype=object))
        put(words, "mask", np.array([True, *[False] * 5]))
        put_frame(file, "var", [f"gene{k}" for k in range(4)])
    return path


def test_the_matrix_is_mapped_and_annotated(path):
    table = read(path, label="kind")
    assert isinstance(table.X, np.memmap)
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == np.float32
    assert table.feature_names == ("gene0", "gene1", "gene2", "gene3")
    assert table.ids.tolist() == [f"cell{k}" for k in range(6)]
    assert list(table.columns) == ["kind", "depth", "batch", "maybe", "words"]
    assert table.labels.tolist() == KINDS.tolist()
    np.testing.assert_array_equal(table.columns["depth"], np.arange(6) / 2)
    np.testing.assert_array_equal(table.columns["batch"], [10, 20, 10, 20, 10, 20])
    np.testing.assert_array_equal(table.columns["maybe"], [0, np.nan, 2, 3, 4, 5])
    assert table.columns["words"].tolist() == ["", "b", "c", "d", "e", "f"]


def test_layers_and_obsm(path):
    for layer in ("counts", "by_gene"):
        table = read(path, layer=layer)
        assert isinstance(table.X, sparse.csr_array)
        np.testing.assert_array_equal(table.X.toarray(), np.round(X))
        assert table.feature_names == ("gene0", "gene1", "gene2", "gene3")
    packed = read(path, layer="packed").X
    assert not isinstance(packed, np.memmap)
    np.testing.assert_array_equal(packed, np.arange(24.0).reshape(6, 4))
    table = read(path, obsm="X_pca")
    np.testing.assert_array_equal(table.X, X[:, :2])
    assert table.feature_names is None


def test_columns(path):
    table = read(path, id="words", drop=["kind", "depth"])
    assert (table.id_name, table.ids.tolist()[1:]) == ("words", list("bcdef"))
    assert list(table.columns) == ["batch", "maybe"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"layer": "raw"},
            "layer: .* has no 'raw' in layers. It has 'counts', 'by_gene', 'packed'|'by_gene', 'counts'",
        ),
        ({"obsm": "X_umap"}, "has no 'X_umap' in obsm. It has 'X_pca'"),
        ({"layer": "counts", "obsm": "X_pca"}, "give one of the two"),
        ({"label": "knd"}, "Did you mean 'kind'"),
        ({"id": "cell"}, "no column 'cell' in obs"),
        ({"label": "kind", "drop": "kind"}, "is the label"),
    ],
)
def test_what_is_not_there(path, options, message):
    with pytest.raises(InputError, match=message):
        read(path, **options)


def without_x(file):
    del file["X"]


def strange_matrix(file):
    file["layers/counts"].attrs["encoding-type"] = "dataframe"
    file["X2"] = file["layers/counts"]
    del file["X"]
    file.move("X2", "X")


def sparse_of_groups(file):
    del file["X"]
    part = file.create_group("X")
    part.attrs["encoding-type"] = "csr_matrix"
    for name in ("data", "indices", "indptr"):
        part.create_group(name)


def wild_indices(file):
    file["X3"] = file["layers/counts"]
    file["X3/indices"][...] = 1000
    del file["X"]
    file.move("X3", "X")


def short_column(file):
    del file["obs/depth"]
    put(file["obs"], "depth", np.zeros(3))


def wild_codes(file):
    file["obs/kind/codes"][0] = 9


def short_mask(file):
    del file["obs/maybe/mask"]
    put(file["obs/maybe"], "mask", np.zeros(3, bool))


def unknown_column(file):
    file["obs"].create_group("gone")


def group_for_codes(file):
    del file["obs/kind/codes"]
    file["obs/kind"].create_group("codes")


def old_frame(file):
    del file["obs"]
    file["obs"] = np.zeros(6, [("index", "S5")])


def short_names(file):
    del file["var/_index"]
    put(file["var"], "_index", np.array(["a"], dtype=object))


def text_matrix(file):
    del file["X"]
    put(file, "X", np.array(["a", "b"], dtype=object))


def flat_matrix(file):
    del file["X"]
    put(file, "X", np.zeros(6))


def never_written(file):
    del file["X"]
    file.create_dataset("X", (10**9, 1000), "f8", chunks=(1000, 1000))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (without_x, InputError, "has no X. Say which matrix: layer='by_gene'"),
        (strange_matrix, FormatError, "neither an array nor a sparse matrix"),
        (sparse_of_groups, FormatError, "sparse matrix is damaged"),
        (wild_indices, FormatError, "sparse matrix is damaged"),
        (short_column, FormatError, r"column 'depth' has shape \(3,\) where the matrix has 6 rows"),
        (wild_codes, FormatError, "codes beyond its 3 categories"),
        (short_mask, FormatError, "mask has another length"),
        (unknown_column, FormatError, "of a kind that is not known"),
        (group_for_codes, FormatError, "is damaged"),
        (old_frame, FormatError, "anndata before 0.7"),
        (short_names, FormatError, "names where the matrix has 4 columns"),
        (text_matrix, FormatError, "Python objects"),
        (flat_matrix, FormatError, "two dimensions"),
        (never_written, FormatError, "exhaust the memory"),
    ],
)
def test_bad_files(path, change, error, message):
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(error, match=message):
        read(path)


def test_annotations_may_be_missing(path):
    with h5py.File(path, "r+") as file:
        del file["obs"]
        del file["var/_index"]
    table = read(path)
    assert (table.ids, table.columns, table.feature_names) == (None, {}, None)
    with h5py.File(path, "r+") as file:
        del file["var"]
        del file["layers"]
        del file["X"]
    with pytest.raises(InputError, match="Say which matrix: obsm='X_pca'"):
        read(path)
    with pytest.raises(InputError, match=r"has no 'counts' in layers. It has none"):
        read(path, layer="counts")
    with h5py.File(path, "r+") as file:
        del file["obsm"]
    with pytest.raises(InputError, match="it has none"):
        read(path)


@pytest.mark.parametrize("block", [1 << 24, 64])
@pytest.mark.parametrize("length", [0, 15, 1 << 40, (1 << 64) - 16])
def test_texts_that_lead_in_circles(path, monkeypatch, length, block):
    """HDF5 follows the objects of a heap without asking whether it gets anywhere."""
    monkeypatch.setattr(hdf5, "_BLOCK", block)
    data = bytearray(path.read_bytes())
    start = data.find(b"GCOL")
    place = start + 16
    while (number := int.from_bytes(data[place : place + 2], "little")) != 0:
        place += 16 + -(-int.from_bytes(data[place + 8 : place + 16], "little") // 8) * 8
    assert number == 0, "what is not used lies at the end"
    data[place + 8 : place + 16] = length.to_bytes(8, "little")
    assert read(path).X.shape[0] > 0
    whole = path.read_bytes()
    path.write_bytes(data)
    with pytest.raises(FormatError, match=rf"its texts are damaged \(the heap at byte {start}\)"):
        read(path)
    path.write_bytes(whole[: place + 4])
    with pytest.raises(FormatError, match="damaged or cut off"):
        read(path)


def test_other_kinds_of_hdf5(path):
    data = bytearray(path.read_bytes())
    place = 14 if data[8] < 2 else 10
    data[place] = 4
    path.write_bytes(data)
    with pytest.raises(FormatError, match="a kind of HDF5 that is not read"):
        read(path)


def test_cut_files(path):
    whole = path.read_bytes()
    for length in (8, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="damaged or cut off"):
            read(path)
    path.write_bytes(b"no HDF5 at all")
    with pytest.raises(FormatError, match="is not HDF5"):
        read(path)


def test_a_matrix_beyond_the_end(path, monkeypatch):
    monkeypatch.setattr(h5ad, "check_file", lambda _: 10)
    with pytest.raises(FormatError, match="is cut off"):
        read(path)


def test_a_matrix_beyond_the_memory(path, monkeypatch):
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setattr(checks, "available_memory", lambda: 100)
    with pytest.raises(MemoryLimitError, match="Choose a smaller matrix"):
        read(path, layer="packed")


def test_without_h5py(path, monkeypatch):
    monkeypatch.setattr(h5ad, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lowdim\[h5ad\]'"):
        read(path)


def test_text_in_other_forms():
    known = "anndata" in sys.modules
    values = annotated._values(np.array([b"Zo\xc3\xab", b"a"]), "names", checks.Budget("names", 100))
    assert values.tolist() == ["Zoë", "a"]
    assert ("anndata" in sys.modules) == known


@pytest.mark.parametrize("broken", ["write", "truncate"])
def test_the_first_failure_of_the_disk_is_kept(tmp_path, broken):
    """HDF5 is told that all went well, and nothing is printed from where nobody can catch it."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with h5ad._Patient(path, "r") as file:  # nothing can be written to it
        assert (file.write(b"ab") if broken == "write" else file.truncate(3)) in (2, 0)
        first = file.failure
        assert isinstance(first, OSError)
        file.write(b"more")
        file.truncate(1)
        assert file.failure is first


def test_a_full_disk_while_hdf5_writes(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    source = tmp_path / "X.h5ad"
    with h5py.File(source, "w") as file:
        file["X"] = np.zeros((3, 4))
        file["obs/_index"] = ["a", "b", "c"]
        file["obs"].attrs["_index"] = "_index"
        file["obs"].attrs["column-order"] = np.array([], dtype="S1")

    def full(self, data):
        self.failure = OSError(28, "No space left on device")
        return len(data)

    monkeypatch.setattr(h5ad._Patient, "write", full)
    with pytest.raises(FileError, match=r"E\.h5ad: the disk is full"):
        write_embedding(tmp_path / "E.h5ad", np.ones((3, 2)), table=read(source))
    assert [entry.name for entry in tmp_path.iterdir()] == ["X.h5ad"]
