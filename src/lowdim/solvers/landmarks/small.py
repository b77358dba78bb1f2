"""The small dense eigenproblem A~ x = lambda B~ x that a reduction leaves, off its trivial solutions.

With a factor B~ = R'R it becomes the standard problem of R^-T A~ R^-1, which LAPACK solves; a B~ that is singular to
rounding is truncated instead. For few eigenvectors of many landmarks that costs more than all else. There Lanczos
works on products alone: on R^-T A~ R^-1 at the large end, and at the small end, with a factor of A~ in its place, on
R^-T B~ R^-1, whose largest eigenvalues lie far apart. The factor, in block columns, is its one large array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy import linalg, sparse
from scipy.linalg import blas, lapack
from scipy.sparse import csgraph

from ...core.lapack import cholesky, eigenpairs, to_standard
from ...core.messages import named, setting
from ...core.parallel import row_blocks
from ...core.records import End, Floats, Integers
from ...core.run import Run
from ...errors import ConvergenceError, InputError
from ..eigen import krylov
from ..eigen.common import range_of
from .block_cholesky import NARROW, WIDTH, BlockCholesky, BlockColumn, times
from .galerkin import Reduced, UpperTriangle
from .products import mirror

#: Eigenvalues of B~ below this share of the largest hold nothing but rounding, and so do diagonal entries.
_NOTHING = 1e-12
#: Reciprocal condition number from which a Cholesky factor does: no eigenvalue would be truncated.
_CONDITION = 1e-11
#: Entries of A~ and B~, relative to those on the diagonal, that tie two landmarks together.
_TIE = 1e-13
#: Residuals of Lanczos relative to each eigenvalue, and to the largest, which rounding leaves to all; |X'BX - I|.
_TOLERANCE = 1e-12
_ROUNDING = 1e-14
_ORTHONORMAL = 1e-12
#: Landmarks, and landmarks for each component, from which Lanczos is the faster driver.
_LANCZOS_SIZE = 400
_LANCZOS_RATIO = 30
#: Columns of a block of Lanczos.
_WIDTH = 2


class _UnsuitedError(Exception):
    """A driver that cannot do it, and why."""


def solve_small(reduced: Reduced, end: End, n_components: int, run: Run) -> tuple[Floats, Floats]:
    """Ritz values in the order of the wanted end, and X~ (L x d) with X~'B~X~ = I and constraint' X~ = 0.

    A landmark that carries no point has coordinates 0.

    Parameters
    ----------
    reduced
        A~, B~ and the constraint.
    end
        Which Ritz values are wanted.
    n_components
        How many.
    run
        Events, workers and random numbers.
    """
    pencil = _Pencil.of(reduced)
    _require_rank(pencil.size, reduced, n_components)
    driver, why = "lapack", f"{n_components} components of {pencil.size} landmarks"
    found: tuple[Floats, Floats] | None = None
    if pencil.size >= max(_LANCZOS_SIZE, _LANCZOS_RATIO * n_components):
        try:
            found, driver = _by_lanczos(pencil, end, n_components, run=run), "lanczos"
        except _UnsuitedError as reason:
            why = str(reason)
    values, X = found or _by_lapack(pencil, end, n_components, reduced)
    run.chosen("small problem", driver, why)
    coordinates = np.zeros((reduced.size, n_components))
    coordinates[pencil.kept] = pencil.scale[:, None] * X
    return values, coordinates


def reduced_components(reduced: Reduced) -> int:
    """Number of parts into which the landmarks that carry points fall where neither A~ nor B~ ties them together."""
    A, B = reduced.A, reduced.B
    if isinstance(A, UpperTriangle) and isinstance(B, UpperTriangle):
        return _sparse_components(A, B)
    assert isinstance(A, np.ndarray)
    assert isinstance(B, np.ndarray)
    roots = [np.sqrt(np.abs(matrix.diagonal())) for matrix in (A, B)]
    left, count = _carrying(B), 0
    while left.size:
        count += 1
        found, left = [int(left[0])], left[1:]
        while found and left.size:
            i = found.pop()
            tied = np.zeros(left.size, dtype=bool)
            for matrix, root in zip((A, B), roots, strict=True):
                tied |= np.abs(matrix[i, left]) > _TIE * root[i] * root[left]
            found.extend(left[tied].tolist())
            left = left[~tied]
    return count


def _sparse_components(A: UpperTriangle, B: UpperTriangle) -> int:
    """The same where the matrices are sparse, some rows of them at a time."""
    count = B.shape[0]
    kept, labels = np.zeros(count, dtype=bool), np.arange(count)
    kept[_carrying(B)] = True
    for matrix in (A, B):
        root = np.sqrt(np.abs(matrix.diagonal()))
        for part in row_blocks(kept.size, WIDTH):
            entries = sparse.coo_array(matrix.half[part])
            rows, columns = entries.coords[0] + part.start, entries.coords[1]
            tied = (np.abs(entries.data) > _TIE * root[rows] * root[columns]) & kept[rows] & kept[columns]
            ends = labels[rows[tied]], labels[columns[tied]]
            ties = sparse.coo_array((np.ones(ends[0].size), ends), shape=(count, count))
            count, joined = csgraph.connected_components(sparse.csr_array(ties), directed=False)
            labels = joined[labels]
    return int(np.unique(labels[kept]).size)


@dataclass(frozen=True, slots=True)
class _Pencil:
    """A~ and B~ of the landmarks that carry points, scaled so that B~ has ones on its diagonal.

    The scaled matrices are D A D and D B D with D = diag(scale); they are made only where a factor needs them, and for
    one in block columns never as a whole.
    """

    A: Floats | UpperTriangle
    B: Floats | UpperTriangle
    constraint: Floats
    scale: Floats
    kept: Integers

    @classmethod
    def of(cls, reduced: Reduced) -> _Pencil:
        """The pencil of a reduction, without landmarks that carry nothing."""
        if not np.isfinite(reduced.A.sum() + reduced.B.sum()):
            raise ConvergenceError(
                "The reduced matrices hold values that are not finite: the weights or the matrix overflowed. Scale "
                "the data, or raise the ridge reg of the landmark weights."
            )
        if (lowest := float(reduced.B.diagonal().min(initial=0.0))) < 0:
            raise InputError(
                f"B must be positive definite, but some landmark has z'Bz = {lowest:.3g}. Give another B, or its "
                "positive diagonal."
            )
        kept = _carrying(reduced.B)
        whole = kept.size == reduced.size
        A, B = (M if whole else _among(M, kept) for M in (reduced.A, reduced.B))
        scale = 1.0 / np.sqrt(B.diagonal())
        return cls(A, B, scale[:, None] * reduced.constraint[kept], scale, kept)

    @property
    def size(self) -> int:
        """Landmarks that carry points."""
        return self.kept.size

    def times(self, matrix: Floats | UpperTriangle, X: Floats) -> Floats:
        """Scaled A or B times a block of columns."""
        X = self.scale[:, None] * X
        image = matrix.times(X) if isinstance(matrix, UpperTriangle) else times(matrix, X)
        return np.asarray(self.scale[:, None] * image)

    def scaled(self, matrix: Floats | UpperTriangle) -> Floats:
        """A dense copy of scaled A or B, in Fortran's order."""
        out = (matrix.dense() if isinstance(matrix, UpperTriangle) else matrix) * self.scale
        out *= self.scale[:, None]
        return out.T

    def column(self, matrix: Floats | UpperTriangle, part: slice) -> Floats:
        """Some columns of scaled A or B, from the first diagonal entry down, in Fortran's order: the lower triangle."""
        rows = matrix.rows(part) if isinstance(matrix, UpperTriangle) else matrix[part, part.start :]
        out = rows * self.scale[part.start :]
        out *= self.scale[part, None]
        return np.asarray(out.T)


