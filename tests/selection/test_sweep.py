"""A sweep gives the scores of separate fits, shares what they have in common, and loses nothing to a failure."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim.errors import InputError, LowdimWarning
from lowdim.metrics import procrustes, score
from lowdim.neighbors.euclidean import EuclideanIndex
from lowdim.selection import Score, fits, sweep
from lowdim.selection.split import split_rows


@pytest.fixture(scope="module")
def few(digits):
    """Digits enough for a graph in one piece."""
    data, labels = digits
    return data[:600], labels[:600]


def separate_errors(estimator, data, labels, seed, *, test=0.2, outside=0.2):
    """The 1-NN errors of one fit, by scikit-learn's classifier."""
    split = split_rows(len(data), test, outside, np.random.default_rng(seed))
    fitted = estimator.set_params(random_state=seed).fit(data[split.fitted])
    known = labels[split.fitted]
    nearest = KNeighborsClassifier(1, algorithm="brute").fit(
        fitted.embedding_[split.train], known[split.train]
    )
    inside = nearest.predict(fitted.embedding_[split.test]) != known[split.test]
    new = nearest.predict(fitted.transform(data[split.outside])) != labels[split.outside]
    return inside.mean(), new.mean()


@pytest.mark.parametrize(
    ("make", "grid"),
    [
        (lowdim.LaplacianEigenmaps, {"n_neighbors": [8, 15, 25], "bandwidth": [20.0, None]}),
        (lowdim.LLE, {"n_neighbors": [10, 20], "reg": [1e-3, 1e-1]}),
        (lambda **p: lowdim.LLE(variant="modified", **p), {"n_neighbors": [12, 20], "n_components": [2, 3]}),
        (lowdim.Isomap, {"n_neighbors": [10, 20]}),
        (lambda **p: lowdim.KernelPCA(kernel="rbf", **p), {"gamma": [1e-4, 1e-3]}),
        (lowdim.PCA, {"n_components": [2, 5], "solver": ["covariance", "randomized"]}),
    ],
)
def test_scores_are_those_of_separate_fits(few, make, grid):
    data, labels = few
    found = sweep(make(), grid, data, labels, seeds=[3])
    assert [row["status"] for row in found.rows] == ["ok"] * len(found.points)
    for row, point in zip(found.rows, found.points, strict=True):
        expected = separate_errors(make(**point), data, labels, seed=3)
        assert (row["test_error"], row["out_of_sample_error"]) == pytest.approx(expected, abs=1e-12)


