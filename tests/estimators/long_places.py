"""Sparse matrices as estimators hold them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array


def long_graph(given) -> csr_array:
    """A sparse matrix with places of 64 bits, for which kernels are compiled; SciPy takes 32 for small ones."""
    W = csr_array(given)
    W.indptr, W.indices = W.indptr.astype(np.int64), W.indices.astype(np.int64)
    return W
