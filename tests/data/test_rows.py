"""Rows over what a caller may not let anybody write to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim.data.rows import Rows


@pytest.mark.parametrize("locked", [("data",), ("indptr",), ("data", "indices", "indptr")])
def test_sparse_rows_whose_parts_are_read_only(locked):
    """Kernels see ordinary arrays over the same memory; the caller's stay locked, and nothing is copied."""
    wide = np.random.default_rng(0).random((6, 5)).round()
    given = sparse.csr_array(wide)
    for name in locked:
        getattr(given, name).flags.writeable = False
    held = Rows(given).values
    assert np.array_equal(held.toarray(), wide)
    assert all(part.flags.writeable for part in (held.data, held.indices, held.indptr))
    assert np.shares_memory(held.data, given.data)
    assert not any(getattr(given, name).flags.writeable for name in locked)
