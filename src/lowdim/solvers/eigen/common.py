"""What every solver shares: the standard form of a problem, Rayleigh-Ritz, residuals, order and signs.

With y = B^1/2 x the problem (A, B) becomes S y = lambda y, S = B^-1/2 A B^-1/2, on the complement of the
orthonormal columns Q that span B^1/2 times the trivial solutions; a B that is not diagonal has a Cholesky
factor in place of its root. Solvers work on S and return a block of trial vectors; ``finish`` turns a block
into eigenpairs and measures their residuals afresh.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg, sparse

from ... import kernels
from ...core.records import Floats, Operator, Problem, Solution, Sparse
from ...core.run import Run
from ...errors import LowdimError
from ...kernels.spectral.lanczos import Rows
from ...spectral.operators import CenteredGram, Explicit, GramRows, Laplacian
from ...spectral.signs import leading_signs
from .generalised import Root

_EPSILON = float(np.finfo(np.float64).eps)
_SHORT_BY, _LOOK_BACK, _CONVERGED, _MOST_STEPS = 0.005, 8, 1e-3, 60
"""Share of |S| that further steps may add to its estimate and the steps by which that is told, the residual of a Ritz
vector that needs no more of them, and the most there are. Fewer steps to tell by stop at plateaus, 5 % short."""
_FEW, _APART = 4, 0.1
"""Columns for which BLAS would take threads, which wait for each other longer than the work takes, and the share of a
column that must be left of it beside those before it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of a solver beyond the problem.

    ``tolerance`` bounds |S y - lambda y| relative to the scale of the wanted eigenvalues (see
    ``Standard.bound``); ``start`` is an optional block of vectors x to begin from, as a landmark method gives
    it.
    """

    n_components: int
    tolerance: float
    run: Run
    start: Floats | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What a solver hands back: vectors y whose span holds the wanted ones, products or solves, and |S| if seen."""

    vectors: Floats
    iterations: int
    norm: float = 0.0


class SolverFailure(LowdimError):
    """One solver could not do it; the ladder goes on to the next, from the best that this one had."""

    def __init__(self, message: str, trial: Trial | None = None) -> None:
        super().__init__(message)
        self.trial = trial


class Solver(Protocol):
    """One way to the wanted end of the spectrum of S."""

    def __call__(self, standard: Standard, settings: Settings) -> Trial:
        """Trial vectors, or SolverFailure."""
        ...


