"""Procrustes: what it forgives, what it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes as scipy_procrustes

from lowdim.errors import InputError
from lowdim.metrics import procrustes


def turn(generator, d):
    return np.linalg.qr(generator.standard_normal((d, d)))[0]


@given(
    n=st.integers(3, 40),
    d=st.integers(1, 4),
    seed=st.integers(0, 999),
    scale=st.sampled_from([1e-160, 1e-3, 1.0, 1e5, 1e160]),
)
@settings(max_examples=50, deadline=None)
def test_moving_turning_and_scaling_is_forgiven(n, d, seed, scale):
    generator = np.random.default_rng(seed)
    target = generator.standard_normal((n, d))
    moved = scale * (target @ turn(generator, d) + 3.0 * generator.standard_normal(d))
    found = procrustes(moved, target)
    assert found.error < 1e-10
    np.testing.assert_allclose(found.aligned, target, atol=1e-9)
    np.testing.assert_allclose(found.scale * moved @ found.rotation + found.translation, target, atol=1e-8)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(d), atol=1e-12)


def test_error_is_that_of_scipy():
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, 30, 3))
    _, _, disparity = scipy_procrustes(b, a)
    found = procrustes(a, b)
    np.testing.assert_allclose(found.error**2, disparity, rtol=1e-10)
    np.testing.assert_allclose(
        np.linalg.norm(found.aligned - b) / np.linalg.norm(b - b.mean(axis=0)), found.error, rtol=1e-12
    )


def test_no_other_similarity_does_better():
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((2, 20, 2))
    found = procrustes(a, b)
    best = np.linalg.norm(found.aligned - b)
    for _ in range(50):
        near = np.linalg.qr(found.rotation + 0.1 * generator.standard_normal((2, 2)))[0]
        near *= np.sign(np.diag(near.T @ found.rotation))
        other = found.scale * generator.uniform(0.9, 1.1) * a @ near
        other += found.translation + 0.1 * generator.standard_normal(2)
        assert np.linalg.norm(other - b) >= best


def test_a_single_point_cloud_explains_nothing():
    target = np.random.default_rng(2).standard_normal((10, 2))
    found = procrustes(np.ones((10, 2)), target)
    assert found.error == pytest.approx(1.0)
    np.testing.assert_allclose(found.aligned, np.tile(target.mean(axis=0), (10, 1)), atol=1e-12)


def test_one_column_may_be_flat():
    assert procrustes(np.arange(5.0), -2 * np.arange(5.0) + 1).error < 1e-14


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.zeros((3, 2)), np.eye(3), "one shape"),
        (np.full((3, 2), np.nan), np.ones((3, 2)), "NaN"),
        (np.eye(3), np.full((3, 3), np.inf), "NaN or infinite"),
        (np.eye(3), np.ones((3, 3)), "equal"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), "A must have two dimensions"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "a minimum of 1 is required"),
    ],
)
def test_wrong_input_is_named(a, b, message):
    with pytest.raises(InputError, match=message):
        procrustes(a, b)
