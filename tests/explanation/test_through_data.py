"""The gradient of a place with respect to the data against differences of embeddings that were minimised again."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.explanation.adjoint import conjugate_gradients, outside_motions, solve_adjoint
from lowdim.explanation.through_data import slopes_through_data

RUN = Run.of(n_jobs=1)
N, INSIDE = 30, 10
COMMON = {"n_neighbors": N - 1, "repulsion": "exact", "optimizer": "sd", "max_iter": 60, "homotopy": None}
ESTIMATORS = {
    "t-SNE": lowdim.TSNE(perplexity=8, **COMMON),
    "symmetric SNE": lowdim.SymmetricSNE(perplexity=8, **COMMON),
    "SNE": lowdim.SNE(perplexity=8, **COMMON),
    "elastic embedding": lowdim.ElasticEmbedding(perplexity=8, lam=5.0, **COMMON),
    "UMAP": lowdim.UMAP(
        objective="symmetric", n_neighbors=12, repulsion="exact", optimizer="sd", max_iter=60, min_dist=0.5
    ),
}


def data():
    rng = np.random.default_rng(3)
    Y = rng.standard_normal((N, 4)) * [2.0, 1.5, 1.0, 0.5]
    Y[:INSIDE, 0] += 1.5
    return Y


def settled(objective, X):
    """A minimum by Newton's method, to the last digits."""
    size = X.size
    for _ in range(200):
        found = objective.evaluate(X)
        multiply = objective.hessian(X)
        H = np.array([multiply(unit.reshape(X.shape)).ravel() for unit in np.eye(size)])
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        large = np.abs(values) > 1e-9 * values.max()
        inverse = np.where(large, 1.0 / np.where(large, np.abs(values), 1.0), 0.0)
        step = -(vectors @ (inverse * (vectors.T @ found.gradient.ravel()))).reshape(X.shape)
        length = min(1.0, 0.5 / np.abs(step).max())
        while length > 1e-6 and objective.evaluate(X + length * step).value > found.value + 1e-12:
            length /= 2
        X = X + length * step
        if np.abs(step).max() < 1e-10:
            break
    assert np.abs(step).max() < 1e-7
    return X


def place(X, direction=None):
    apart = X[:INSIDE].mean(axis=0) - X[INSIDE:].mean(axis=0)
    return np.linalg.norm(apart) if direction is None else apart @ direction


@pytest.mark.parametrize(
    "name",
    [
        "t-SNE",
        "UMAP",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ESTIMATORS if name not in ("t-SNE", "UMAP")),
    ],
)
def test_the_gradient_is_that_of_minimising_again(name):
    Y, estimator = data(), ESTIMATORS[name]
    model = estimator.fit(Y)
    inside = np.arange(N) < INSIDE
    opened = model._reopened(Rows(Y), Run.of(n_jobs=1))
    X = settled(opened.objective, np.asarray(model.embedding_, float).copy())
    apart = X[inside].mean(axis=0) - X[~inside].mean(axis=0)
    signs = inside / INSIDE - ~inside / (N - INSIDE)
    e = signs[:, None] * apart / np.linalg.norm(apart)
    slopes, why = slopes_through_data(opened, X, Rows(Y), e, inside, RUN, whole=True)
    assert slopes is not None, why
    assert slopes.adjoint.damping == 0.0
    step = 1e-4
    for row, column in ((2, 0), (17, 1), (25, 2)):
        there, back = Y.copy(), Y.copy()
        there[row, column] += step
        back[row, column] -= step
        places = [
            place(settled(model._reopened(Rows(Z), Run.of(n_jobs=1)).objective, X)) for Z in (there, back)
        ]
        wanted = (places[0] - places[1]) / (2 * step)
        assert slopes.whole[row, column] == pytest.approx(
            wanted, rel=2e-3, abs=1e-4 * np.abs(slopes.whole).max()
        )
    np.testing.assert_allclose(slopes.over_selected, slopes.whole[inside].sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(slopes.stretched, (slopes.whole * Y).sum(axis=0), atol=1e-9)
    # Shifts of all rows change no distance, and neither affinity knows the scale of the data.
    np.testing.assert_allclose(slopes.whole.sum(axis=0), 0.0, atol=1e-9 * np.abs(slopes.whole).max())
    assert abs(slopes.stretched.sum()) < 1e-6 * np.abs(slopes.stretched).max()


def test_copies_of_a_row_count_together():
    """A point with copies moves the others as all of its rows together do."""
    Y = np.concatenate([data(), data()[3:4], data()[3:4]])
    inside = np.arange(N + 2) < INSIDE
    model = lowdim.SymmetricSNE(**{**COMMON, "n_neighbors": N - 1}, perplexity=8).fit(Y)
    opened = model._reopened(Rows(Y), Run.of(n_jobs=1))
    first, group = opened.points.duplicates.first, opened.points.duplicates.group
    assert first.size == N
    X = settled(opened.objective, np.asarray(model.embedding_, float)[first])
    signs = inside / inside.sum() - ~inside / (~inside).sum()
    direction = np.array([1.0, 0.0])
    e = np.bincount(group, signs, N)[:, None] * direction
    e = outside_motions(X)(e)
    slopes, _ = slopes_through_data(opened, X, Rows(Y[first]), e, inside[first], RUN, whole=True)
    step, places = 1e-4, []
    for sign in (1, -1):
        Z = Y.copy()
        Z[group == 3, 0] += sign * step
        places.append(np.sum(e * settled(model._reopened(Rows(Z), Run.of(n_jobs=1)).objective, X)))
    assert slopes.whole[3, 0] == pytest.approx((places[0] - places[1]) / (2 * step), rel=2e-3)


def test_negative_curvature_is_met_by_damping():
    """At a random picture the Hessian is indefinite: the solve says how much it had to add."""
    Y = data()
    model = lowdim.TSNE(perplexity=8, **COMMON).fit(Y)
    objective = model._reopened(Rows(Y), Run.of(n_jobs=1)).objective
    X = 3.0 * np.random.default_rng(0).standard_normal((N, 2))
    found = solve_adjoint(objective, X, np.random.default_rng(1).standard_normal((N, 2)), 1e-8, RUN)
    assert found.restlessness > 1e-3
    assert found.damping >= 0.1
    assert found.residual <= 1e-8


def test_conjugate_gradients_give_up_along_a_negative_curvature():
    A = np.diag([1.0, 2.0, -1.0])
    b = np.ones((3, 1))
    assert conjugate_gradients(lambda V: A @ V, lambda V: V, b, 1e-10, 50) is None
    found = conjugate_gradients(lambda V: np.abs(A) @ V, lambda V: V, b, 1e-10, 50)
    np.testing.assert_allclose(found[0].ravel(), [1.0, 0.5, 1.0])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_shifts_and_turns_are_left_out(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, d))
    project = outside_motions(X)
    spin = rng.standard_normal((d, d))
    motion = X @ (spin - spin.T) + rng.standard_normal(d)
    np.testing.assert_allclose(project(motion), 0.0, atol=1e-12)
    V = rng.standard_normal((20, d))
    np.testing.assert_allclose(project(project(V)), project(V), atol=1e-12)