@dataclass(frozen=True, slots=True)
class Standard:
    """A problem in standard form: S = B^-1/2 A B^-1/2 on the complement of ``basis``.

    ``scale`` is the diagonal of B^-1/2 (None: ones), ``root`` the factor of a B that is not diagonal, ``basis``
    N x t has orthonormal columns, ``norm`` is |S| to two per cent, or a bound of up to 2 |S| where a rough solution of
    a Laplacian is wanted, or 0 where Lanczos is to see it on its way. ``invariant`` says whether S maps the span of the
    basis into itself, as it does when the trivial solutions are eigenvectors; a dense S that it is not asked of counts
    as if it did. ``rows`` are those of A and the scale for compiled steps of Lanczos, where A has few of them.
    """

    problem: Problem
    scale: Floats | None
    basis: Floats
    norm: float
    invariant: bool
    root: Root | None = None
    rows: Rows | None = None

    @property
    def size(self) -> int:
        """N."""
        return self.problem.size

    @property
    def room(self) -> int:
        """Number of eigenvectors that exist in the complement of the trivial ones."""
        return int(self.size - self.basis.shape[1])

    @property
    def trivial(self) -> Floats:
        """The basis in rows."""
        return np.ascontiguousarray(self.basis.T)

    def vectors(self, Y: Floats) -> Floats:
        """The vectors x of given y."""
        if self.root is not None:
            return self.root.solve_transposed(Y)
        return Y if self.scale is None else _times(self.scale, Y)

    def images(self, X: Floats) -> Floats:
        """The vectors y of given x."""
        if self.root is not None:
            return self.root.times_transposed(X)
        return X if self.scale is None else _times(1.0 / self.scale, X)

    def raw(self, Y: Floats) -> Floats:
        """S Y, with nothing projected off."""
        if self.root is not None:
            return self.root.solve(self.problem.operator.apply(self.vectors(Y)))
        if self.scale is None:
            return self.problem.operator.apply(Y)
        return _times(self.scale, self.problem.operator.apply(_times(self.scale, Y)))

    def project(self, Y: Floats) -> Floats:
        """Y without its part in the trivial span; twice, since once leaves rounding errors of that part."""
        if self.basis.shape[1] == 0:
            return Y
        rows, first = Y.T, self.basis[:, 0]
        for _ in range(2):
            if self.basis.shape[1] == 1:  # without BLAS, as `lengths`
                rows = rows - np.einsum("ij,j->i", rows, first)[:, None] * first
            else:
                rows = rows - (rows @ self.basis) @ self.basis.T
        return rows.T

    def apply(self, Y: Floats) -> Floats:
        """S Y within the complement."""
        return self.project(self.raw(Y))

    def explicit(self) -> Sparse | Floats:
        """S as a matrix, dense or sparse as A is; dense where B is not diagonal."""
        matrix = self.problem.operator.explicit()
        if self.root is not None:
            half = self.root.solve(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
            return self.root.solve(half.T)
        if self.scale is None:
            return matrix
        if isinstance(matrix, np.ndarray):
            return np.asarray(self.scale[:, None] * matrix * self.scale[None, :])
        across = np.repeat(self.scale, np.diff(matrix.indptr)) * self.scale[matrix.indices]
        return sparse.csr_array((matrix.data * across, matrix.indices, matrix.indptr), shape=matrix.shape)

    def begin(self, settings: Settings, columns: int) -> Floats:
        """Orthonormal block to start from: random columns from the seed, the given start added where there is one.

        What a start lacks altogether no Krylov space would find: a small random part stays in every column.
        """
        block = settings.run.random("solve").standard_normal((self.size, columns))
        if settings.start is not None:
            given = range_of(self.images(settings.start))
            for c in range(given.shape[1]):
                block[:, c % columns] += 1e3 * np.sqrt(self.size) * given[:, c]
        return orthonormal(self.project(block))

    def bound(self, values: Floats, tolerance: float, floor: float = 64 * _EPSILON) -> float:
        """Largest residual |S y - lambda y| that passes.

        The scale is that of the wanted eigenvalues, not of |S|: at the small end eigenvalues of 1e-6 |S| need
        residuals well below 1e-6 |S| to mean anything. Rounding in S y sets the ``floor``, relative to |S|.
        """
        reference = float(np.abs(values).max(initial=0.0))
        return max(tolerance * reference, floor * self.norm)


def _times(scale: Floats, Y: Floats) -> Floats:
    """Rows of Y times their scales, along the columns: NumPy takes ten times as long for rows of two numbers."""
    return np.asarray((Y.T * scale).T)


def standard_form(problem: Problem) -> Standard:
    """The standard form without what takes products with A to know: the norm is 1, the basis counts as invariant."""
    scale = None if problem.mass is None else 1.0 / np.sqrt(problem.mass)
    root = None if problem.mass_matrix is None else Root(problem.mass_matrix)
    free = Standard(problem, scale, np.zeros((problem.size, 0)), 1.0, True, root)
    if problem.trivial is None or problem.trivial.shape[1] == 0:
        return free
    return replace(free, basis=range_of(free.images(problem.trivial)))


def standardise(problem: Problem, run: Run, *, roughly: bool = False, in_passing: bool = False) -> Standard:
    """Bring a problem to standard form.

    ``roughly``: the norm of a Laplacian is bounded, which takes no products. ``in_passing``: that of a dense matrix at
    its large end is left to Lanczos, whose Krylov space tells it, as both ends of a spectrum come out together.
    """
    free = standard_form(problem)
    operator = problem.operator
    if in_passing and problem.end == "largest" and free.root is None and is_dense(operator):
        draw_for_norm(free, run)
        return replace(free, norm=0.0)
    if free.root is None and isinstance(operator, Laplacian | Explicit) and (few := operator.differences()):
        scale = np.ones(problem.size) if free.scale is None else free.scale
        free = replace(free, rows=(*kernels.spectral.lanczos.grouped(*few[:3]), few[3], scale))
    image = free.raw(free.basis) if free.basis.shape[1] else free.basis
    norm = norm_bound(free) if roughly else None
    norm = estimated_norm(free, run=run) if norm is None else norm
    invariant = bool(length_of(free.project(image)) <= 1e-10 * max(norm, np.finfo(float).tiny))
    return replace(free, norm=norm, invariant=invariant)


def is_dense(operator: Operator) -> bool:
    """Whether a product reads, or computes, all entries of a dense matrix."""
    if isinstance(operator, Explicit):
        return not sparse.issparse(operator.matrix)
    return isinstance(operator, CenteredGram | GramRows)


def norm_bound(standard: Standard) -> float | None:
    """2 max d / b, which is |S| of a Laplacian to a factor of 2 from above; None for other problems.

    The diagonal d / b of S is below |S|, and D - W is below 2 D (Gershgorin).
    """
    operator = standard.problem.operator
    if not isinstance(operator, Laplacian) or standard.root is not None:
        return None
    scale = 1.0 if standard.scale is None else standard.scale
    return 2.0 * float(np.max(operator.degrees * np.square(scale), initial=0.0))


def draw_for_norm(standard: Standard, run: Run) -> Floats:
    """A random vector. More is drawn than is used, so that the solvers that draw next start where they always did."""
    return run.random("solve").standard_normal((standard.size, min(4, standard.room)))[:, :1]


def estimated_norm(standard: Standard, run: Run) -> float:
    """|S| to two per cent, from below: the largest size of a Ritz value of Lanczos from a random vector.

    Where the spectrum has no gap what is missing after k steps falls as 1/k^2 (Kuczynski & Wozniakowski 1992,
    "Estimating the largest eigenvalue by the power and Lanczos algorithms with a random start"), so that m steps that
    gain g leave about k g / 2m; where it has one there is less left, and the Ritz vector itself converges. Two vectors
    are held: those that lose their orthogonality to earlier ones repeat Ritz values, and move none beyond the spectrum.
    """
    q = standard.project(draw_for_norm(standard, run))
    q = q / (length_of(q) or 1.0)
    diagonal, beside, norms = list[float](), list[float](), [0.0]
    # Compiled steps come many at a time, and cost less than to look at each.
    every = 1 if standard.rows is None else _LOOK_BACK
    for along, length in _steps(standard, q, min(_MOST_STEPS, standard.room)):
        diagonal.append(along)
        # A length next to nothing ends the Krylov space: what comes after it means nothing.
        if len(diagonal) % every == 0 or length <= _CONVERGED * max(map(abs, diagonal)):
            values, vectors = linalg.eigh_tridiagonal(diagonal, beside)
            largest = int(np.abs(values).argmax())
            norms.append(float(np.abs(values[largest])))
            gain = norms[-1] - norms[-1 - _LOOK_BACK // every] if len(diagonal) > _LOOK_BACK else np.inf
            settled = len(diagonal) * gain / (2 * _LOOK_BACK) <= _SHORT_BY * norms[-1]
            if settled or length * abs(vectors[-1, largest]) <= _CONVERGED * norms[-1]:
                break
        beside.append(length)
    return norms[-1]


def _steps(standard: Standard, q: Floats, most: int) -> Iterator[tuple[float, float]]:
    """Lanczos from a vector: the next entry on the diagonal of the small matrix, and the one beside it."""
    before, beside = np.zeros_like(q), 0.0
    if standard.rows is not None:
        y, before = np.ascontiguousarray(q[:, 0]), np.zeros(q.size)
        for _ in range(0, most, _LOOK_BACK):
            found = kernels.spectral.lanczos.tridiagonal(standard.rows, y, before, beside, _LOOK_BACK)
            yield from zip(*(part.tolist() for part in found), strict=True)
            beside = float(found[1][-1])
        return
    for _ in range(most):
        image = standard.apply(q) - beside * before
        along = float(np.einsum("ij,ij->", q, image))
        image -= along * q
        beside = float(lengths(image.T)[0])
        yield along, beside
        before, q = q, image / beside


def lengths(rows: Floats) -> Floats:
    """Norms of rows. NumPy would ask BLAS, whose threads wait for each other longer than the sum takes."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def length_of(block: Floats) -> float:
    """The norm of all entries of a block, as `lengths`."""
    return float(np.sqrt(np.einsum("ij,ij->", block, block)))


def range_of(block: Floats) -> Floats:
    """Orthonormal basis of the span of the columns, leaving out those that depend on the others."""
    norms = lengths(block.T)
    if block.shape[1] == 1:
        return np.ascontiguousarray(block[:, norms > 0] / norms[norms > 0])
    U, singular, _ = linalg.svd(block[:, norms > 0] / norms[norms > 0], full_matrices=False)
    return np.ascontiguousarray(U[:, singular > 1e-10 * singular.max(initial=0.0)])


def orthonormal(block: Floats) -> Floats:
    """Orthonormal columns of the same span: Gram-Schmidt, twice, for a few that are well apart, else a thin QR."""
    if block.shape[1] > _FEW:
        return np.ascontiguousarray(np.linalg.qr(block)[0])
    rows = np.array(block.T, order="C")
    for c in range(2 * len(rows)):
        row = rows[c // 2]
        before = length_of(row[None])
        for found in rows[: c // 2]:
            np.subtract(row, np.einsum("i,i->", found, row) * found, out=row)
        length = length_of(row[None])
        if not length > _APART * before:
            return np.ascontiguousarray(np.linalg.qr(block)[0])
        np.divide(row, length, out=row)
    return np.ascontiguousarray(rows.T)


def across(X: Floats, Y: Floats) -> Floats:
    """X'Y, without BLAS where both have few columns, as `lengths`."""
    if max(X.shape[1], Y.shape[1]) > _FEW:
        return X.T @ Y
    return np.array([[np.einsum("i,i->", x, y) for y in Y.T] for x in X.T])


def combined(X: Floats, C: Floats) -> Floats:
    """X C, without BLAS where both have few columns, as `lengths`."""
    if max(X.shape[1], C.shape[1]) > _FEW:
        return X @ C
    return np.stack([sum(float(c) * x for c, x in zip(column, X.T, strict=True)) for column in C.T], axis=1)


def rayleigh_ritz(standard: Standard, block: Floats) -> tuple[Floats, Floats, Floats]:
    """Ritz values in the order of the wanted end, Ritz vectors Y and S Y, from the span of a block."""
    Y = orthonormal(standard.project(block))
    Y = orthonormal(standard.project(Y))
    image = standard.apply(Y)
    small = across(Y, image)
    values, rotation = linalg.eigh((small + small.T) / 2)
    if standard.problem.end == "largest":
        values, rotation = values[::-1], rotation[:, ::-1]
    return values, combined(Y, rotation), combined(image, rotation)


def finish(standard: Standard, trial: Trial, name: str, n_components: int) -> Solution:
    """Eigenpairs from a trial block: Rayleigh-Ritz, values by the energy, fresh residuals, signs fixed."""
    _, Y, image = rayleigh_ritz(standard, trial.vectors)
    return measured(standard, Y[:, :n_components], image[:, :n_components], name, trial.iterations)


def measured(standard: Standard, Y: Floats, image: Floats, name: str, iterations: int) -> Solution:
    """Eigenpairs of vectors y and S y: values by the energy, in order, residuals, signs fixed."""
    X, operator = standard.vectors(Y), standard.problem.operator
    # A dense matrix has no sum of squares, and a product with it is dear.
    energy = np.einsum("ij,ij->j", Y, image) if is_dense(operator) else operator.energy(X)
    values = energy / np.einsum("ij,ij->j", Y, Y)
    order = np.argsort(values if standard.problem.end == "smallest" else -values, kind="stable")
    residuals = np.linalg.norm(image - Y * values, axis=0) / (standard.norm or 1.0)
    X = np.ascontiguousarray(X[:, order] * leading_signs(X[:, order]))
    return Solution(values[order], X, residuals[order], name, iterations)
