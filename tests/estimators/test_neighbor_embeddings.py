"""SNE, symmetric SNE, t-SNE and the elastic embedding: what users rely on."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.manifold import trustworthiness

import lowdim
from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import ConvergenceError, DataWarning, InputError, InterruptedWarning
from lowdim.estimators.embedding_driver.repulsion_and_optimizer import (
    REPULSIONS,
    check_repulsion,
    choose_repulsion,
)
from lowdim.metrics import neighbor_accuracy
from lowdim.neighbors import build
from lowdim.objectives import sne, t_sne
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.divergence import kl_divergence
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import GAUSSIAN, STUDENT
from lowdim.optimize import Annealing, DirectedDescent, LimitedMemory, SpectralDirection
from lowdim.optimize.named import OPTIMIZERS

METHODS = {
    "SNE": lowdim.SNE,
    "SymmetricSNE": lowdim.SymmetricSNE,
    "TSNE": lowdim.TSNE,
    "ElasticEmbedding": lambda **other: lowdim.ElasticEmbedding(**{"lam": 1.0} | other),
}
EVERY = pytest.mark.parametrize("name", METHODS)


def make(name, **parameters):
    return METHODS[name](**parameters)


def divergence_of(X, E):
    """KL(P | Q) of an embedding, all pairs summed."""
    P = lowdim.LaplacianEigenmaps(affinity=lowdim.Entropic(30.0), n_neighbors=90).fit(X).affinity_matrix_
    P = P / P.sum()
    run = Run.of(n_jobs=1)
    engine = Exact().start(STUDENT, len(X), 2, run)
    return kl_divergence(t_sne.TSNE(Attraction(P, STUDENT, run), engine), E)


@pytest.fixture(scope="module")
def few(digits):
    return digits[0][:250], digits[1][:250]


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture(scope="module")
def fitted(few):
    return {name: make(name).fit(few[0]) for name in METHODS}


@EVERY
def test_digits_come_apart(name, few, fitted):
    X, y = few
    E = fitted[name].embedding_
    assert E.shape == (250, 2)
    assert trustworthiness(X, E, n_neighbors=10) > 0.93
    assert neighbor_accuracy(E, y) > 0.85


@EVERY
def test_it_rests_at_a_minimum(name, few):
    """No direction lowers E: the gradient is small beside that of the start."""
    model = make(name, optimizer="lbfgs", homotopy=None, tolerance=1e-10, max_iter=2000).fit(few[0])
    assert model.report_.figures["stopped"] in ("converged", "stalled")
    assert model.report_.figures["gradient_norm"] < 1e-3 * max(1.0, abs(model.objective_))


def test_the_divergence_is_that_of_scikit_learns_formula(few, fitted):
    model = fitted["TSNE"]
    E = model.embedding_
    K = 1 / (1 + cdist(E, E, "sqeuclidean"))
    np.fill_diagonal(K, 0)
    Q = K / K.sum()
    P = lowdim.LaplacianEigenmaps(affinity=lowdim.Entropic(30.0), n_neighbors=90).fit(few[0]).affinity_matrix_
    P = (P / P.sum()).toarray()
    inside = P > 0
    assert_allclose(model.kl_divergence_, np.sum(P[inside] * np.log(P[inside] / Q[inside])), rtol=1e-6)


@pytest.mark.slow
def test_t_sne_ends_no_higher_than_scikit_learn(digits):
    from sklearn.manifold import TSNE

    X = digits[0][:600]
    theirs = TSNE(perplexity=30, init="pca", random_state=0).fit(X).embedding_
    assert lowdim.TSNE().fit(X).kl_divergence_ < divergence_of(X, theirs.astype(np.float64)) + 1e-3


@pytest.mark.covering
@EVERY
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_lowers_every_objective(name, optimizer, few):
    model = make(name, optimizer=optimizer, homotopy=None, max_iter=30, init="random").fit(few[0][:120])
    values = model.history_.values
    assert np.isfinite(model.embedding_).all()
    assert model.objective_ == values.min() < values[0]


@pytest.mark.covering
@EVERY
@pytest.mark.parametrize(("repulsion", "error"), [(lowdim.BarnesHut(0.3), 2e-2), (lowdim.FFT(1e-4), 5e-3)])
def test_engines_agree(name, repulsion, error, few):
    settings = {"optimizer": "momentum", "homotopy": None, "max_iter": 20}
    exact = make(name, repulsion="exact", **settings).fit(few[0])
    other = make(name, repulsion=repulsion, **settings).fit(few[0])
    assert lowdim.procrustes(other.embedding_, exact.embedding_).error < error


@pytest.mark.covering
@EVERY
@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_other_dimensions(name, n_components, few):
    E = make(name, n_components=n_components, max_iter=50).fit_transform(few[0])
    assert E.shape == (250, n_components)
    assert (E.std(axis=0) > 0).all()


@EVERY
def test_training_points_return_and_batches_do_not_matter(name, few, fitted):
    X, model = few[0], fitted[name]
    assert_array_equal(model.transform(X), model.embedding_)
    new = X[:40] + 0.1
    whole = model.transform(new)
    assert_array_equal(np.vstack([model.transform(row[None]) for row in new]), whole)
    assert_array_equal(model.transform(new), whole)


@EVERY
def test_new_points_land_among_their_own(name, digits, fitted):
    X, y = digits
    model, new = fitted[name], X[250:600]
    places = model.transform(new)
    nearest = cdist(places, model.embedding_).argmin(axis=1)
    assert np.mean(y[:250][nearest] == y[250:600]) > 0.6
    near = model.transform(X[:100] + 1e-3)
    moved = np.linalg.norm(near - model.embedding_[:100], axis=1)
    assert np.median(moved) < 0.1 * model.embedding_.std(axis=0).max()


@pytest.mark.slow
def test_many_points_are_found_along_the_links_of_the_fitted_ones(digits, monkeypatch):
    X, _ = digits
    exact = lowdim.TSNE(max_iter=100, search="exact").fit(X[:800])
    monkeypatch.setattr(build, "follow_seconds", lambda n_columns, n_queries: 0.0)
    model = lowdim.TSNE(max_iter=100).fit(X[:800])
    assert_array_equal(model.embedding_, exact.embedding_)
    assert_array_equal(model.transform(X[:800]), model.embedding_)
    places, others = model.transform(X[800:1000]), exact.transform(X[800:1000])
    assert_array_equal(np.vstack([model.transform(row[None]) for row in X[800:1000]]), places)
    assert np.mean(np.linalg.norm(places - others, axis=1) < 1e-2) > 0.9


@EVERY
def test_same_seed_same_bits_whatever_the_threads(name, few):
    one, two = (make(name, n_jobs=jobs, random_state=3, max_iter=40).fit(few[0]) for jobs in (1, 3))
    assert_array_equal(one.embedding_, two.embedding_)
    assert_array_equal(one.transform(few[0][:50] + 0.1), two.transform(few[0][:50] + 0.1))


@EVERY
def test_clone_and_pickle(name, few, fitted):
    model = fitted[name]
    assert_array_equal(clone(model).fit(few[0]).embedding_, model.embedding_)
    restored = pickle.loads(pickle.dumps(model))
    assert_array_equal(restored.transform(few[0][:20] + 0.1), model.transform(few[0][:20] + 0.1))


@EVERY
def test_copies_of_a_row_share_their_place(name, few):
    X = np.vstack((few[0][:100], few[0][:30], few[0][:30]))
    E = make(name, max_iter=60).fit_transform(X)
    assert_array_equal(E[100:130], E[:30])
    assert_array_equal(E[130:], E[:30])


@pytest.mark.parametrize("name", ["SymmetricSNE", "TSNE", "SNE"])
def test_distances_and_graphs_are_inputs_too(name, few):
    X = few[0][:120]
    settings = {"init": "random", "homotopy": None, "max_iter": 30, "optimizer": "momentum"}
    by_points = make(name, perplexity=10, **settings).fit(X).embedding_
    by_distances = make(name, perplexity=10, metric="precomputed", **settings).fit(cdist(X, X)).embedding_
    assert_allclose(by_distances, by_points, atol=1e-6)
    graph = lowdim.LaplacianEigenmaps(affinity=lowdim.Entropic(10.0), n_neighbors=30).fit(X).affinity_matrix_
    model = make(name, metric="graph", **settings).fit(graph)
    if name != "SNE":
        assert_allclose(model.embedding_, by_points, atol=1e-6)
    assert model.transform(graph[:5]).shape == (5, 2)


@pytest.mark.parametrize("affinity", [lowdim.Gaussian(20.0), lowdim.Binary(), lowdim.SelfTuning()])
@EVERY
def test_any_affinity(name, affinity, few):
    assert np.isfinite(make(name, affinity=affinity, n_neighbors=15, max_iter=20).fit_transform(few[0])).all()


def test_squared_distances_as_repulsive_weights(few):
    model = lowdim.ElasticEmbedding(lam=1.0, negative="distances").fit(few[0])
    assert neighbor_accuracy(model.embedding_, few[1]) > 0.85
    with pytest.raises(InputError, match="needs points"):
        lowdim.ElasticEmbedding(negative="distances", metric="precomputed").fit(cdist(few[0], few[0]))


@pytest.mark.covering
@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@EVERY
def test_every_start(name, init, few):
    assert np.isfinite(make(name, init=init, max_iter=20).fit_transform(few[0])).all()


def test_a_start_that_is_given_is_where_it_starts(few):
    start = np.random.default_rng(0).standard_normal((250, 2))
    frames = lowdim.TSNE(init=start, optimizer="gd", homotopy=None, max_iter=1, record=1).fit(few[0]).frames_
    assert [iteration for iteration, _ in frames] == [1]
    assert lowdim.procrustes(frames[0][1], start).error < 0.2


def test_frames_are_kept_and_history_tells_of_lambda(few):
    model = lowdim.ElasticEmbedding(lam=1.0, homotopy=4, record=5, max_iter=60).fit(few[0])
    assert all(frame.shape == (250, 2) for _, frame in model.frames_)
    assert [iteration % 5 for iteration, _ in model.frames_] == [0] * len(model.frames_)
    lam = np.unique(model.history_.lam)
    assert lam.size == 4
    assert lam[-1] == 1.0


def test_a_callback_can_stop_and_an_interrupt_keeps_the_best(few):
    def stop(event):
        if event.kind == "iteration" and event.data.get("iteration") == 25:
            raise lowdim.Stop

    model = lowdim.TSNE(callback=stop).fit(few[0])
    assert model.report_.figures["stopped"] == "stopped by callback"
    assert model.n_iter_ == 25

    def interrupt(event):
        if event.kind == "iteration" and event.data.get("iteration") == 25:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="best embedding so far"):
        model = lowdim.TSNE(callback=interrupt).fit(few[0])
    # Still exaggerated, and yet past the start.
    assert np.ptp(model.embedding_) > 1
    assert neighbor_accuracy(model.embedding_, few[1]) > 0.7
    assert model.transform(few[0][:3]).shape == (3, 2)


def test_seconds_are_a_bound(few):
    model = lowdim.TSNE(max_seconds=1e-3).fit(few[0])
    assert model.report_.figures["stopped"] == "max_seconds"
    assert model.n_iter_ < 500


def test_configured_objects(few):
    optimizer = DirectedDescent(LimitedMemory(memory=5))
    model = lowdim.TSNE(optimizer=optimizer, repulsion=lowdim.BarnesHut(theta=0.3), max_iter=20).fit(few[0])
    assert np.isfinite(model.embedding_).all()
    assert lowdim.TSNE(repulsion=lowdim.FFT(1e-4), max_iter=20).fit(few[0]).n_iter_ == 20


@pytest.mark.slow
def test_the_objective_at_the_end_is_that_of_the_embedding(few, fitted):
    model = fitted["TSNE"]
    assert_allclose(divergence_of(few[0], model.embedding_), model.kl_divergence_, rtol=1e-8)


BAD = [
    ({"perplexity": 0.5}, "perplexity"),
    ({"perplexity": 300}, "perplexity"),
    ({"perplexity": 30, "n_neighbors": 20}, "perplexity"),
    ({"perplexity": 5, "affinity": lowdim.Binary()}, "Put it into the affinity"),
    ({"n_neighbors": 250}, "n_neighbors"),
    ({"lam": -1.0}, "lam"),
    ({"lam": 0.0}, "lam"),
    ({"lam": np.nan}, "lam"),
    ({"homotopy": [0.5, -2.0]}, "homotopy"),
    ({"init": np.zeros((10, 2))}, r"\(250, 2\)"),
    ({"init": np.full((250, 2), np.nan)}, "500 such entries"),
    ({"init": "nowhere"}, "init"),
    ({"init": [["a", "b"]] * 250}, "must hold numbers"),
    ({"n_components": 3, "repulsion": "fft"}, "at most 2 dimensions"),
    ({"n_components": 4, "repulsion": lowdim.BarnesHut()}, "at most 3 dimensions"),
    ({"optimizer": "newton"}, "optimizer"),
    ({"repulsion": lowdim.FFT(1e-12)}, "tolerance of FFT"),
    ({"homotopy": [-1.0, 2.0]}, "homotopy"),
    ({"homotopy": []}, "homotopy"),
    ({"max_iter": 0}, "max_iter"),
    ({"max_seconds": -1.0}, "max_seconds"),
    ({"record": -1}, "record"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD, ids=[str(i) for i in range(len(BAD))])
@EVERY
def test_bad_parameters_are_named(name, parameters, words, few):
    with pytest.raises(InputError, match=words):
        make(name, **parameters).fit(few[0])


@EVERY
def test_bad_data_is_named(name, few):
    X = few[0]
    with pytest.raises(InputError, match="equal"):
        make(name).fit(np.ones((20, 3)))
    graph = lowdim.LaplacianEigenmaps(n_neighbors=12).fit(X).affinity_matrix_.toarray()
    graph[3] = graph[:, 3] = 0
    with pytest.raises(InputError, match="1 of the 250 rows of X have no affinity"):
        make(name, metric="graph").fit(graph)
    with pytest.raises(ValueError, match="NaN"):
        make(name).fit(np.where(X > 15, np.nan, X))


@pytest.mark.covering
@pytest.mark.parametrize("count", [2, 3, 4, 7])
@EVERY
def test_very_few_points(name, count):
    parameters = {"lam": 100.0} if name == "ElasticEmbedding" else {}
    E = make(name, **parameters).fit_transform(np.random.default_rng(0).standard_normal((count, 3)))
    assert E.shape == (count, 2)
    assert np.isfinite(E).all()


def test_plans_grow_with_the_work():
    small, large = np.zeros((1000, 10)), np.zeros((20_000, 10))
    assert lowdim.TSNE().plan(large).seconds > lowdim.TSNE().plan(small).seconds > 0
    assert lowdim.TSNE(repulsion="exact").plan(large).seconds > lowdim.TSNE().plan(large).seconds


@pytest.mark.parametrize(
    ("n_points", "n_components", "engine"),
    [
        (100, 2, Exact),
        (2000, 2, lowdim.BarnesHut),
        (2000, 1, Exact),
        (2000, 3, Exact),
        (5000, 1, lowdim.FFT),
        (5000, 2, lowdim.FFT),
        (5000, 3, lowdim.BarnesHut),
        (5000, 4, Exact),
    ],
)
def test_the_engine_that_auto_takes(n_points, n_components, engine):
    assert isinstance(choose_repulsion("auto", STUDENT, n_points, n_components, Events()), engine)


@pytest.mark.parametrize("name", REPULSIONS)
def test_an_engine_says_itself_what_it_serves_and_costs(name):
    kind = REPULSIONS[name]
    planned = lowdim.TSNE(n_components=1, repulsion=name, max_iter=10).plan(np.eye(600, 4))
    seconds, note = kind().cost(600)
    stage = next(stage for stage in planned.stages if stage.name == "optimise")
    assert stage.note == note
    assert stage.seconds > 10 * seconds
    if kind.most_components is None:
        check_repulsion(name, 100)
        return
    check_repulsion(kind(), kind.most_components)
    for given in (name, kind()):
        with pytest.raises(InputError, match=rf"at most {kind.most_components} dimensions.* Use 'exact'"):
            check_repulsion(given, kind.most_components + 1)


def test_a_lambda_too_small_to_open_the_picture_is_said(few):
    with pytest.warns(DataWarning, match="below the critical lambda"):
        lowdim.ElasticEmbedding(lam=1e-9, homotopy=5, max_iter=5).fit(few[0])


def test_a_path_of_lambda_ends_at_lambda(few):
    model = lowdim.ElasticEmbedding(lam=2.0, homotopy=[0.1, 1.0], max_iter=5).fit(few[0])
    assert np.unique(model.history_.lam).tolist() == [0.1, 1.0, 2.0]


def test_new_rows_of_a_graph_need_an_affinity(few):
    graph = lowdim.LaplacianEigenmaps(n_neighbors=12).fit(few[0]).affinity_matrix_
    model = lowdim.TSNE(metric="graph", max_iter=5).fit(graph)
    with pytest.raises(InputError, match="row 1 of X has no affinity"):
        model.transform(np.vstack((graph[[0]].toarray(), np.zeros((1, 250)))))


def test_pca_cannot_start_from_distances(few):
    with pytest.raises(InputError, match="init='pca' needs points"):
        lowdim.TSNE(metric="precomputed", init="pca").fit(cdist(few[0], few[0]))


def test_iterations_count_through_the_whole_path(few):
    for optimizer in ("auto", "sd", "momentum"):
        model = lowdim.SymmetricSNE(homotopy=5, max_iter=20, optimizer=optimizer).fit(few[0])
        assert model.n_iter_ <= 20
        assert np.unique(model.history_.lam).size == 5
        assert model.history_.lam[-1] == 1.0
    model = lowdim.TSNE(homotopy=[0.5], max_iter=21).fit(few[0])
    assert model.n_iter_ in (20, 21)
    assert "10 iterations" in next(c.choice for c in model.report_.choices if c.what == "optimizer")


def test_t_sne_has_no_minimum_beyond_lambda_one(few):
    for parameters in ({"lam": 1.5}, {"lam": 1.01, "optimizer": "lbfgs"}, {"lam": 0.5, "homotopy": [2.0]}):
        with pytest.raises(InputError, match=r"lam .*must be at most 1 for TSNE"):
            lowdim.TSNE(**parameters).fit(few[0])


def test_sne_says_where_a_point_would_leave_for_ever(few):
    X = few[0]
    with pytest.raises(InputError, match=r"must be at most 1\.\d+ for SNE of these data") as told:
        lowdim.SNE(lam=2.0).fit(X)
    P = lowdim.LaplacianEigenmaps(affinity=lowdim.Entropic(30.0), n_neighbors=90).fit(X).affinity_matrix_
    largest = 2 * P.sum(axis=1).min()
    assert f"at most {largest:.4g} " in str(told.value)
    # The point of the smallest degree, moved away, lowers E by what the formula says.
    run = Run.of(n_jobs=1)
    engine = Exact().start(GAUSSIAN, len(X), 2, run)
    energy = sne.SNE(Attraction(P, GAUSSIAN, run), engine, lam=largest + 0.1)
    E = np.random.default_rng(0).standard_normal((len(X), 2))
    values = []
    for distance in (1e5, 2e5):
        E[int(np.argmin(P.sum(axis=1)))] = (distance, 0.0)
        values.append(energy.evaluate(E).value)
    assert_allclose(values[1] - values[0], -0.1 * 3e10, rtol=0.02)


def test_symmetric_sne_without_a_minimum_is_an_error():
    """Three points in the plane can all be equally far apart."""
    X = np.eye(3)
    with pytest.raises(ConvergenceError, match=r"with lam=[\d.]+ it has no minimum"):
        lowdim.SymmetricSNE(lam=3.0).fit(X)


def written_out(X, perplexity, n_neighbors):
    """Distinct rows, how many copies each has, and P over all rows: a row's p_m|n is shared by the copies of m."""
    distinct, owners, copies = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    run = Run.of()
    lists = build.build_index(Rows(distinct), search="exact", run=run).query(None, n_neighbors, run)
    fitted = lowdim.Entropic(perplexity).fit(lists, run)
    P = np.zeros((len(distinct), len(distinct)))
    P[np.repeat(np.arange(len(distinct)), lists.counts), lists.indices] = fitted.conditional(lists, run)
    rows = (P / copies)[np.ix_(owners.ravel(), owners.ravel())]
    return owners.ravel(), copies.astype(float), (rows + rows.T) / 2


