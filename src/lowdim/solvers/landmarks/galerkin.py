"""A spectral problem restricted to the span of landmark weights: A~ = Z'AZ, B~ = Z'BZ, over blocks of points.

min tr X'AX s.t. X'BX = I with X = Z X~ (Vladymyrov & Carreira-Perpinan 2013, eq. 3). No N x L array is made, and no
sum depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...core.parallel import row_blocks
from ...core.records import Floats, Integers, Operator, Problem, Sparse
from ...core.run import Run
from ...spectral.operators import CenteredGram, Explicit, GramRows, Laplacian, Normal, narrowed
from . import products
from .products import Carriers

#: Bytes of the columns that are taken at once where Z is dense, or A is known by its products alone.
_CHUNK_BYTES = 128_000_000


@dataclass(frozen=True, slots=True)
class UpperTriangle:
    """A sparse symmetric matrix of which only the upper triangle, with the diagonal, is held (CSR)."""

    half: Sparse

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        return self.half.shape

    def diagonal(self) -> Floats:
        """Its diagonal."""
        return self.half.diagonal()

    def sum(self) -> float:
        """Of the entries that are held: not finite where one of them is not."""
        return float(self.half.sum())

    def times(self, X: Floats) -> Floats:
        """The whole matrix times a block of columns."""
        return np.asarray(self.half @ X + self.half.T @ X) - self.diagonal()[:, None] * X

    def among(self, kept: Integers) -> UpperTriangle:
        """The rows and columns with these numbers, rising."""
        return UpperTriangle(sparse.csr_array(self.half[kept][:, kept]))

    def rows(self, part: slice) -> Floats:
        """Some rows from the first of them on to the right, dense; what is held of them."""
        return np.asarray(self.half[part].toarray()[:, part.start :])

    def dense(self) -> Floats:
        """The whole matrix."""
        out: Floats = self.half.T.toarray(order="C")
        products.mirror(out)
        return out


@dataclass(frozen=True, slots=True)
class Reduced:
    """A~ = Z'AZ and B~ = Z'BZ (L x L, symmetric), and ``constraint`` = Z'B T (L x t).

    The matrices are dense; those of very many landmarks, summed by edges, may be sparse. X = Z X~ is B-orthogonal to
    the trivial solutions T where constraint' X~ = 0.
    """

    A: Floats | UpperTriangle
    B: Floats | UpperTriangle
    constraint: Floats

    @property
    def size(self) -> int:
        """L."""
        return int(self.A.shape[0])

    def dense(self) -> Reduced:
        """The same with dense matrices."""
        A, B = (M if isinstance(M, np.ndarray) else M.dense() for M in (self.A, self.B))
        return Reduced(A, B, self.constraint)


def reduce(problem: Problem, Z: Sparse | Floats, run: Run) -> Reduced:
    """Restrict a problem to X = Z X~.

    Parameters
    ----------
    problem
        A, B and the trivial solutions, on N points.
    Z
        Weights of the points on the landmarks, N x L, sparse or dense.
    run
        Events, workers and random numbers.
    """
    trivial = np.zeros((problem.size, 0)) if problem.trivial is None else problem.trivial

    def done(rows: int) -> None:
        run.progress(rows, problem.size)

    if isinstance(Z, np.ndarray):
        A = _by_columns(problem.operator.apply, Z, run=run)
        B = _by_columns(problem.weigh, Z, run=run)
        return Reduced(A, B, Z.T @ problem.weigh(trivial))
    carriers = Carriers.of(Z, run.n_jobs)
    A = _reduced_operator(problem.operator, carriers, done, run)
    B = _reduced_mass(problem, carriers)
    constraint = np.asarray(carriers.Z.T @ problem.weigh(trivial))
    if problem.end == "smallest" and isinstance(problem.operator, Laplacian | Normal | Explicit):
        _restore_row_sums(A, problem.operator, carriers.Z)
    return Reduced(A, B, constraint)


def _reduced_mass(problem: Problem, carriers: Carriers) -> Floats:
    if problem.mass_matrix is not None:
        return _reduced_sparse(narrowed(problem.mass_matrix), carriers)
    return products.with_diagonal(carriers, problem.mass)


def _reduced_operator(
    operator: Operator, carriers: Carriers, done: Callable[[int], None], run: Run
) -> Floats:
    """Z'AZ by the form of A."""
    if isinstance(operator, Laplacian):
        W = operator.W
        diagonal = np.asarray(W.sum(axis=1)).ravel() - W.diagonal()
        if operator.slack is not None:
            diagonal += operator.slack
        return products.with_sparse(carriers, W, diagonal=diagonal, sign=-1.0, done=done)
    if isinstance(operator, Normal):
        return products.with_factor(carriers, operator.F, operator.weights, done)
    if isinstance(operator, CenteredGram):
        D2 = operator.squared_distances
        return _reduced_gram(GramRows(operator.size, lambda rows: D2[rows], operator.mass), carriers, run)
    if isinstance(operator, GramRows):
        return _reduced_gram(operator, carriers, run)
    if isinstance(operator, Explicit):
        matrix = operator.matrix
        if not isinstance(matrix, np.ndarray):
            return _reduced_sparse(matrix, carriers, done)
        blocks = GramRows(operator.size, lambda rows: matrix[rows]).blocks
        return products.with_rows(carriers, blocks, np.ones(operator.size), run)[0]
    return _by_columns(operator.apply, carriers.Z, run)


