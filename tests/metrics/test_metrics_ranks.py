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
from lowdim.neighbors.geometry import Geometry
from lowdim.neighbors.metrics import MAPPED

NUMBERS = st.floats(0, 1e300) | st.sampled_from([0.0, 5e-324, 1.0, 1.0 + 2**-52, 1e300])


@given(arrays.arrays(np.float64, st.integers(1, 200), elements=NUMBERS))
def test_sorting_is_stable_for_any_numbers(values):
    order = kernels.neighbors.ranks.sorted_places(values.view(np.uint64).copy())
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
    kernels.neighbors.ranks.dense_table(vectors[:7], geometry.values, geometry.terms, out)
    expected = np.square(vectors[:7, None] - vectors[None]).sum(axis=2)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_array_equal(np.diagonal(out), np.zeros(7))


def test_equal_points_are_equally_far():
    generator = np.random.default_rng(1)
    points = np.repeat(generator.standard_normal((40, 37)), 20, axis=0)[generator.permutation(800)]
    geometry = Geometry(Rows(points), MAPPED["euclidean"], Run.of(n_jobs=1))
    out = np.empty((5, 800))
    kernels.neighbors.ranks.dense_table(
        geometry.mapped(None, slice(0, 5)), geometry.values, geometry.terms, out
    )
    assert all(np.unique(row).size == 40 for row in out)


def test_a_negative_zero_is_a_zero():
    shown = np.array([[0.0, -0.0, 1.0, 0.0]])
    nearest, ranks = np.empty((1, 3), np.int64), np.empty((1, 3), np.int32)
    given_bits = np.array([[0.0, 3.0, -0.0, 2.0]]).view(np.uint64)
    kernels.neighbors.ranks.match_orders(shown.view(np.uint64), given_bits, np.array([0]), nearest, ranks)
    np.testing.assert_array_equal(nearest, [[1, 3, 2]])
    np.testing.assert_array_equal(ranks, [[2, 1, 0]])