def test_landmark_scores_are_those_of_separate_fits(few):
    data, labels = few
    solver = lowdim.LLL(100)
    grid = {"n_neighbors": [10, 20], "bandwidth": [15.0, 30.0]}
    found = sweep(lowdim.LaplacianEigenmaps(5, solver=solver), grid, data, labels, seeds=[1])
    for row, point in zip(found.rows, found.points, strict=True):
        expected = separate_errors(lowdim.LaplacianEigenmaps(5, solver=solver, **point), data, labels, seed=1)
        assert (row["test_error"], row["out_of_sample_error"]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("solver", ["exact", lowdim.LLL(60, n_neighbors=8)])
def test_bandwidths_on_one_graph_give_the_bits_of_separate_fits(few, solver):
    estimator = lowdim.LaplacianEigenmaps(3, solver=solver)
    swept = []

    def keep(fitted, X, y):
        swept.append(fitted)
        return 0.0

    # A fit alone merges its affinities with their transpose, those of a sweep take a plan of that; at 1.2 some vanish.
    X, grid = few[0][:300], {"n_neighbors": [14], "bandwidth": [30.0, 20.0, 1.2, 15.0]}
    found = sweep(estimator, grid, X, score=keep)
    for fitted, point in zip(swept, found.points, strict=True):
        alone = lowdim.LaplacianEigenmaps(3, solver=solver, **point).fit(X)
        np.testing.assert_array_equal(fitted.embedding_, alone.embedding_)
        if solver == "exact":
            assert (fitted.affinity_matrix_ != alone.affinity_matrix_).nnz == 0


def test_neighbours_are_searched_for_once(few, monkeypatch):
    searches = []
    query = EuclideanIndex.query

    def counted(self, rows, k, run):
        if rows is None:
            searches.append(k)
        return query(self, rows, k, run)

    monkeypatch.setattr(EuclideanIndex, "query", counted)
    data, labels = few
    grid = {"n_neighbors": [5, 30, 12, 9999], "bandwidth": [15.0, 30.0]}
    with pytest.warns(LowdimWarning, match="failed"):
        sweep(lowdim.LaplacianEigenmaps(), grid, data, labels, score=lambda fitted, X, y: 0.0)
    assert searches == [30]
    searches.clear()
    with pytest.warns(LowdimWarning, match="failed"):
        sweep(lowdim.LaplacianEigenmaps(), grid, data, labels, test=50, out_of_sample=50, seeds=2)
    assert searches == [30, 30]


def test_landmark_weights_are_made_once_for_each_number_of_landmarks(few, monkeypatch):
    from lowdim.solvers.landmarks import fitting

    made = []
    weights = fitting.landmark_weights

    def counted(rows, chosen, *rest, **other):
        made.append(chosen.size)
        return weights(rows, chosen, *rest, **other)

    monkeypatch.setattr(fitting, "landmark_weights", counted)
    grid = {"n_neighbors": [8, 12, 20], "n_landmarks": [40, 80]}
    found = sweep(lowdim.LaplacianEigenmaps(solver="lll"), grid, few[0], few[1])
    assert [row["status"] for row in found.rows] == ["ok"] * 6
    assert sorted(made) == [40, 80]


@pytest.mark.parametrize(
    "estimator",
    [
        lowdim.LaplacianEigenmaps(4),
        lowdim.LaplacianEigenmaps(4, solver="lll"),
        lowdim.LLE(4),
        lowdim.LLE(4, variant="modified", reg=1e-2),
        lowdim.LaplacianEigenmaps(4, on_disconnected="largest", solver="lll"),
    ],
)
def test_rows_out_of_sample_are_looked_up_once(few, estimator, monkeypatch):
    """And are placed where ``transform`` places them."""
    data, labels = few
    searches = []
    query = EuclideanIndex.query

    def counted(self, rows, k, run):
        searches.extend([] if rows is None or rows.n_rows != 77 else [k])
        return query(self, rows, k, run)

    monkeypatch.setattr(EuclideanIndex, "query", counted)
    placed = {}
    real = fits.place_outside

    def kept(fitted, outside, shared):
        placed[fitted.n_neighbors] = fitted, outside, real(fitted, outside, shared)
        return placed[fitted.n_neighbors][-1]

    monkeypatch.setattr(fits, "place_outside", kept)
    sweep(estimator, {"n_neighbors": [10, 20, 15]}, data, labels, out_of_sample=77)
    # Besides, the 1-NN score asks for the nearest row of each in the embedding.
    assert len([k for k in searches if k > 1]) == 1
    for fitted, outside, coordinates in placed.values():
        np.testing.assert_allclose(fitted.transform(outside.values), coordinates, rtol=1e-12, atol=1e-12)


NESTED = [
    lambda **p: lowdim.LaplacianEigenmaps(n_neighbors=12, **p),
    lambda **p: lowdim.LLE(n_neighbors=12, **p),
    lambda **p: lowdim.Isomap(n_neighbors=12, **p),
    lambda **p: lowdim.KernelPCA(kernel="rbf", gamma=1e-3, **p),
    lambda **p: lowdim.ClassicalMDS(metric="manhattan", **p),
    lambda **p: lowdim.LaplacianEigenmaps(n_neighbors=12, solver=lowdim.LLL(120, n_neighbors=12), **p),
]


@pytest.mark.parametrize("make", NESTED)
@pytest.mark.every(2)
def test_one_fit_serves_every_number_of_components(few, make, monkeypatch):
    data, labels = few
    fits = []
    fit = lowdim.estimators.base.Estimator._fit

    def counted(self, X, *rest):
        fits.append(self.n_components)
        return fit(self, X, *rest)

    monkeypatch.setattr(lowdim.estimators.base.Estimator, "_fit", counted)
    found = sweep(make(), {"n_components": [2, 10, 4]}, data, labels, seeds=[5])
    assert fits[0] == 10
    assert len(fits) < 3
    for row, point in zip(found.rows, found.points, strict=True):
        expected = separate_errors(make(**point), data, labels, seed=5)
        assert (row["test_error"], row["out_of_sample_error"]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        lowdim.LLE(n_neighbors=20, variant="ltsa"),
        lowdim.LaplacianEigenmaps(n_neighbors=12, solver="lll"),
        lowdim.LaplacianEigenmaps(n_neighbors=12, on_disconnected="per_component"),
        lowdim.LaplacianEigenmaps(n_neighbors=12, solver=lowdim.LLL(60, n_neighbors=8, polish=5)),
        lowdim.ClassicalMDS(),
        lowdim.PCA(),
    ],
)
def test_where_the_problem_depends_on_the_number_of_components_each_is_fitted(few, estimator):
    started = []

    def listen(event):
        started.extend([event.stage] if event.kind == "started" and event.stage == "check" else [])

    sweep(estimator, {"n_components": [2, 3, 4]}, few[0][:300], few[1][:300], callback=listen)
    assert len(started) == 3


