"""Grids: combinations in order, and the estimator that each point stands for."""

from __future__ import annotations

import numpy as np

import lowdim
from lowdim.selection.grid import configure, expand, own_value, repeats_graphs, widest


def named(estimator, grid):
    return [dict(point.named) for point in expand(estimator, grid)]


def test_all_combinations_in_order():
    grid = {"n_neighbors": range(5, 7), "bandwidth": np.array([1.0, 2.0])}
    assert named(lowdim.LaplacianEigenmaps(), grid) == [
        {"n_neighbors": 5, "bandwidth": 1.0},
        {"n_neighbors": 5, "bandwidth": 2.0},
        {"n_neighbors": 6, "bandwidth": 1.0},
        {"n_neighbors": 6, "bandwidth": 2.0},
    ]
    assert type(named(lowdim.LaplacianEigenmaps(), grid)[0]["bandwidth"]) is float


def test_mappings_one_after_the_other():
    grid = ({"n_neighbors": [5]}, {"radius": (1.0, 2.0)})
    assert named(lowdim.LLE(), grid) == [{"n_neighbors": 5}, {"radius": 1.0}, {"radius": 2.0}]


def test_families_differ_in_the_number_of_components_alone():
    points = expand(lowdim.LLE(), [{"n_components": [1, 2], "reg": [0.1, 0.2]}, {"n_components": [1]}])
    families = [point.family for point in points]
    assert families[0] == families[2] != families[1] == families[3]
    assert len(set(families)) == 3


def test_graphs_are_repeated_where_something_else_differs_too():
    def repeated(grid):
        return repeats_graphs(expand(lowdim.LaplacianEigenmaps(), grid))

    assert repeated({"n_neighbors": [5, 6], "bandwidth": [1.0, 2.0]})
    assert repeated({"bandwidth": [1.0, 2.0]})
    assert not repeated({"n_neighbors": [5, 6], "n_components": [1, 2]})
    assert not repeated([{"n_neighbors": [5]}, {"radius": [1.0, 2.0]}])


def test_configured_estimators():
    base = lowdim.LaplacianEigenmaps(3, n_neighbors=20)
    assert configure(base, {"perplexity": 7.0}).affinity == lowdim.Entropic(7.0)
    assert configure(base, {"n_neighbors": 9}, n_jobs=1).get_params()["n_jobs"] == 1
    assert configure(base, {"n_neighbors": 9}).n_components == 3
    assert base.n_neighbors == 20
    kernel = lowdim.LaplacianEigenmaps(affinity=lowdim.Gaussian(1.0))
    assert configure(kernel, {"affinity__sigma": 5.0}).affinity == lowdim.Gaussian(5.0)


def test_fields_of_the_landmark_solver():
    solver = lowdim.LLL(50, choose="farthest", landmarks=np.arange(50))
    base = lowdim.LaplacianEigenmaps(solver=solver)
    made = configure(base, {"n_landmarks": 30, "n_landmark_neighbors": 4, "solver__smooth": 1}).solver
    assert (made.n_landmarks, made.n_neighbors, made.smooth, made.choose) == (30, 4, 1, "farthest")
    assert made.landmarks is solver.landmarks
    named_solver = configure(lowdim.LLE(), {"solver": "nystrom", "n_landmarks": 30}).solver
    assert isinstance(named_solver, lowdim.Nystrom)
    assert own_value(base, "n_landmarks") == 50
    assert own_value(lowdim.LLE(solver="lll"), "n_landmarks") == lowdim.LLL().n_landmarks
    assert own_value(lowdim.LLE(), "n_landmarks") is None


def test_the_widest_search_that_can_succeed():
    base = lowdim.LLE(n_neighbors=15)
    points = expand(base, {"n_neighbors": [5, 30, 100, None, "ten"]})
    assert widest(base, points, 101) == 100
    assert widest(base, points, 100) == 30
    assert widest(base, expand(base, {"reg": [0.1]}), 100) == 15
    assert widest(lowdim.PCA(), expand(lowdim.PCA(), {"n_components": [2]}), 100) == 0
