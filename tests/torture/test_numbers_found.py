"""What the table of numbers found, kept: each was a crash, a hang, a bare error or a wrong answer once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim import validation
from lowdim.core import checks
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DataWarning, InputError, MemoryLimitError, NumericalError
from lowdim.neighbors import build_index, euclidean


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((60, 4)) * [4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize("search", ["blocked", "tree"])
def test_denormal_points_have_neighbours_that_exist(points, search):
    # The inverse of the unit overflowed, points that are none were handed on, and kernels wrote outside their arrays.
    index = build_index(Rows(points * 1e-310), search=search, run=Run.of())
    found = index.query(None, 5, Run.of())
    assert found.indices.min() >= 0
    assert found.indices.max() < 60
    np.testing.assert_array_equal(
        found.indices, build_index(Rows(points), run=Run.of()).query(None, 5, Run.of()).indices
    )


def test_distances_that_overflow_are_never_handed_on(points):
    index = build_index(
        Rows(points / np.abs(points).max() * np.finfo(float).max), search="tree", run=Run.of()
    )
    with pytest.raises(NumericalError, match=r"The neighbour search gave \d+ of 3540 values"):
        index.query(None, 59, Run.of())


@pytest.mark.parametrize("form", ["contiguous", "strided", "fortran", "longdouble", "sparse"])
@pytest.mark.parametrize("size", [1e-200, 1e71, 1e300])
def test_data_beyond_squaring_is_said_at_the_door(points, form, size):
    made = {
        "contiguous": lambda X: X,
        "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "fortran": np.asfortranarray,
        "longdouble": lambda X: X.astype(np.longdouble),
        "sparse": sparse.csr_array,
    }[form](points * size)
    with pytest.raises(InputError, match=r"X must hold numbers whose largest is between.*Rescale it"):
        lowdim.PCA().fit(made)
    model = lowdim.PCA().fit(points)
    with pytest.raises(InputError, match="its largest is"):
        model.transform(made)


def test_zeros_and_few_entries_are_no_question_of_size():
    validation.check_block(np.zeros((3, 3)), "X", at_least=1)
    validation.check_block(sparse.csr_array((3, 3)), "X", at_least=1)
    validation.check_block(np.array([[2**63 - 1]]), "X", at_least=1)
    with pytest.raises(ValueError, match=r"X\[0, 1\] is NaN"):
        validation.check_block(np.array([[1e300, np.nan]]), "X", at_least=1)
    with pytest.raises(ValueError, match="infinity"):
        validation.check_block(np.array([[np.inf, 1.0]], dtype=np.float32), "X", at_least=1)


def test_matrices_of_ones_own_problem_have_the_same_door():
    A = np.diag(np.arange(1.0, 11))
    with pytest.raises(InputError, match="A must hold numbers"):
        lowdim.SpectralProblem(A * 1e200).fit()
    with pytest.raises(InputError, match="B must hold numbers"):
        lowdim.SpectralProblem(A, np.full(10, 1e-200)).fit()
    with pytest.raises(InputError, match="B must hold finite numbers"):
        lowdim.SpectralProblem(A, np.r_[np.nan, np.ones(9)]).fit()


def test_what_a_stage_hands_on_is_finite():
    checks.finite(np.array([1e308, 1e308]), "The stage", "a cause", "A cure.")
    with pytest.raises(
        NumericalError, match=r"The stage gave 1 of 2 values that are not finite: a cause. A cure."
    ):
        checks.finite(np.array([1.0, np.nan]), "The stage", "a cause", "A cure.")


def test_lanczos_ends_where_every_eigenvalue_is_the_same():
    model = lowdim.SpectralProblem(np.eye(60), n_components=3, trivial=None, solver="lanczos").fit()
    np.testing.assert_allclose(model.eigenvalues_, 1.0)


@pytest.mark.parametrize("solver", ["covariance", "snapshot", "auto"])
def test_principal_components_of_equal_variances(solver):
    # LAPACK finds no eigenvector by index where nearly all eigenvalues are equal.
    model = lowdim.PCA(2, solver=solver).fit(np.eye(40))
    np.testing.assert_allclose(model.explained_variance_, 1 / 39)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("solver", ["covariance", "randomized"])
def test_principal_components_of_the_smallest_single_numbers(points, solver):
    tiny = (points * 1e-42).astype(np.float32)
    exact = lowdim.PCA(2).fit(tiny.astype(np.float64))
    found = lowdim.PCA(2, solver=solver).fit(tiny)
    np.testing.assert_allclose(found.explained_variance_, exact.explained_variance_, rtol=1e-4)


def test_a_covariance_that_cannot_be_held_is_refused_before_the_work():
    X = sparse.random_array((20, 100_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    with pytest.raises(MemoryLimitError, match="covariance"):
        lowdim.PCA(2, solver="covariance", memory_limit="1 GB").fit(X)


@pytest.mark.parametrize("solver", ["auto", lowdim.LLL(30)])
def test_a_linear_kernel_does_not_see_an_offset(points, solver):
    near = lowdim.KernelPCA(2, solver=solver).fit(points)
    far = lowdim.KernelPCA(2, solver=solver).fit(points + 1e8)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(far.transform(points[:5] + 1e8), near.transform(points[:5]), atol=1e-5)


def test_other_kernels_say_what_an_offset_takes(points):
    with pytest.raises(NumericalError, match="Centre the columns of X"):
        lowdim.KernelPCA(2, kernel="poly", degree=2).fit(points + 1e9)
    with pytest.warns(DataWarning, match=r"share their first \d+ digits"):
        lowdim.KernelPCA(2, kernel="poly", degree=2).fit(points + 1e6)
    with pytest.raises(NumericalError, match="The kernel gave"):
        lowdim.KernelPCA(2, kernel="poly", degree=100).fit(points * 1e30)


def test_weights_of_both_signs_leave_the_solution_orthonormal():
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    A = (Q * np.geomspace(1e-8, 1e8, 60)) @ Q.T
    model = lowdim.SpectralProblem((A + A.T) / 2, n_components=3, solver="variational-nystrom").fit()
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-7)
    assert np.all(np.diff(model.eigenvalues_) >= 0)


@pytest.mark.parametrize("A", [np.ones((30, 30)), np.zeros((30, 30))])
def test_nystrom_does_not_divide_by_rounding(A):
    with pytest.raises(InputError, match=r"n_components must be at most [01]"):
        lowdim.SpectralProblem(A, n_components=3, end="largest", solver=lowdim.Nystrom(10)).fit()


def test_clusters_on_fewer_places_are_said():
    W = np.kron([[0.0, 1], [1, 0]], np.ones((20, 20)))
    model = lowdim.SpectralClustering(3, metric="graph", solver=lowdim.Nystrom(20))
    with pytest.warns(DataWarning, match="fall on 2 different places"):
        labels = model.fit_predict(W)
    assert len(np.unique(labels)) == 2


@pytest.mark.parametrize("solver", [lowdim.LandmarkZ(10), lowdim.Nystrom(10)])
def test_one_coordinate_of_clusters_by_landmarks(points, solver):
    with pytest.warns(DataWarning, match="constant eigenvector alone"):
        model = lowdim.SpectralClustering(2, n_components=1, solver=solver).fit(points)
    assert model.certificate_.ritz_values.size == 0


def test_ties_of_sparse_rows_are_not_spread_out(monkeypatch):
    # They were compared again as dense rows of all their columns, for hours where there are many.
    monkeypatch.setattr(euclidean, "nearest_in_double", None)
    X = sparse.random_array((200, 50_000), density=2e-4, rng=np.random.default_rng(0), format="csr")
    X.data[:] = 1.0
    found = build_index(Rows(X), run=Run.of()).query(None, 10, Run.of())
    D = np.sqrt(
        np.maximum(
            (X.multiply(X)).sum(axis=1)[:, None] + X.multiply(X).sum(axis=1) - 2 * (X @ X.T).toarray(), 0
        )
    )
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(found.distances.reshape(200, 10), np.sort(D, axis=1)[:, :10])


def test_all_other_points_as_neighbours_leave_no_row_open(points, monkeypatch):
    monkeypatch.setattr(euclidean.EuclideanIndex, "_settle", None)
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(None, 59, Run.of())
    assert np.all(np.sort(found.indices.reshape(60, 59), axis=1)[:, 0] <= 1)


def test_an_edge_of_next_to_nothing_does_not_stop_the_elastic_embedding():
    W = np.kron(np.eye(2), np.ones((20, 20)) - np.eye(20))
    W[0, 20] = W[20, 0] = 1e-300
    X = lowdim.ElasticEmbedding(metric="graph", max_iter=20).fit_transform(W)
    assert np.all(np.isfinite(X))


@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "Isomap", "LLE", "ClassicalMDS", "TSNE"])
def test_a_metric_that_returns_no_number_is_said(points, name):
    def distance(a, b):
        return np.nan if a[0] > 5 else np.abs(a - b).sum()

    with pytest.raises(NumericalError, match="The metric 'distance' gave"):
        getattr(lowdim, name)(metric=distance).fit(points)


def test_a_kernel_that_returns_no_number_is_said(points):
    with pytest.raises(NumericalError, match="The kernel gave"):
        lowdim.KernelPCA(kernel=lambda a, b: np.inf if a[0] > 5 else a @ b).fit(points)


def test_a_start_beyond_squaring_is_said(points):
    with pytest.raises(InputError, match="init must hold numbers"):
        lowdim.TSNE(init=np.full((60, 2), 1e100)).fit(points)


def test_a_start_that_is_far_too_wide_is_brought_back(points):
    rng = np.random.default_rng(0)
    for kind in (lowdim.SNE, lowdim.SymmetricSNE, lowdim.TSNE, lowdim.ElasticEmbedding):
        model = kind(init=rng.standard_normal((60, 2)) * 1e30, max_iter=20).fit(points)
        assert np.all(np.isfinite(model.embedding_))
        assert np.isfinite(model.objective_)


def test_differences_that_vanish_beside_the_largest_entry_are_said(points):
    X = points * 1e-200
    X[5] = 1.0
    with pytest.warns(
        DataWarning, match="59 of 60 points are at distance 0 from others that they differ from"
    ):
        assert np.all(np.isfinite(lowdim.LLE().fit_transform(X)))
