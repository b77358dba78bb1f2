"""PaCMAP: pairs, phases and function against the original's formulas, and what users rely on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import lowdim
from lowdim.affinities.scaled_nearest import ScaledNearest
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.neighbors import build_index
from lowdim.neighbors.mid_near import distinct_draws, mid_near_pairs
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.pacmap import PaCMAP
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.similarities import Saturating, ShiftedStudent
from lowdim.optimize.schedules import PairPhases

ONE = Run.of(0, 1)
N = 40


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


def pairs(seed, count=4):
    """Directed pairs, and (A + A') / 2."""
    rng = np.random.default_rng(seed)
    A = np.zeros((N, N))
    for row in range(N):
        A[row, rng.choice(np.delete(np.arange(N), row), count, replace=False)] = 1.0
    return A, csr_array((A + A.T) / 2)


def objective(d, engine=None, counts=None):
    near, middle = pairs(1)[1], pairs(2, 2)[1]
    started = (engine or Exact()).start(ShiftedStudent(2.0), N, d, ONE)
    return PaCMAP(
        Attraction(near, Saturating(10.0), ONE),
        started,
        1.0,
        counts,
        middle=Attraction(middle, Saturating(1e4), ONE),
        further=8.0,
    )


@pytest.mark.parametrize("parts", [(), (2.0, 700.0), (3.0, 3.0)])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_function_is_that_of_the_paper_with_its_gradient_and_curvature(d, parts):
    E, X = objective(d), 3.0 * np.random.default_rng(1).normal(size=(N, d))
    E = E.with_parts(parts) if parts else E
    near, middle = parts or (1.0, 0.0)
    D = cdist(X, X, "sqeuclidean")
    off = ~np.eye(N, dtype=bool)
    expected = near * (pairs(1)[0] * (1 + D) / (11 + D)).sum()
    expected += middle * (pairs(2, 2)[0] * (1 + D) / (10001 + D)).sum()
    expected += 8.0 / N * (off / (2 + D)).sum()
    found = E.evaluate(X)
    assert found.value == pytest.approx(expected, rel=1e-12)
    slope, step = np.empty_like(X), 1e-5
    for place in np.ndindex(X.shape):
        move = np.zeros_like(X)
        move[place] = step
        slope[place] = (E.evaluate(X + move).value - E.evaluate(X - move).value) / (2 * step)
    np.testing.assert_allclose(found.gradient, slope, rtol=1e-5, atol=1e-7)
    V = np.random.default_rng(2).normal(size=X.shape)
    assert (np.einsum("nc,nc->c", V, E.curvature(X)(V)) > -1e-9).all()
    if parts == ():
        # The diagonal of the Hessian: 4 L(w) with w at X, and 8 L^xx; here D+ at X = 0 takes the place of w's own.
        w_xx = -E.attraction.weights.toarray() * Saturating(10.0).relief(D) + 8.0 / N * off * 2 / (2 + D) ** 3
        squares = np.einsum("nm,nmc->nc", w_xx, (X[:, None] - X[None]) ** 2)
        np.testing.assert_allclose(E.diagonal(X), 4 * E.degrees[:, None] + 8 * squares, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("engine", [BarnesHut(0.1), FFT(1e-5)], ids=repr)
def test_engines_agree(engine):
    X = 4.0 * np.random.default_rng(1).normal(size=(N, 2))
    exact, other = objective(2).evaluate(X), objective(2, engine).evaluate(X)
    assert other.value == pytest.approx(exact.value, rel=1e-4)
    np.testing.assert_allclose(other.gradient, exact.gradient, atol=1e-3 * np.abs(exact.gradient).max())


def test_phases_are_those_of_the_original():
    course = PairPhases(450)
    assert course.at(0).parts == (2.0, 1000.0)
    assert course.at(50).parts == pytest.approx((2.0, 501.5))
    assert course.at(100).parts == course.at(199).parts == (3.0, 3.0)
    assert course.at(200).is_last
    assert not course.at(199).is_last
    assert PairPhases(9).at(4).is_last
    assert PairPhases(1).at(0).is_last


def test_near_pairs_are_nearest_in_units_of_the_scales():
    X = np.random.default_rng(0).normal(size=(80, 3)) * np.geomspace(0.1, 3.0, 80)[:, None]
    D = cdist(X, X)
    sigma = np.sort(D, axis=1)[:, 4:7].mean(axis=1)
    scaled = D**2 / np.outer(sigma, sigma)
    np.fill_diagonal(scaled, np.inf)
    expected = np.zeros((80, 80))
    for row in range(80):
        expected[row, np.argsort(scaled[row])[:5]] = 1.0
    lists = build_index(Rows(X), "euclidean", run=ONE).query(None, 79, ONE)
    fitted = ScaledNearest(5).fit(lists, ONE)
    np.testing.assert_array_equal(fitted.weights(lists, ONE).toarray(), (expected + expected.T) / 2)
    np.testing.assert_allclose(fitted.to_new(lists, ONE).toarray(), expected, atol=1e-7)


@pytest.mark.slow
def test_mid_near_pairs_are_second_of_six():
    index = build_index(Rows(np.arange(4000.0)[:, None]), "euclidean", run=ONE)
    W = mid_near_pairs(index, 5, None, Run.of(3, 1))
    assert W.sum() == pytest.approx(4000 * 5)
    assert W.diagonal().sum() == 0
    np.testing.assert_array_equal(W.toarray(), mid_near_pairs(index, 5, None, Run.of(3, 4)).toarray())
    assert (mid_near_pairs(index, 5, None, Run.of(4, 1)) != W).nnz
    # From the end of a line the second least of six distances is at 2/7 of it, on the average.
    ends = mid_near_pairs(index, 400, (np.arange(4000) < 20).astype(np.float64), Run.of(0, 1)).tocoo()
    from_end = ends.row < 20
    mean = np.average(ends.col[from_end], weights=ends.data[from_end]) / 4000
    assert mean == pytest.approx(2 / 7, abs=0.02)
    few = build_index(Rows(np.arange(2.0)[:, None]), "euclidean", run=ONE)
    assert mid_near_pairs(few, 3, np.array([2.0, 1.0]), ONE).toarray()[0, 1] == pytest.approx(4.5)


def test_draws_are_distinct_and_even():
    drawn = distinct_draws(9, 6, 30_000, np.random.default_rng(0))
    assert all(np.unique(row).size == 6 for row in drawn[:200])
    np.testing.assert_allclose(np.bincount(drawn.ravel()) / 30_000, 6 / 9, atol=0.015)


def test_groups_come_out_and_new_points_join_them(digits):
    X, y = digits
    model = lowdim.PaCMAP().fit(X[::2])
    score = lowdim.score(X[::2], model.embedding_, y[::2], measures="neighbor_accuracy")
    assert score["neighbor_accuracy"] > 0.9
    assert model.n_iter_ == 450
    new = model.transform(X[1::2])
    np.testing.assert_array_equal(np.vstack([model.transform(row[None]) for row in X[1:21:2]]), new[:10])
    np.testing.assert_array_equal(model.transform(X[::2]), model.embedding_)
    nearest = np.argmin(cdist(new, model.embedding_), axis=1)
    assert np.mean(y[::2][nearest] == y[1::2]) > 0.75  # ten neighbours that count alike give 0.86 in the data


def test_a_fitted_point_would_be_placed_where_it_is(digits):
    X = digits[0][:300]
    model = lowdim.PaCMAP(repulsion="exact").fit(X)
    moved = np.sqrt(((model.transform(X + 1e-9) - model.embedding_) ** 2).sum(axis=1))
    assert np.median(moved) < 0.05 * np.ptp(model.embedding_, axis=0).max()


@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "fft"])
def test_threads_change_no_bit_and_seeds_do(digits, repulsion):
    X = digits[0][:200]
    fits = [lowdim.PaCMAP(repulsion=repulsion, max_iter=27, n_jobs=jobs).fit(X) for jobs in (1, 2, 5)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.embedding_, fits[0].embedding_)
    other = lowdim.PaCMAP(repulsion=repulsion, max_iter=27, random_state=1).fit(X)
    assert (other.embedding_ != fits[0].embedding_).any()


