"""The out-of-sample contract, the same for every estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import EVERY, make
from scipy.sparse import csr_array, diags_array

import lowdim
from lowdim import LLL, LandmarkZ, Nystrom, VariationalNystrom

# How far fitted rows may come back from their coordinates, as a share of the spread of each: docs/numerics.md has the
# table. Rounding where weights are a single 1, or the map is the formula of the fit.
SAME, ROUNDING = 0.0, 1e-6
BY_LANDMARKS: dict[str, tuple[Callable[[Any], Any], dict[str, float]]] = {
    "LaplacianEigenmaps": (
        lambda solver: lowdim.LaplacianEigenmaps(n_neighbors=20, solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": SAME, "columns": SAME, "polish": SAME, "smooth": SAME},
    ),
    "SpectralClustering": (
        lambda solver: lowdim.SpectralClustering(3, n_neighbors=20, solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": SAME, "columns": SAME, "polish": SAME, "smooth": SAME},
    ),
    "LLE": (
        lambda solver: lowdim.LLE(n_neighbors=12, solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": SAME, "columns": SAME, "polish": SAME, "smooth": SAME},
    ),
    "Isomap": (
        lambda solver: lowdim.Isomap(solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": SAME, "polish": SAME},
    ),
    "KernelPCA": (
        lambda solver: lowdim.KernelPCA(kernel="rbf", solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": ROUNDING, "polish": SAME},
    ),
    "ClassicalMDS-manhattan": (
        lambda solver: lowdim.ClassicalMDS(metric="manhattan", solver=solver),
        {"lll": 1e-14, "landmark-z": 1e-14, "nystrom": ROUNDING, "polish": SAME},
    ),
}
SOLVERS = {
    "lll": LLL(60),
    "landmark-z": LandmarkZ(60),
    "nystrom": Nystrom(60),
    "columns": VariationalNystrom(120),
    "polish": LLL(60, polish=6),
    "smooth": LLL(60, smooth=2),
}
PAIRS = [(name, solver) for name, (_, bounds) in BY_LANDMARKS.items() for solver in bounds]


@pytest.fixture(scope="module")
def curved() -> np.ndarray:
    """A smooth two-dimensional surface in five dimensions."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-1, 1, (2, 260))
    surface = np.c_[u, v, 0.3 * u**2, 0.2 * np.sin(2 * v), 0.2 * u * v]
    return surface + 1e-3 * rng.standard_normal(surface.shape)


@pytest.mark.parametrize("name", EVERY)
def test_training_points_return_to_their_coordinates(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved)
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(curved), model.embedding_, atol=1e-6 * scale)


def farthest_return(model: Any, rows: Any) -> float:
    """Largest of the root mean squares by which the coordinates of fitted rows differ, over their spread."""
    difference = np.sqrt(np.square(model.transform(rows) - model.embedding_).mean(axis=0))
    return float((difference / model.embedding_.std(axis=0)).max())


@pytest.mark.covering
@pytest.mark.parametrize(("name", "solver"), PAIRS)
def test_training_points_return_by_landmarks_too(name: str, solver: str, curved: np.ndarray) -> None:
    estimator, bounds = BY_LANDMARKS[name]
    model = estimator(SOLVERS[solver]).fit(curved)
    assert farthest_return(model, curved) <= bounds[solver]
    one_by_one = np.vstack([model.transform(row[None]) for row in curved[:20]])
    assert_allclose(one_by_one, model.transform(curved)[:20], rtol=0, atol=1e-12 * np.abs(one_by_one).max())


@pytest.mark.parametrize("solver", [LLL(60, polish=6), VariationalNystrom(120)])
def test_copies_and_distances_return_too(solver: Any, curved: np.ndarray) -> None:
    repeated = np.vstack((curved, curved[:40]))
    assert farthest_return(make("LaplacianEigenmaps", solver=solver).fit(repeated), repeated) == 0
    distances = np.linalg.norm(curved[:, None] - curved[None], axis=2)
    model = make("LaplacianEigenmaps", solver=solver, metric="precomputed").fit(distances)
    assert farthest_return(model, distances) == 0