def _reduced_sparse(matrix: Sparse, carriers: Carriers, done: Callable[[int], None] | None = None) -> Floats:
    return products.with_sparse(carriers, matrix, diagonal=matrix.diagonal(), sign=1.0, done=done)


def _reduced_gram(gram: GramRows, carriers: Carriers, run: Run) -> Floats:
    """Z'AZ of a centred Gram matrix: Z becomes Z - 1 c' with c = Z'm / sum(m), and S = Z'MRMZ is corrected for it."""
    mass = np.ones(gram.size) if gram.mass is None else gram.mass
    S, sums = products.with_rows(carriers, gram.blocks, mass, run)
    c = np.asarray(carriers.Z.T @ mass) / mass.sum()
    u = np.asarray(carriers.Z.T @ (mass * sums)) - (mass @ sums) / 2 * c
    # A rank-two correction that is symmetric to the last bit: u c' + c u'.
    for rows in row_blocks(S.shape[0], 1024):
        S[rows] -= np.outer(u[rows], c) + np.outer(c[rows], u)
    S *= gram.scale
    return S


def _restore_row_sums(A: Floats, operator: Operator, Z: Sparse) -> None:
    """Put what rounding took from A~ 1 = Z'A(Z 1) back on the diagonal, in place.

    Where A 1 = 0 and Z 1 = 1 the rows of A~ then sum to zero as they should: x'A~x is a sum over pairs of -a_ij (x_i -
    x_j)^2, and smooth vectors, whose energy is a small difference of large numbers, keep their digits.
    """
    ones = np.ones((Z.shape[1], 1))
    wanted = np.asarray(Z.T @ operator.apply(np.asarray(Z @ ones))).ravel()
    A[np.diag_indices_from(A)] += wanted - A.sum(axis=1)


def _by_columns(apply: Callable[[Floats], Floats], Z: Sparse | Floats, run: Run) -> Floats:
    """Z'AZ from products of A with blocks of the columns of Z."""
    out = np.empty((Z.shape[1], Z.shape[1]))
    for columns, block in _column_blocks(Z):
        out[:, columns] = Z.T @ apply(block)
    products.fold(out, 0.5, run.n_jobs)
    return out


def _column_blocks(Z: Sparse | Floats) -> Iterator[tuple[slice, Floats]]:
    by_columns = Z if isinstance(Z, np.ndarray) else sparse.csc_array(Z)
    for columns in row_blocks(Z.shape[1], max(1, _CHUNK_BYTES // (8 * max(1, Z.shape[0])))):
        block = by_columns[:, columns]
        yield columns, np.ascontiguousarray(block if isinstance(block, np.ndarray) else block.toarray())
