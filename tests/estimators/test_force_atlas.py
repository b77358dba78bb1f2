"""ForceAtlas2: energy and forces against the original's formulas, and what users rely on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, random_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import lowdim
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.estimators.embeddings.force_atlas import rescaled
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT

ONE = Run.of(0, 1)
N = 40
FORMS = pytest.mark.parametrize(
    "form",
    [{}, {"lin_log": True}, {"strong_gravity": True, "gravity": 0.3}, {"gravity": 0.0}],
    ids=["linear", "log-linear", "strong", "no gravity"],
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


def graph():
    W = random_array((N, N), density=0.15, rng=np.random.default_rng(3), format="csr")
    W.setdiag(0)
    W = csr_array(W + W.T)
    W.eliminate_zeros()
    return W


def ring(size):
    steps = np.arange(size)
    half = csr_array((np.ones(size), (steps, (steps + 1) % size)), shape=(size, size))
    return csr_array(half + half.T)


def objective(d, form, engine=None, counts=None):
    model = lowdim.ForceAtlas2(**form)
    made = (engine or Exact()).start(model._repulsive_kernel, N, d, ONE)
    return model._make_objective(Attraction(graph(), model._attractive_kernel, ONE), made, counts, None)


def places(d, seed=1):
    rng = np.random.default_rng(seed)
    X = 30.0 * rng.normal(size=(N, d))
    X[:, 0] = rng.permutation(np.linspace(-60.0, 60.0, N))  # well apart, beyond the softening
    return X - X.mean(axis=0)


def forces(X, lin_log=False, gravity=1.0, strong_gravity=False, scaling=2.0):
    """As the original's loops have them (Jacomy et al. 2014, eqs. 1 to 3)."""
    W = graph().toarray()
    mass = 1.0 + (W > 0).sum(axis=1)
    apart = X[:, None] - X[None]
    d = np.sqrt((apart**2).sum(axis=2)) + np.eye(N)
    pull = W * (np.log1p(d) / d if lin_log else 1.0)
    push = scaling * np.outer(mass, mass) / d**2 * ~np.eye(N, dtype=bool)
    r = np.linalg.norm(X, axis=1)
    centre = scaling * gravity * mass if strong_gravity else gravity * mass / r
    return np.einsum("nm,nmc->nc", push - pull, apart) - centre[:, None] * X


@FORMS
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gradient_is_that_of_the_forces(d, form):
    E, X = objective(d, form), places(d)
    found = E.evaluate(X)
    slope, step = np.empty_like(X), 1e-4
    for place in np.ndindex(X.shape):
        move = np.zeros_like(X)
        move[place] = step
        slope[place] = (E.evaluate(X + move).value - E.evaluate(X - move).value) / (2 * step)
    scale = np.abs(slope).max()
    np.testing.assert_allclose(found.gradient, slope, atol=1e-5 * scale)
    # But for the mean, which does not move: gravity is towards the middle of the picture.
    step = forces(X, **form)
    np.testing.assert_allclose(-found.gradient / 4, step - step.mean(axis=0), atol=1e-4 * scale / 4)


@FORMS
def test_the_diagonal_and_the_curvature(form):
    E, X = objective(2, form), places(2)
    V = np.random.default_rng(2).normal(size=X.shape)
    assert (np.einsum("nc,nc->c", V, E.curvature(X)(V)) > 0).all()
    if form.get("lin_log"):
        return
    step = 1e-3
    for place in ((0, 0), (7, 1), (30, 0)):
        move = np.zeros_like(X)
        move[place] = step
        bend = (E.evaluate(X + move).gradient - E.evaluate(X - move).gradient)[place] / (2 * step)
        D = ((X[place[0]] - X) ** 2).sum(axis=1)
        mine, theirs = E.charges[place[0]], E.charges
        D[place[0]] = 1.0
        repulsive = np.delete(mine * theirs * 2.0 / (2e-4 + D), place[0]).sum()
        # D+ alone stands for the repulsion's part of L too; gravity's mean moves with 1 / N of the point.
        assert bend == pytest.approx(E.diagonal(X)[place] - 4 * repulsive, rel=0.1, abs=0.05 * abs(repulsive))


@pytest.mark.covering
@pytest.mark.parametrize("engine", [BarnesHut(0.1), FFT(1e-5)], ids=repr)
@FORMS
def test_engines_agree(engine, form):
    X = places(2)
    exact, other = objective(2, form).evaluate(X), objective(2, form, engine).evaluate(X)
    assert other.value == pytest.approx(exact.value, rel=1e-4)
    np.testing.assert_allclose(other.gradient, exact.gradient, atol=1e-3 * np.abs(exact.gradient).max())


