"""Points into groups: k-means, and the two ways that take eigenvectors as indicators of groups in other coordinates.

All of them end in centres, and a point belongs to the nearest. Groups depend on the seed alone, on the threads of this
library alone. scikit-learn's k-means would do the same in threads of OpenMP, as many as there are cores whatever was
asked for: they outlive the fit, a process forked later waits for them for ever, and the number of threads of BLAS is
changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.parallel import light_rows
from ..core.records import Floats, Integers
from ..core.run import Run

ITERATIONS = 300
#: Sum of squared moves of the centres, relative to the mean variance of the coordinates, below which they rest.
TOLERANCE = 1e-4
#: The same for directions of length 1, whose assignments end in a cycle of one.
DIRECTION_TOLERANCE = 1e-12
#: Squared length, relative to the longest row, below which what is left of a row is rounding.
ROUNDING = 1e-20


@dataclass(frozen=True, slots=True)
class Assignment:
    """The nearest centre of each point, its squared distance, and of each centre the sum and number of its points."""

    labels: Integers
    squares: Floats
    totals: Floats
    sizes: Integers


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each point, the centres of the groups, and the sum of squared distances to them."""

    labels: Integers
    centers: Floats
    spread: float


def group(
    points: Floats, n_groups: int, *, starts: int = 10, centers: Floats | None = None, run: Run
) -> Groups:
    """k-means: the best of several runs of Lloyd's iterations (Lloyd 1982), each from a start of its own.

    Parameters
    ----------
    points
        Points as rows, at least as many as groups.
    n_groups
        Number of groups; those of fewer distinct points than that are empty.
    starts
        Runs from centres drawn by greedy k-means++ (Arthur & Vassilvitskii 2007).
    centers
        Centres to start from, in a single run.
    run
        Events, workers and random numbers.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    if centers is not None:
        return _iterate(points, np.ascontiguousarray(centers), run)
    best: Groups | None = None
    for _ in range(starts):
        found = _iterate(points, _draw(points, n_groups, run=run), run)
        if best is None or found.spread < best.spread:
            best = found
    assert best is not None
    return best


def _draw(points: Floats, n_groups: int, run: Run) -> Floats:
    """Points far from each other: each the best of a few, drawn by their squared distance to those before."""
    size = points.shape[0]
    trials = 2 + int(np.log(n_groups))
    centers = np.empty((n_groups, points.shape[1]))
    nearest = np.full(size, np.inf)
    candidates = points[run.random("group").integers(size, size=1)]
    for place in range(n_groups):
        shortened = _shortened(points, candidates, nearest, run=run)
        best = int(shortened.sum(axis=1).argmin())
        centers[place], nearest = candidates[best], shortened[best]
        heights = np.cumsum(nearest)
        picks = np.searchsorted(heights, run.random("group").random(trials) * heights[-1], side="right")
        candidates = points[np.minimum(picks, size - 1)]
    return centers


def _shortened(points: Floats, candidates: Floats, nearest: Floats, run: Run) -> Floats:
    """Squared distances of all points to their nearest centre, for each candidate as one more."""
    shortened = np.empty((candidates.shape[0], points.shape[0]))

    def work(part: slice) -> None:
        kernels.spectral.grouping.shorten(points, candidates, nearest, part.start, part.stop, shortened)

    run.map(work, points.shape[0], block_rows=_block_rows(points, candidates))
    return shortened


def _block_rows(points: Floats, centers: Floats) -> int:
    """Points in a block: about a nanosecond for each coordinate of each centre."""
    return light_rows(points.shape[0], float(centers.size))


def _iterate(points: Floats, centers: Floats, run: Run) -> Groups:
    """Lloyd's iterations until the centres rest; the labels are those of the last centres."""
    rest = TOLERANCE * float(points.var(axis=0).mean())
    found = iterate(
        centers,
        assign=lambda centers: _assign(points, centers, run),
        update=lambda found: means(found, points.__getitem__),
        rests=lambda step: step.moved <= rest,
        most=ITERATIONS,
    )
    return assigned(points, found, run)


def assigned(points: Floats, centers: Floats, run: Run) -> Groups:
    """The group of each point: that of the nearest centre, the first of equals."""
    found = _assign(np.ascontiguousarray(points, dtype=np.float64), np.ascontiguousarray(centers), run)
    return Groups(found.labels, centers, float(found.squares.sum()))


