"""Sparse factor by dense fronts: Cholesky of a symmetric matrix, LU of one with a nearly symmetric pattern.

Neighbour graphs of high-dimensional data fill in: most of the work is in a few fronts of thousands of rows,
which LAPACK factors many times faster than a column code. Small fronts run compiled. Pivots are exchanged
within a front only, so solutions want a step of refinement; a zero pivot is a SolverFailure.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas
from scipy.sparse.linalg import spilu

from ... import kernels
from ...core import lapack
from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Integers, Sparse
from .common import SolverFailure

#: Multiply-adds of a front, and entries of a panel, from which LAPACK and BLAS beat the compiled loops. One thread of
#: them does so for smaller fronts too, by a tenth; several wait for each other, on a busy machine most of the time.
_LARGE_FRONT = 4_000_000
_LARGE_PANEL = 40_000
#: Columns up to which a solve is compiled throughout.
_NARROW = 4
#: Supernodes that one call of the compiled loops takes.
_LONG_RUN = 4096
_NO_ORDER: Integers = np.empty(0, np.int64)


class Symbolic:
    """Ordering, fronts and cost of a factor, from the pattern alone."""

    def __init__(self, matrix: Sparse) -> None:
        pattern = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        pattern = sparse.csr_array(pattern + pattern.T)
        order = _minimum_degree(pattern)
        order = order[
            kernels.spectral.elimination.postorder(
                kernels.spectral.elimination.tree(*_permuted(pattern, order)[:2])
            )
        ]
        indptr, indices, _ = _permuted(pattern, order)
        parent = kernels.spectral.elimination.tree(indptr, indices)
        counts = kernels.spectral.elimination.column_counts(indptr, indices, parent)
        starts = kernels.spectral.elimination.supernodes(parent, counts)
        bounds, rows, last_child, before = kernels.spectral.elimination.front_rows(
            indptr, indices, starts, counts
        )
        self.order: Integers = order
        self.shape = (starts, bounds, rows, last_child, before, np.empty(order.size, np.int64))
        self.widths: Integers = np.diff(starts)
        self.sizes: Integers = self.widths + np.diff(bounds)
        self.places: Integers = np.concatenate(([0], np.cumsum(self.widths * self.sizes)))
        self.stack_height = int(kernels.spectral.elimination.stack_height(bounds, last_child, before))
        below = (self.sizes - self.widths).astype(float)
        #: Multiply-adds of a Cholesky factor; an LU factor takes twice as many.
        self.work = float(np.sum(self.widths * (below * (below + self.widths) + self.widths**2 / 3.0)) / 2)
        self.entries = int(self.places[-1])

    def bytes(self, *, symmetric: bool) -> int:
        """Memory of the factor, its stack and its largest front."""
        largest = int(self.sizes.max(initial=0)) ** 2
        return 8 * (self.entries * (1 if symmetric else 2) + self.stack_height + 2 * largest)


def _minimum_degree(pattern: Sparse) -> Integers:
    """Multiple minimum degree ordering of SciPy's SuperLU, by way of an incomplete factor that drops everything."""
    size = pattern.shape[0]
    dominant = sparse.csc_array(pattern + sparse.diags_array(np.full(size, 2.0 * pattern.nnz)))
    options: Any = {"drop_tol": 1e9, "fill_factor": 1, "permc_spec": "MMD_AT_PLUS_A"}
    ordered = apart(lambda: spilu(dominant, **options, options={"SymmetricMode": True}), FACTOR * pattern.nnz)
    return np.argsort(ordered.perm_c).astype(np.int64)


def _permuted(matrix: Sparse, order: Integers) -> tuple[Integers, Integers, Floats]:
    """Compressed rows of the matrix in a new order, columns sorted."""
    moved = sparse.csr_array(matrix[order][:, order])
    moved.sort_indices()
    return moved.indptr.astype(np.int64), moved.indices.astype(np.int64), moved.data