def test_copies_count_as_rows():
    counts = 1.0 + (np.arange(N) % 4 == 0)
    E, X = objective(2, {}, counts=counts), places(2)
    alone = objective(2, {})
    np.testing.assert_allclose(E.charges, counts * alone.charges)
    slope = (E.evaluate(X + 1e-4 * np.eye(N, 2)).value - E.evaluate(X - 1e-4 * np.eye(N, 2)).value) / 2e-4
    assert slope == pytest.approx((E.evaluate(X).gradient * np.eye(N, 2)).sum(), rel=1e-4)


def test_a_pair_rests_where_spring_and_charges_cancel():
    """w d = scaling m^2 / d with m = 2: d = 2 sqrt(scaling / w)."""
    pair = csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    for scaling in (0.5, 2.0):
        E = lowdim.ForceAtlas2(metric="graph", scaling=scaling, gravity=0).fit_transform(pair)
        assert np.linalg.norm(E[0] - E[1]) == pytest.approx(2 * np.sqrt(scaling / 0.5), rel=1e-2)


def test_the_energy_is_below_that_of_the_original_s_steps():
    """Steps by swing and traction (Jacomy et al. 2014, eqs. 8 to 15), from the same start."""
    W = csr_array(ring(30) + 0.3 * (random_array((30, 30), density=0.05, rng=np.random.default_rng(0)) > 0))
    W = csr_array((W + W.T) > 0).astype(float)
    W.setdiag(0)
    W.eliminate_zeros()
    mass, dense = 1.0 + np.diff(W.indptr), W.toarray()
    X = np.random.default_rng(1).normal(size=(30, 2))
    start, old, speed = X.copy(), np.zeros_like(X), 1.0
    for _ in range(500):
        apart = X[:, None] - X[None]
        D = (apart**2).sum(axis=2) + np.eye(30)
        weight = 2.0 * np.outer(mass, mass) / D * ~np.eye(30, dtype=bool) - dense
        force = np.einsum("nm,nmc->nc", weight, apart)
        force -= (mass / np.linalg.norm(X, axis=1))[:, None] * X
        swing = mass * np.linalg.norm(force - old, axis=1)
        traction = mass * np.linalg.norm(force + old, axis=1) / 2
        speed = min(traction.sum() / swing.sum(), 1.5 * speed)
        X, old = X + (speed / (1.0 + np.sqrt(speed * swing)))[:, None] * force, force
    model = lowdim.ForceAtlas2(metric="graph", init=start, repulsion="exact").fit(W)

    def energy(X):
        D = cdist(X, X, "sqeuclidean") + np.eye(30)
        pairs = dense * D - 2.0 * np.outer(mass, mass) * np.log(D)
        return pairs[~np.eye(30, dtype=bool)].sum() + 4 * (mass * np.linalg.norm(X, axis=1)).sum()

    assert model.objective_ == pytest.approx(energy(model.embedding_), rel=1e-4)
    assert energy(model.embedding_) <= energy(X) + 1e-3 * abs(energy(X))


def test_groups_come_out_and_new_points_join_them(digits):
    X, y = digits
    model = lowdim.ForceAtlas2().fit(X[::2])
    score = lowdim.score(X[::2], model.embedding_, y[::2], measures="neighbor_accuracy")
    assert score["neighbor_accuracy"] > 0.88
    new = model.transform(X[1::2])
    np.testing.assert_array_equal(np.vstack([model.transform(row[None]) for row in X[1:21:2]]), new[:10])
    np.testing.assert_array_equal(model.transform(X[::2]), model.embedding_)
    nearest = np.argmin(cdist(new, model.embedding_), axis=1)
    assert np.mean(y[::2][nearest] == y[1::2]) > 0.75


@FORMS
def test_a_fitted_point_would_be_placed_near_where_it_is(digits, form):
    X = digits[0][:300]
    model = lowdim.ForceAtlas2(repulsion="exact", **form).fit(X)
    moved = np.sqrt(((model.transform(X + 1e-9) - model.embedding_) ** 2).sum(axis=1))
    assert np.median(moved) < 0.1 * np.ptp(model.embedding_, axis=0).max()