def _among(matrix: Floats | UpperTriangle, kept: Integers) -> Floats | UpperTriangle:
    """The rows and columns of some landmarks."""
    if isinstance(matrix, UpperTriangle):
        return matrix.among(kept)
    return np.ascontiguousarray(matrix[np.ix_(kept, kept)])


def _carrying(B: Floats | UpperTriangle) -> Integers:
    """Landmarks that carry points."""
    diagonal = B.diagonal()
    return np.flatnonzero(diagonal > _NOTHING * diagonal.max(initial=0.0))


def _require_rank(rank: int, reduced: Reduced, n_components: int) -> None:
    """Refuse more components than there are independent directions."""
    trivial = reduced.constraint.shape[1]
    if rank < n_components + trivial:
        raise InputError(
            f"{setting('n_components', n_components)}, with {trivial} trivial solutions, needs at least "
            f"{n_components + trivial} independent landmarks; the {reduced.size} landmarks span {rank} directions "
            f"(equal landmarks, and those that no point is near to, add none). Raise {named('n_landmarks')}, lower "
            f"{named('n_components')}, or choose them otherwise."
        )


class _Cholesky:
    """M = R'R of a well-conditioned matrix, which is overwritten."""

    def __init__(self, matrix: Floats, name: str) -> None:
        norm = max(
            float(np.abs(matrix[:, part]).sum(axis=0).max()) for part in row_blocks(matrix.shape[1], 1024)
        )
        self.R = matrix
        if cholesky(matrix):
            raise _UnsuitedError(f"{name} is not positive definite")
        if lapack.dpocon(self.R, norm, uplo="U")[0] < _CONDITION:
            raise _UnsuitedError(f"{name} is singular to rounding")

    def solve(self, Y: Floats, *, transposed: bool) -> Floats:
        """R^-1 Y, or R^-T Y."""
        if Y.shape[1] > NARROW:
            return np.asarray(blas.dtrsm(1.0, self.R, Y, lower=0, trans_a=int(transposed)))
        columns = [blas.dtrsv(self.R, column, lower=0, trans=int(transposed)) for column in Y.T]
        return np.stack(columns, axis=1) if columns else np.zeros_like(Y)


