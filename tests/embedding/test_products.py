"""Products with the whole Hessian against differences of the gradient."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.core.records import Sparse
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.objectives import elastic, force_atlas, negative_t_sne, sne, symmetric_sne, t_sne, umap
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.bending import bends_by_sums
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.similarities import (
    Gaussian,
    Power,
    RoundedLogarithm,
    SampledLogarithm,
    ShiftedStudent,
    Student,
)

RUN = Run.of(n_jobs=1)
N = 24
POWER = Power(1.5, 0.9), RoundedLogarithm.cut(1.5, 0.9, 1.0)
NAMES = ["t-SNE", "symmetric SNE", "SNE", "elastic", "elastic with distances", "Neg-t-SNE", "UMAP"]


def weights(size=N):
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.4), 1)
    W[0, 1:4] = 0.5
    return Sparse((W + W.T) / W.sum() / 2)


def objective(name, d, masses, engine=None):
    def parts(attractive, repulsive):
        return Attraction(weights(), attractive, RUN), (engine or Exact()).start(repulsive, N, d, RUN)

    gaussian, data = (Gaussian(), Gaussian()), np.random.default_rng(1).normal(size=(N, 4))
    return {
        "t-SNE": lambda: t_sne.TSNE(*parts(Student(), Student()), 0.7, masses),
        "symmetric SNE": lambda: symmetric_sne.SymmetricSNE(*parts(*gaussian), 0.7, masses),
        "SNE": lambda: sne.SNE(*parts(*gaussian), 0.7, masses),
        "elastic": lambda: elastic.ElasticEmbedding(*parts(*gaussian), 0.01, masses),
        "elastic with distances": lambda: elastic.ElasticEmbedding(
            *parts(*gaussian), 0.01, masses, data=data
        ),
        "Neg-t-SNE": lambda: negative_t_sne.NegativeTSNE(
            *parts(ShiftedStudent(1.4), SampledLogarithm(1.4)), 0.7, masses
        ),
        "UMAP": lambda: umap.UMAP(*parts(*POWER), 1.0, masses),
    }[name]()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("with_masses", [False, True])
@pytest.mark.every(3)
def test_products_are_differences_of_gradients(name, d, with_masses):
    rng = np.random.default_rng(d)
    X, V, step = rng.standard_normal((N, d)) + 5.0, rng.standard_normal((N, d)), 1e-6
    made = objective(name, d, rng.integers(1, 4, N).astype(float) if with_masses else None)
    there, back = (made.evaluate(X + sign * step * V).gradient for sign in (1, -1))
    wanted = (there - back) / (2 * step)
    # Loops of some kernels go through tables, whose slopes are true to seven digits.
    np.testing.assert_allclose(made.hessian(X)(V), wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("name", NAMES)
def test_products_are_symmetric_and_shifts_cost_nothing(name):
    rng = np.random.default_rng(0)
    X, U, V = rng.standard_normal((3, N, 2))
    multiply = objective(name, 2, None).hessian(X)
    assert np.sum(U * multiply(V)) == pytest.approx(np.sum(V * multiply(U)), rel=1e-8)
    assert np.abs(multiply(np.ones((N, 2)))).max() < 1e-9 * np.abs(multiply(V)).max()


def test_products_by_a_grid_are_near_the_exact_ones():
    rng = np.random.default_rng(0)
    X, V = 8.0 * rng.standard_normal((N, 2)), rng.standard_normal((N, 2))
    exact, near = (objective("t-SNE", 2, None, engine).hessian(X)(V) for engine in (Exact(), FFT(1e-6)))
    np.testing.assert_allclose(near, exact, atol=1e-3 * np.abs(exact).max())


@pytest.mark.parametrize(("d", "spread"), [(1, 5.0), (2, 5.0), (2, 400.0)])
def test_bends_of_a_grid_are_those_multiplied_out(d, spread):
    """In one and two dimensions, and in a picture so wide that near pairs are summed one by one."""
    rng = np.random.default_rng(0)
    X, moves = spread * rng.standard_normal((300, d)), rng.standard_normal((300, d))
    exact, grid = (kind.start(Student(), 300, d, RUN) for kind in (Exact(), FFT(1e-6)))
    u = X[:, None] - X[None]
    D, off = np.sum(u**2, axis=2), 1.0 - np.eye(300)
    one, two = (Student().slope(D, order) * off for order in (1, 2))
    wanted = 2.0 * one @ moves - 4.0 * np.einsum("nm,nmi,nmj,mj->ni", two, u, u, moves)
    found = bends_by_sums(lambda columns, order: exact.sums(X, columns, order), X, moves)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(grid.bends(X, moves), wanted, atol=1e-4 * np.abs(wanted).max())
    threads = FFT(1e-6).start(Student(), 300, d, Run.of(n_jobs=2))
    np.testing.assert_array_equal(threads.bends(X, moves), grid.bends(X, moves))


def test_without_repulsion_only_edges_count():
    made = objective("t-SNE", 2, None).with_lambda(0.0)
    X = np.random.default_rng(0).standard_normal((N, 2))
    there, back = (made.evaluate((1 + step) * X).gradient for step in (1e-6, -1e-6))
    np.testing.assert_allclose(made.hessian(X)(X), (there - back) / 2e-6, atol=1e-7)


def test_an_objective_without_known_curvature_says_so():
    made = force_atlas.ForceAtlas2.__new__(force_atlas.ForceAtlas2)
    with pytest.raises(InputError, match="curvature of ForceAtlas2 is not known"):
        made._repulsive_product(np.zeros((2, 2)))
