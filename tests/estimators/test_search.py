"""Approximate search through the estimators: recall estimated and reported, the same index for new points."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import make

import lowdim
from lowdim.core.run import Run
from lowdim.neighbors import build_index


@pytest.fixture(scope="module")
def cloud() -> np.ndarray:
    """A noisy surface in 20 dimensions."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (1500, 2))
    return np.tanh(u @ rng.standard_normal((2, 20))) + 0.01 * rng.standard_normal((1500, 20))


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LaplacianEigenmaps"])
def test_recall_is_estimated_and_reported(name: str, cloud: np.ndarray) -> None:
    model = make(name, search="approximate").fit(cloud)
    recall = model.report_.figures["neighbour_recall"]
    assert 0.9 < recall <= 1
    assert "recall" in str(model.report_)
    exact = make(name, search="exact").fit(cloud)
    assert exact.report_.figures["neighbour_recall"] == "exact"
    if name != "LLE":
        assert lowdim.procrustes(model.embedding_, exact.embedding_).error < 0.1


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LaplacianEigenmaps"])
def test_approximate_index_answers_for_new_points(name: str, cloud: np.ndarray) -> None:
    model = make(name, search="approximate", random_state=3).fit(cloud[:1200])
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(cloud[:1200]), model.embedding_, atol=1e-6 * scale)
    whole = model.transform(cloud[1200:])
    one_by_one = np.vstack([model.transform(row[None]) for row in cloud[1200:1230]])
    assert_allclose(one_by_one, whole[:30], atol=1e-12 * scale)
    again = make(name, search="approximate", random_state=3, n_jobs=1).fit(cloud[:1200])
    assert_array_equal(again.embedding_, model.embedding_)


def test_every_exact_backend_finds_the_same(cloud: np.ndarray) -> None:
    from lowdim.data.rows import Rows

    answers = [
        build_index(Rows(cloud), search=name, run=Run.of()).query(None, 7, Run.of())
        for name in ("blocked", "tree")
    ]
    for other in answers[1:]:
        assert_array_equal(other.indices, answers[0].indices)
        assert_array_equal(other.distances, answers[0].distances)


def test_auto_says_what_it_chose_and_why(cloud: np.ndarray) -> None:
    report = lowdim.LaplacianEigenmaps().fit(cloud).report_
    chosen = {choice.what: choice for choice in report.choices}
    assert {"neighbour search", "n_neighbors", "affinity", "solver"} <= set(chosen)
    assert all(choice.why for choice in chosen.values())


@pytest.mark.parametrize(
    "estimator",
    [
        lowdim.LaplacianEigenmaps(),
        lowdim.LLE(n_neighbors=20),
        lowdim.Isomap(metric="manhattan"),
        lowdim.TSNE(perplexity=20, max_iter=2),
        lowdim.LaplacianEigenmaps(search="approximate"),
    ],
    ids=repr,
)
def test_plan_and_fit_name_the_same_search(estimator: lowdim.TSNE, cloud: np.ndarray) -> None:
    for X in (cloud[:600], cloud[:600, :2]):
        planned = next(stage for stage in estimator.plan(X).stages if stage.name == "neighbours")
        choices = estimator.fit(X).report_.choices
        found = next(choice.choice for choice in choices if choice.what == "neighbour search")
        assert planned.note.split(", ")[1] == found