@pytest.mark.parametrize(
    "solver", ["exact", LLL(60, polish=6), LandmarkZ(130), Nystrom(130), VariationalNystrom(130)]
)
def test_points_of_given_matrices_return(solver: Any, curved: np.ndarray) -> None:
    W = make("LaplacianEigenmaps", n_neighbors=30).fit(curved).affinity_matrix_
    D = diags_array(W.sum(axis=1))
    model = lowdim.SpectralProblem(csr_array(D - W), csr_array(D), solver=solver).fit(curved)
    assert farthest_return(model, curved) <= 1e-14


@pytest.mark.parametrize(
    ("solver", "least", "most"),
    [("exact", 0.0, 1e-6), (VariationalNystrom(130), 0.001, 0.3), (Nystrom(130), 0.001, 1.0)],
)
def test_nodes_of_a_graph_return_as_well_as_they_were_solved(
    solver: Any, least: float, most: float, curved: np.ndarray
) -> None:
    """A node is known by its edges alone: its row gives one step of the operator, which is exact for eigenvectors."""
    W = make("LaplacianEigenmaps", n_neighbors=30).fit(curved).affinity_matrix_
    model = lowdim.LaplacianEigenmaps(metric="graph", solver=solver).fit(W)
    assert least <= farthest_return(model, W) <= most


@pytest.mark.parametrize("solver", [Nystrom(60), LLL(60, polish=6)])
def test_a_map_through_fitted_points_is_nearer_than_one_through_landmarks(solver: Any) -> None:
    """Held-out points of a roll land where a fit with them puts them: as near as that fit puts the fitted ones."""
    roll = lowdim.datasets.swiss_roll(900, aspect=1.5, random_state=0).data
    landmarks = np.arange(0, 700, 7)
    solver = type(solver)(landmarks=landmarks, polish=solver.polish)
    model = lowdim.Isomap(solver=solver).fit(roll[:700])
    whole = lowdim.Isomap(solver=solver).fit_transform(roll)
    affine = np.linalg.lstsq(np.c_[whole[:700], np.ones(700)], model.embedding_, rcond=None)[0]
    wanted = np.c_[whole, np.ones(900)] @ affine
    spread = model.embedding_.std(axis=0)
    fitted, held = model.embedding_ - wanted[:700], model.transform(roll[700:]) - wanted[700:]
    fitted, held = (np.sqrt(np.square(part).mean(axis=0)) / spread for part in (fitted, held))
    assert np.all(held <= 2 * fitted + 0.02)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(2)
def test_batching_does_not_matter(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved[:200])
    new = curved[200:]
    whole = model.transform(new)
    one_by_one = np.vstack([model.transform(row[None]) for row in new])
    scale = np.abs(whole).max()
    assert_allclose(one_by_one, whole, rtol=0, atol=1e-12 * scale)
    assert_allclose(model.transform(new[::-1])[::-1], whole, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(2)
def test_transform_changes_nothing(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved[:200])
    new, kept, embedded = curved[200:].copy(), curved[200:].copy(), model.embedding_.copy()
    first = model.transform(new)
    assert_array_equal(new, kept)
    assert_array_equal(model.embedding_, embedded)
    assert_array_equal(model.transform(new), first)


@pytest.mark.parametrize("name", EVERY)
def test_new_points_land_near_their_fitted_neighbours(name: str, curved: np.ndarray) -> None:
    """A new point next to a fitted one lands next to it: the map is continuous at the scale of the data."""
    model = make(name, n_components=2).fit(curved)
    rng = np.random.default_rng(1)
    near = curved[:50] + 1e-4 * rng.standard_normal((50, curved.shape[1]))
    spread = model.embedding_.std(axis=0).max()
    moved = np.linalg.norm(model.transform(near) - model.embedding_[:50], axis=1)
    assert np.median(moved) < 0.1 * spread


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(2)
def test_wrong_number_of_columns_is_an_error(name: str, curved: np.ndarray) -> None:
    model = make(name, n_components=2).fit(curved)
    with pytest.raises(ValueError, match="features"):
        model.transform(curved[:, :3])
