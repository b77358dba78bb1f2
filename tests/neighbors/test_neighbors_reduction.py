"""Wide rows are searched in a few directions where these keep their neighbours, and in all columns where not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index, reduction
from lowdim.neighbors.centred_points import CentredPoints
from lowdim.neighbors.geometry import Geometry
from lowdim.neighbors.metrics import resolve_metric

RNG = np.random.default_rng(0)
FEW = RNG.normal(size=(2500, 5)) @ RNG.normal(size=(5, 160)) + 0.02 * RNG.normal(size=(2500, 160))
ALL = RNG.normal(size=(2500, 160))


@pytest.fixture(autouse=True)
def few_points_are_enough(monkeypatch):
    monkeypatch.setattr(reduction, "FEWEST_POINTS", 2000)


def centred(points, metric="euclidean", n_jobs=2):
    run = Run.of(n_jobs=n_jobs)
    return CentredPoints.around(Geometry(Rows(points), resolve_metric(metric), run), run)


def recall_of(found, points, sample, k):
    table = cdist(points[sample], points)
    table[np.arange(len(sample)), sample] = np.inf
    true = np.argpartition(table, k - 1, axis=1)[:, :k]
    return np.mean([np.isin(a, b).mean() for a, b in zip(true, found, strict=True)])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_few_directions_are_found_by_trial(metric):
    projection = reduction.reduction(centred(FEW, metric), Run.of())
    assert projection is not None
    assert projection.n_directions == 32
    V = projection.basis.astype(float)
    np.testing.assert_allclose(V.T @ V, np.eye(32), atol=1e-5)


@pytest.mark.parametrize(
    "points",
    [ALL, FEW[:, :100], FEW[:1500], np.vstack((FEW, np.full((1, 160), 1e30)))],
    ids=["all directions", "few columns", "few rows", "an outlier"],
)
def test_all_columns_where_directions_lose_neighbours_or_are_not_worth_it(points):
    assert reduction.reduction(centred(points), Run.of()) is None


def test_the_trial_knows_who_is_near():
    frame, places = centred(ALL[:2000]), np.linspace(0, 1999, reduction.QUERIES).astype(int)
    widest = reduction.Projection(np.eye(161, 128, dtype=np.float32), 1.0)
    shares = reduction._shares(frame, widest, Run.of(n_jobs=2))
    true = np.argsort(cdist(ALL[places], ALL[:2000]), axis=1)[:, 1:16]
    for step, columns in enumerate((32, 64, 96, 128)):
        near = np.argsort(cdist(ALL[places, :columns], ALL[:2000, :columns]), axis=1)
        for length in (1.0, 3.0):
            expected = np.mean(
                [np.isin(a, b[: int(20 * length)]).mean() for a, b in zip(true, near, strict=True)]
            )
            assert shares[step][length] == pytest.approx(expected, abs=2e-3)


def test_neighbours_in_few_directions_are_measured_in_all():
    one, four = Run.of(3, n_jobs=1), Run.of(3, n_jobs=4)
    first, second = (build_index(Rows(FEW), search="forest", run=run) for run in (one, four))
    assert first.searcher.projection is not None
    assert first.searcher.points.shape[1] == 32
    found, same = first.query(None, 10, one), second.query(None, 10, four)
    np.testing.assert_array_equal(found.indices, same.indices)
    np.testing.assert_array_equal(found.distances, same.distances)
    sample = np.arange(0, 2500, 9)
    table = found.indices.reshape(-1, 10)
    assert recall_of(table[sample], FEW, sample, 10) > 0.95
    assert found.recall > 0.95
    measured = np.linalg.norm(FEW[sample, None] - FEW[table[sample]], axis=2)
    np.testing.assert_allclose(found.distances.reshape(-1, 10)[sample], measured, rtol=1e-12)


def test_new_rows_are_searched_in_the_same_directions():
    index = build_index(Rows(FEW[300:]), search="forest", run=Run.of(3))
    found = index.query(Rows(FEW[:300]), 8, Run.of())
    limit = np.sort(cdist(FEW[:300], FEW[300:]), axis=1)[:, 7:8]
    assert (found.distances.reshape(-1, 8) <= limit * (1 + 1e-9)).mean() > 0.95
    again = pickle.loads(pickle.dumps(index)).query(Rows(FEW[:300]), 8, Run.of())
    np.testing.assert_array_equal(again.indices, found.indices)
