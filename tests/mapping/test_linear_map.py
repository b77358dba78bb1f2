"""The linear map: each row alone, whatever holds it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.maps.linear import LinearMap


@pytest.fixture
def linear_map():
    generator = np.random.default_rng(0)
    components = np.linalg.qr(generator.standard_normal((33, 5)))[0].T.copy()
    return LinearMap(generator.standard_normal(33), components)


@pytest.fixture
def values():
    return np.random.default_rng(1).standard_normal((250, 33))


@pytest.mark.parametrize("form", [np.asarray, csr_array, np.asfortranarray])
def test_transform_is_the_formula(linear_map, values, form):
    expected = (values - linear_map.mean) @ linear_map.components.T
    np.testing.assert_allclose(linear_map.transform(Rows(form(values)), Run.of()), expected, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("size", [1, 7, 96, 97, 200])
def test_any_batching_gives_the_same_rows(linear_map, values, form, size):
    whole = linear_map.transform(Rows(form(values)), Run.of())
    batches = [
        linear_map.transform(Rows(form(values[start : start + size])), Run.of())
        for start in range(0, 250, size)
    ]
    np.testing.assert_allclose(np.vstack(batches), whole, rtol=1e-13, atol=1e-14)


def test_bytes_and_an_offset(linear_map):
    pixels = np.random.default_rng(2).integers(0, 256, (10, 33)).astype(np.uint8)
    expected = (pixels - linear_map.mean) @ linear_map.components.T
    np.testing.assert_allclose(linear_map.transform(Rows(pixels), Run.of()), expected, rtol=1e-12)
    far = LinearMap(linear_map.mean + 2.0**30, linear_map.components)
    near = LinearMap(far.mean - 2.0**30, linear_map.components)
    whole = np.arange(66.0).reshape(2, 33)
    np.testing.assert_allclose(
        far.transform(Rows(whole + 2.0**30), Run.of()), near.transform(Rows(whole), Run.of()), atol=1e-12
    )


def test_inverse_returns_points_of_the_subspace(linear_map):
    coordinates = np.random.default_rng(3).standard_normal((40, 5))
    points = linear_map.inverse_transform(coordinates)
    np.testing.assert_allclose(linear_map.transform(Rows(points), Run.of()), coordinates, atol=1e-12)
