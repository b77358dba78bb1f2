"""A dense Cholesky factor in block columns: half the memory of a square, and the matrix itself is never there whole.

M = LL' from left to right (Golub & Van Loan 2013, algorithm 4.2.2 by blocks): a block column of M is made, the columns
of L to its left are taken off, its own pivots are eliminated, and what lies above them was never made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import blas, lapack

from ...core.parallel import row_blocks
from ...core.records import Floats

WIDTH = 512
"""Columns of a block."""
NARROW = 4
"""Columns up to which products go faster one by one."""
_ROUNDS = 5
"""Of the search for a column of the inverse that is large: LAPACK's."""

BlockColumn = Callable[[slice], Floats]
"""Makes some columns of a symmetric matrix, from their first diagonal entry down, in an array that may be overwritten.
Above the diagonal nothing is read."""


class BlockCholesky:
    """M = LL' of a symmetric positive definite matrix; a LinAlgError where it is not one.

    Parameters
    ----------
    size
        Rows of the matrix.
    column
        Makes its block columns, each once, from left to right.
    """

    def __init__(self, size: int, column: BlockColumn) -> None:
        self._parts = list(row_blocks(size, WIDTH))
        self._pivots: list[Floats] = []
        self._below: list[Floats] = []
        sums = np.zeros(size)
        for part in self._parts:
            panel, width = column(part), part.stop - part.start
            half = np.abs(np.tril(panel[:width]))
            sums[part] += half.sum(axis=0) + half.sum(axis=1) - half.diagonal()
            below = np.abs(panel[width:])
            sums[part] += below.sum(axis=0)
            sums[part.stop :] += below.sum(axis=1)
            del below
            for before, left in zip(self._parts, self._below, strict=False):
                rows = left[part.start - before.stop :]
                panel -= rows @ rows[:width].T
            pivots, info = lapack.dpotrf(panel[:width], lower=1)
            if info or not np.isfinite(pivots.diagonal()).all():
                raise LinAlgError("the matrix is not positive definite")
            self._pivots.append(pivots)
            self._below.append(blas.dtrsm(1.0, pivots, panel[width:], side=1, lower=1, trans_a=1))
        self._norm = float(sums.max(initial=0.0))

    @property
    def size(self) -> int:
        """Rows of the matrix."""
        return self._parts[-1].stop if self._parts else 0

    def solve(self, Y: Floats) -> Floats:
        """L^-1 Y."""
        X = np.array(Y, order="F")
        for part, pivots, below in zip(self._parts, self._pivots, self._below, strict=True):
            X[part] = _triangular(pivots, X[part], transposed=False)
            X[part.stop :] -= times(below, X[part])
        return X

    def solve_transposed(self, Y: Floats) -> Floats:
        """L^-T Y."""
        X = np.array(Y, order="F")
        for part, pivots, below in reversed(list(zip(self._parts, self._pivots, self._below, strict=True))):
            X[part] -= times(below.T, X[part.stop :])
            X[part] = _triangular(pivots, X[part], transposed=True)
        return X

    def reciprocal_condition(self) -> float:
        """1 / (|M| |M^-1|) in the norm of column sums, about: |M^-1| by a few solves (Higham 1988, algorithm 4.1)."""

        def inverse(x: Floats) -> Floats:
            return np.asarray(self.solve_transposed(self.solve(x[:, None])))[:, 0]

        size = self.size
        x, largest = np.full(size, 1.0 / size), 0.0
        for _ in range(_ROUNDS):
            y = inverse(x)
            found = float(np.abs(y).sum())
            if found <= largest:
                break
            largest = found
            slope = inverse(np.where(y < 0, -1.0, 1.0))
            steepest = int(np.argmax(np.abs(slope)))
            if np.abs(slope[steepest]) <= slope @ x:
                break
            x = np.zeros(size)
            x[steepest] = 1.0
        # Where the search was led astray, signs that alternate and grow seldom are.
        astray = np.where(np.arange(size) % 2, -1.0, 1.0) * np.linspace(1.0, 2.0, size)
        largest = max(largest, 2.0 * float(np.abs(inverse(astray)).sum()) / (3.0 * size))
        return 1.0 / (self._norm * largest) if self._norm * largest > 0 else 0.0


def _triangular(pivots: Floats, Y: Floats, *, transposed: bool) -> Floats:
    """L^-1 Y, or L^-T Y, of a block on the diagonal."""
    if Y.shape[1] > NARROW:
        return np.asarray(blas.dtrsm(1.0, pivots, Y, lower=1, trans_a=int(transposed)))
    columns = [blas.dtrsv(pivots, column, lower=1, trans=int(transposed)) for column in Y.T]
    return np.stack(columns, axis=1) if columns else Y


def times(matrix: Floats, X: Floats) -> Floats:
    """Their product; the columns of a narrow X one by one."""
    if X.shape[1] > NARROW:
        return np.asarray(matrix @ X)
    columns = [matrix @ column for column in np.ascontiguousarray(X.T)]
    return np.stack(columns, axis=1) if columns else np.zeros((matrix.shape[0], 0))