def _by_lapack(pencil: _Pencil, end: End, n_components: int, reduced: Reduced) -> tuple[Floats, Floats]:
    """All of the standard problem by LAPACK, B~ truncated where its factor will not do."""
    try:
        factor = _Cholesky(pencil.scaled(pencil.B), "B~")
    except _UnsuitedError:
        basis = _truncated(pencil)
        _require_rank(basis.shape[1], reduced, n_components)
        C = basis.T @ pencil.times(pencil.A, basis)
        values, Y = _wanted(C, basis.T @ pencil.constraint, end, n_components)
        return _settled(pencil, values, basis @ Y, end)
    C = pencil.scaled(pencil.A)
    to_standard(C, factor.R)
    # LAPACK wrote the upper triangle of C in Fortran's order: the lower one of its transpose in C's.
    mirror(C.T)
    values, Y = _wanted(C, factor.solve(pencil.constraint, transposed=True), end, n_components)
    return _settled(pencil, values, factor.solve(Y, transposed=False), end)


def _truncated(pencil: _Pencil) -> Floats:
    """Eigenvectors of B~ scaled to x'B~x = 1, without those that hold nothing but rounding."""
    weights, V = eigenpairs(pencil.scaled(pencil.B), spoil=True)
    held = weights > _NOTHING * weights[-1]
    return np.asarray(V[:, held] / np.sqrt(weights[held]))


def _wanted(C: Floats, constraint: Floats, end: End, n_components: int) -> tuple[Floats, Floats]:
    """Wanted eigenpairs of a symmetric C, which is overwritten, on the complement of the constraint."""
    if constraint.shape[1]:
        # P C P plus a multiple of Q Q' that puts the constraint beyond every wanted eigenvalue.
        Q = range_of(constraint)
        image = C @ Q
        far = 2.0 * float(np.abs(C).sum(axis=0).max(initial=0.0)) or 1.0
        inner = Q.T @ image + (far if end == "smallest" else -far) * np.eye(Q.shape[1])
        update = Q @ (image - Q @ (inner / 2)).T
        C -= update
        C -= update.T
    size = C.shape[0]
    first = 0 if end == "smallest" else size - n_components
    span = slice(first, first + n_components)
    values, vectors = np.empty(0), np.empty((size, 0))
    if 4 * n_components <= size:
        values, vectors = eigenpairs(C, first, first + n_components - 1)
    if vectors.shape[1] < n_components:
        # Many are cheaper with all; and the choice by index finds too few where nearly all eigenvalues are equal.
        values, vectors = eigenpairs(C, spoil=True)
        values, vectors = values[span], vectors[:, span]
    order = slice(None) if end == "smallest" else slice(None, None, -1)
    return values[order], vectors[:, order]


