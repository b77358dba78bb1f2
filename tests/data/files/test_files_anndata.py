"""Files of anndata's own making, read; and ours, read by anndata."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim.data.files import read, write_embedding
from lowdim.errors import FormatError, InputError

X = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
CELLS, GENES = [f"cell{k}" for k in range(6)], [f"gene{k}" for k in range(4)]
NULLABLE = {"encoding-type": "nullable-string-array", "encoding-version": "0.1.0", "na-value": "NaN"}


@pytest.fixture
def annotated():
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = {
        "kind": pandas.Categorical(["T", "B", "T", "NK", None, "B"]),
        "words": ["a", "b", "c", "d", "e", "f"],
        "depth": np.arange(6) / 2,
        "maybe": pandas.array([0, None, 2, 3, 4, 5], dtype="Int64"),
    }
    made = anndata.AnnData(X, pandas.DataFrame(obs, index=CELLS), pandas.DataFrame(index=GENES))
    made.layers["counts"] = sparse.csr_matrix(np.round(X))
    made.obsm["X_pca"] = X[:, :2].astype(np.float64)
    return made


@pytest.fixture(params=[".h5ad", ".zarr"])
def path(annotated, request, tmp_path):
    pytest.importorskip({".h5ad": "h5py", ".zarr": "zarr"}[request.param])
    path = tmp_path / f"cells{request.param}"
    (annotated.write_h5ad if request.param == ".h5ad" else annotated.write_zarr)(path)
    return path


@pytest.mark.filterwarnings("ignore")  # what anndata, pandas and zarr say of each other
def test_files_of_anndata_are_read(path):
    table = read(path, label="kind")
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == tuple(GENES)
    assert table.ids.tolist() == CELLS
    assert table.labels.tolist() == ["T", "B", "T", "NK", "", "B"]
    assert table.columns["words"].tolist() == list("abcdef")
    np.testing.assert_array_equal(table.columns["depth"], np.arange(6) / 2)
    np.testing.assert_array_equal(table.columns["maybe"], [0, np.nan, 2, 3, 4, 5])
    np.testing.assert_array_equal(read(path, layer="counts").X.toarray(), np.round(X))
    np.testing.assert_array_equal(read(path, obsm="X_pca").X, X[:, :2])


@pytest.mark.filterwarnings("ignore")  # what anndata, pandas and zarr say of each other
def test_anndata_reads_what_was_added(annotated, tmp_path):
    anndata = pytest.importorskip("anndata")
    annotated.write_h5ad(tmp_path / "cells.h5ad")
    embedding, groups = X[:, :2].astype(np.float64), np.array([0, 1, 0, 2, 1, 1])
    table = read(tmp_path / "cells.h5ad")
    write_embedding(tmp_path / "new.h5ad", embedding, table=table, clusters=groups, name="isomap")
    found = anndata.read_h5ad(tmp_path / "new.h5ad")
    np.testing.assert_array_equal(found.obsm["X_isomap"], embedding)
    np.testing.assert_array_equal(found.obs["isomap_cluster"], groups)
    assert found.obs_names.tolist() == CELLS
    assert list(found.obs) == ["kind", "words", "depth", "maybe", "isomap_cluster"]


def put_nullable(group, name, words, dtype):
    """Text as anndata 0.13 writes it of pandas 3: values beside a mask."""
    part = group.create_group(name)
    part.attrs.update(NULLABLE)
    part.create_dataset("values", data=words, dtype=dtype)
    part.create_dataset("mask", data=np.zeros(len(words), bool))
    return part


@pytest.fixture
def nullable(tmp_path):
    """A file as anndata 0.13 writes it, without anndata."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        file["X"] = X
        for name, index in (("obs", CELLS), ("var", GENES)):
            frame = file.create_group(name)
            # Without columns their order is an empty list, which HDF5 keeps as numbers.
            frame.attrs.update({"encoding-type": "dataframe", "_index": "_index", "column-order": []})
            put_nullable(frame, "_index", index, h5py.string_dtype())
    return path


def test_an_index_beside_a_mask_is_read_and_written(nullable, tmp_path):
    table = read(nullable)
    assert table.ids.tolist() == CELLS
    assert table.feature_names == tuple(GENES)
    write_embedding(tmp_path / "new.h5ad", X[:, :2], table=table, clusters=np.arange(6))
    again = read(tmp_path / "new.h5ad", obsm="X_lowdim", label="lowdim_cluster")
    np.testing.assert_array_equal(again.X, X[:, :2])
    np.testing.assert_array_equal(again.labels, np.arange(6))
    with pytest.raises(InputError, match=r"has 3 rows, and .* has 6"):
        write_embedding(tmp_path / "other.h5ad", X[:3, :2], table=table)


def test_an_index_of_no_known_kind_is_refused(nullable, tmp_path):
    h5py = pytest.importorskip("h5py")
    table = read(nullable)
    with h5py.File(nullable, "r+") as file:
        del file["obs/_index/values"]
    with pytest.raises(FormatError, match="of a kind that is not known"):
        read(nullable)
    with pytest.raises(FormatError, match="of a kind that is not known"):
        write_embedding(tmp_path / "new.h5ad", X[:, :2], table=table)


def test_a_zarr_index_beside_a_mask(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.create_group(tmp_path / "cells.zarr", attributes={"encoding-type": "anndata"})
    group.create_array("X", data=X)
    for name, index in (("obs", CELLS), ("var", GENES)):
        frame = group.create_group(
            name, attributes={"encoding-type": "dataframe", "_index": "_index", "column-order": []}
        )
        part = frame.create_group("_index", attributes=NULLABLE)
        part.create_array("values", data=np.array(index, np.dtypes.StringDType()))
        part.create_array("mask", data=np.zeros(len(index), bool))
    table = read(tmp_path / "cells.zarr")
    assert table.ids.tolist() == CELLS
    assert table.feature_names == tuple(GENES)
