"""Sparse factor by dense fronts: Cholesky of a symmetric matrix, LU of one with a nearly symmetric pattern.

Neighbour graphs of high-dimensional data fill in: most of the work is in a few fronts of thousands of rows,
which LAPACK factors many times faster than a column code. Small fronts run compiled. Pivots are exchanged
within a front only, so solutions want a step of refinement; a zero pivot is a SolverFailure.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from ... import kernels
from ...core import lapack
from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Integers, Sparse
from ...kernels.vectors import EIGHT
from ...spectral.operators import narrowed
from .common import SolverFailure

#: Multiply-adds of a front, and entries of a panel, from which LAPACK and BLAS are asked: one thread of them is no
#: quicker than the compiled loops, and several wait for each other, on a busy machine most of the time.
_LARGE_FRONT = 1_000_000_000
_LARGE_PANEL = 40_000
#: Columns up to which a solve is compiled throughout.
_NARROW = 4
#: Supernodes that one call of the compiled loops takes.
_LONG_RUN = 4096
_NO_ORDER: Integers = np.empty(0, np.int64)


class Symbolic:
    """Ordering, fronts and cost of a factor, from the pattern alone: that of A + A' where A is not symmetric."""

    def __init__(self, matrix: Sparse, *, symmetric: bool) -> None:
        # Places of 64 bits, as SciPy's own products may give them, would have every kernel compiled once more.
        pattern = narrowed(matrix) if symmetric else matrix
        if not symmetric:
            ones = np.ones(matrix.nnz, np.int8)
            one_way = sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
            pattern = sparse.csr_array(one_way + one_way.transpose())
        symbolic, given = kernels.spectral.elimination, (pattern.indptr, pattern.indices, np.empty(0))
        order = _minimum_degree(pattern)
        order = order[symbolic.postorder(symbolic.tree(*symbolic.reordered(*given, order)[:2]))]
        indptr, indices, _ = symbolic.reordered(*given, order)
        parent = symbolic.tree(indptr, indices)
        counts = symbolic.column_counts(indptr, indices, parent)
        starts = symbolic.supernodes(parent, counts)
        bounds, rows, last_child, before = symbolic.front_rows(indptr, indices, starts, counts)
        self.order: Integers = order
        self.widths: Integers = np.diff(starts)
        self.sizes: Integers = self.widths + np.diff(bounds)
        strides = -(-self.sizes // EIGHT) * EIGHT
        self.shape = (starts, bounds, rows, last_child, before, np.empty(order.size, np.int64), strides)
        self.places: Integers = np.concatenate(([0], np.cumsum(self.widths * strides)))
        self.stack_height = int(symbolic.stack_height(bounds, last_child, before))
        below = (self.sizes - self.widths).astype(float)
        #: Multiply-adds of a Cholesky factor; an LU factor takes twice as many.
        self.work = float(np.sum(self.widths * (below * (below + self.widths) + self.widths**2 / 3.0)) / 2)
        self.entries = int(self.places[-1])

    def bytes(self, *, symmetric: bool) -> int:
        """Memory of the factor, its stack and its largest front."""
        largest = int(self.sizes.max(initial=0)) ** 2
        return 8 * (self.entries * (1 if symmetric else 2) + self.stack_height + 2 * largest)


def _minimum_degree(pattern: Sparse) -> Integers:
    """Order of approximate minimum degree; points with very many neighbours come last (Amestoy et al. 1996)."""
    most = max(16, int(10 * np.sqrt(pattern.shape[0])))
    order: Integers = apart(
        lambda: kernels.spectral.ordering.minimum_degree(pattern.indptr, pattern.indices, most),
        FACTOR * pattern.nnz,
    )
    return order


class Multifrontal:
    """Factor of a matrix over dense fronts."""

    name = "multifrontal"

    def __init__(self, matrix: Sparse, symbolic: Symbolic, *, symmetric: bool) -> None:
        fronts, reordered = kernels.spectral.multifrontal, kernels.spectral.elimination.reordered
        matrix = narrowed(matrix) if symmetric else matrix
        self._symbolic = symbolic
        self._upper = np.empty(symbolic.entries)
        self._lower = self._upper if symmetric else np.empty(symbolic.entries)
        self._order = _NO_ORDER if symmetric else np.arange(symbolic.order.size)
        self._place = np.empty_like(symbolic.order)
        self._place[symbolic.order] = np.arange(symbolic.order.size)
        columns_of = reordered(matrix.indptr, matrix.indices, matrix.data, symbolic.order)
        rows_of = columns_of
        if not symmetric:
            other = sparse.csr_array(matrix.T)
            rows_of = reordered(other.indptr, other.indices, other.data, symbolic.order)
        stack = np.empty(symbolic.stack_height)
        offsets = np.zeros(symbolic.widths.size, np.int64)
        panels = (self._lower, self._upper, symbolic.places, self._order)
        state = (symbolic.shape, rows_of, columns_of, stack, offsets)
        top = 0
        for first, last, large in _runs(symbolic.widths * symbolic.sizes**2 > _LARGE_FRONT):
            if not large:
                top = fronts.factor_run(first, last, *state, top, panels, symmetric)
                if top < 0:
                    raise SolverFailure(_FAILED)
                continue
            for s in range(first, last):
                front = np.empty((symbolic.sizes[s], symbolic.shape[6][s]))
                top = fronts.assemble(s, *state, top, front, symmetric)
                self._eliminate(s, front)
                offsets[s] = top
                top = fronts.keep(s, symbolic.shape, front, panels, stack, top, symmetric)
        self._solve_runs = list(_runs(symbolic.widths * symbolic.sizes > _LARGE_PANEL))

    def _panel(self, panel: Floats, s: int) -> Floats:
        places, width, size = self._symbolic.places, self._symbolic.widths[s], self._symbolic.sizes[s]
        return panel[places[s] : places[s + 1]].reshape(width, -1)[:, :size]

    def _eliminate(self, s: int, front: Floats) -> None:
        """The pivots of a large front by LAPACK, in place."""
        begin, width = self._symbolic.shape[0][s], int(self._symbolic.widths[s])
        if self._order is _NO_ORDER:
            if not lapack.eliminate_symmetric(front, width):
                raise SolverFailure(_FAILED)
            return
        order = lapack.eliminate(front, width)
        if order is None:
            raise SolverFailure(_FAILED)
        self._order[begin : begin + width] = order

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        X = self._permuted(B)
        self._forward(self._lower, X, _NO_ORDER)
        self._backward(self._upper, X, self._order)
        return self._unpermuted(X, B.shape[1])

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        X = self._permuted(B)
        self._forward(self._upper, X, self._order)
        self._backward(self._lower, X, _NO_ORDER)
        return self._unpermuted(X, B.shape[1])

    def _permuted(self, B: Floats) -> Floats:
        """Columns as rows, in the order of the factor; one of zeros more where they are odd."""
        X = np.zeros((B.shape[1] + B.shape[1] % 2, B.shape[0]))
        # Along rows: NumPy takes ten times as long to pick rows of two numbers.
        np.take(np.ascontiguousarray(B.T), self._symbolic.order, axis=1, out=X[: B.shape[1]], mode="clip")
        return X

    def _unpermuted(self, X: Floats, columns: int) -> Floats:
        return np.take(X[:columns], self._place, axis=1).T

    def _runs_for(self, X: Floats) -> list[tuple[int, int, bool]]:
        """All compiled for few columns: their time is that of reading the panels, which BLAS takes several of."""
        return self._solve_runs if X.shape[0] > _NARROW else [(0, self._symbolic.widths.size, False)]

    def _forward(self, panel: Floats, X: Floats, order: Integers) -> None:
        shape, places = self._symbolic.shape, self._symbolic.places
        starts, bounds, rows = shape[:3]
        for first, last, large in self._runs_for(X):
            if not large:
                kernels.spectral.multifrontal.forward_run(first, last, shape, panel, places, X, order)
                continue
            for s in range(first, last):
                begin, end = starts[s], starts[s + 1]
                block = self._panel(panel, s)
                Y = X[:, begin:end].T
                if order.size:
                    Y = Y[order[begin:end]]
                Y = blas.dtrsm(1.0, block[:, : end - begin].T, Y, lower=1)
                X[:, begin:end] = Y.T
                X[:, rows[bounds[s] : bounds[s + 1]]] -= Y.T @ block[:, end - begin :]

    def _backward(self, panel: Floats, X: Floats, order: Integers) -> None:
        shape, places = self._symbolic.shape, self._symbolic.places
        starts, bounds, rows = shape[:3]
        for first, last, large in reversed(self._runs_for(X)):
            if not large:
                kernels.spectral.multifrontal.backward_run(first, last, shape, panel, places, X, order)
                continue
            for s in range(last - 1, first - 1, -1):
                begin, end = starts[s], starts[s + 1]
                block = self._panel(panel, s)
                Y = X[:, begin:end].T - block[:, end - begin :] @ X[:, rows[bounds[s] : bounds[s + 1]]].T
                Y = blas.dtrsm(1.0, block[:, : end - begin].T, Y, lower=1, trans_a=1)
                if order.size:
                    X[:, begin + order[begin:end]] = Y.T
                else:
                    X[:, begin:end] = Y.T


_FAILED = "a pivot of the sparse factor is zero, or negative where the matrix should be positive definite"


def _runs(large: np.typing.NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Runs of supernodes of one kind, as (first, last, large), short enough for an interrupt to come between."""
    ends = np.concatenate(
        (np.arange(0, large.size, _LONG_RUN), np.flatnonzero(np.diff(large)) + 1, [large.size])
    )
    edges = np.unique(ends)
    return [(int(a), int(b), bool(large[a])) for a, b in pairwise(edges)]