@pytest.mark.parametrize("n_components", [1, 2, 3, 4])
def test_dimensions_few_points_and_copies(digits, n_components):
    X = digits[0]
    model = lowdim.PaCMAP(n_components, max_iter=9).fit(X[:600])
    assert model.transform(X[600:603]).shape == (3, n_components)
    assert lowdim.PaCMAP(max_iter=9).fit(X[: n_components + 1]).embedding_.shape[1] == 2
    twice = lowdim.PaCMAP(n_components, max_iter=9).fit(np.vstack([X[:40], X[:30]]))
    np.testing.assert_array_equal(twice.embedding_[40:], twice.embedding_[:30])


def test_all_distances_give_the_picture_of_the_points(digits):
    X = digits[0][:150]
    start = np.random.default_rng(0).normal(size=(150, 2))
    points = lowdim.PaCMAP(init=start, max_iter=27).fit(X)
    given = lowdim.PaCMAP(init=start, max_iter=27, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(given.embedding_, points.embedding_, atol=1e-4)


def test_no_mid_near_pairs(digits):
    model = lowdim.PaCMAP(MN_ratio=0, max_iter=27).fit(digits[0][:100])
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"density": 2.0}, r"PaCMAP has no use for density; got density=2.0"),
        ({"MN_ratio": -1.0}, r"MN_ratio of PaCMAP must be a finite number >= 0; got -1.0"),
        ({"FP_ratio": 0}, r"FP_ratio of PaCMAP must be a finite number > 0; got 0"),
        ({"n_neighbors": 50}, r"n_neighbors"),
        ({"optimizer": "lbfgs"}, r"optimizer of PaCMAP must be 'auto'"),
        ({"metric": "graph"}, r"PaCMAP compares distances of any two points"),
        ({"lr": 0}, r"lr of PaCMAP"),
    ],
)
def test_bad_input(parameters, words):
    with pytest.raises(InputError, match=words):
        lowdim.PaCMAP(**parameters).fit(np.random.default_rng(0).normal(size=(50, 3)))


def test_sparse_distances_are_refused():
    D = cdist(np.arange(30.0)[:, None], np.arange(30.0)[:, None])
    with pytest.raises(InputError, match="holds some of them"):
        lowdim.PaCMAP(metric="precomputed").fit(csr_array(np.where(D < 5, D, 0.0)))


def test_checkpoints_go_on_to_the_same_bits(digits, tmp_path):
    X = digits[0][:120]
    whole = lowdim.PaCMAP(max_iter=36, repulsion="fft").fit(X).embedding_

    def stop(event):
        if event.data.get("iteration") == 20:
            raise lowdim.Stop

    lowdim.PaCMAP(max_iter=36, repulsion="fft", checkpoint=tmp_path / "run", callback=stop).fit(X)
    again = lowdim.PaCMAP(max_iter=36, repulsion="fft", checkpoint=tmp_path / "run").fit(X)
    np.testing.assert_array_equal(again.embedding_, whole)
