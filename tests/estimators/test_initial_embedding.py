"""Where an optimisation starts, where the graph falls into parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.estimators.embedding_driver.initial_embedding import find_start
from lowdim.neighbors.components import find_components

SIZES = (300, 120, 60, 9, 5)


@pytest.fixture
def parts():
    """Arcs of different lengths, far apart, of which two are too small for eigenvectors of their own."""
    rng = np.random.default_rng(0)
    centres = 40.0 * rng.standard_normal((len(SIZES), 5))
    points = []
    for centre, size in zip(centres, SIZES, strict=True):
        angles = np.linspace(0, np.pi, size)
        arc = np.column_stack([np.cos(angles), np.sin(angles), 1e-3 * rng.standard_normal((size, 3))])
        points.append(centre + arc)
    X = np.vstack(points)
    near = csr_array(kneighbors_graph(X, 4))
    W = csr_array(((near + near.T) > 0).astype(float))
    assert find_components(W).count == len(SIZES)
    return X, W, np.repeat(np.arange(len(SIZES)), SIZES)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_part_has_its_own_place_and_its_own_eigenvectors(parts, d):
    X, W, labels = parts
    start = find_start("spectral", Rows(X), W, d, Run.of(0))
    assert start.shape == (len(X), d)
    assert np.isfinite(start).all()
    places = [start[labels == part] for part in range(len(SIZES))]
    spreads = np.array(
        [np.sqrt(np.square(place - place.mean(axis=0)).sum(axis=1).mean()) for place in places]
    )
    # Areas are shares of the points.
    np.testing.assert_allclose(spreads / spreads[0], np.sqrt(np.array(SIZES) / SIZES[0]), rtol=0.02)
    for part in range(3):
        along = np.arange(SIZES[part])
        # The first eigenvector of an arc rises along it.
        first = places[part][:, 0]
        assert abs(np.corrcoef(np.argsort(np.argsort(first)), along)[0, 1]) > 0.95


def test_parts_lie_apart(parts):
    X, W, labels = parts
    start = find_start("spectral", Rows(X), W, 2, Run.of(0))
    centres = np.array([start[labels == part].mean(axis=0) for part in range(len(SIZES))])
    own = np.linalg.norm(start - centres[labels], axis=1)
    nearest = np.linalg.norm(start[:, None] - centres, axis=2).argmin(axis=1)
    assert np.mean(nearest == labels) > 0.9
    assert own.max() < np.linalg.norm(centres[:, None] - centres, axis=2).max()


def test_parts_whose_means_coincide():
    rng = np.random.default_rng(1)
    ring = rng.standard_normal((100, 3))
    ring *= 10 / np.linalg.norm(ring, axis=1, keepdims=True)
    X = np.vstack([ring, -ring, rng.standard_normal((60, 3)), -rng.standard_normal((60, 3))])
    X -= X.mean(axis=0)
    blocks = [np.ones((size, size)) - np.eye(size) for size in (100, 100, 60, 60)]
    W = csr_array(
        np.block(
            [
                [b if i == j else np.zeros((len(b), len(c))) for j, c in enumerate(blocks)]
                for i, b in enumerate(blocks)
            ]
        )
    )
    assert np.isfinite(find_start("spectral", Rows(X), W, 2, Run.of(0))).all()
    same = np.zeros((320, 3))
    assert np.isfinite(find_start("spectral", Rows(same), W, 2, Run.of(0))).all()
