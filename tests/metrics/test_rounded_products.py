"""Distances from products in single precision: within their bounds, and every rank as without rounding."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import kernels
from lowdim.data.rows import Rows
from lowdim.kernels.neighbors.ranks import SORTED
from lowdim.metrics.distance_tables import MappedDistances, RanksAsked, View
from lowdim.metrics.products import LEAST_COLUMNS
from lowdim.metrics.score_results import MEASURES
from lowdim.neighbors.metrics import MAPPED

N_POINTS = SORTED + 100
N_ROWS, K = 6, 15


def make(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Points of a kind and an embedding of them."""
    rng = np.random.default_rng(3)
    normal = rng.standard_normal((N_POINTS, LEAST_COLUMNS + 5))
    points = {
        "double": normal,
        "single": normal.astype(np.float32),
        "offset": normal + 1e6,
        "large": normal * 1e200,
        "small": normal * 1e-200,
        "thirds": rng.integers(0, 4, normal.shape) / 3.0,
        "copies": np.repeat(normal[: N_POINTS // 20], 20, axis=0)[rng.permutation(N_POINTS)],
        "clusters": 0.01 * normal + 100 * normal[rng.integers(10, size=N_POINTS)],
        "outlier": np.vstack((normal[:-1], 1e6 * normal[-1:])),
        "centre": np.vstack((normal, np.zeros_like(normal)))[::2] * (np.arange(N_POINTS)[:, None] + 1.0),
    }[kind]
    shown = normal[:, :2] + 0.3 * rng.standard_normal((N_POINTS, 2))
    return points, np.round(shown, 1) if kind == "thirds" else shown


def view(points: np.ndarray, shown: np.ndarray, *, may_round: bool) -> View:
    """What some rows see, by products or by differences."""
    chosen = np.random.default_rng(0).permutation(len(points))
    data, embedding = (
        MappedDistances(Rows(values), MAPPED["euclidean"], 1, may_round=rounds)
        for values, rounds in ((points, may_round), (shown, False))
    )
    ranks, tables = RanksAsked(len(points), K), np.empty((2, N_ROWS, len(points)))
    return View(data, embedding, chosen, slice(0, N_ROWS), ranks, tables)


KINDS = (
    "double single offset large small thirds copies clusters outlier centre".split()  # noqa: SIM905 - a list of words
)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_those_of_exact_distances(kind: str) -> None:
    points, shown = make(kind)
    rounded, exact = (view(points, shown, may_round=may_round) for may_round in (True, False))
    assert rounded.rounding is not None
    assert exact.rounding is None
    before = rounded.given.copy()
    found, expected = rounded.orders, exact.orders
    np.testing.assert_array_equal(rounded.given, before)
    np.testing.assert_array_equal(found.nearest, expected.nearest)
    np.testing.assert_array_equal(found.intrusions, expected.intrusions)
    np.testing.assert_array_equal(found.kept[:, :-1], expected.kept[:, :-1])
    np.testing.assert_allclose(found.kept[:, -1], expected.kept[:, -1], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_squares_are_within_their_bounds(kind: str) -> None:
    points, shown = make(kind)
    rounded, exact = (view(points, shown, may_round=may_round) for may_round in (True, False))
    assert rounded.rounding is not None
    for row, error in enumerate(rounded.rounding.errors):
        unit = error[3]
        found, true = rounded.given[row] / unit, exact.given[row] / unit
        bounds = [kernels.neighbors.settling.error_at(distance, error) for distance in true]
        assert np.all(np.abs(found**2 - true**2) <= np.array(bounds) + 1e-13 * true**2)


def test_the_bound_holds_for_a_point_at_the_centre() -> None:
    """Where |x| is next to nothing, so is the error: the norms may not be those of rounded points."""
    points, _ = make("single")
    points = points + np.float32(1.7)
    centre = MappedDistances(Rows(points), MAPPED["euclidean"], 1, may_round=True).rounded.centre
    # The second point is none of the sample that the centre comes from, so that the centre stays.
    points[1] = centre + np.float32(1e-3)
    data = MappedDistances(Rows(points), MAPPED["euclidean"], 1, may_round=True)
    found, one = np.empty((1, N_POINTS)), np.array([1])
    error = data.fill(one, found).errors[0]
    true = np.sqrt(np.square(points.astype(np.float64) - points[1]).sum(axis=1)) / error[3]
    bounds = error[0] * np.sqrt(data.rounded.squares)
    others = np.arange(N_POINTS) != 1
    assert np.all(
        np.abs(np.square(found[0] / error[3]) - true**2)[others] <= bounds[others] + 1e-13 * true[others] ** 2
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_settled_whatever_the_errors_are(seed: int) -> None:
    """Errors as large as their bound says, with the same sign for many: the worst that rounding could do."""
    rng = np.random.default_rng(seed)
    norm, g, n_points = 1.0, 1e-4, N_POINTS
    true = np.sqrt(rng.gamma(20.0, 0.1, (N_ROWS, n_points)))
    true[:, ::7] = np.round(true[:, ::7], 3)
    shown = np.round(true + 0.2 * rng.standard_normal(true.shape), 2 + seed % 2)
    shown -= shown.min()
    own = np.arange(N_ROWS)
    for table in (true, shown):
        table[own, own] = 0.0
    error = np.array([g * norm, norm, 2.0, 1.0])
    bound = np.array([[kernels.neighbors.settling.error_at(one, error) for one in row] for row in true])
    given = np.sqrt(
        np.maximum(np.square(true) + bound * np.where(rng.random(true.shape) < 0.5, -0.99, 0.99), 0)
    )
    asked = RanksAsked(n_points, K)
    room, counts = np.empty((N_ROWS, n_points // 4), np.int32), np.full(N_ROWS, K)
    kernels.neighbors.settling.undecided(
        shown, given, own, asked.ks, np.tile(error, (N_ROWS, 1)), room, counts
    )
    assert counts.min() > 0
    for row, count in enumerate(counts):
        given[row, room[row, :count]] = true[row, room[row, :count]]
    found, expected = (compared(shown, table, own, asked) for table in (given, true))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def compared(
    shown: np.ndarray, given: np.ndarray, own: np.ndarray, asked: RanksAsked
) -> tuple[np.ndarray, ...]:
    """What is exact of ``compare_orders``."""
    nearest, sums = np.empty((N_ROWS, K), np.int64), np.empty((N_ROWS, 2))
    shares = np.empty((N_ROWS, asked.ks.size + 1))
    kernels.neighbors.ranks.compare_orders(
        shown, given, own, asked.ks, asked.of_rank, asked.unit, nearest, sums, shares
    )
    return nearest, sums, shares[:, :-1]


def test_scores_do_not_depend_on_threads_nor_on_what_else_is_asked_for() -> None:
    points, shown = make("single")
    one, two = (lowdim.score(points, shown, sample=64, n_jobs=jobs) for jobs in (1, 2))
    for name in MEASURES:
        if name != "neighbor_accuracy":
            assert getattr(one, name) == getattr(two, name)
    alone = lowdim.score(points, shown, sample=64, measures="pearson")
    assert alone.pearson == one.pearson
