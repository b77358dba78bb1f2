"""What must not change the picture: rotation, translation, scale, order of rows, threads, seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from registry import EMBEDDINGS, EVERY, every_but, make

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

SOME = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SOLVED = every_but(
    EMBEDDINGS, "rounding grows from step to step of a descent, and the seed shows in its start"
)
ROTATABLE = [name for name in SOLVED if name != "ClassicalMDS-manhattan"]
SCALABLE = [name for name in SOLVED if name != "KernelPCA"]


def surface(seed: int, n: int = 120) -> np.ndarray:
    """A curved sheet with two well-separated sides, so that its eigenvalues are apart."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-2, 2, n), rng.uniform(-1.2, 1.2, n)
    return np.column_stack((u, v, 0.2 * u**2, 0.1 * v**3)) + 0.01 * rng.standard_normal((n, 4))


def aligned_error(first: np.ndarray, second: np.ndarray) -> float:
    return lowdim.procrustes(first, second).error


@pytest.mark.parametrize("name", ROTATABLE)
@SOME
@given(seed=st.integers(0, 10**6))
@pytest.mark.every(2)
def test_rotation_and_translation(name: str, seed: int) -> None:
    X = surface(seed)
    rng = np.random.default_rng(seed + 1)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    moved = X @ turn + (0 if name == "KernelPCA" else 10 * rng.standard_normal(4))
    assert aligned_error(make(name).fit_transform(moved), make(name).fit_transform(X)) < 1e-4


@pytest.mark.parametrize("name", SCALABLE)
@SOME
@given(seed=st.integers(0, 10**6), power=st.integers(-6, 6))
@pytest.mark.every(2)
def test_scale(name: str, seed: int, power: int) -> None:
    X = surface(seed)
    assert aligned_error(make(name).fit_transform(X * 10.0**power), make(name).fit_transform(X)) < 1e-4


@pytest.mark.parametrize("name", SOLVED)
@SOME
@given(seed=st.integers(0, 10**6))
@pytest.mark.every(2)
def test_order_of_rows(name: str, seed: int) -> None:
    X = surface(seed)
    order = np.random.default_rng(seed + 2).permutation(len(X))
    assert aligned_error(make(name).fit_transform(X[order]), make(name).fit_transform(X)[order]) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_threads_do_not_matter(name: str) -> None:
    X = surface(0, 700)
    one, three = make(name, n_jobs=1).fit(X), make(name, n_jobs=3).fit(X)
    assert_array_equal(one.embedding_, three.embedding_)
    assert_array_equal(one.transform(X[:300] + 0.01), three.transform(X[:300] + 0.01))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(2)
def test_same_seed_same_bits_and_global_seed_untouched(name: str) -> None:
    X = surface(1, 300)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make(name, random_state=7).fit_transform(X)
    assert_array_equal(first, make(name, random_state=7).fit_transform(X))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("name", SOLVED)
def test_another_seed_gives_the_same_picture(name: str) -> None:
    """Solutions are converged and their signs fixed, so the seed of the start does not show."""
    X = surface(2, 300)
    first, second = (make(name, random_state=seed).fit_transform(X) for seed in (0, 12345))
    assert_allclose(first, second, atol=1e-5 * np.abs(first).max())
