"""The choice of a search, and approximate ones."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DataWarning, InputError, MissingExtraError
from lowdim.neighbors import build_index, plan_search, resolve_metric
from lowdim.neighbors.choose import choose_search
from lowdim.neighbors.searchers.descent import DescentSearcher

POINTS = np.random.default_rng(0).normal(size=(1500, 10))


def choice(rows, metric="euclidean", **options):
    events = []
    index = build_index(rows, metric, **options, run=Run(Events(events.append)))
    chosen = [event.data["choice"] for event in events if event.kind == "chosen"]
    assert chosen == [index.backend]
    return index


def test_small_data_is_searched_exactly():
    assert choice(Rows(POINTS)).backend == "blocked"
    assert choice(Rows(POINTS), search="exact").is_exact
    assert choice(Rows(np.random.default_rng(1).normal(size=(20000, 2)))).backend == "tree"


@pytest.mark.parametrize("search", ["forest", "exact"])
def test_an_index_goes_with_its_last_name(search):
    """What holds itself would keep all points until Python looks for such: a worker grew from cell to cell."""
    index = build_index(Rows(POINTS), "euclidean", search=search, run=Run.of())
    found = index.query(None, 5, Run.of())
    index.query(Rows(POINTS[:3]), 5, Run.of())
    assert (found.recall is None) == (search == "exact")
    held = weakref.ref(index)
    gc.disable()
    try:
        del index
        assert held() is None
    finally:
        gc.enable()


def test_costs_decide():
    metric = resolve_metric("euclidean")
    assert choose_search((70_000, 50), metric).search == "blocked"
    assert choose_search((1_000_000, 50), metric).search == "forest"
    assert choose_search((1_000_000, 3), metric).search == "tree"
    assert choose_search((1_000_000, 50), metric, "exact").search == "blocked"


def test_the_number_of_neighbours_decides_too():
    """A forest compares far more points for 90 neighbours than for 10: wide rows were searched slower by it."""
    metric = resolve_metric("euclidean")
    few, many = (choose_search((12_000, 3000), metric, n_neighbors=k, patience=2.0) for k in (10, 90))
    assert (few.search, many.search) == ("forest", "blocked")
    assert choose_search((70_000, 50), metric, n_neighbors=90, patience=2.0).search == "forest"


@pytest.mark.parametrize("patience", [2.0, 30.0])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "minkowski", "mahalanobis"])
@pytest.mark.every(2)
def test_a_plan_names_the_search_of_the_fit(metric, patience):
    for n in (100, 20_000, 25_000, 38_000, 70_000, 150_000, 180_000, 336_000, 2_000_000):
        for d in (2, 3, 10, 50, 784, 3000):
            rows = Rows(np.broadcast_to(np.float32(0), (n, d)))
            for k, asked in product((5, 15, 90), ("auto", "exact", "approximate")):
                chosen = choose_search(rows, resolve_metric(metric), asked, n_neighbors=k, patience=patience)
                for form in (rows, (n, d)):
                    planned = plan_search(form, metric, k, asked, patience=patience)
                    assert planned.note.split(", ")[1] == chosen.search
                    assert planned.seconds >= chosen.cost.seconds / 2 > 0
                    assert planned.bytes >= planned.kept >= 16 * n * k


def test_plans_know_metric_and_sparsity():
    dense = (20_000, 784)
    near, far = (plan_search(dense, metric, 10, "exact") for metric in ("euclidean", "manhattan"))
    assert far.seconds > 10 * near.seconds
    assert plan_search(dense, "canberra", 10, "exact").seconds > far.seconds
    assert plan_search(dense, lambda a, b: 0.0, 10).seconds > 5 * far.seconds
    thin = random_array((2000, 20_000), density=0.001, format="csr", rng=np.random.default_rng(2))
    planned = plan_search(Rows(csr_array(thin)), "euclidean", 10)
    assert planned.note == "exact, sparse"
    assert planned.bytes < 4 * 2000 * 20_000
    assert planned.seconds < plan_search((2000, 20_000), "euclidean", 10).seconds


def test_sparse_rows_are_spread_out_only_if_hardly_sparse():
    thin = csr_array(random_array((300, 5000), density=0.001, format="csr", rng=np.random.default_rng(2)))
    assert choice(Rows(thin)).backend == "sparse"
    assert choice(Rows(thin), "correlation").backend == "sparse"
    assert choice(Rows(csr_array(POINTS))).backend == "blocked"


def test_unknown_search_is_explained():
    with pytest.raises(InputError, match=r"search='fast'.*blocked"):
        build_index(Rows(POINTS), search="fast", run=Run.of())
    with pytest.raises(InputError, match="Euclidean form"):
        build_index(Rows(POINTS), "manhattan", search="forest", run=Run.of())


def test_an_index_survives_pickling():
    for search in ("blocked", "tree", "forest"):
        index = build_index(Rows(POINTS), search=search, run=Run.of())
        again = pickle.loads(pickle.dumps(index))
        assert again.backend == search
        assert np.array_equal(
            again.query(Rows(POINTS[:9]), 4, Run.of()).indices,
            index.query(Rows(POINTS[:9]), 4, Run.of()).indices,
        )


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_descent_for_other_metrics_and_sparse_rows(metric):
    """pynndescent compiles for a minute or two in every process."""
    pytest.importorskip("pynndescent")
    rows = Rows(csr_array(POINTS[:300]) if metric == "cosine" else POINTS[:300])
    index = build_index(rows, metric, search="descent", run=Run.of())
    found, true = (
        index.query(None, 6, Run.of()),
        build_index(rows, metric, run=Run.of()).query(None, 6, Run.of()),
    )
    assert np.mean(found.indices == true.indices) > 0.95
    assert found.recall > 0.95
    new = index.query(Rows(POINTS[:4]), 3, Run.of())
    assert new.indices.reshape(-1, 3)[:, 0].tolist() == [0, 1, 2, 3]


@pytest.mark.slow
def test_new_rows_leave_a_descent_as_it_is():
    pytest.importorskip("pynndescent")
    index = build_index(Rows(POINTS[:300]), "manhattan", search="descent", run=Run.of())
    index.query(None, 6, Run.of())
    stored = index.searcher.width, dict(index.recall.known)
    graph = index.searcher.index
    index.query(Rows(POINTS[:4]), 60, Run.of())
    assert index.searcher.index is graph
    assert (index.searcher.width, index.recall.known) == stored
    fresh = build_index(Rows(POINTS[:300]), "manhattan", search="descent", run=Run.of())
    fresh.query(Rows(POINTS[:4]), 60, Run.of())
    assert (fresh.searcher.width, fresh.recall.known) == (0, {})


@pytest.mark.slow
def test_poor_recall_is_warned_of(monkeypatch):
    """Candidates that are the same for every point."""

    def first_rows(self, count, run):
        indices = np.tile(np.arange(count), (self.rows.n_rows, 1))
        return indices, np.full(self.rows.n_rows, np.inf)

    monkeypatch.setattr(DescentSearcher, "of_points", first_rows)
    pytest.importorskip("pynndescent")
    index = build_index(Rows(POINTS[:300]), "manhattan", search="descent", run=Run.of())
    with pytest.warns(DataWarning, match="of the true neighbours"):
        found = index.query(None, 10, Run.of())
    assert found.recall < 0.8


@pytest.mark.slow
def test_a_metric_that_pynndescent_does_not_know():
    pytest.importorskip("pynndescent")
    with pytest.raises(InputError, match="does not know metric='nan_euclidean'"):
        build_index(Rows(POINTS), "nan_euclidean", search="approximate", run=Run.of())


def test_what_pynndescent_cannot_hold_is_said():
    pytest.importorskip("pynndescent")
    with pytest.raises(InputError, match="does not know metric='mahalanobis' of sparse rows"):
        build_index(Rows(csr_array(POINTS)), "mahalanobis", search="approximate", run=Run.of())
    index = build_index(Rows(POINTS * 1e40), "braycurtis", search="approximate", run=Run.of())
    with pytest.raises(InputError, match=r"X in single precision under this metric, which ends at 3\.4e"):
        index.query(None, 5, Run.of())


def test_missing_pynndescent(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        build_index(Rows(POINTS), "manhattan", search="approximate", run=Run.of())
