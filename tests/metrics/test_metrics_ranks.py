"""The kernels behind the scores against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.metrics.distance_tables import RanksAsked, View
from lowdim.metrics.products import WholeProducts
from lowdim.neighbors.geometry import Geometry
from lowdim.neighbors.metrics import MAPPED

NUMBERS = st.floats(0, 1e300) | st.sampled_from([0.0, 5e-324, 1.0, 1.0 + 2**-52, 1e300])


@given(arrays.arrays(np.float64, st.integers(1, 200), elements=NUMBERS))
def test_sorting_is_stable_for_any_numbers(values):
    order = kernels.neighbors.sorting.sorted_places(values.view(np.uint64).copy())
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))


@pytest.mark.parametrize("n_columns", [1, 2, 63, 64, 65, 131])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
def test_tables_are_squared_distances(n_columns, dtype, metric):
    generator = np.random.default_rng(0)
    points = (generator.random((300, n_columns)) * 200).astype(dtype)
    geometry = Geometry(Rows(points), MAPPED[metric], Run.of(n_jobs=1))
    out = np.empty((7, 300))
    vectors = geometry.mapped(None, slice(0, 300))
    kernels.neighbors.tables.dense_table(vectors[:7], geometry.values, geometry.terms, 0.0, out)
    expected = np.square(vectors[:7, None] - vectors[None]).sum(axis=2)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_array_equal(np.diagonal(out), np.zeros(7))


def test_equal_points_are_equally_far():
    generator = np.random.default_rng(1)
    points = np.repeat(generator.standard_normal((40, 37)), 20, axis=0)[generator.permutation(800)]
    geometry = Geometry(Rows(points), MAPPED["euclidean"], Run.of(n_jobs=1))
    out = np.empty((5, 800))
    kernels.neighbors.tables.dense_table(
        geometry.mapped(None, slice(0, 5)), geometry.values, geometry.terms, 0.0, out
    )
    assert all(np.unique(row).size == 40 for row in out)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("n_columns", [3, 1100])
def test_products_of_whole_numbers_are_exact(dtype, n_columns):
    limits = np.iinfo(dtype)
    points = np.random.default_rng(0).integers(
        limits.min, limits.max, (90, n_columns), dtype=dtype, endpoint=True
    )
    out = np.empty((5, 90))
    products = WholeProducts.of(Rows(points))
    assert products is not None
    products.fill(np.arange(5), out)
    wide = points.astype(np.int64)
    np.testing.assert_array_equal(out, np.sqrt(np.square(wide[:5, None] - wide[None]).sum(axis=2)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_whole_numbers_of_a_wide_type_are_taken_as_what_they_are(dtype):
    points = np.random.default_rng(0).integers(0, 256, (90, 70)).astype(np.uint8)
    wide, narrow = WholeProducts.of(Rows(points.astype(dtype))), WholeProducts.of(Rows(points))
    assert wide is not None
    assert narrow is not None
    assert wide.values.dtype == np.uint8
    np.testing.assert_array_equal(wide.squares, narrow.squares)
    assert WholeProducts.of(Rows(points.astype(dtype) * 1_000)) is None
    assert WholeProducts.of(Rows(points / dtype(2))) is None


def compared(shown, given, k=5):
    """`compare_orders` of distances to all points, each row that of the point of its number."""
    asked, n_rows = RanksAsked(shown.shape[1], k), len(shown)
    view = View(
        Given(given), Given(shown), np.arange(n_rows), slice(0, n_rows), asked, np.empty((2, *shown.shape))
    )
    return view.orders


class Given:
    """Distances that are there."""

    def __init__(self, distances):
        self.distances = distances

    def fill(self, points, out):
        out[:] = self.distances[points]


def weights(n_points):
    """What each of the k nearest that are kept counts for in the area, k = 1 ... N - 2."""
    k = np.arange(1.0, n_points - 1)
    return (n_points - 1) / (k * k * (n_points - 1 - k)) / (1 / k).sum()


def test_a_negative_zero_is_a_zero():
    found = compared(np.array([[0.0, -0.0, 1.0, 0.0]]), np.array([[0.0, 3.0, -0.0, 2.0]]), k=3)
    np.testing.assert_array_equal(found.nearest, [[1, 3, 2]])


def distances(kind, n_points):
    """Distances of three points to many, that spread evenly, concentrate, are tied, or have one far from all others."""
    generator = np.random.default_rng(2)
    spread = np.abs(generator.standard_normal((3, n_points)) + 4)
    if kind == "tied":
        return np.round(spread, 3)
    if kind == "few values":
        return np.round(spread)
    if kind == "outlier":
        spread[:, -1] = 1e12
    return spread


@pytest.mark.parametrize("shown", ["spread", "tied", "few values", "outlier"])
@pytest.mark.parametrize("given", ["spread", "tied", "few values", "outlier"])
def test_ranks_by_buckets_are_those_by_sorting(shown, given):
    # Related orders, so that neighbours are kept at every scale.
    given_distances = distances(given, 6000)
    shown_distances = distances(shown, 6000) + np.round(given_distances, 3)
    found = compared(shown_distances, given_distances)
    for row in range(3):
        others = np.delete(np.arange(6000), row)
        order = others[np.argsort(shown_distances[row, others], kind="stable")]
        ranks = np.empty(order.size, int)
        ranks[np.argsort(given_distances[row, order], kind="stable")] = np.arange(order.size)
        larger = np.sort(np.maximum(ranks, np.arange(order.size)))
        ks = RanksAsked(6000, 5).ks
        np.testing.assert_array_equal(found.nearest[row], order[:5])
        np.testing.assert_array_equal(found.kept[row, :-1], np.searchsorted(larger, ks) / ks)
        area = weights(6000) @ np.searchsorted(larger, np.arange(1, 5999))
        assert found.kept[row, -1] == pytest.approx(area, abs=1e-4)
        intruded = np.maximum(0, ranks[:5] - 4).sum(), np.maximum(0, np.flatnonzero(ranks < 5) - 4).sum()
        np.testing.assert_array_equal(found.intrusions[row], intruded)
