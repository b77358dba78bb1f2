"""Embeddings that lowdim or others wrote."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from lowdim.data.files import read_embedding
from lowdim.errors import FormatError, InputError


@pytest.mark.parametrize(
    ("header", "coordinates", "ids", "others"),
    [
        ("id,x,y,cluster,kind", [1, 2], 0, ["cluster", "kind"]),
        ("kind,X,Y,Z", [1, 2, 3], None, ["kind"]),
        ("x,kind", [0], None, ["kind"]),
        ("x3,x1,x2,x4,kind", [1, 2, 0, 3], None, ["kind"]),
        (",UMAP_1,UMAP_2,cluster", [1, 2], 0, ["cluster"]),
        ("depth,tSNE1,tSNE2,kind", [1, 2], None, ["depth", "kind"]),
        ("left,right,cluster,kind", [0, 1], None, ["cluster", "kind"]),
        ("a,b,id", [0, 1], 2, []),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_coordinates_are_found(tmp_path, header, coordinates, ids, others, suffix):
    names = header.split(",")
    path = tmp_path / f"E{suffix}"
    columns = [["T", "B"] if name == "kind" else [k + 0.5, k + 10] for k, name in enumerate(names)]
    if suffix == ".csv":
        rows = zip(*columns, strict=True)
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    else:
        parquet.write_table(pa.table(columns, names=names), path)
    embedding, table = read_embedding(path)
    np.testing.assert_array_equal(embedding, np.transpose([columns[k] for k in coordinates]))
    assert embedding.flags.c_contiguous
    assert (table.ids is None) == (ids is None)
    assert list(table.columns) == others
    assert table.label is None


def test_bare_numbers(tmp_path):
    E = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    np.save(tmp_path / "E.npy", E)
    embedding, _ = read_embedding(tmp_path / "E.npy")
    assert embedding.dtype == np.float64
    assert not isinstance(embedding, np.memmap)
    np.testing.assert_array_equal(embedding, E)
    np.savez(tmp_path / "E.npz", first=E, second=2 * E)
    np.testing.assert_array_equal(read_embedding(tmp_path / "E.npz", key="second")[0], 2 * E)
    np.savetxt(tmp_path / "E.txt", E)
    np.testing.assert_array_equal(read_embedding(tmp_path / "E.txt")[0], E)


def test_annotated(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "E.h5ad"
    E = np.arange(6.0).reshape(3, 2)
    with h5py.File(path, "w") as file:
        file["obsm/X_umap"] = E
    np.testing.assert_array_equal(read_embedding(path)[0], E)
    with h5py.File(path, "r+") as file:
        file["obsm/X_pca"] = 2 * E
    with pytest.raises(InputError, match=r"obsm 'X_pca', 'X_umap'. Say which"):
        read_embedding(path)
    np.testing.assert_array_equal(read_embedding(path, key="X_pca")[0], 2 * E)
    with h5py.File(path, "r+") as file:
        file["obsm/X_lowdim"] = 3 * E
    np.testing.assert_array_equal(read_embedding(path)[0], 3 * E)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_positions_that_are_none(tmp_path, value):
    E = np.zeros((5, 2))
    E[3:, 1] = value
    np.save(tmp_path / "E.npy", E)
    with pytest.raises(
        FormatError, match=f"2 points have no finite position, the first is row 3, coordinate 1.*{value}"
    ):
        read_embedding(tmp_path / "E.npy")
    (tmp_path / "E.csv").write_text("x,y\n1,2\n1,nan\n")
    with pytest.raises(FormatError, match="missing in column 'y', the first at line 3"):
        read_embedding(tmp_path / "E.csv")


def test_no_embedding(tmp_path):
    sparse.save_npz(tmp_path / "E.npz", sparse.eye_array(3, format="csr"))
    with pytest.raises(FormatError, match="sparse matrix, no embedding"):
        read_embedding(tmp_path / "E.npz")
    (tmp_path / "E.csv").write_text("name,kind\na,b\n")
    with pytest.raises(FormatError, match=r"no coordinates.*'name', 'kind'"):
        read_embedding(tmp_path / "E.csv")