class Multifrontal:
    """Factor of a matrix over dense fronts."""

    name = "multifrontal"

    def __init__(self, matrix: Sparse, symbolic: Symbolic, *, symmetric: bool) -> None:
        self._symbolic, self._symmetric = symbolic, symmetric
        self._lower = np.empty(symbolic.entries)
        self._upper = self._lower if symmetric else np.empty(symbolic.entries)
        self._order = _NO_ORDER if symmetric else np.arange(symbolic.order.size)
        rows_of = _permuted(matrix, symbolic.order)
        columns_of = rows_of if symmetric else _permuted(sparse.csr_array(matrix.T), symbolic.order)
        stack = np.empty(symbolic.stack_height)
        offsets = np.zeros(symbolic.widths.size, np.int64)
        panels = (self._lower, self._upper, symbolic.places, self._order)
        state = (symbolic.shape, rows_of, columns_of, stack, offsets)
        top = 0
        for first, last, large in _runs(symbolic.widths * symbolic.sizes**2 > _LARGE_FRONT):
            if not large:
                top = kernels.spectral.multifrontal.factor_run(first, last, *state, top, panels, symmetric)
                if top < 0:
                    raise SolverFailure(_FAILED)
                continue
            for s in range(first, last):
                front, top = kernels.spectral.multifrontal.assemble(s, *state, top, symmetric)
                if s + 1 == symbolic.widths.size:
                    # The last front is the largest, and nothing waits on the stack any more.
                    del stack, state
                left = self._cholesky(s, front) if symmetric else self._lu(s, front)
                if left.size:
                    offsets[s] = top
                    stack[top : top + left.size] = left.ravel()
                    top += left.size
        self._solve_runs = list(_runs(symbolic.widths * symbolic.sizes > _LARGE_PANEL))

    def _panel(self, panel: Floats, s: int) -> Floats:
        places, width = self._symbolic.places, self._symbolic.widths[s]
        return panel[places[s] : places[s + 1]].reshape(-1, width)

    def _cholesky(self, s: int, front: Floats) -> Floats:
        """Factor a large front into its panel and return what is left, in its lower triangle."""
        width = self._symbolic.widths[s]
        panel = self._panel(self._lower, s)
        panel[:width] = front[:width, :width]
        if lapack.cholesky(panel[:width].T):
            raise SolverFailure(_FAILED)
        for row in range(width):
            panel[row, row + 1 :] = 0.0
        left = np.ascontiguousarray(front[width:, width:])
        if left.size:
            below = np.ascontiguousarray(front[width:, :width])
            lapack.solve_triangular(panel[:width].T, below.T, transposed=True)
            panel[width:] = below
            lapack.subtract_square(panel[width:].T, left.T)
        return left

    def _lu(self, s: int, front: Floats) -> Floats:
        """Factor a large front into its two panels and return what is left."""
        begin, width = self._symbolic.shape[0][s], self._symbolic.widths[s]
        factors = np.asfortranarray(front[:width, :width])
        swaps, info = lapack.lu(factors)
        if info:
            raise SolverFailure(_FAILED)
        order = np.arange(width)
        for k, other in enumerate(swaps):
            order[k], order[other] = order[other], order[k]
        self._order[begin : begin + width] = order
        lower, upper = self._panel(self._lower, s), self._panel(self._upper, s)
        # In place: the triangles of a root of thousands of rows are too large for copies of their own.
        kernels.spectral.multifrontal.split_factors(factors.T, lower[:width], upper[:width])
        left = np.ascontiguousarray(front[width:, width:])
        if left.size:
            below = np.ascontiguousarray(front[width:, :width])
            lapack.solve_triangular(factors, below.T, transposed=True)
            lower[width:] = below
            beside = np.asfortranarray(front[:width, width:][order])
            lapack.solve_triangular(factors, beside, lower=True, unit=True)
            upper[width:] = beside.T
            lapack.subtract_product(upper[width:].T, lower[width:].T, left.T)
        return left

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        X = self._permuted(B)
        self._forward(self._lower, X, self._order)
        self._backward(self._upper, X, _NO_ORDER)
        return self._unpermuted(X, B.shape[1])

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        X = self._permuted(B)
        self._forward(self._upper, X, _NO_ORDER)
        self._backward(self._lower, X, self._order)
        return self._unpermuted(X, B.shape[1])

    def _permuted(self, B: Floats) -> Floats:
        """Columns as rows, in the order of the factor; one of zeros more where they are odd."""
        X = np.zeros((B.shape[1] + B.shape[1] % 2, B.shape[0]))
        X[: B.shape[1]] = B[self._symbolic.order].T
        return X

    def _unpermuted(self, X: Floats, columns: int) -> Floats:
        out = np.empty((X.shape[1], columns))
        out[self._symbolic.order] = X[:columns].T
        return out

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
                Y = blas.dtrsm(1.0, block[: end - begin].T, Y, lower=0, trans_a=1)
                X[:, begin:end] = Y.T
                X[:, rows[bounds[s] : bounds[s + 1]]] -= (block[end - begin :] @ Y).T

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
                Y = X[:, begin:end].T - block[end - begin :].T @ X[:, rows[bounds[s] : bounds[s + 1]]].T
                Y = blas.dtrsm(1.0, block[: end - begin].T, Y, lower=0)
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
