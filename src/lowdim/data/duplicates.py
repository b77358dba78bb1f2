"""Equal rows, found by hash and verified."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .. import kernels
from ..core.parallel import map_blocks
from ..core.records import Duplicates, Integers
from .rows import Rows

Words = NDArray[np.uint64]


def find_duplicates(rows: Rows, *, n_jobs: int | None = None) -> Duplicates:
    """Groups of equal rows, numbered by their first row; -0.0 equals 0.0.

    A 64-bit hash of each row picks the candidates, a comparison of the rows themselves decides, so that the
    work grows linearly with the data.
    """
    source = Rows(_canonical(rows.values)) if isinstance(rows.values, csr_array) else rows
    size = max(256, (1 << 22) // max(1, _row_bytes(source)))
    parts = map_blocks(lambda part: _hash(source, part), source.n_rows, n_jobs=n_jobs, block_rows=size)
    hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
    leader = _first_of_equal(hashes)
    later = np.flatnonzero(leader != np.arange(leader.size))
    while later.size:
        wrong = later[~_equal(source, later, leader[later])]
        # Rows that share a hash and yet differ are compared again among themselves.
        leader[wrong] = wrong[_first_of_equal(leader[wrong])]
        later = wrong[leader[wrong] != wrong]
    first, group, copies = np.unique(leader, return_inverse=True, return_counts=True)
    return Duplicates(first, group, copies.astype(np.float64))


def _first_of_equal(keys: NDArray[Any]) -> Integers:
    """For each key the place of its first occurrence."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def _hash(rows: Rows, part: slice) -> Words:
    out = np.empty(part.stop - part.start, np.uint64)
    if isinstance(rows.values, csr_array):
        graph = rows.values[part]
        kernels.neighbors.hashing.sparse_rows(
            graph.indptr, graph.indices, _as_words(graph.data[:, None])[:, 0], out
        )
    else:
        kernels.neighbors.hashing.dense_rows(_as_words(rows.values[part]), out)
    return out


def _as_words(block: NDArray[Any]) -> Words:
    """The bytes of each row as 64-bit words, padded with zeros, with every zero written the same way."""
    if block.dtype.kind == "f":
        block = block + block.dtype.type(0)
    block = np.ascontiguousarray(block)
    width = block.shape[1] * block.dtype.itemsize
    raw = block.view(np.uint8).reshape(block.shape[0], width)
    if width % 8:
        padded = np.zeros((raw.shape[0], -(-width // 8) * 8), np.uint8)
        padded[:, :width] = raw
        raw = padded
    return raw.view(np.uint64)


def _equal(rows: Rows, left: Integers, right: Integers) -> NDArray[np.bool_]:
    """Whether pairs of rows are equal, some pairs at a time."""
    out = np.empty(left.size, np.bool_)
    size = max(1, (1 << 22) // max(1, _row_bytes(rows)))
    for start in range(0, left.size, size):
        mine, other = rows.values[left[start : start + size]], rows.values[right[start : start + size]]
        if isinstance(mine, csr_array):
            unequal: Any = mine != other
            out[start : start + size] = np.diff(csr_array(unequal).indptr) == 0
        else:
            out[start : start + size] = (mine == other).all(axis=1)
    return out


def _row_bytes(rows: Rows) -> int:
    if isinstance(rows.values, csr_array):
        return 16 * rows.values.nnz // max(1, rows.n_rows)
    return rows.n_columns * rows.values.dtype.itemsize


def _canonical(values: csr_array) -> csr_array:
    """Sorted columns, no repeated entries, no stored zeros, without a copy where all of this holds already."""
    if values.has_canonical_format and values.data.all():
        return values
    values = values.copy()
    values.sum_duplicates()
    values.eliminate_zeros()
    return values