@pytest.mark.parametrize("name", ["SymmetricSNE", "TSNE", "SNE", "ElasticEmbedding"])
def test_copies_weigh_as_if_they_were_written_out(name, few):
    distinct = few[0][:80]
    X = np.vstack((distinct, distinct[:30], distinct[:10], distinct[:10]))
    model = make(name, perplexity=8, n_neighbors=24, max_iter=40, homotopy=None).fit(X)
    owners, copies, W = written_out(X, 8.0, 24)
    E = model.embedding_
    assert_allclose(W.sum(), len(X))
    if name in ("SymmetricSNE", "TSNE"):
        W = W / W.sum()
    D = cdist(E, E, "sqeuclidean")
    K = 1 / (1 + D) if name == "TSNE" else np.exp(-D)
    np.fill_diagonal(K, 0)
    if name == "SNE":
        S = K.sum(axis=1)
        value, q = np.sum(W * D) + np.log(S).sum(), (K / S[:, None] + K / S) / 2
    elif name == "ElasticEmbedding":
        value, q = np.sum(W * D) + K.sum(), K
    else:
        value = np.sum(W * (np.log1p(D) if name == "TSNE" else D)) + np.log(K.sum())
        q = K / K.sum()
    assert_allclose(model.objective_, value, rtol=1e-10)
    w = (W - q) * (K if name == "TSNE" else 1.0)
    gradient = 4 * (w.sum(axis=1)[:, None] * E - w @ E)
    # The gradient at a point is the sum of those of its copies.
    norm = np.linalg.norm([gradient[owners == n].sum(axis=0) for n in range(copies.size)])
    assert_allclose(model.report_.figures["gradient_norm"], norm, rtol=1e-6, atol=1e-12 * np.abs(value))


