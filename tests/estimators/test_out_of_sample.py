"""The out-of-sample contract, the same for every estimator."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import EVERY, make

ACCURACY = {"LaplacianEigenmaps": 1e-9}


@pytest.fixture(scope="module")
def curved() -> np.ndarray:
    """A smooth two-dimensional surface in five dimensions."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-1, 1, (2, 260))
    surface = np.c_[u, v, 0.3 * u**2, 0.2 * np.sin(2 * v), 0.2 * u * v]
    return surface + 1e-3 * rng.standard_normal(surface.shape)


@pytest.mark.parametrize("name", EVERY)
def test_training_points_return_to_their_coordinates(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved)
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(curved), model.embedding_, atol=1e-6 * scale)


@pytest.mark.parametrize("name", EVERY)
def test_batching_does_not_matter(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved[:200])
    new = curved[200:]
    whole = model.transform(new)
    one_by_one = np.vstack([model.transform(row[None]) for row in new])
    scale = np.abs(whole).max()
    assert_allclose(one_by_one, whole, rtol=0, atol=1e-12 * scale)
    assert_allclose(model.transform(new[::-1])[::-1], whole, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", EVERY)
def test_transform_changes_nothing(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved[:200])
    new, kept, embedded = curved[200:].copy(), curved[200:].copy(), model.embedding_.copy()
    first = model.transform(new)
    assert_array_equal(new, kept)
    assert_array_equal(model.embedding_, embedded)
    assert_array_equal(model.transform(new), first)


@pytest.mark.parametrize("name", EVERY)
def test_new_points_land_near_their_fitted_neighbours(name: str, curved: np.ndarray) -> None:
    """A new point next to a fitted one lands next to it: the map is continuous at the scale of the data."""
    model = make(name, n_components=2).fit(curved)
    rng = np.random.default_rng(1)
    near = curved[:50] + 1e-4 * rng.standard_normal((50, curved.shape[1]))
    spread = model.embedding_.std(axis=0).max()
    moved = np.linalg.norm(model.transform(near) - model.embedding_[:50], axis=1)
    assert np.median(moved) < 0.1 * spread


@pytest.mark.parametrize("name", EVERY)
def test_wrong_number_of_columns_is_an_error(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved)
    with pytest.raises(ValueError, match="features"):
        model.transform(curved[:, :3])
