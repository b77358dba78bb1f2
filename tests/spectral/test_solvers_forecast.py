"""The choice between products and a factor: what it sees before the work, and what it picks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from lowdim import kernels
from lowdim.core.records import Problem
from lowdim.core.run import Run, Workers
from lowdim.solvers.eigen import lanczos, shift_invert, solve
from lowdim.solvers.eigen.common import Settings, standardise
from lowdim.solvers.eigen.forecast import foresee
from lowdim.spectral.operators import Explicit, Laplacian, Normal


def grid(rows, columns):
    def path(n):
        return sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])

    W = sparse.csr_array(
        sparse.kron(path(rows), sparse.eye_array(columns))
        + sparse.kron(sparse.eye_array(rows), path(columns))
    )
    return laplacian(W)


def expander(size, degree=12):
    rng = np.random.default_rng(0)
    W = sparse.csr_array((size, size))
    for _ in range(degree // 2):
        order = rng.permutation(size)
        step = sparse.csr_array((np.ones(size), (np.arange(size), order)), shape=(size, size))
        W = W + step + step.T
    W.setdiag(0)
    W.eliminate_zeros()
    return laplacian(sparse.csr_array(W))


def laplacian(W):
    return Problem(Laplacian(W, W.sum(axis=1)), "smallest", W.sum(axis=1), np.ones((W.shape[0], 1)))


def forecast(problem, k=2, run=None):
    run = Run.of(0) if run is None else run
    return foresee(standardise(problem, run), Settings(k, 1e-8, run))


def test_levels_and_width_are_those_of_a_search_from_a_far_point():
    W = grid(5, 40).operator.W
    both = sparse.csr_array(sparse.block_diag([W, grid(12, 12).operator.W]))
    assert kernels.neighbors.graphs.breadth(W.indptr, W.indices) == (44, 5)
    assert kernels.neighbors.graphs.breadth(both.indptr, both.indices) == (44, 12)
    assert breadth_first_order(W, 0)[0].size == 200


def test_narrow_graphs_are_factored_and_wide_ones_multiplied():
    narrow, wide = forecast(grid(10, 300)), forecast(expander(3000))
    assert narrow.prefers_factor
    assert narrow.symbolic is not None
    assert not wide.prefers_factor
    assert wide.symbolic is None
    assert solve(grid(10, 300), 2, run=Run.of(0)).attempts[0].solver == "shift-invert"
    assert solve(expander(3000), 2, run=Run.of(0)).attempts[0].solver == "lanczos"


def test_a_factor_past_the_memory_limit_is_not_preferred():
    run = Run(workers=Workers(memory_limit=1000))
    assert not forecast(grid(10, 300), run=run).prefers_factor
    solution = solve(grid(10, 120), 2, run=run)
    assert solution.solver != "shift-invert"
    np.testing.assert_allclose(
        solution.values, solve(grid(10, 120), 2, "dense", run=Run.of(0)).values, rtol=1e-6
    )


def test_lanczos_gives_up_after_a_third_of_its_products_where_it_sees_no_end(monkeypatch):
    spent = []
    original = lanczos.solve

    def watched(standard, settings, *, max_products, **options):
        try:
            return original(standard, settings, max_products=max_products, **options)
        except lanczos.SolverFailure as failure:
            spent.append((failure.trial.iterations, max_products))
            raise

    monkeypatch.setattr(lanczos, "solve", watched)
    monkeypatch.setattr("lowdim.solvers.eigen.forecast.Forecast.prefers_factor", False)
    solution = solve(grid(5, 1000), 2, run=Run.of(0))
    assert solution.solver == "shift-invert"
    ((products, most),) = spent
    assert most / 3 <= products <= most / 2


def walk(size):
    """F'F of F = I - W, W a random walk on a graph of wide gaps, whose factor fills in."""
    W = expander(size).operator.W
    F = sparse.csr_array(sparse.eye_array(size) - sparse.diags_array(1 / W.sum(axis=1)) @ W)
    return Problem(Normal(F), "smallest", None, np.ones((size, 1)))


def test_a_trial_of_lanczos_spares_the_factor_of_lle_where_the_gaps_are_wide():
    problem = walk(2500)
    assert not forecast(problem).prefers_factor
    solution = solve(problem, 2, run=Run.of(0))
    by_factor = solve(problem, 2, "shift-invert", run=Run.of(0))
    assert [attempt.solver for attempt in solution.attempts] == ["lanczos"]
    np.testing.assert_allclose(solution.values, by_factor.values, rtol=1e-6)


def test_a_trial_that_shows_nothing_is_short(monkeypatch):
    """Eigenvalues of fourth order: none is told from zero by then."""
    A = grid(5, 1000).operator.explicit()
    problem = Problem(Explicit(sparse.csr_array(A @ A)), "smallest", None, np.ones((A.shape[0], 1)))
    monkeypatch.setattr("lowdim.solvers.eigen.forecast.Forecast.prefers_factor", False)
    run = Run.of(0)
    with pytest.raises(lanczos.SolverFailure) as failure:
        lanczos.solve(
            standardise(problem, run), Settings(2, 1e-8, run), max_products=1500, give_up=True, trial=150
        )
    assert failure.value.trial.iterations <= 170
    assert solve(problem, 2, run=run).solver == "shift-invert"


def test_what_takes_long_asks_again_what_the_factor_costs():
    problem, run, asked = grid(5, 1000), Run.of(0), []

    def reconsider():
        asked.append(True)
        return 500

    with pytest.raises(lanczos.SolverFailure) as failure:
        lanczos.solve(
            standardise(problem, run), Settings(2, 1e-8, run), max_products=5000, reconsider=reconsider
        )
    assert asked == [True]
    assert 500 <= failure.value.trial.iterations <= 520


def test_the_factor_that_is_looked_at_late_is_that_which_is_used(monkeypatch):
    given = []
    original = shift_invert.solve

    def watched(standard, settings, *, symbolic=None, **options):
        given.append(symbolic)
        return original(standard, settings, symbolic=symbolic, **options)

    monkeypatch.setattr(shift_invert, "solve", watched)
    monkeypatch.setattr("lowdim.solvers.eigen.forecast.Breadth.is_worth_a_look", lambda breadth, k: False)
    monkeypatch.setattr("lowdim.solvers.eigen.forecast.Breadth.guess", lambda breadth, k: 1e3)
    solution = solve(grid(5, 1000), 2, run=Run.of(0))
    assert solution.solver == "shift-invert"
    assert [symbolic.entries > 0 for symbolic in given] == [True]


@pytest.mark.parametrize("squared", [False, True])
def test_either_way_gives_the_same_eigenvalues(squared):
    problem = grid(8, 90)
    if squared:
        A = problem.operator.explicit()
        problem = Problem(Explicit(sparse.csr_array(A @ A)), "smallest", None, np.ones((A.shape[0], 1)))
    by_factor, by_all = solve(problem, 3, run=Run.of(0)), solve(problem, 3, "dense", run=Run.of(0))
    assert by_factor.solver == "shift-invert"
    np.testing.assert_allclose(by_factor.values, by_all.values, rtol=1e-6)