@pytest.mark.parametrize("optimizer", ["gd", "fp", "diagh", "sd", "sd-", "cg", "lbfgs", "momentum"])
def test_every_optimiser_lowers_the_energy(digits, optimizer):
    model = lowdim.ForceAtlas2(optimizer=optimizer, max_iter=15).fit(digits[0][:150])
    assert model.objective_ < model.history_.values[0]


@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "fft"])
def test_threads_change_no_bit(digits, repulsion):
    X = digits[0][:200]
    fits = [lowdim.ForceAtlas2(repulsion=repulsion, max_iter=6, n_jobs=jobs).fit(X) for jobs in (1, 2, 5)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.embedding_, fits[0].embedding_)


@pytest.mark.parametrize("n_components", [2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
def test_dimensions_and_few_points(digits, n_components):
    model = lowdim.ForceAtlas2(n_components, max_iter=5).fit(digits[0][:600])
    assert model.transform(digits[0][600:603]).shape == (3, n_components)
    assert lowdim.ForceAtlas2(max_iter=5).fit(digits[0][: n_components + 1]).embedding_.shape[1] == 2


def test_graphs_that_fall_apart_are_held_by_gravity():
    apart = csr_array(block_diag([ring(20), ring(15), ring(10)]))
    for form in ({}, {"strong_gravity": True}):
        E = lowdim.ForceAtlas2(metric="graph", **form).fit_transform(apart)
        assert np.isfinite(E).all()
        parts = E[:20].mean(axis=0), E[20:35].mean(axis=0), E[35:].mean(axis=0)
        assert cdist(parts, parts)[np.triu_indices(3, 1)].min() > 1.0
    with pytest.raises(InputError, match=r"falls into 3 parts, .* gravity=0"):
        lowdim.ForceAtlas2(metric="graph", gravity=0).fit(apart)


def test_scaling_widens_and_gravity_narrows():
    def width(**form):
        return np.ptp(lowdim.ForceAtlas2(metric="graph", **form).fit_transform(ring(40)), axis=0).max()

    assert width(scaling=8.0, gravity=0) == pytest.approx(2 * width(scaling=2.0, gravity=0), rel=0.05)
    assert width(gravity=20.0) < width(gravity=0)


def test_the_start_is_scaled_to_the_least_energy():
    E, X = objective(2, {}), places(2)
    found = [rescaled(E, scale * X) for scale in (1e-3, 1.0, 1e3)]
    values = [E.evaluate(Y).value for Y in found]
    for Y, value in zip(found, values, strict=True):
        assert value < min(E.evaluate(2 * Y).value, E.evaluate(Y / 2).value)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"density": 2.0}, r"ForceAtlas2 has no use for density; got density=2.0"),
        ({"gravity": -1.0}, r"gravity of ForceAtlas2 must be a finite number >= 0; got -1.0"),
        ({"scaling": 0}, r"scaling of ForceAtlas2 must be a finite number > 0; got 0"),
        ({"n_neighbors": 60}, r"n_neighbors must be at most the number of points"),
        ({"lin_log": "yes"}, r"lin_log of ForceAtlas2"),
    ],
)
def test_bad_input(parameters, words):
    with pytest.raises(InputError, match=words):
        lowdim.ForceAtlas2(**parameters).fit(np.random.default_rng(0).normal(size=(50, 3)))


@pytest.mark.filterwarnings("ignore::lowdim.errors.ConvergenceWarning")
@pytest.mark.parametrize("repulsion", ["fft", "barnes-hut"])
def test_a_graph_of_tiny_weights_flies_apart_without_an_error(repulsion):
    D = np.random.default_rng(0).uniform(1.0, 2.0, (8, 8)) * 1e-60
    model = lowdim.ForceAtlas2(metric="graph", repulsion=repulsion, max_iter=5).fit(D + D.T)
    assert np.isfinite(model.embedding_).all()


def test_a_graph_with_loose_points_is_refused():
    loose = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(InputError, match="have no affinity to any other"):
        lowdim.ForceAtlas2(metric="graph").fit(loose)


@pytest.mark.filterwarnings("ignore:4 rows of the sparse precomputed input")
@pytest.mark.parametrize("init", ["spectral", "random"])
def test_distances_of_no_pair_are_refused(init):
    for estimator in (lowdim.ForceAtlas2, lowdim.LargeVis, lowdim.UMAP):
        with pytest.raises(InputError, match="X holds no distance between any two points"):
            estimator(metric="precomputed", init=init).fit(csr_array((4, 4)))
