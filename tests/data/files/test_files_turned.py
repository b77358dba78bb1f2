"""Files whose columns are the points: tables of genes and cells, and matrices of Cell Ranger."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import io, sparse

from lowdim.data.files import read
from lowdim.data.files.turning import unique
from lowdim.errors import InputError

COUNTS = np.arange(12.0).reshape(3, 4)


def test_the_names_change_places_with_the_columns(tmp_path):
    path = tmp_path / "genes.csv"
    rows = [f"{name},{','.join(map(str, row))}" for name, row in zip(["A", "B", "A"], COUNTS, strict=True)]
    path.write_text("\n".join(["gene,c1,c2,c3,c4", *rows]) + "\n")
    table = read(path, id="gene", transpose=True)
    np.testing.assert_array_equal(table.X, COUNTS.T)
    assert table.feature_names == ("A", "B", "A-1")
    assert list(table.ids) == ["c1", "c2", "c3", "c4"]
    assert table.columns == {}
    with pytest.raises(InputError, match=r"label: with transpose the columns of .*genes\.csv are the points"):
        read(path, id="gene", label="c1", transpose=True)


def test_matrices_without_names(tmp_path):
    np.save(tmp_path / "X.npy", COUNTS)
    io.mmwrite(tmp_path / "matrix.mtx", sparse.coo_array(COUNTS))
    np.testing.assert_array_equal(read(tmp_path / "X.npy", transpose=True).X, COUNTS.T)
    turned = read(tmp_path / "matrix.mtx", transpose=True)
    assert turned.X.format == "csr"
    np.testing.assert_array_equal(turned.X.toarray(), COUNTS.T)
    assert (turned.feature_names, turned.ids) == (None, None)


def test_names_are_told_apart():
    assert unique(["a", "a-1", "a", "b", "a"]) == ["a", "a-1", "a-2", "b", "a-3"]


def test_an_annotated_file_is_not_turned(tmp_path):
    (tmp_path / "cells.h5ad").write_bytes(b"")
    with pytest.raises(
        InputError, match=r"transpose: .* is \.h5ad, to which it does not apply; it is for \.npy"
    ):
        read(tmp_path / "cells.h5ad", transpose=True)
