"""Zarr: an array, a group of arrays, and AnnData's groups."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.data.files import read
from lowdim.data.files import zarr as reader
from lowdim.errors import FileError, FormatError, InputError, MissingExtraError

zarr = pytest.importorskip("zarr")

X = np.random.default_rng(0).standard_normal((6, 4))


@pytest.mark.parametrize("version", [2, 3])
def test_arrays(tmp_path, version):
    path = tmp_path / "X.zarr"
    zarr.create_array(path, data=X.astype(np.float32), chunks=(4, 3), zarr_format=version)
    table = read(path)
    np.testing.assert_array_equal(table.X, X.astype(np.float32))
    assert table.X.dtype == np.float32
    assert table.source == str(path)
    with pytest.raises(InputError, match=r"key: .* is one array"):
        read(path, key="X")


def test_groups(tmp_path):
    path = tmp_path / "X.zarr"
    group = zarr.create_group(path)
    with pytest.raises(InputError, match="with the arrays none"):
        read(path)
    group.create_array("first", data=X)
    np.testing.assert_array_equal(read(path).X, X)
    group.create_array("second", data=2 * X)
    with pytest.raises(InputError, match=r"key: .*'first'.*Say which"):
        read(path)
    np.testing.assert_array_equal(read(path, key="second").X, 2 * X)


def test_annotated_groups(tmp_path):
    path = tmp_path / "cells.zarr"
    group = zarr.create_group(path, attributes={"encoding-type": "anndata"})
    matrix = sparse.csr_array(np.round(X))
    part = group.create_group("X", attributes={"encoding-type": "csr_matrix", "shape": list(matrix.shape)})
    for name in ("data", "indices", "indptr"):
        part.create_array(name, data=getattr(matrix, name))
    frame = {"encoding-type": "dataframe", "_index": "_index", "column-order": ["depth"]}
    obs = group.create_group("obs", attributes=frame)
    obs.create_array("_index", data=np.array([f"cell{k}" for k in range(6)], np.dtypes.StringDType()))
    obs.create_array("depth", data=np.arange(6))
    group.create_group("obsm").create_array("X_pca", data=X)
    table = read(path, label="depth")
    np.testing.assert_array_equal(table.X.toarray(), np.round(X))
    assert table.ids.tolist() == [f"cell{k}" for k in range(6)]
    np.testing.assert_array_equal(table.labels, np.arange(6))
    np.testing.assert_array_equal(read(path, obsm="X_pca").X, X)


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_that_nobody_wrote_are_not_looked_for_one_by_one(tmp_path, version):
    path = tmp_path / "X.zarr"
    zarr.create_array(path, shape=(1000, 1000), chunks=(1, 1), dtype="float64", zarr_format=version)
    for opening in (read, lowdim.shards):
        with pytest.raises(FormatError, match="declares 1,000,000 chunks but stores"):
            opening(path)


def test_bad_ones(tmp_path, monkeypatch):
    path = tmp_path / "X.zarr"
    with pytest.raises(FileError, match="does not exist"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(FileError, match="is no folder"):
        read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(FormatError, match="is no zarr, or is damaged"):
        read(path)
    zarr.create_array(path, data=X, zarr_format=3, overwrite=True)
    metadata = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(metadata | {"data_type": "nonsense"}))
    with pytest.raises(FormatError, match="is no zarr, or is damaged"):
        read(path)
    (path / "zarr.json").write_text("{")
    with pytest.raises(FormatError, match="is no zarr, or is damaged"):
        read(path)
    monkeypatch.setattr(reader, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lowdim\[zarr\]'"):
        read(path)
