"""k-means of a few coordinates: groups that depend on the seed alone, on the threads of this library alone.

scikit-learn's would do the same in threads of OpenMP, as many as there are cores whatever was asked for: they outlive
the fit, a process forked later waits for them for ever, and the number of threads of BLAS is changed meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from ..core.run import Run

ITERATIONS = 300
#: Sum of squared moves of the centres, relative to the mean variance of the coordinates, below which they rest.
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each point, the centres of the groups, and the sum of squared distances to them."""

    labels: Integers
    centers: Floats
    spread: float


def group(
    points: Floats, n_groups: int, *, starts: int = 10, centers: Floats | None = None, run: Run
) -> Groups:
    """The best of several runs of Lloyd's iterations (Lloyd 1982), each from a start of its own.

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
        return _iterate(points, np.ascontiguousarray(centers), run=run)
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

    run.map(work, points.shape[0])
    return shortened


def _iterate(points: Floats, centers: Floats, run: Run) -> Groups:
    """Assignments and means in turn, until the centres rest; the labels are those of the last centres."""
    rest = TOLERANCE * float(points.var(axis=0).mean())
    moved, turns = np.inf, 0
    while moved > rest and turns < ITERATIONS:
        _, nearest, totals, sizes = _assign(points, centers, run=run)
        means = _means(points, nearest, totals, sizes)
        moved, turns = float(np.square(means - centers).sum()), turns + 1
        centers = means
    labels, nearest, _, _ = _assign(points, centers, run=run)
    return Groups(labels, centers, float(nearest.sum()))


def _assign(points: Floats, centers: Floats, run: Run) -> tuple[Integers, Floats, Floats, Integers]:
    """The nearest centre of each point, its squared distance, and of each centre the sum and number of its points."""
    labels, nearest = np.empty(points.shape[0], np.int64), np.empty(points.shape[0])

    def work(part: slice) -> tuple[Floats, Integers]:
        found: tuple[Floats, Integers] = kernels.spectral.grouping.assign(
            points, centers, part.start, part.stop, labels, nearest
        )
        return found

    parts = run.map(work, points.shape[0])
    totals, sizes = zip(*parts, strict=True)
    return labels, nearest, np.sum(totals, axis=0), np.sum(sizes, axis=0)


def _means(points: Floats, nearest: Floats, totals: Floats, sizes: Integers) -> Floats:
    """Mean of the points of each centre; the points farthest from theirs where a centre has none."""
    empty = np.flatnonzero(sizes == 0)
    means = totals / np.maximum(sizes, 1)[:, None]
    if empty.size:
        means[empty] = points[np.argsort(-nearest, kind="stable")[: empty.size]]
    return np.asarray(means)
