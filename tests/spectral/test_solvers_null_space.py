"""Groups of points that lean on nobody outside: the null space of LLE, known before any iteration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.errors import DisconnectedWarning
from lowdim.solvers.eigen import solve
from lowdim.solvers.eigen.null_space import closed_groups
from lowdim.spectral.operators import Normal

SIZE, GROUPS = 450, 5


def leaning(seed=0, size=SIZE, groups=GROUPS):
    """I - W of points that lean on their own group, and of 50 that lean on anybody."""
    rng = np.random.default_rng(seed)
    labels = np.arange(size) % groups
    labels[-50:] = -1
    W = np.zeros((size, size))
    for i in range(size):
        near = np.flatnonzero(labels == labels[i]) if labels[i] >= 0 else np.arange(size)
        chosen = rng.choice(near[near != i], 6, replace=False)
        W[i, chosen] = rng.random(6) + 0.1
    W /= W.sum(axis=1, keepdims=True)
    return sparse.csr_array(np.eye(size) - W), labels


def problem(F, weights=None):
    return Problem(Normal(F, weights), "smallest", weights, np.ones((F.shape[0], 1)))


def test_closed_groups_are_found_and_numbered_by_their_first_points():
    F, labels = leaning()
    found = closed_groups(F)
    # A point of a group whom nobody of it has in his list is not one that the others lean on.
    np.testing.assert_array_equal(found[found >= 0], labels[found >= 0])
    assert (labels[found < 0] >= 0).sum() < 5
    np.testing.assert_array_equal(
        closed_groups(sparse.csr_array(np.eye(3) - np.roll(np.eye(3), 1, axis=1))), [0, 0, 0]
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["auto", "shift-invert", "dense"])
def test_wanted_vectors_within_the_null_space_are_given_at_once(solver, weighted):
    F, labels = leaning()
    weights = np.random.default_rng(1).integers(1, 4, SIZE).astype(float) if weighted else None
    with pytest.warns(DisconnectedWarning, match="5 groups of points .* first 3 of 3 coordinates only tell"):
        solution = solve(problem(F, weights), 3, solver, run=Run.of(0))
    assert solution.solver == "null space"
    assert solution.values.max() < 1e-28
    mass = np.ones(SIZE) if weights is None else weights
    np.testing.assert_allclose(solution.vectors.T @ (mass[:, None] * solution.vectors), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(mass @ solution.vectors, 0, atol=1e-10)
    places = np.array([solution.vectors[labels == g].mean(axis=0) for g in range(GROUPS)])
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert gaps[~np.eye(GROUPS, dtype=bool)].min() > 1e-3


@pytest.mark.parametrize("solver", ["auto", "shift-invert"])
def test_vectors_beyond_the_null_space_are_sought_beside_it(solver):
    F, _ = leaning()
    with pytest.warns(DisconnectedWarning, match="first 4 of 7"):
        solution = solve(problem(F), 7, solver, run=Run.of(0))
    exact = np.linalg.eigvalsh((F.T @ F).toarray())[1:8]
    np.testing.assert_allclose(solution.values[4:], exact[4:], rtol=1e-8)
    assert solution.values[:4].max() < 1e-28
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(7), atol=1e-10)
    assert solution.attempts[0].solver == "null space"


def test_points_of_one_group_have_no_null_space_to_tell(recwarn):
    F, _ = leaning(groups=1)
    solution = solve(problem(F), 2, run=Run.of(0))
    assert "null space" not in [attempt.solver for attempt in solution.attempts]
    assert not recwarn.list


def test_lle_of_clumps_in_one_piece_says_that_it_only_tells_them_apart():
    rng = np.random.default_rng(0)
    clumps = [rng.normal(size=(150, 3)) + 40 * c for c in range(3)]
    between = np.linspace(5, 75, 15)[:, None] + rng.normal(size=(15, 3))
    with pytest.warns(DisconnectedWarning) as caught:
        model = lowdim.LLE(2, n_neighbors=6).fit(np.concatenate([*clumps, between]))
    assert model.component_labels_.max() == 0
    assert sum("only tell these groups apart" in str(w.message) for w in caught) == 1
    assert model.eigenvalues_.max() < 1e-28
