"""Landmark solvers through the estimators: exact at their limit, a small map, clear errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from registry import LANDMARKED, make
from scipy import linalg, sparse
from sklearn.base import clone

import lowdim
from lowdim import LLL, LandmarkZ, Nystrom, VariationalNystrom
from lowdim.errors import DataWarning, DisconnectedError, DisconnectedWarning, InputError, MemoryLimitError

SOLVERS = [LLL, LandmarkZ, Nystrom, VariationalNystrom]
GRAM = ["ClassicalMDS", "KernelPCA", "Isomap"]
METHODS = {
    "ClassicalMDS": lambda solver: lowdim.ClassicalMDS(metric="manhattan", solver=solver),
    "KernelPCA": lambda solver: lowdim.KernelPCA(kernel="rbf", gamma=0.002, solver=solver),
    "Isomap": lambda solver: lowdim.Isomap(solver=solver),
    "LLE": lambda solver: lowdim.LLE(solver=solver),
    "LLE-ltsa": lambda solver: lowdim.LLE(variant="ltsa", solver=solver),
    "LaplacianEigenmaps": lambda solver: lowdim.LaplacianEigenmaps(n_neighbors=15, solver=solver),
    "SpectralClustering": lambda solver: lowdim.SpectralClustering(3, n_neighbors=15, solver=solver),
}


@pytest.fixture(scope="module")
def roll():
    return lowdim.datasets.swiss_roll(400, aspect=1.5, random_state=0).data


@pytest.fixture(scope="module")
def matrices(roll):
    W = lowdim.LaplacianEigenmaps(n_neighbors=15, solver="exact").fit(roll).affinity_matrix_
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(degrees) - W), degrees


def is_offered(method, solver):
    return solver is not VariationalNystrom or method not in GRAM


@pytest.mark.covering
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_all_points_as_landmarks_give_the_exact_solution(method, solver, roll):
    if not is_offered(method, solver):
        pytest.skip("a dense matrix has no sparse columns to begin with")
    if solver is VariationalNystrom and method.startswith("LLE"):
        pytest.skip("the columns of LLE's kernel do not span its smallest eigenvectors to rounding")
    exact = METHODS[method]("exact").fit_transform(roll)
    found = METHODS[method](solver(roll.shape[0])).fit(roll)
    tolerance = 1e-4 if solver is VariationalNystrom else 1e-6
    assert lowdim.procrustes(exact, found.embedding_).error < tolerance


@pytest.mark.parametrize("method", METHODS)
def test_more_landmarks_are_nearer_to_exact(method, roll):
    exact = METHODS[method]("exact").fit_transform(roll)
    few, many = (
        lowdim.procrustes(exact, METHODS[method](LLL(size)).fit_transform(roll)).error for size in (40, 350)
    )
    assert many < few
    assert many < 0.15


@pytest.mark.covering
@pytest.mark.parametrize("method", [*METHODS])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_row_alone_through_the_map(method, solver, roll):
    if not is_offered(method, solver):
        pytest.skip("a dense matrix has no sparse columns to begin with")
    fitted = METHODS[method](solver(80)).fit(roll[:300])
    new = roll[300:]
    whole = fitted.transform(new)
    assert np.array_equal(whole, np.vstack([fitted.transform(new[i : i + 7]) for i in range(0, 100, 7)]))
    assert whole.shape == (100, fitted.embedding_.shape[1])


@pytest.mark.parametrize("method", ["LaplacianEigenmaps", "LLE", "Isomap", "KernelPCA"])
def test_the_map_of_lll_gives_back_the_training_points(method, roll):
    fitted = METHODS[method](LLL(100)).fit(roll)
    scale = np.abs(fitted.embedding_).max()
    np.testing.assert_allclose(fitted.transform(roll), fitted.embedding_, atol=1e-9 * scale)


def test_what_a_fit_keeps_does_not_grow_with_the_data():
    roll = lowdim.datasets.swiss_roll(4000, aspect=1.5, random_state=0).data
    sizes = []
    for count in (1000, 4000):
        fitted = lowdim.LaplacianEigenmaps(solver=LLL(60, n_neighbors=5)).fit(roll[:count])
        sizes.append(len(pickle.dumps(fitted.map_)))
    assert sizes[1] < 1.1 * sizes[0]


@pytest.mark.parametrize("solver", [LLL, VariationalNystrom])
def test_ritz_values_are_above_the_eigenvalues(solver, roll):
    exact = lowdim.LaplacianEigenmaps(3, n_neighbors=15, solver="exact").fit(roll)
    found = lowdim.LaplacianEigenmaps(3, n_neighbors=15, solver=solver(100)).fit(roll)
    assert np.all(found.eigenvalues_ >= exact.eigenvalues_ * (1 - 1e-9))
    assert np.array_equal(found.certificate_.ritz_values, found.eigenvalues_)


def test_smooth_and_polish_come_nearer(roll):
    exact = lowdim.LaplacianEigenmaps(n_neighbors=15, solver="exact").fit_transform(roll)

    def error(**settings):
        solver = LLL(80, **settings)
        return lowdim.procrustes(
            exact, lowdim.LaplacianEigenmaps(n_neighbors=15, solver=solver).fit_transform(roll)
        ).error

    assert error(smooth=2) < error(smooth=1) < error()
    assert error(polish=40) < error(polish=10) < error()
    assert error(polish=20, tolerance=1e-9) < 1e-6


def test_the_certificate_is_in_the_report(roll):
    fitted = lowdim.LaplacianEigenmaps(solver=LLL(60, certify=200)).fit(roll)
    certificate = fitted.certificate_
    assert (certificate.method, certificate.n_landmarks, certificate.n_neighbors) == ("LLL", 60, 5)
    assert 0 < certificate.residuals.max() < 1
    assert 0 < certificate.angle < np.pi / 2
    assert "angle to exact on subsample" in str(fitted.report_)
    assert fitted.report_.as_dict()["figures"]["landmarks"] == 60
    alone = lowdim.LaplacianEigenmaps(solver=Nystrom(60)).fit(roll)
    assert alone.certificate_.residuals is None


@pytest.mark.parametrize("name", LANDMARKED)
def test_same_seed_same_result_whatever_the_threads(name, roll):
    one, two = (make(name, n_jobs=jobs).fit(roll) for jobs in (1, 2))
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.embedding_, clone(one).fit(roll).embedding_)
    assert not np.allclose(one.embedding_, make(name, random_state=1).fit(roll).embedding_)


@pytest.mark.parametrize("method", ["LaplacianEigenmaps", "LLE", "Isomap"])
@pytest.mark.parametrize("solver", [LLL(60), LandmarkZ(60), Nystrom(60)])
def test_distances_serve_as_points_do(method, solver, roll):
    distances = np.linalg.norm(roll[:, None] - roll[None], axis=2)
    of_points = METHODS[method](solver).fit(roll[:300])
    estimator = clone(of_points).set_params(metric="precomputed").fit(distances[:300, :300])
    np.testing.assert_allclose(estimator.embedding_, of_points.embedding_, atol=1e-6)
    new = estimator.transform(distances[300:, :300])
    np.testing.assert_allclose(new, of_points.transform(roll[300:]), atol=1e-6)


@pytest.mark.parametrize("solver", [Nystrom, VariationalNystrom])
def test_a_graph_goes_by_its_columns(solver, roll):
    W = lowdim.LaplacianEigenmaps(n_neighbors=40, solver="exact").fit(roll).affinity_matrix_
    exact = lowdim.LaplacianEigenmaps(metric="graph").fit(W)
    found = lowdim.LaplacianEigenmaps(metric="graph", solver=solver(350)).fit(W)
    assert lowdim.procrustes(exact.embedding_, found.embedding_).error < 0.5
    assert found.transform(W[:5]).shape == (5, 2)
    with pytest.raises(InputError, match="LLL needs points"):
        lowdim.LaplacianEigenmaps(metric="graph", solver="lll").fit(W)


@pytest.mark.parametrize("choose", ["farthest", "thinned"])
def test_kernel_values_are_no_distances(choose, roll):
    values = np.exp(-0.01 * np.square(roll[:, None] - roll[None]).sum(axis=2))
    with pytest.raises(
        InputError, match=f"choose='{choose}' needs the distances between points; got kernel values"
    ):
        lowdim.KernelPCA(kernel="precomputed", solver=Nystrom(50, choose=choose)).fit(values)


@pytest.mark.parametrize("policy", ["connect", "largest", "per_component"])
def test_components_each_have_their_landmarks(policy, roll):
    two = np.vstack((roll[:150], roll[:90] + 1000))
    estimator = lowdim.LaplacianEigenmaps(solver=LLL(50), on_disconnected=policy)
    with pytest.warns(DisconnectedWarning):
        fitted = estimator.fit(two)
    assert np.all(np.isfinite(fitted.embedding_))
    assert fitted.transform(two[:3]).shape == (3, 2)


def test_landmarks_of_your_own(roll):
    indices = np.arange(0, 400, 5)
    by_index = lowdim.LaplacianEigenmaps(solver=LLL(landmarks=indices)).fit(roll)
    by_point = lowdim.LaplacianEigenmaps(solver=LLL(landmarks=roll[indices])).fit(roll)
    np.testing.assert_allclose(by_index.embedding_, by_point.embedding_)
    assert by_index.certificate_.n_landmarks == 80
    repeated = np.vstack((roll, roll[:50]))
    again = lowdim.LaplacianEigenmaps(solver=LLL(landmarks=indices)).fit(repeated)
    assert np.array_equal(again.embedding_[:50], again.embedding_[400:])


def test_landmark_isomap():
    roll = lowdim.datasets.swiss_roll(1500, aspect=1.5, random_state=0).data
    exact = lowdim.Isomap(solver="exact").fit_transform(roll)
    for landmarks in (150, np.arange(0, 1500, 9), roll[::9]):
        found = lowdim.Isomap(landmarks=landmarks).fit(roll)
        assert lowdim.procrustes(exact, found.embedding_).error < 0.05
        assert np.array_equal(found.embedding_, found.transform(roll))
    centres = lowdim.Isomap(solver=Nystrom(150, choose="k-means")).fit(roll)
    assert lowdim.procrustes(exact, centres.embedding_).error < 0.05


def test_landmark_isomap_without_room_for_the_geodesics_gives_the_same(roll):
    kept = lowdim.Isomap(landmarks=200).fit_transform(roll)
    scarce = lowdim.Isomap(landmarks=200, memory_limit=12 * 200 * len(roll))
    assert "a block at a time" in str(scarce.plan(roll))
    again = scarce.fit_transform(roll)
    np.testing.assert_allclose(kept, again, atol=1e-8)


def test_auto_takes_landmarks_where_exact_does_not_fit():
    many = lowdim.datasets.swiss_roll(4500, aspect=1.5, random_state=0).data
    estimator = lowdim.Isomap(memory_limit="20 MB")
    fitted = estimator.fit(many)
    assert fitted.certificate_.method == "Nystrom"
    assert any(choice.what == "method" for choice in fitted.report_.choices)
    assert "landmarks" in str(estimator.plan(many))
    with pytest.raises(MemoryLimitError):
        lowdim.Isomap(memory_limit="20 MB", solver="exact").fit(many)


def test_k_means_starts_on_the_landmarks():
    rng = np.random.default_rng(0)
    blobs = np.vstack([rng.normal(center, 0.3, (100, 4)) for center in (0, 3, 6)])
    with pytest.warns(DisconnectedWarning):
        fitted = lowdim.SpectralClustering(3, solver=LLL(60), n_init=3).fit(blobs)
    truth = np.repeat([0, 1, 2], 100)
    assert all(len(set(fitted.labels_[truth == group].tolist())) == 1 for group in range(3))
    assert np.array_equal(fitted.predict(blobs), fitted.labels_)


BAD = [
    (LLL(2), "at least n_components \\+ 1 = 3 landmarks; got 2"),
    (LLL(30, n_neighbors=31), "n_neighbors=31 with 30 landmarks"),
    (LLL(landmarks=[0, 5, 400]), "400"),
    (LLL(landmarks=[0, -1, 5]), "-1"),
    (LLL(landmarks=[3, 5, 3, 9]), "3"),
    (LLL(landmarks=np.zeros((4, 3))), "landmarks"),
    (LLL(landmarks=np.eye(4)), "columns"),
    (LLL(30, tolerance=1e-3), "Set polish too"),
    (LLL(30, choose="best"), "choose of LLL must be one of"),
    (LLL(0), "n_landmarks of LLL must be"),
    (LLL(30, smooth=-1), "smooth of LLL"),
    (LLL(30, certify=20), "certify of LLL must be more than n_landmarks"),
    (Nystrom(30, polish=5), "Use LLL or VariationalNystrom"),
    (VariationalNystrom(30, choose="k-means"), "landmarks that are points of the data"),
]


@pytest.mark.parametrize(("solver", "words"), BAD, ids=[words[:20] for _, words in BAD])
def test_what_cannot_be_used_is_said(solver, words, roll):
    with pytest.raises(InputError, match=words):
        lowdim.LaplacianEigenmaps(solver=solver).fit(roll)


def test_equal_landmarks_are_named(roll):
    twice = np.vstack((roll, roll[7:8]))
    with pytest.raises(InputError, match=r"7.*400|400.*7"):
        lowdim.LaplacianEigenmaps(solver=LLL(landmarks=[1, 7, 30, 400])).fit(twice)


def test_points_far_from_every_landmark_are_counted(roll):
    far = np.vstack((roll, roll[:20] + 500))
    solver = LLL(landmarks=np.arange(0, 400, 4))
    with pytest.warns(DataWarning, match="20 of 420"), pytest.warns(DisconnectedWarning):
        fitted = lowdim.LaplacianEigenmaps(solver=solver).fit(far)
    assert fitted.certificate_.far == 20


def test_landmarks_and_solver_do_not_disagree(roll):
    with pytest.raises(InputError, match="landmarks of Isomap belongs to"):
        lowdim.Isomap(landmarks=50, solver=LLL(50)).fit(roll)
    with pytest.raises(InputError, match="VariationalNystrom"):
        lowdim.Isomap(solver=VariationalNystrom(50)).fit(roll)


class TestProblem:
    """A problem of the user's own."""

    @pytest.mark.parametrize("solver", ["exact", LLL(120), VariationalNystrom(120)])
    def test_is_the_estimator_of_the_same_matrices(self, solver, matrices, roll):
        own = lowdim.SpectralProblem(*matrices, solver=solver).fit(roll)
        same = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=solver).fit(roll)
        np.testing.assert_allclose(own.embedding_, same.embedding_, atol=1e-7)
        np.testing.assert_allclose(own.eigenvalues_, same.eigenvalues_, rtol=1e-7)
        assert own.transform(roll[:4]).shape == (4, 2)

    @pytest.mark.parametrize("kind", [Nystrom, LandmarkZ])
    def test_landmark_blocks(self, kind, matrices, roll):
        exact = lowdim.SpectralProblem(*matrices).fit(roll)

        def error(size):
            own = lowdim.SpectralProblem(*matrices, solver=kind(size)).fit(roll)
            return lowdim.procrustes(exact.embedding_, own.embedding_).error

        assert error(400) < 1e-6 < error(300) < 0.7

    def test_without_points(self, matrices, roll):
        own = lowdim.SpectralProblem(*matrices, solver=VariationalNystrom(200)).fit()
        assert own.embedding_.shape == (400, 2)
        with pytest.raises(InputError, match="fit was not given them"):
            own.transform(roll[:4])
        with pytest.raises(InputError, match="LLL needs points"):
            lowdim.SpectralProblem(*matrices, solver="lll").fit()

    @pytest.mark.parametrize("end", ["smallest", "largest"])
    def test_a_general_mass(self, end):
        rng = np.random.default_rng(0)
        A, root = rng.standard_normal((2, 60, 60))
        A, B = A + A.T, root @ root.T + 60 * np.eye(60)
        values = linalg.eigvalsh(A, B)
        own = lowdim.SpectralProblem(A, B, 3, end=end).fit()
        wanted = values[:3] if end == "smallest" else values[::-1][:3]
        np.testing.assert_allclose(own.eigenvalues_, wanted, rtol=1e-8)
        np.testing.assert_allclose(own.embedding_.T @ B @ own.embedding_, np.eye(3), atol=1e-8)

    def test_bad_matrices(self, matrices, roll):
        A, degrees = matrices
        skew = A.tolil()
        skew[0, 1] += 5
        for given, words in [
            ((sparse.csr_array(skew), degrees), "A must be symmetric"),
            ((A, -degrees), "B must be positive definite"),
            ((A, np.diag(degrees) - 2 * degrees.max() * (1 - np.eye(400))), "B must be positive definite"),
            ((A, degrees[:-1]), "as many rows as A"),
            ((A[:, :-1], degrees), "square"),
            ((A * np.nan, degrees), "finite"),
        ]:
            with pytest.raises(InputError, match=words):
                lowdim.SpectralProblem(*given).fit(roll)
        with pytest.raises(InputError, match="400 points that A is about"):
            lowdim.SpectralProblem(A, degrees).fit(roll[:10])

    def test_a_reduced_problem_that_falls_apart(self):
        rng = np.random.default_rng(0)
        points = np.vstack((rng.normal(0, 1, (40, 2)), rng.normal(50, 1, (40, 2))))
        W = np.kron(np.eye(2), np.ones((40, 40)))
        degrees = W.sum(axis=0)
        with pytest.raises(DisconnectedError, match="2 parts"):
            lowdim.SpectralProblem(np.diag(degrees) - W, degrees, solver=LLL(20)).fit(points)


def test_a_solver_shows_what_was_set():
    assert repr(LLL(300)) == "LLL(300)"
    assert repr(Nystrom(50, choose="k-means")) == "Nystrom(50, choose='k-means')"
    assert repr(LLL(landmarks=[1, 2, 3], polish=5)) == "LLL(landmarks=[1, 2, 3], polish=5)"
