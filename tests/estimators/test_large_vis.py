"""LargeVis in full batch: its function against sums over all pairs, and what users rely on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import lowdim
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT

ONE = Run.of(0, 1)
N = 40


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


def graph():
    W = random_array((N, N), density=0.3, rng=np.random.default_rng(3), format="csr")
    W.setdiag(0)
    W = csr_array(W + W.T)
    W.eliminate_zeros()
    return W


def objective(d=2, engine=None, counts=None):
    model = lowdim.LargeVis(gamma=3.0, negative_samples=4)
    made = (engine or Exact()).start(model._repulsive_kernel, N, d, ONE)
    return model._make_objective(Attraction(graph(), model._attractive_kernel, ONE), made, counts, None)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_function_is_that_of_the_paper_with_its_gradient(d, counted):
    """sum w log(1 + D) + gamma m sum_ik d_i n_k r(D_ik), and its slopes by finite differences."""
    counts = 1.0 + (np.arange(N) % 3 == 0) if counted else None
    E, X = objective(d, counts=counts), 2.0 * np.random.default_rng(1).normal(size=(N, d))
    W, c = graph().toarray(), np.ones(N) if counts is None else counts
    degrees = W.sum(axis=1)
    noise = c * (degrees / c) ** 0.75
    D = cdist(X, X, "sqeuclidean")
    r = np.log((1 + D) / (0.1 + D)) / 0.9
    pairs = np.outer(degrees, noise / noise.sum())
    np.fill_diagonal(pairs, degrees * (noise - noise / c) / noise.sum())
    expected = (W * np.log1p(D)).sum() + 3.0 * 4.0 * (pairs * r).sum()
    found = E.evaluate(X)
    assert found.value == pytest.approx(expected, rel=1e-12)
    slope, step = np.empty_like(X), 1e-6
    for place in np.ndindex(X.shape):
        move = np.zeros_like(X)
        move[place] = step
        slope[place] = (E.evaluate(X + move).value - E.evaluate(X - move).value) / (2 * step)
    np.testing.assert_allclose(found.gradient, slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", [BarnesHut(0.1), FFT(1e-5)], ids=repr)
def test_the_step_is_that_of_the_sampled_optimiser_in_expectation(engine):
    """An edge drawn by its weight moves both ends; m points drawn against its start move with it."""
    E, X = objective(engine=engine), 3.0 * np.random.default_rng(1).normal(size=(N, 2))
    W = graph().toarray()
    degrees = W.sum(axis=1)
    noise = degrees**0.75 / (degrees**0.75).sum()
    D = cdist(X, X, "sqeuclidean")
    pull = -2.0 / (1 + D) * (W + W.T)
    push = 2 * 3.0 / ((1 + D) * (0.1 + D)) * 4.0
    push *= np.outer(degrees, noise) + np.outer(noise, degrees)
    np.fill_diagonal(push, 0.0)
    step = np.einsum("nm,nmc->nc", pull + push, X[:, None] - X[None])
    np.testing.assert_allclose(-E.evaluate(X).gradient, step, atol=1e-3 * np.abs(step).max())


@pytest.mark.slow
def test_groups_come_out_and_new_points_join_them(digits):
    X, y = digits
    model = lowdim.LargeVis().fit(X[::2])
    score = lowdim.score(X[::2], model.embedding_, y[::2], measures="neighbor_accuracy")
    assert score["neighbor_accuracy"] > 0.93
    new = model.transform(X[1::2])
    np.testing.assert_array_equal(np.vstack([model.transform(row[None]) for row in X[1:21:2]]), new[:10])
    np.testing.assert_array_equal(model.transform(X[::2]), model.embedding_)
    nearest = np.argmin(cdist(new, model.embedding_), axis=1)
    assert np.mean(y[::2][nearest] == y[1::2]) > 0.88


def test_a_fitted_point_would_be_placed_where_it_is(digits):
    X = digits[0][:300]
    model = lowdim.LargeVis(repulsion="exact").fit(X)
    moved = np.sqrt(((model.transform(X + 1e-9) - model.embedding_) ** 2).sum(axis=1))
    assert np.median(moved) < 0.02 * np.ptp(model.embedding_, axis=0).max()


@pytest.mark.parametrize("optimizer", ["gd", "fp", "diagh", "sd", "sd-", "cg", "lbfgs", "momentum"])
def test_every_optimiser_lowers_the_objective(digits, optimizer):
    model = lowdim.LargeVis(optimizer=optimizer, max_iter=15).fit(digits[0][:150])
    assert model.objective_ < model.history_.values[0]


@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "fft"])
def test_threads_change_no_bit(digits, repulsion):
    fits = [
        lowdim.LargeVis(repulsion=repulsion, max_iter=8, n_jobs=jobs).fit(digits[0][:200])
        for jobs in (1, 2, 5)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.embedding_, fits[0].embedding_)


@pytest.mark.parametrize("n_components", [1, 2, 3, 4])
def test_dimensions_and_few_points(digits, n_components):
    model = lowdim.LargeVis(n_components, max_iter=10).fit(digits[0][:600])
    assert model.transform(digits[0][600:603]).shape == (3, n_components)
    assert lowdim.LargeVis(max_iter=5).fit(digits[0][: n_components + 1]).embedding_.shape[1] == 2


def test_gamma_widens_the_picture(digits):
    narrow, wide = (
        np.ptp(lowdim.LargeVis(gamma=gamma, max_iter=100).fit_transform(digits[0][:300]), axis=0).max()
        for gamma in (0.5, 20.0)
    )
    assert narrow < wide


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"gamma": -1.0}, r"gamma of LargeVis must be a finite number > 0; got -1.0"),
        ({"negative_samples": 0}, r"negative_samples of LargeVis must be a finite number > 0; got 0"),
        ({"perplexity": 60}, r"below the number of neighbours.*only 49 other points.*perplexity=16"),
        ({"perplexity": 20, "n_neighbors": 15}, r"below the number of neighbours.*Raise n_neighbors"),
        ({"n_neighbors": 50}, r"n_neighbors"),
        ({"perplexity": 0}, r"perplexity of LargeVis must be"),
    ],
)
def test_bad_input(parameters, words):
    with pytest.raises(InputError, match=words):
        lowdim.LargeVis(**parameters).fit(np.random.default_rng(0).normal(size=(50, 3)))
