"""The small eigenproblem against SciPy's, by every driver, and what is wrong with it in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.core.streams import Streams
from lowdim.errors import ConvergenceError, InputError
from lowdim.solvers.landmarks import small
from lowdim.solvers.landmarks.galerkin import Reduced, UpperTriangle
from lowdim.solvers.landmarks.small import reduced_components, solve_small

SIZE = 60


def pencil(rng, size=SIZE, trivial=True):
    """A Laplacian and a mass matrix, with the constant as trivial solution where there is one."""
    W = rng.random((size, size)) * (rng.random((size, size)) < 0.3)
    W = np.triu(W, 1) + np.triu(W, 1).T + np.eye(size, k=1) + np.eye(size, k=-1)
    A = np.diag(W.sum(axis=1)) - W
    root = rng.standard_normal((size, 3 * size)) / np.sqrt(size)
    B = root @ root.T + 0.1 * np.eye(size)
    constraint = B.sum(axis=1)[:, None] if trivial else np.zeros((size, 0))
    return Reduced(A, B, constraint)


def reference(reduced, end, k):
    A, B = reduced.A, reduced.B
    if reduced.constraint.shape[1]:
        Q = linalg.null_space(reduced.constraint.T)
        A, B = Q.T @ A @ Q, Q.T @ B @ Q
    values = linalg.eigh(A, B, eigvals_only=True)
    return values[:k] if end == "smallest" else values[::-1][:k]


def find(reduced, end, k, seed=0):
    seen = []
    events = Events(lambda event: seen.append(event.data.get("choice")))
    values, X = solve_small(reduced, end, k, run=Run(events, streams=Streams(seed)))
    return values, X, seen[-1]


def check(reduced, values, X, wanted, rtol=1e-9):
    np.testing.assert_allclose(values, wanted, rtol=rtol, atol=1e-11)
    np.testing.assert_allclose(X.T @ reduced.B @ X, np.eye(values.size), atol=1e-10)
    assert np.abs(reduced.constraint.T @ X).max(initial=0.0) < 1e-9 * max(
        1, np.abs(reduced.constraint).max(initial=0)
    )
    # Off the span of the constraint the residual is zero.
    image = reduced.A @ X - reduced.B @ X * values
    if reduced.constraint.shape[1]:
        Q = linalg.orth(reduced.constraint)
        image -= Q @ (Q.T @ image)
    assert np.abs(image).max() < 1e-8 * np.abs(reduced.A).max() * np.abs(X).max()


@pytest.fixture
def lanczos(monkeypatch):
    monkeypatch.setattr(small, "_LANCZOS_SIZE", 0)
    monkeypatch.setattr(small, "_LANCZOS_RATIO", 0)


@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("trivial", [False, True])
@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_lapack_agrees_with_scipy(end, trivial, k):
    reduced = pencil(np.random.default_rng(0), trivial=trivial)
    values, X, driver = find(reduced, end, k)
    assert driver == "lapack"
    check(reduced, values, X, reference(reduced, end, k))


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("trivial", [False, True])
@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.usefixtures("lanczos")
def test_lanczos_agrees_with_scipy(end, trivial, k):
    reduced = pencil(np.random.default_rng(1), 200, trivial=True)
    if not trivial:
        reduced = Reduced(reduced.A + 0.3 * reduced.B, reduced.B, np.zeros((200, 0)))
    values, X, driver = find(reduced, end, k)
    assert driver == "lanczos"
    check(reduced, values, X, reference(reduced, end, k))


@pytest.mark.usefixtures("lanczos")
def test_constraints_that_are_no_eigenvectors_are_kept_by_both_drivers():
    rng = np.random.default_rng(2)
    reduced = pencil(rng, 150)
    reduced = Reduced(reduced.A, reduced.B, np.hstack([reduced.constraint, rng.standard_normal((150, 2))]))
    values, X, driver = find(reduced, "smallest", 3)
    assert driver == "lanczos"
    check(reduced, values, X, reference(reduced, "smallest", 3))


@pytest.mark.usefixtures("lanczos")
def test_an_indefinite_matrix_goes_to_lapack():
    rng = np.random.default_rng(3)
    reduced = pencil(rng, trivial=False)
    reduced = Reduced(reduced.A - 2 * reduced.B, reduced.B, reduced.constraint)
    values, X, driver = find(reduced, "smallest", 3)
    assert driver == "lapack"
    assert values[0] < 0
    check(reduced, values, X, reference(reduced, "smallest", 3))


def test_multiple_eigenvalues_are_all_found():
    reduced = Reduced(np.diag(np.repeat([1.0, 2.0], 30)), np.eye(SIZE), np.zeros((SIZE, 0)))
    values, X, _ = find(reduced, "smallest", 12)
    check(reduced, values, X, np.ones(12))


@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_scales_of_landmarks_do_not_matter(end):
    rng = np.random.default_rng(4)
    reduced, scale = pencil(rng), 10.0 ** rng.uniform(-5, 0, SIZE)
    scaled = Reduced(
        scale[:, None] * reduced.A * scale,
        scale[:, None] * reduced.B * scale,
        scale[:, None] * reduced.constraint,
    )
    values, X, _ = find(scaled, end, 4)
    np.testing.assert_allclose(values, reference(reduced, end, 4), rtol=1e-9)
    check(reduced, values, scale[:, None] * X, reference(reduced, end, 4))


@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_landmarks_without_points_have_coordinates_zero(end):
    reduced = pencil(np.random.default_rng(5))
    used = np.setdiff1d(np.arange(SIZE + 3), [0, 10, SIZE + 2])
    A, B, constraint = np.zeros((SIZE + 3, SIZE + 3)), np.zeros((SIZE + 3, SIZE + 3)), np.zeros((SIZE + 3, 1))
    A[np.ix_(used, used)], B[np.ix_(used, used)], constraint[used] = reduced.A, reduced.B, reduced.constraint
    values, X, _ = find(Reduced(A, B, constraint), end, 4)
    assert not X[[0, 10, SIZE + 2]].any()
    check(reduced, values, X[used], reference(reduced, end, 4))
    assert reduced_components(Reduced(A, B, constraint)) == 1


@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.parametrize("forced", [False, True])
def test_equal_landmarks_add_nothing(end, forced, monkeypatch):
    """Z with some columns twice, and some sums of others: B~ is singular, the Ritz values are those of the span."""
    if forced:
        monkeypatch.setattr(small, "_LANCZOS_SIZE", 0)
        monkeypatch.setattr(small, "_LANCZOS_RATIO", 0)
    rng = np.random.default_rng(6)
    reduced = pencil(rng)
    copies = np.eye(SIZE)[:, rng.integers(0, SIZE, 20)] + np.eye(SIZE)[:, rng.integers(0, SIZE, 20)]
    mixing = np.hstack([np.eye(SIZE), np.eye(SIZE)[:, :5], copies])
    singular = Reduced(
        mixing.T @ reduced.A @ mixing, mixing.T @ reduced.B @ mixing, mixing.T @ reduced.constraint
    )
    values, X, driver = find(singular, end, 5)
    assert driver == "lapack"
    check(reduced, values, mixing @ X, reference(reduced, end, 5), rtol=1e-7)


def test_too_few_directions_are_refused_with_their_number():
    rng = np.random.default_rng(7)
    with pytest.raises(InputError, match=r"n_components=60, with 1 trivial .* span 60 directions"):
        find(pencil(rng), "smallest", 60)
    reduced = pencil(rng, 5)
    mixing = rng.standard_normal((5, 30))
    singular = Reduced(
        mixing.T @ reduced.A @ mixing, mixing.T @ reduced.B @ mixing, mixing.T @ reduced.constraint
    )
    assert find(singular, "smallest", 4)[1].shape == (30, 4)
    with pytest.raises(InputError, match=r"the 30 landmarks span 5 directions .* Raise n_landmarks"):
        find(singular, "smallest", 5)
    with pytest.raises(InputError, match="span 0 directions"):
        find(Reduced(np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((4, 1))), "smallest", 1)


def test_matrices_that_are_no_numbers_or_not_positive_are_named():
    reduced = pencil(np.random.default_rng(8))
    A = reduced.A.copy()
    A[3, 4] = A[4, 3] = np.nan
    with pytest.raises(ConvergenceError, match="not finite"):
        find(Reduced(A, reduced.B, reduced.constraint), "smallest", 2)
    with pytest.raises(InputError, match="B must be positive definite"):
        find(Reduced(reduced.A, -reduced.B, reduced.constraint), "smallest", 2)


def test_components_are_counted_beyond_rounding():
    rng = np.random.default_rng(9)
    parts = [pencil(rng, 20), pencil(rng, 30), pencil(rng, 10)]
    A, B = (linalg.block_diag(*(getattr(part, name) for part in parts)) for name in ("A", "B"))
    order = rng.permutation(60)
    A, B = A[np.ix_(order, order)], B[np.ix_(order, order)]
    noise = 1e-17 * rng.standard_normal((60, 60))
    assert reduced_components(Reduced(A + noise + noise.T, B, np.zeros((60, 0)))) == 3
    assert reduced_components(Reduced(A + 1e-6, B, np.zeros((60, 0)))) == 1
    assert reduced_components(Reduced(A, B + 1e-6, np.zeros((60, 0)))) == 1


@pytest.mark.usefixtures("lanczos")
def test_the_same_seed_gives_the_same_bits():
    reduced = pencil(np.random.default_rng(10), 200)
    first, second = find(reduced, "smallest", 3), find(reduced, "smallest", 3)
    np.testing.assert_array_equal(first[1], second[1])


def halves(reduced):
    """The same with sparse upper triangles."""
    A, B = (UpperTriangle(sparse.csr_array(np.triu(matrix))) for matrix in (reduced.A, reduced.B))
    return Reduced(A, B, reduced.constraint)


def test_an_upper_triangle_is_the_whole_matrix():
    rng = np.random.default_rng(0)
    whole = pencil(rng).A
    half = UpperTriangle(sparse.csr_array(np.triu(whole)))
    X, kept = rng.standard_normal((SIZE, 3)), np.flatnonzero(rng.random(SIZE) < 0.7)
    np.testing.assert_allclose(half.times(X), whole @ X, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(half.dense(), whole)
    np.testing.assert_array_equal(half.among(kept).dense(), whole[np.ix_(kept, kept)])
    np.testing.assert_array_equal(half.rows(slice(5, 9)), np.triu(whole)[5:9, 5:])


@pytest.mark.parametrize("driver", ["lanczos", "lapack"])
@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_halves_are_solved_as_the_whole(end, driver, monkeypatch):
    if driver == "lanczos":
        monkeypatch.setattr(small, "_LANCZOS_SIZE", 0)
        monkeypatch.setattr(small, "_LANCZOS_RATIO", 0)
    reduced = pencil(np.random.default_rng(1))
    wanted, _, _ = find(reduced, end, 3)
    values, X, taken = find(halves(reduced), end, 3)
    assert taken == driver
    check(reduced, values, X, wanted)


def test_parts_are_counted_in_halves_some_rows_at_a_time(monkeypatch):
    """Landmarks of three parts mixed, and some that carry nothing and tie two of them."""
    parts = np.arange(SIZE) % 3
    reduced = pencil(np.random.default_rng(1))
    together = parts[:, None] == parts
    together[:3] = together[:, :3] = True
    B = np.where(together, reduced.B, 0.0)
    B[:3] = B[:, :3] = 0.0
    cut = Reduced(np.where(together, reduced.A, 0.0), B, reduced.constraint)
    for width in (7, 512):
        monkeypatch.setattr(small, "WIDTH", width)
        assert reduced_components(halves(cut)) == reduced_components(cut) == 3
        assert reduced_components(halves(reduced)) == reduced_components(reduced) == 1