def _by_lanczos(pencil: _Pencil, end: End, n_components: int, run: Run) -> tuple[Floats, Floats]:
    """Few eigenvectors by Lanczos on a factor of A~ at the small end, of B~ at the large one."""
    constraint = pencil.constraint
    if end == "smallest":
        factor, other = _factor(pencil, _lifted(pencil), "A~"), pencil.B
    else:
        factor, other = _factor(pencil, lambda part: pencil.column(pencil.B, part), "B~"), pencil.A
    Q = range_of(factor.solve(constraint)) if constraint.shape[1] else constraint
    max_products = pencil.size // 4 + 20 * n_components + 100

    def apply(Y: Floats) -> Floats:
        return factor.solve(pencil.times(other, factor.solve_transposed(Y)))

    def project(Y: Floats) -> Floats:
        Y = Y - Q @ (Q.T @ Y)
        return Y - Q @ (Q.T @ Y)

    def judge(values: Floats, residuals: Floats, products: int) -> krylov.Verdict:
        values = values[:n_components]
        bound = _TOLERANCE * (values if end == "smallest" else np.abs(values).max())
        if np.all(residuals <= np.maximum(bound, _ROUNDING * np.abs(values).max())):
            return "good"
        return "hopeless" if products >= max_products else "go on"

    found = krylov.largest(
        apply,
        np.linalg.qr(project(run.random("solve").standard_normal((pencil.size, _WIDTH))))[0],
        n_components,
        judge=judge,
        basis_size=max(2 * n_components + 8, 24),
        trivial=np.ascontiguousarray(Q.T),
        room=pencil.size - Q.shape[1],
        second_look=3,
        run=run,
    )
    if not found.converged:
        raise _UnsuitedError(f"Lanczos had not converged after {found.products} products")
    values = 1.0 / found.values if end == "smallest" else found.values
    return _settled(pencil, values, factor.solve_transposed(found.vectors), end)


def _factor(pencil: _Pencil, column: BlockColumn, name: str) -> BlockCholesky:
    """The factor of a matrix of well-conditioned pivots."""
    try:
        factor = BlockCholesky(pencil.size, column)
    except LinAlgError:
        raise _UnsuitedError(f"{name} is not positive definite") from None
    if factor.reciprocal_condition() < _CONDITION:
        raise _UnsuitedError(f"{name} is singular to rounding")
    return factor


def _lifted(pencil: _Pencil) -> BlockColumn:
    """Columns of scaled A~ plus a multiple of c c' for each constraint c: definite where A~ is, off these.

    On the complement of the constraints nothing changes, whatever the multiple; it is chosen to be of the size of A~.
    """
    size = float((pencil.A.diagonal() * pencil.scale**2).max(initial=0.0))
    constraints = range_of(pencil.constraint).T if pencil.constraint.shape[1] else np.zeros((0, pencil.size))
    weights = [size * float(c @ pencil.times(pencil.B, c[:, None])[:, 0]) for c in constraints]

    def column(part: slice) -> Floats:
        K = pencil.column(pencil.A, part)
        for c, weight in zip(constraints, weights, strict=True):
            K += np.outer(weight * c[part.start :], c[part])
        return K

    return column


def _settled(pencil: _Pencil, values: Floats, X: Floats, end: End) -> tuple[Floats, Floats]:
    """X'BX = I, by Rayleigh-Ritz within the span where a factor of poor condition left less."""
    inner = X.T @ pencil.times(pencil.B, X)
    if np.abs(inner - np.eye(values.size)).max(initial=0.0) <= _ORTHONORMAL:
        return values, X
    energy = X.T @ pencil.times(pencil.A, X)
    values, rotation = linalg.eigh((energy + energy.T) / 2, (inner + inner.T) / 2)
    if end == "largest":
        values, rotation = values[::-1], rotation[:, ::-1]
    return np.ascontiguousarray(values), X @ rotation
