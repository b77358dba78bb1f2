"""The families of SNE, symmetric SNE and the elastic embedding: from each of them to Laplacian eigenmaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import lowdim
from lowdim.errors import InputError
from lowdim.metrics.procrustes import procrustes

N = 240
THEMSELVES = {
    "sne": lowdim.SNE,
    "symmetric-sne": lowdim.SymmetricSNE,
    "elastic-embedding": lowdim.ElasticEmbedding,
}


@pytest.fixture(scope="module")
def points():
    return lowdim.datasets.swiss_roll(N, random_state=0).data


@pytest.fixture(scope="module", params=THEMSELVES)
def family(request, points):
    return lowdim.NeighborSpectrum(objective=request.param, perplexity=12, positions=5).fit(points)


def degrees_between(A, B):
    return np.rad2deg(subspace_angles(A - A.mean(axis=0), B - B.mean(axis=0)))


def test_position_0_is_the_embedding_itself(points, family):
    alone = THEMSELVES[family.objective](perplexity=12).fit(points)
    assert family.objective_ == pytest.approx(alone.objective_, rel=2e-4)
    assert procrustes(family.embedding_, alone.embedding_).error < 0.05
    np.testing.assert_array_equal(dict(family.frames_)[0.0], family.embedding_)


def test_the_last_is_laplacian_eigenmaps_and_the_one_before_is_near(points, family):
    exact = lowdim.LaplacianEigenmaps(2, n_neighbors=36, affinity=lowdim.Entropic(12)).fit(points).embedding_
    angles = [degrees_between(frame, exact).max() for _, frame in family.frames_]
    assert angles[-1] < 0.1
    close = lowdim.NeighborSpectrum(
        objective=family.objective, perplexity=12, position=1.99, positions=[1.99]
    ).fit(points)
    assert degrees_between(close.embedding_, exact).max() < 20
    assert close.embedding_.std(axis=0).min() > 0.2


def test_widths_and_lambda_fall_along_the_path(family):
    widths = [frame.std() for _, frame in family.frames_[:-1]]
    assert widths == sorted(widths, reverse=True)
    assert family.history_.lam[-1] == (100.0 if family.objective == "elastic-embedding" else 1.0)


def test_new_points(points, family):
    np.testing.assert_array_equal(family.transform(points[:9]), family.embedding_[:9])
    alone = THEMSELVES[family.objective](perplexity=12).fit(points)
    # The elastic embedding pushes a new point from the fitted one that it all but equals, about as far in both minima.
    moved = [
        np.median(np.linalg.norm(model.transform(points[:50] + 1e-3) - model.embedding_[:50], axis=1))
        for model in (family, alone)
    ]
    assert moved[0] == pytest.approx(moved[1], rel=0.25, abs=0.01)


def test_new_points_of_a_position_on_the_way(points):
    for objective in THEMSELVES:
        model = lowdim.NeighborSpectrum(
            objective=objective, perplexity=12, position=1.0, positions=[1.0]
        ).fit(points)
        placed = model.transform(points[:50] + 1e-3)
        moved = np.linalg.norm(placed - model.embedding_[:50], axis=1)
        assert np.median(moved) < 0.1 * model.embedding_.std(), objective


@pytest.mark.parametrize("objective", THEMSELVES)
def test_targets_densities_space_and_a_given_start(points, objective):
    quick = {"objective": objective, "perplexity": 12, "positions": [0.0, 1.0], "max_iter": 40}
    plain = lowdim.NeighborSpectrum(**quick).fit(points)
    told = lowdim.NeighborSpectrum(target_weight=0.8, **quick).fit(points, (points[:, 1] > 10).astype(int))
    assert procrustes(told.embedding_, plain.embedding_).error > 1e-3
    weight = 10.0 if objective == "elastic-embedding" else 0.1
    dense = lowdim.NeighborSpectrum(density=weight, **quick).fit(points)
    assert dense.density_correlation_ > dense.report_.figures["density_correlation_without"]
    assert lowdim.NeighborSpectrum(3, **quick).fit(points).embedding_.shape == (N, 3)
    there = lowdim.NeighborSpectrum(
        objective=objective, perplexity=12, positions=[0.0], init=plain.embedding_, max_iter=1
    ).fit(points)
    assert procrustes(there.embedding_, plain.embedding_).error < 0.05


def test_few_positions_lead_as_far_as_many(points):
    """Between two positions far apart the path is followed all the same."""
    quick = {"objective": "elastic-embedding", "perplexity": 12}
    few = lowdim.NeighborSpectrum(positions=[0.0], **quick).fit(points)
    at_once = lowdim.ElasticEmbedding(perplexity=12, homotopy=None).fit(points)
    along = lowdim.ElasticEmbedding(perplexity=12).fit(points)
    assert along.objective_ < 0.99 * at_once.objective_
    assert few.objective_ == pytest.approx(along.objective_, rel=2e-3)


def test_pieces_that_do_not_hang_together():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 3)) + shift for shift in (0.0, 100.0)])
    for objective in THEMSELVES:
        model = lowdim.NeighborSpectrum(objective=objective, perplexity=5, positions=3).fit(X)
        first, second = model.embedding_[:40], model.embedding_[40:]
        apart = np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))
        assert apart > max(first.std(), second.std()), objective


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "umap"}, "objective"),
        ({"lam": 0.5}, "lam belongs to objective"),
        ({"objective": "sne", "lam": -1.0}, "lam"),
        ({"objective": "sne", "lam": 3.0}, r"^lam must be at most .* for NeighborSpectrum"),
    ],
)
def test_what_cannot_be_is_refused(points, parameters, message):
    with pytest.raises(InputError, match=message):
        lowdim.NeighborSpectrum(**{"max_iter": 2} | parameters).fit(points)