def test_a_cut_through_equal_eigenvalues_is_not_taken():
    """On a ring the eigenvalues come in pairs: half of a pair means nothing, and a fit of its own has to say so."""
    angle = np.arange(300) * 2 * np.pi / 300
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    started = []

    def listen(event):
        started.extend([event.stage] if event.kind == "started" and event.stage == "check" else [])

    truth = ring
    found = sweep(
        lowdim.LaplacianEigenmaps(n_neighbors=6),
        {"n_components": [1, 2, 4]},
        ring,
        truth=truth,
        callback=listen,
    )
    assert len(started) == 2
    assert found.best == {"n_components": 2}


def test_a_failed_point_is_a_row_that_says_why(few):
    data, labels = few
    with pytest.warns(LowdimWarning, match=r"2 of 6 fits .* n_neighbors=5000"):
        found = sweep(lowdim.LaplacianEigenmaps(), {"n_neighbors": [5000, 10, 20]}, data, labels, seeds=2)
    bad, *good = found.rows
    assert "n_neighbors must be less than the number of points" in bad["status"]
    assert np.isnan(bad["test_error"])
    assert bad["seeds"] == 0
    assert [row["status"] for row in good] == ["ok", "ok"]
    assert found.best["n_neighbors"] in (10, 20)


@pytest.mark.parametrize("error", [ValueError("by value"), ZeroDivisionError("by zero"), MemoryError()])
def test_what_counts_as_a_failed_point(few, error):
    def judge(fitted, X, y):
        if fitted.n_neighbors == 12:
            raise error
        return 1.0

    with pytest.warns(LowdimWarning, match="1 of 2 fits"):
        found = sweep(lowdim.LLE(), {"n_neighbors": [12, 15]}, few[0], score=judge)
    assert [row["status"] for row in found.rows] == [str(error) or "MemoryError", "ok"]
    assert found.best == {"n_neighbors": 15}


def test_a_mistake_in_a_score_is_not_hidden(few):
    with pytest.raises(KeyError, match="nothing"):
        sweep(lowdim.PCA(), {"n_components": [2]}, few[0], score=lambda fitted, X, y: {}["nothing"])


def test_all_failed(few):
    with pytest.warns(LowdimWarning, match="2 of 2"):
        found = sweep(lowdim.LaplacianEigenmaps(), {"n_neighbors": [5000, 6000]}, *few)
    with pytest.raises(InputError, match="n_neighbors must be less"):
        _ = found.best
    with pytest.raises(InputError, match="at least one fit"):
        found.plot()
    assert "5000" in str(found)


def test_interruption_keeps_what_is_done(few):
    def judge(fitted, X, y):
        if fitted.n_neighbors == 20:
            raise KeyboardInterrupt
        return float(fitted.n_neighbors)

    with pytest.warns(LowdimWarning, match="interrupted after 2 of 4"):
        found = sweep(lowdim.LLE(), {"n_neighbors": [10, 15, 20, 25]}, few[0], score=judge)
    assert not found.complete
    assert [row["n_neighbors"] for row in found.rows] == [10, 15]
    assert found.best == {"n_neighbors": 15}
    assert "interrupted after 2 of 4" in str(found)
    with pytest.raises(KeyboardInterrupt):
        sweep(lowdim.LLE(), {"n_neighbors": [20]}, few[0], score=judge)


def test_a_sweep_that_goes_on_draws_for_every_seed_its_own(few, tmp_path, monkeypatch):
    """Fits of two seeds to the same rows share their neighbours, and no random numbers with them."""
    for name in ("is_worth", "allows"):
        monkeypatch.setattr(f"lowdim.store.budget.Budget.{name}", lambda *_: True)
    fitted = []

    def stopping(event):
        if event.kind == "started" and event.stage.startswith("n_neighbors"):
            fitted.append(event.stage)
            if len(fitted) == 2:
                raise KeyboardInterrupt

    def spread(fitted, X, y):
        return float(np.abs(fitted.embedding_).sum())

    def swept(**settings):
        model, grid = lowdim.LLE(3, solver=lowdim.LLL(40)), {"n_neighbors": [12]}
        return sweep(model, grid, few[0], score=spread, seeds=2, **settings)

    with pytest.warns(LowdimWarning, match="interrupted after 1 of 2"):
        swept(checkpoint=tmp_path, callback=stopping)
    again = swept(checkpoint=tmp_path)
    assert [run.figures for run in again.runs] == [run.figures for run in swept().runs]