def _assign(points: Floats, centers: Floats, run: Run) -> Assignment:
    labels, squares = np.empty(points.shape[0], np.int64), np.empty(points.shape[0])

    def work(part: slice) -> tuple[Floats, Integers]:
        found: tuple[Floats, Integers] = kernels.spectral.grouping.assign(
            points, centers, part.start, part.stop, labels, squares
        )
        return found

    parts = run.map(work, points.shape[0], block_rows=_block_rows(points, centers))
    totals, sizes = zip(*parts, strict=True)
    return Assignment(labels, squares, np.sum(totals, axis=0), np.sum(sizes, axis=0))


@dataclass(frozen=True, slots=True)
class Step:
    """Sum of squared moves of the centres, and sums of squared distances to the centres of this step and the last."""

    moved: float
    spread: float
    last_spread: float


def iterate(
    centers: Floats,
    assign: Callable[[Floats], Assignment],
    update: Callable[[Assignment], Floats],
    rests: Callable[[Step], bool],
    most: int,
) -> Floats:
    """Assignments to centres and centres of assignments in turn, until they rest or ``most`` turns are over."""
    spread = np.inf
    for _ in range(most):
        found = assign(centers)
        moved = update(found)
        step = Step(float(np.square(moved - centers).sum()), float(found.squares.sum()), spread)
        centers, spread = moved, step.spread
        if rests(step):
            break
    return centers


def means(found: Assignment, points_at: Callable[[Integers], Floats]) -> Floats:
    """Mean of the points of each centre; the points farthest from theirs where a centre has none."""
    empty = np.flatnonzero(found.sizes == 0)
    centers = found.totals / np.maximum(found.sizes, 1)[:, None]
    if empty.size:
        centers[empty] = points_at(np.argsort(-found.squares, kind="stable")[: empty.size])
    return np.asarray(centers)


def discretize(points: Floats, *, starts: int = 10, run: Run) -> Groups:
    """max tr R'X'Y over rotations R and indicators Y, in turn: Yu & Shi (2003), "Multiclass spectral clustering".

    The groups are as many as coordinates. Their centres are the rows of R': given Y, R' = UV' where Y'X = USV' (eq. 20
    and 21 there).

    Parameters
    ----------
    points
        Rows of length 1.
    starts
        Rotations to start from, each from rows that are the most orthogonal to those before, the first at random; the
        best is kept.
    run
        Workers and random numbers.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    best: Groups | None = None
    for _ in range(starts):
        centers = iterate(
            _orthogonal_rows(points, int(run.random("group").integers(points.shape[0]))),
            assign=lambda centers: _assign(points, centers, run),
            update=lambda found: _polar(found.totals),
            rests=lambda step: step.moved <= DIRECTION_TOLERANCE,
            most=ITERATIONS,
        )
        found = assigned(points, centers, run)
        if best is None or found.spread < best.spread:
            best = found
    assert best is not None
    return best


def _orthogonal_rows(points: Floats, first: int) -> Floats:
    """As many rows as coordinates, each with the smallest sum of cosines to those before."""
    centers = np.empty((points.shape[1], points.shape[1]))
    centers[0], cosines = points[first], np.zeros(points.shape[0])
    for place in range(1, len(centers)):
        cosines += np.abs(np.einsum("ij,j->i", points, centers[place - 1]))
        centers[place] = points[cosines.argmin()]
    return centers


def cluster_qr(points: Floats, run: Run) -> Groups:
    """Groups by a QR factorisation with column pivoting: Damle, Minden & Ying (2019), algorithm 1.

    The pivots are rows at the corners of the simplex that the eigenvectors make of clear groups, and the centres are
    the orthogonal directions nearest to them. Nothing is drawn at random.

    Parameters
    ----------
    points
        Rows of length 1 whose first coordinate is that of the constant eigenvector: over it, the others are on the
        scale of the eigenvectors again. Rows where it is not positive are no pivots.
    run
        Workers.
    """
    constant = points[:, :1]
    rows = np.divide(points, constant, out=np.zeros_like(points), where=constant > 0)
    left, pivots = rows.copy(), []
    squares = np.einsum("ij,ij->i", left, left)
    longest = float(squares.max())
    for _ in range(points.shape[1]):
        pivot = int(squares.argmax())
        if not squares[pivot] > ROUNDING * longest:
            break
        pivots.append(pivot)
        direction = left[pivot] / np.sqrt(squares[pivot])
        left -= np.einsum("ij,j->i", left, direction)[:, None] * direction
        squares = np.einsum("ij,ij->i", left, left)
    return assigned(points, _polar(rows[pivots]), run)


def _polar(rows: Floats) -> Floats:
    """The orthonormal rows nearest to given ones: UV' of their singular value decomposition USV'."""
    left, _, right = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(left @ right)