def test_the_usual_start_of_symmetric_sne_ends_in_a_low_minimum(iris):
    usual = lowdim.SymmetricSNE(perplexity=8).fit(iris).kl_divergence_
    at_once = lowdim.SymmetricSNE(perplexity=8, homotopy=None).fit(iris).kl_divergence_
    assert usual < 0.32 < at_once


def test_names_of_other_libraries_are_pointed_out():
    with pytest.raises(TypeError, match=r"TSNE has no parameter 'angle': .*'repulsion' .*BarnesHut\(theta="):
        lowdim.TSNE(angle=0.5)
    with pytest.raises(TypeError, match=r"SNE has no parameter 'learning_rate': .*'optimizer' .*Momentum\("):
        lowdim.SNE(learning_rate=200.0)
    with pytest.raises(ValueError, match=r"TSNE has no parameter 'n_iter_without_progress': .*'tolerance'"):
        lowdim.TSNE().set_params(n_iter_without_progress=300)
    with pytest.raises(
        TypeError, match=r"TSNE has no parameter 'perplexities'\. Did you mean 'perplexity'\?"
    ):
        lowdim.TSNE(perplexities=3)
    openings = {
        "exaggeration": r"'lam' here\. .*lam=1 / exaggeration",
        "initialization": r"'init' here",
        "negative_gradient_method": r"'repulsion' here\. .*'bh' is 'barnes-hut'",
        "neighbors": r"'search' here",
        "early_exaggeration_iter": r"'optimizer' here\. .*Annealing\(iterations=",
        "momentum": r"'optimizer' here\. .*Momentum\(momentum=",
    }
    for name, words in openings.items():
        with pytest.raises(TypeError, match=f"TSNE has no parameter '{name}': it is called {words}"):
            lowdim.TSNE(**{name: 1})
    assert list(inspect.signature(lowdim.TSNE).parameters)[:2] == ["n_components", "perplexity"]
    assert lowdim.TSNE().set_params(early_exaggeration=4.0).early_exaggeration == 4.0


def test_exaggeration_and_rate_are_those_of_the_schedule(few):
    X = few[0]
    model = lowdim.TSNE(early_exaggeration=4.0, learning_rate=50.0, max_iter=60).fit(X)
    schedule = Annealing(60, exaggeration=4.0, rate=50.0 / 250, momentum=0.9)
    same = lowdim.TSNE(optimizer=schedule, max_iter=60).fit(X)
    assert_allclose(model.embedding_, same.embedding_, rtol=1e-3, atol=1e-5)
    other = lowdim.TSNE(learning_rate=50.0, max_iter=60).fit(X)
    assert not np.allclose(other.embedding_, model.embedding_)
    for name, value in (("early_exaggeration", 4.0), ("learning_rate", 50.0)):
        with pytest.raises(InputError, match=f"{name} belongs to optimizer='auto'"):
            lowdim.TSNE(optimizer="sd", **{name: value}).fit(X)


def test_what_is_documented_can_be_imported(few):
    optimizer = DirectedDescent(LimitedMemory(initial=SpectralDirection()))
    assert lowdim.SymmetricSNE(optimizer=optimizer, max_iter=5).fit(few[0]).n_iter_ == 5
