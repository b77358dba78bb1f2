"""Every spectral estimator with every solver over shards: equal to memory, or an error that names what goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import InputError
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

N = 300
ROLL = lowdim.datasets.swiss_roll(N, random_state=0).data
LANDMARKS = np.sort(np.random.default_rng(1).choice(N, 90, replace=False))
CUT = Layout(N, block_rows=80, cell_rows=150, cells_of_a_point=2)
"""Four blocks, two cells; every point is in both, so that no neighbour is missed."""

METHODS: dict[str, Any] = {
    "LaplacianEigenmaps": {"n_neighbors": 10},
    "SpectralClustering": {"n_clusters": 3, "n_neighbors": 10},
    "DiffusionMap": {"n_neighbors": 10, "alpha": 0.7, "time": 2},
    "LLE": {"n_neighbors": 10},
    "Isomap": {"n_neighbors": 8},
    "KernelPCA": {"kernel": "rbf", "gamma": 0.01},
    "ClassicalMDS": {"metric": "manhattan"},
}
SOLVERS = {
    "lll": lowdim.LLL,
    "landmark-z": lowdim.LandmarkZ,
    "nystrom": lowdim.Nystrom,
    "variational-nystrom": lowdim.VariationalNystrom,
}
GRAPHS = ("lll", "landmark-z", "nystrom")
ABLE: dict[str, tuple[str, ...]] = {
    "LaplacianEigenmaps": GRAPHS,
    "SpectralClustering": GRAPHS,
    "DiffusionMap": GRAPHS,
    "LLE": GRAPHS,
    "Isomap": ("landmark-z",),
    "KernelPCA": ("landmark-z", "nystrom"),
    "ClassicalMDS": ("landmark-z", "nystrom"),
}
"""Which goes over shards; the first that ``auto`` finds of LLL, Nystrom and LandmarkZ is what it takes."""
USUAL = {"Isomap": "LandmarkZ", "KernelPCA": "Nystrom", "ClassicalMDS": "Nystrom"}


def made(method: str, solver: str, **settings: Any) -> Any:
    given = SOLVERS[solver](landmarks=LANDMARKS) if solver in SOLVERS else solver
    return getattr(lowdim, method)(solver=given, **METHODS[method], **settings)


class Unread(InMemory):
    """Rows that nobody may read."""

    def rows(self, start: int, stop: int) -> np.ndarray:
        raise AssertionError("read before it was refused")


@pytest.mark.parametrize(
    ("method", "solver"), [(method, solver) for method, solvers in ABLE.items() for solver in solvers]
)
def test_what_goes_over_shards_is_the_fit_in_memory(method: str, solver: str) -> None:
    whole = made(method, solver).fit(ROLL)
    model = fit_to_shards(made(method, solver), InMemory.of(ROLL), CUT)
    # Sums over cells round in another order; landmarks alone are the very same problem.
    tolerance = 1e-10 if solver == "lll" else 0.0
    for name in ("embedding_", "eigenvalues_"):
        wanted, found = getattr(whole, name), getattr(model, name)
        assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()
    if hasattr(whole, "labels_"):
        np.testing.assert_array_equal(model.labels_, whole.labels_)
    if hasattr(whole, "gamma_"):
        assert model.gamma_ == whole.gamma_
    assert model.certificate_.method == type(whole.solver).__name__
    np.testing.assert_allclose(model.transform(ROLL[:40]), whole.transform(ROLL[:40]), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "solver"),
    [
        (method, solver)
        for method, able in ABLE.items()
        for solver in ("exact", "lanczos", *SOLVERS)
        if solver not in able and not (solver == "variational-nystrom" and able[0] != "lll")
    ],
)
def test_what_does_not_says_so_before_the_work_and_names_what_does(method: str, solver: str) -> None:
    model, able = made(method, solver), ABLE[method]
    named = rf"with solver='{able[0]}'(.*'{able[-1]}')? {method} goes over shards\.$"
    for act in (model.fit, model.plan):
        with pytest.raises(
            InputError, match=rf"^{method} needs all rows.*because solver='{solver}' does.*{named}"
        ):
            act(Unread.of(ROLL))


@pytest.mark.parametrize("method", METHODS)
def test_auto_takes_what_a_method_has(method: str) -> None:
    model = made(method, "auto").fit(InMemory.of(ROLL))
    assert ("method", USUAL.get(method, "LLL")) in {
        (choice.what, choice.choice) for choice in model.report_.choices
    }
    assert model.certificate_.n_landmarks == N // 4


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lowdim.MDS(), "MDS needs all rows in memory; .*by landmarks, LaplacianEigenmaps, LLE, Isomap"),
        (lowdim.Sammon(), "Sammon needs all rows in memory"),
        (lowdim.SpectralProblem(np.eye(N)), "SpectralProblem needs all rows in memory"),
        (
            lowdim.ClassicalMDS(),
            "ClassicalMDS of Euclidean distances is PCA, which goes over shards: use PCA",
        ),
        (
            lowdim.Isomap(landmarks=50),
            "landmarks is short for solver='nystrom', which does.*'landmark-z' Isomap",
        ),
        (lowdim.Isomap(metric="precomputed"), "metric='precomputed' is about pairs of rows"),
        (lowdim.KernelPCA(kernel="precomputed"), "kernel='precomputed' is about pairs of rows"),
        (lowdim.KernelPCA(None), "n_components of KernelPCA must be a whole number"),
        (lowdim.KernelPCA(fit_inverse_transform=True), "because fit_inverse_transform=True does"),
        (lowdim.KernelPCA(kernel=np.dot), "kernel=.*is a function.*or solver='landmark-z'"),
        (lowdim.Isomap(metric="mahalanobis"), "metric='mahalanobis' takes its parameters from all rows"),
        (
            lowdim.Isomap(solver=lowdim.LandmarkZ(50, choose="k-means")),
            "choose='k-means' looks at all rows",
        ),
        (
            lowdim.Isomap(solver=lowdim.LandmarkZ(50, certify=90)),
            "certify of LandmarkZ needs the graph of all",
        ),
        (lowdim.Isomap(solver=lowdim.LandmarkZ(landmarks=[N])), "landmarks of LandmarkZ must be numbers"),
    ],
)
def test_other_settings_that_cannot_be_say_so_before_the_work(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(Unread.of(ROLL))
