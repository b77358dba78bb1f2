"""Matrix Market: sparse and dense, packed and not; headers that lie are refused before memory is taken."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.io import mmwrite

from lowdim.data.files import read
from lowdim.errors import FormatError

BANNER = "%%MatrixMarket matrix coordinate real general\n"


@given(
    matrix=arrays.arrays(
        "float64",
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.sampled_from([0.0, 0.1, -2e-300]),
    ),
    is_sparse=st.booleans(),
    packed=st.booleans(),
)
def test_round_trip(matrix, is_sparse, packed, tmp_path_factory):
    path = tmp_path_factory.mktemp("mtx") / "X.mtx"
    mmwrite(path, sparse.coo_array(matrix) if is_sparse else matrix, precision=17, symmetry="general")
    if packed:
        packed_path = path.with_suffix(".mtx.gz")
        packed_path.write_bytes(gzip.compress(path.read_bytes()))
        path = packed_path
    X = read(path).X
    assert isinstance(X, sparse.csr_array) == is_sparse
    np.testing.assert_array_equal(X.toarray() if is_sparse else X, matrix)


def test_other_kinds(tmp_path):
    path = tmp_path / "X.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n% about\n2 2 2\n1 1\n2 1\n")
    np.testing.assert_array_equal(read(path).X.toarray(), [[1, 1], [1, 0]])
    path.write_text(BANNER + "2 2 3\n1 1 1\n1 1 2\n2 1 5")
    X = read(path).X
    np.testing.assert_array_equal(X.toarray(), [[3, 0], [5, 0]])
    assert X.has_canonical_format


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BANNER + "2 2 2\n1 1 1\n", "damaged or cut off"),
        (BANNER + "2 2 1\n9 9 1\n", "damaged or cut off"),
        (BANNER + "2 2 1\n1 x 1\n", "damaged or cut off"),
        (BANNER + "2 2\n", "damaged or cut off"),
        (BANNER, "damaged or cut off"),
        ("%%MatrixMarket matrix nonsense\n2 2 1\n", "damaged or cut off"),
        (BANNER + "2 2 1000000000000\n1 1 1\n", "declares 1000000000000 entries"),
        (BANNER + "1000000000000000 2 1\n1 1 1\n", "exhaust the memory"),
        (BANNER + "0 2 0\n", "declares the shape"),
        ("%%MatrixMarket matrix array real general\n100000 100000\n1\n", "declares 10000000000 entries"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "complex numbers"),
        ("1,2,3\n", "does not begin like one"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "X.mtx"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"X\.mtx: .*{message}"):
        read(path)


def test_packed_files_that_are_damaged(tmp_path):
    path = tmp_path / "X.mtx.gz"
    packed = gzip.compress((BANNER + "2 2 1\n1 1 1\n").encode())
    for content in (packed[:-9], packed[:20], packed[:11] + b"????" + packed[15:]):
        path.write_bytes(content)
        with pytest.raises(FormatError, match="damaged or cut off"):
            read(path)
    path.write_text(BANNER + "2 2 1\n1 1 1\n")
    with pytest.raises(FormatError, match=r"is not gzip.*looks like Matrix Market"):
        read(path)
