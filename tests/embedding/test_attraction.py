"""Attraction in single precision against the double one."""

from __future__ import annotations

import numpy as np
import pytest
from long_places import long_graph
from scipy import sparse

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.objectives.attraction import OLD, Attraction, Layout, along_curve
from lowdim.objectives.similarities import STUDENT

ONE = Run.of(0, 1)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    W = sparse.random_array((700, 700), density=0.02, rng=rng, format="csr")
    return long_graph(W + W.T)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 300.0])
def test_single_precision_is_true_to_six_digits(graph, scale):
    X = scale * np.random.default_rng(1).standard_normal((700, 2)) + 5.0
    energy, force = Attraction(graph, STUDENT, ONE).evaluate(X)
    fast_energy, fast_force = Attraction(graph, STUDENT, ONE, single=True).evaluate(X)
    assert fast_energy == pytest.approx(energy, rel=1e-5, abs=1e-6 * graph.sum())
    assert np.linalg.norm(fast_force - force) < 1e-5 * np.linalg.norm(force)
    nothing, same = Attraction(graph, STUDENT, ONE, single=True).evaluate(X, value=False)
    assert nothing is None
    assert np.allclose(same, fast_force, rtol=1e-5)


def test_points_are_laid_out_anew_and_threads_do_not_matter(graph):
    rng = np.random.default_rng(2)
    one, three = (Attraction(graph, STUDENT, Run.of(0, jobs), single=True) for jobs in (1, 3))
    exact = Attraction(graph, STUDENT, ONE)
    for _ in range(OLD + 2):
        X = 10 * rng.standard_normal((700, 2))
        force = one.evaluate(X, value=False)[1]
        assert np.array_equal(force, three.evaluate(X, value=False)[1])
    assert np.linalg.norm(force - exact.evaluate(X)[1]) < 1e-5 * np.linalg.norm(force)


def test_the_old_layout_goes_before_the_new_one_is_made(graph, monkeypatch):
    attraction, make, held = Attraction(graph, STUDENT, ONE, single=True), Layout.of, []
    monkeypatch.setattr(Layout, "of", lambda *given: (held.append(attraction._layout), make(*given))[1])
    for _ in range(OLD + 1):
        attraction.evaluate(np.random.default_rng(4).standard_normal((700, 2)), value=False)
    assert held == [None, None]


def test_neighbours_on_the_curve_are_neighbours_in_the_plane():
    X = np.random.default_rng(3).uniform(size=(5000, 2))
    order = np.argsort(along_curve(X), kind="stable")
    steps = np.linalg.norm(np.diff(X[order], axis=0), axis=1)
    assert np.median(steps) < 0.03
    assert along_curve(np.zeros((3, 2))).tolist() == [0, 0, 0]


def test_edges_of_any_number_and_length():
    """Rows of 0 to 20 edges, in eights and what is left of them, with logarithms of every size."""
    rng = np.random.default_rng(5)
    counts = np.arange(21)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    indices = np.concatenate([rng.permutation(21)[:count] for count in counts]).astype(np.int32)
    weights = rng.uniform(0.1, 1.0, indices.size).astype(np.float32)
    for scale in (1e-3, 1.0, 1e6):
        points = (scale * rng.standard_normal((21, 2))).astype(np.float32)
        order, found, same = rng.permutation(21), np.empty((21, 2)), np.empty((21, 2))
        arguments = (indptr, indices, weights, points, 0, 21)
        loop = kernels.embedding.radial_student.student_plane
        energy = loop(*arguments, True, order, found)
        assert loop(*arguments, False, order, same) == 0.0
        assert np.array_equal(found, same)
        ways = points.astype(np.float64)[np.repeat(counts, counts)] - points[indices]
        q = 1.0 + np.square(ways).sum(axis=1)
        force = np.zeros((21, 2))
        np.add.at(force, np.repeat(counts, counts), (weights / q)[:, None] * ways)
        assert np.allclose(found[order], force, rtol=1e-5, atol=1e-6 * np.abs(force).max())
        expected = float((weights * np.log(q)).sum())
        assert energy == pytest.approx(expected, rel=2e-6, abs=1e-7 * float(weights.sum()))
