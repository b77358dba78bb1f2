"""What a sample tells of a fit before it: the factor, the components, and the plan that says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.methods.base import Size
from lowdim.neighbors.points import Points
from lowdim.solvers import outlook as outlooks
from lowdim.solvers.eigen.forecast import breadth_of, matrix_of
from lowdim.solvers.outlook import Fill, outlook
from lowdim.spectral.operators import Normal


def sphere(size, dimensions=10):
    X = np.random.default_rng(0).standard_normal((size, dimensions))
    return X / np.linalg.norm(X, axis=1)[:, None]


def plane(size, columns=3):
    rng = np.random.default_rng(0)
    return rng.random((size, 2)) @ rng.standard_normal((2, columns))


def clusters(size, count=20):
    rng = np.random.default_rng(0)
    return 50 * rng.standard_normal((count, 5))[np.arange(size) % count] + rng.standard_normal((size, 5))


def seen(estimator, X, **terms):
    rows = Rows(X)
    return outlook(estimator._method(), Size(*rows.shape, rows=rows, looks=True, **terms))


def truth(estimator, X):
    """The matrix that the whole fit would factor."""
    method, run = estimator._method(), Run()
    operator = method.problem(method.parts(Points(Rows(X)), run), run).operator
    halves = isinstance(operator, Normal)
    matrix = matrix_of(operator, halves=halves)
    breadth = breadth_of(operator, matrix, halves=halves)
    return Fill.of(matrix, halves=halves), breadth


@pytest.mark.parametrize("make", [sphere, plane])
@pytest.mark.parametrize(
    "estimator", [lowdim.LLE(n_neighbors=12), lowdim.LLE(n_neighbors=12, variant="ltsa")]
)
def test_the_factor_is_foreseen_from_a_sample(estimator, make) -> None:
    X = make(6000)
    found, (fill, breadth) = seen(estimator, X).problem, truth(estimator, X)
    assert 0.6 < found.fill.entries / fill.entries < 1.6
    assert 0.4 < found.fill.work / fill.work < 2.5
    assert 0.6 < found.breadth.stored / breadth.stored < 1.5
    assert 0.5 < found.breadth.levels / breadth.levels < 2.0


def test_products_of_lanczos_are_foreseen_from_a_sample() -> None:
    X = sphere(6000)
    found = seen(lowdim.LLE(n_neighbors=12, variant="ltsa"), X).problem
    assert not found.forecast.prefers_factor
    taken = lowdim.LLE(n_neighbors=12, variant="ltsa", solver="lanczos").fit(X).report_.figures["iterations"]
    assert 0.5 < found.products / taken < 2.0


def test_components_are_counted_and_joined_in_the_plan() -> None:
    found = seen(lowdim.LaplacianEigenmaps(), clusters(6000))
    assert found.n_components == 20
    assert found.outside == pytest.approx(5700, rel=0.02)
    names = [stage.name for stage in lowdim.LaplacianEigenmaps().plan(clusters(6000)).stages]
    assert names == ["check", "neighbours", "connect", "affinities", "solve"]
    apart = lowdim.LaplacianEigenmaps(on_disconnected="per_component").plan(clusters(6000))
    assert "connect" not in [stage.name for stage in apart.stages]
    assert "connect" not in [stage.name for stage in lowdim.LaplacianEigenmaps().plan(plane(6000)).stages]
    assert "connect" in [stage.name for stage in lowdim.Isomap().plan(clusters(6000)).stages]


def test_groups_that_give_the_solution_away_are_seen() -> None:
    assert seen(lowdim.LLE(), clusters(6000)).problem.is_known
    assert not seen(lowdim.LLE(), sphere(6000)).problem.is_known


def test_the_dimension_of_the_points_decides_and_not_that_of_the_columns() -> None:
    flat, round_ = lowdim.LLE().plan(plane(6000, 10)), lowdim.LLE().plan(sphere(6000))
    assert round_.bytes > 10 * flat.bytes
    assert round_.seconds > 2 * flat.seconds
    by_size = lowdim.LLE().plan((6000, 10))
    assert flat.bytes < by_size.bytes


def test_the_same_rows_have_the_same_outlook_on_any_number_of_threads() -> None:
    X = sphere(4000, 5)
    one, two = (seen(lowdim.LLE(), X, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two == seen(lowdim.LLE(), X.copy())


def test_a_sample_leaves_the_data_and_the_stream_of_warnings_alone() -> None:
    X = clusters(6000)
    before = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowdim.LLE().plan(X)
    np.testing.assert_array_equal(X, before)


def test_nothing_is_seen_where_there_is_nothing_to_look_at() -> None:
    X = sphere(4000)
    broken = X.copy()
    broken[::3, 0] = np.nan
    assert seen(lowdim.LLE(), sphere(2000)) is None
    assert seen(lowdim.LLE(), np.broadcast_to(0.0, (4000, 3))) is None
    assert seen(lowdim.LLE(), broken) is None
    assert seen(lowdim.LaplacianEigenmaps(radius=0.5), X) is None
    assert seen(lowdim.LaplacianEigenmaps(metric=lambda a, b: float(np.abs(a - b).sum())), X) is None
    rows = Rows(X)
    assert outlook(lowdim.LLE()._method(), Size(*rows.shape, rows=rows)) is None


def test_a_limit_keeps_the_factor_out_of_the_plan() -> None:
    X = sphere(6000)
    free, bound = lowdim.LLE(solver="exact").plan(X), lowdim.LLE(solver="exact", memory_limit="60MB").plan(X)
    assert "factor" in free.stages[-1].note
    assert bound.stages[-1].note == "Lanczos"
    assert bound.bytes < 60e6 < free.bytes


@pytest.mark.parametrize("solver", ["auto", "exact", "lanczos", "shift-invert", "lobpcg", "dense"])
def test_every_solver_has_a_plan_of_finite_seconds(solver) -> None:
    for X in (plane(4000), sphere(4000)):
        for limit in (None, "20MB"):
            plan = lowdim.LLE(solver=solver, memory_limit=limit).plan(X)
            assert 0 < plan.seconds < np.inf
            assert 0 < plan.bytes < np.inf


def test_sparse_rows_and_whole_numbers_are_looked_at() -> None:
    from scipy import sparse

    X = np.random.default_rng(0).poisson(0.5, (4000, 60))
    for rows in (X, X.astype(np.float32), sparse.csr_array(X.astype(float))):
        assert seen(lowdim.LaplacianEigenmaps(), rows).n_points > 3900


def test_landmarks_are_not_chosen_for_a_surface_in_many_columns() -> None:
    """By its columns its factor would be that of images, and it would be embedded by landmarks."""
    X = plane(40_000, 20) + 1e-4 * np.random.default_rng(1).standard_normal((40_000, 20))
    model = lowdim.LLE()
    assert "landmarks" in str(lowdim.LLE().plan(X.shape))
    assert model._solver_for(Rows(X), model._method())[1] == ""
    assert "landmarks" not in str(model.plan(X))


def test_rows_are_looked_at_once_and_forgotten_with_them(monkeypatch) -> None:
    looks = []
    look = outlooks._look
    monkeypatch.setattr(outlooks, "_look", lambda *given: looks.append(given[0]) or look(*given))
    X, before = plane(22_000, 5), len(outlooks._SEEN)
    lowdim.LLE().plan(X)
    assert len(looks) == 1
    X[:] = sphere(22_000, 5)
    lowdim.LLE().plan(X)
    assert len(looks) == 2
    assert len(outlooks._SEEN) == before


@pytest.mark.parametrize("size", [1e300, 1e-300, np.nan])
def test_rows_that_a_fit_refuses_have_a_plan_without_a_look(size) -> None:
    plan = lowdim.LLE(metric="mahalanobis").plan(sphere(4000, 5) * size)
    assert plan.seconds > 0
    assert plan.basis == ""


def test_metrics_with_parameters_are_looked_at() -> None:
    X, weights = sphere(4000, 5), np.arange(1.0, 6.0)
    for metric, terms in (("minkowski", {"p": 3}), ("minkowski", {"p": 2, "w": weights}), ("cosine", None)):
        plan = lowdim.LaplacianEigenmaps(metric=metric, metric_params=terms).plan(X)
        assert plan.stages[-1].name == "solve"


def test_a_plan_says_what_it_knows() -> None:
    assert str(lowdim.LLE().plan((6000, 3))).startswith("LLE on 6000 x 3, a guess by the size alone\n")
    assert str(lowdim.LLE().plan(plane(6000))).startswith(
        "LLE on 6000 x 3, after a look at a sample of the rows\n"
    )
    assert str(lowdim.LLE().plan(plane(600))).startswith("LLE on 600 x 3\n")
    assert str(lowdim.TSNE().plan(plane(6000))).startswith("TSNE on 6000 x 3\n")