def test_spread_over_seeds(few):
    data, labels = few
    found = sweep(lowdim.LaplacianEigenmaps(3), {"n_neighbors": [10, 20]}, data, labels, seeds=[4, 5, 6])
    assert found.seeds == (4, 5, 6)
    assert len(found.runs) == 6
    for row, point in zip(found.rows, found.points, strict=True):
        each = [
            separate_errors(lowdim.LaplacianEigenmaps(3, **point), data, labels, seed)[0]
            for seed in (4, 5, 6)
        ]
        assert row["test_error"] == pytest.approx(np.mean(each))
        assert row["test_error_std"] == pytest.approx(np.std(each, ddof=1))
        assert row["seeds"] == 3


def test_seeds_follow_the_estimators_own(few):
    grid = {"n_neighbors": [10]}
    assert sweep(lowdim.PCA(random_state=7), {"n_components": [2]}, *few, seeds=3).seeds == (7, 8, 9)
    generator = lowdim.LLE(random_state=np.random.default_rng(1))
    assert len(set(sweep(generator, grid, *few, seeds=2).seeds)) == 2
    assert np.isnan(sweep(lowdim.LLE(), grid, *few).rows[0]["test_error_std"])


def test_given_rows_are_tested(few):
    data, labels = few
    test, outside = np.arange(100), np.arange(100, 160)
    found = sweep(
        lowdim.LaplacianEigenmaps(5), {"n_neighbors": [10]}, data, labels, test=test, out_of_sample=outside
    )
    expected = separate_errors(
        lowdim.LaplacianEigenmaps(5, n_neighbors=10), data, labels, seed=0, test=test, outside=outside
    )
    row = found.rows[0]
    assert (row["test_error"], row["out_of_sample_error"]) == pytest.approx(expected, abs=1e-12)


def test_no_rows_out_of_sample(few):
    found = sweep(lowdim.PCA(), {"n_components": [2]}, *few, out_of_sample=0)
    assert list(found.scores) == ["test_error"]
    assert "seconds_transform" not in found.rows[0]


def test_error_against_truth(roll):
    data, truth = roll
    grid = {"n_neighbors": [5, 6]}
    found = sweep(lowdim.Isomap(), grid, data, truth=truth, out_of_sample=100, seeds=[2])
    assert found.choices[0].choice == "truth"
    split = split_rows(len(data), 0, 100, np.random.default_rng(2))
    for row in found.rows:
        fitted = lowdim.Isomap(n_neighbors=row["n_neighbors"], random_state=2).fit(data[split.fitted])
        aligned = procrustes(fitted.embedding_, truth[split.fitted])
        assert row["procrustes_error"] == pytest.approx(aligned.error, rel=1e-9)
        new = aligned.scale * fitted.transform(data[split.outside]) @ aligned.rotation + aligned.translation
        there = truth[split.outside]
        expected = np.linalg.norm(new - there) / np.linalg.norm(there - there.mean(axis=0))
        assert row["out_of_sample_procrustes_error"] == pytest.approx(expected, rel=1e-9)
    assert found.rows[0]["procrustes_error"] < 0.3


def test_truth_of_another_width(roll):
    data, truth = roll
    found = sweep(lowdim.Isomap(n_neighbors=8), {"n_components": [1, 2, 3]}, data, truth=truth)
    errors = [row["procrustes_error"] for row in found.rows]
    assert found.best == {"n_components": 2}
    assert errors[0] > 2 * errors[1]


def test_quality_is_that_of_score(roll):
    data, _ = roll
    found = sweep(lowdim.LLE(), {"n_neighbors": [8, 16]}, data)
    assert found.choices[0].choice == "quality"
    assert found.scores == {"trustworthiness": False, "continuity": False, "recall_area": False}
    for row in found.rows:
        fitted = lowdim.LLE(n_neighbors=row["n_neighbors"]).fit(data)
        expected = score(data, fitted.embedding_)
        assert row["trustworthiness"] == pytest.approx(expected["trustworthiness"])
        assert row["recall_area"] == pytest.approx(expected["recall_area"])


def test_one_figure_of_quality_decides(roll):
    found = sweep(lowdim.PCA(), {"n_components": [1, 2]}, roll[0], score=["residual_variance", "continuity"])
    assert found.scores == {"residual_variance": True, "continuity": False}
    assert found.best == {"n_components": 2}


