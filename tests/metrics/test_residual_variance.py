"""Residual variance against the textbook formula."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowdim.errors import InputError
from lowdim.metrics import residual_variance


def textbook(distances, embedding):
    known = np.isfinite(distances)
    return np.array(
        [
            1 - np.corrcoef(distances[known], cdist(embedding[:, :d], embedding[:, :d])[known])[0, 1] ** 2
            for d in range(1, embedding.shape[1] + 1)
        ]
    )


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((90, 4)) * [3.0, 2.0, 1.0, 0.1]


def test_every_dimension_in_one_walk(points, monkeypatch):
    distances = cdist(points, points, "cityblock")
    np.testing.assert_allclose(residual_variance(distances, points), textbook(distances, points), atol=1e-12)
    monkeypatch.setattr(sys.modules[residual_variance.__module__], "_BLOCK_BYTES", 8 * 90 * 7)
    np.testing.assert_allclose(residual_variance(distances, points), textbook(distances, points), atol=1e-12)


def test_it_vanishes_where_the_embedding_is_exact(points):
    assert residual_variance(cdist(points, points), points)[-1] < 1e-14


def test_rows_may_come_from_a_function(points):
    distances = cdist(points, points, "cityblock")
    np.testing.assert_allclose(
        residual_variance(lambda part: distances[part], points), residual_variance(distances, points)
    )


def test_landmark_rows(points):
    landmarks = np.array([3, 40, 77])
    distances = cdist(points[landmarks], points, "chebyshev")
    expected = 1 - np.corrcoef(distances.ravel(), cdist(points[landmarks], points).ravel())[0, 1] ** 2
    np.testing.assert_allclose(residual_variance(distances, points, rows=landmarks)[-1], expected)


def test_unreachable_pairs_are_left_out(points):
    distances = cdist(points, points, "cityblock")
    distances[:30, 30:] = distances[30:, :30] = np.inf
    np.testing.assert_allclose(residual_variance(distances, points), textbook(distances, points), atol=1e-12)


def test_a_constant_embedding_explains_nothing(points):
    distances = cdist(points, points)
    np.testing.assert_array_equal(residual_variance(distances, np.zeros((90, 2))), [1.0, 1.0])


def test_wrong_input_is_named(points):
    with pytest.raises(InputError, match="90 x 90"):
        residual_variance(np.zeros((3, 90)), points)
    with pytest.raises(InputError, match="distances of residual_variance must differ; all are equal"):
        residual_variance(np.ones((90, 90)), points)