def test_scores_of_ones_own(few):
    data, labels = few

    def stress(fitted, X, y):
        assert fitted.embedding_.shape[0] == len(X) == len(y)
        return {"stress": float(fitted.n_neighbors), "size": float(len(X))}

    found = sweep(lowdim.LLE(), {"n_neighbors": [15, 10, 20]}, data, labels, score=stress)
    assert found.scores == {"stress": True, "size": False}
    assert found.best == {"n_neighbors": 10}
    assert found.rows[0]["size"] == len(data)
    most = sweep(
        lowdim.LLE(),
        {"n_neighbors": [15, 10, 20]},
        data,
        score=Score(lambda m, X, y: m.n_neighbors, "higher", "k"),
    )
    assert most.scores == {"k": False}
    assert most.best == {"n_neighbors": 20}


def test_several_scores_the_first_decides(few):
    data, labels = few

    def order(fitted, X, y):
        return -fitted.n_neighbors

    both = sweep(lowdim.LLE(), {"n_neighbors": [10, 20]}, data, labels, score=[order, "labels", "continuity"])
    assert list(both.scores) == ["order", "test_error", "out_of_sample_error", "continuity"]
    assert both.best == {"n_neighbors": 10}


def test_distances_as_data(few):
    data, labels = few
    distances = np.sqrt(((data[:, None] - data[None]) ** 2).sum(axis=2))
    grid = {"n_neighbors": [8, 12]}
    by_points = sweep(lowdim.LaplacianEigenmaps(4), grid, data, labels)
    by_distances = sweep(lowdim.LaplacianEigenmaps(4, metric="precomputed"), grid, distances, labels)
    for row, other in zip(by_points.rows, by_distances.rows, strict=True):
        assert row["test_error"] == other["test_error"]
        assert row["out_of_sample_error"] == other["out_of_sample_error"]
    quality = sweep(lowdim.LaplacianEigenmaps(metric="precomputed"), {"n_neighbors": [8]}, distances)
    assert quality.rows[0]["trustworthiness"] > 0.5


def test_sparse_rows_and_frames(few):
    from pandas import DataFrame
    from scipy.sparse import csr_array

    data, labels = few
    grid = {"n_components": [2, 5]}
    expected = [row["test_error"] for row in sweep(lowdim.PCA(), grid, data, labels).rows]
    for form in (csr_array(data), DataFrame(data), data.astype(np.uint8), data.tolist()):
        found = sweep(lowdim.PCA(), grid, form, list(labels))
        assert [row["test_error"] for row in found.rows] == pytest.approx(expected)


def test_inner_parameters(few):
    data, labels = few
    grid = [{"perplexity": [5.0, 8.0]}, {"n_neighbors": [12]}, {"affinity": [lowdim.Gaussian(20.0)]}]
    found = sweep(lowdim.LaplacianEigenmaps(4, n_neighbors=30), grid, data, labels)
    assert found.parameters == ("perplexity", "n_neighbors", "affinity")
    assert [row["n_neighbors"] for row in found.rows] == [30, 30, 12, 30]
    assert [row["perplexity"] for row in found.rows] == [5.0, 8.0, None, None]
    expected = separate_errors(
        lowdim.LaplacianEigenmaps(4, n_neighbors=30, affinity=lowdim.Entropic(8.0)), data, labels, seed=0
    )
    assert found.rows[1]["test_error"] == pytest.approx(expected[0])


def test_the_estimator_is_left_alone_and_its_callback_is_heard(few):
    heard, other = [], []
    estimator = lowdim.LLE(n_neighbors=12, callback=heard.append, random_state=3)
    before = estimator.get_params()
    sweep(estimator, {"reg": [1e-3, 1e-2]}, *few, callback=other.append)
    assert estimator.get_params() == before
    assert not hasattr(estimator, "embedding_")
    assert {"neighbours", "solve"} <= {event.stage for event in heard}
    assert "sweep" not in {event.stage for event in heard}
    assert {"sweep", "neighbours", "solve"} <= {event.stage for event in other}


def test_progress_and_lines(few, caplog):
    caplog.set_level(logging.DEBUG)
    events = []
    sweep(lowdim.LLE(), {"n_neighbors": [10, 15]}, *few, seeds=2, callback=events.append, verbose=2)
    progress = [event.data for event in events if event.kind == "progress" and event.stage == "sweep"]
    assert [(p["done"], p["total"]) for p in progress] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert progress[-1]["seconds_left"] == 0
    chosen = [event for event in events if event.kind == "chosen" and event.stage == "sweep"]
    assert chosen[0].data["choice"] == "labels"
    printed = "\n".join(caplog.messages)
    assert "n_neighbors=15, seed 1: " in printed
    assert "4 of 4, about 0 s left" in printed
