"""Every method of lowdim with each of its parts, as functions from points and threads to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Points:
    """Points on a bent sheet in twelve clusters, new ones of the same kind, and the clusters."""

    X: NDArray[np.float64]
    new: NDArray[np.float64]
    labels: NDArray[np.int64]

    @classmethod
    def draw(cls, size: int, seed: int = 0) -> Points:
        """``size`` points in sixteen dimensions, and 300 new ones."""
        rng = np.random.default_rng(seed)
        labels = rng.integers(12, size=size + 300)
        sheet = rng.normal(size=(size + 300, 3)) * 0.5 + 1.5 * rng.normal(size=(12, 3))[labels]
        bent = np.sin(sheet @ rng.normal(size=(3, 16)))
        X = bent + 0.02 * rng.normal(size=bent.shape)
        return cls(X[:size], X[size:], labels[:size])


Method = Callable[[Points, int], Arrays]


def fitted(make: Callable[..., Any], points: Points, n_jobs: int) -> Arrays:
    """What a fit leaves, and where it puts new points."""
    model = make(n_jobs=n_jobs, random_state=3).fit(points.X)
    found = {"embedding": model.embedding_, "new": model.transform(points.new)}
    if hasattr(model, "eigenvalues_"):
        found["eigenvalues"] = model.eigenvalues_
    if hasattr(model, "labels_"):
        found |= {"labels": model.labels_, "predicted": model.predict(points.new)}
    return found


def _of(kind: Callable[..., Any], **parameters: Any) -> Method:
    return partial(fitted, partial(kind, **parameters))


def _sparse_input(points: Points, n_jobs: int) -> Arrays:
    X = sparse.csr_array(np.where(points.X > 0.5, points.X, 0.0))
    return {"embedding": lowdim.PCA(3, n_jobs=n_jobs).fit_transform(X)}


def _given_matrix(points: Points, n_jobs: int) -> Arrays:
    run = Run.of(n_jobs=n_jobs)
    lists = build_index(Rows(points.X), run=run).query(None, 8, run)
    W = sparse.csr_array((np.exp(-lists.distances), lists.indices, lists.indptr), shape=(len(points.X),) * 2)
    W = W + W.T
    D = sparse.diags_array(np.asarray(W.sum(axis=1)))
    model = lowdim.SpectralProblem(sparse.csr_array(D - W), D, 3, n_jobs=n_jobs).fit(points.X)
    return {"embedding": model.embedding_, "new": model.transform(points.new)}


def _searched(search: str, metric: str, points: Points, n_jobs: int) -> Arrays:
    run = Run.of(1, n_jobs)
    index = build_index(Rows(points.X), metric, search=search, run=run)
    own, new = index.query(None, 12, run), index.query(Rows(points.new), 12, run)
    return {
        "indices": own.indices,
        "distances": own.distances,
        "new": new.indices,
        "new distances": new.distances,
    }


def _scored(points: Points, n_jobs: int) -> Arrays:
    found = lowdim.score(
        points.X, points.X[:, :2], points.labels, sample=min(500, len(points.X)), n_jobs=n_jobs
    )
    return {"figures": np.array([float(found[name]) for name in found])}


def _dimension(points: Points, n_jobs: int) -> Arrays:
    found = lowdim.estimate_dimension(points.X, n_jobs=n_jobs)
    return {"figures": np.array([found.value, *(float(found[name]) for name in found.estimates)])}


def _swept(points: Points, n_jobs: int) -> Arrays:
    found = lowdim.sweep(
        lowdim.LaplacianEigenmaps(3, n_jobs=n_jobs), {"n_neighbors": [6, 9]}, points.X, points.labels
    )
    return {"figures": np.array([list(run.figures.values()) for run in found.runs])}


def _embeddings(iterations: int) -> dict[str, Method]:
    kinds = {
        "SNE": lowdim.SNE,
        "SymmetricSNE": lowdim.SymmetricSNE,
        "TSNE": lowdim.TSNE,
        "ElasticEmbedding": lowdim.ElasticEmbedding,
    }
    found = {
        f"{name} {repulsion}": _of(kind, repulsion=repulsion, homotopy=None, max_iter=iterations)
        for name, kind in kinds.items()
        for repulsion in ("exact", "barnes-hut", "fft")
    }
    found |= {
        f"TSNE {optimizer}": _of(
            lowdim.TSNE, optimizer=optimizer, repulsion="fft", homotopy=None, max_iter=iterations
        )
        for optimizer in ("gd", "fp", "diagh", "sd", "sd-", "cg", "lbfgs", "momentum")
    }
    found |= {
        f"{kind.__name__} {repulsion}": _of(kind, repulsion=repulsion, max_iter=iterations)
        for kind in (lowdim.UMAP, lowdim.LargeVis, lowdim.PaCMAP, lowdim.ForceAtlas2)
        for repulsion in ("exact", "barnes-hut", "fft")
    }
    found["UMAP symmetric"] = _of(
        lowdim.UMAP, objective="symmetric", optimizer="sd-", repulsion="fft", max_iter=iterations
    )
    found["UMAP densities"] = _of(lowdim.UMAP, density=2.0, max_iter=iterations)
    found["NeighborSpectrum"] = _of(lowdim.NeighborSpectrum, positions=3, max_iter=iterations)
    found["TSNE approximate"] = _of(lowdim.TSNE, search="approximate", max_iter=iterations)
    found["TSNE spectral start"] = _of(lowdim.TSNE, init="spectral", max_iter=iterations)
    return found


def methods(iterations: int, *, compiled_late: bool = False) -> Mapping[str, Method]:
    """Every method by name; optimisers run at most so many iterations.

    ``compiled_late`` adds the search by pynndescent, which compiles for half a minute in every process.
    """
    eigensolvers = {way: way for way in ("dense", "lanczos", "shift-invert", "lobpcg")}
    landmarks = {
        "lll": lowdim.LLL(150),
        "landmark-z": lowdim.LandmarkZ(150),
        "nystrom": lowdim.Nystrom(150),
    }
    variational = {"variational-nystrom": lowdim.VariationalNystrom(150)}
    more = {
        "lll k-means": lowdim.LLL(150, choose="k-means"),
        "lll farthest": lowdim.LLL(150, choose="farthest"),
        "lll polished": lowdim.LLL(150, smooth=1, polish=3, certify=200),
    }
    found: dict[str, Method] = {
        f"PCA {solver}": _of(lowdim.PCA, n_components=3, solver=solver)
        for solver in ("covariance", "snapshot", "randomized", "streaming")
    }
    found |= {
        "PCA sparse rows": _sparse_input,
        "OrientedPCA": _of(lowdim.OrientedPCA),
        "ClassicalMDS": _of(lowdim.ClassicalMDS),
        "ClassicalMDS manhattan": _of(lowdim.ClassicalMDS, metric="manhattan"),
        "MDS": _of(lowdim.MDS, max_iter=iterations),
        "MDS order": _of(lowdim.MDS, metric_mds=False, max_iter=iterations),
        "MDS pivots": _of(lowdim.MDS, pivots=100, max_iter=iterations),
        "Sammon": _of(lowdim.Sammon, max_iter=iterations),
        "KernelPCA": _of(lowdim.KernelPCA, kernel="rbf"),
        "KernelPCA polynomial": _of(lowdim.KernelPCA, kernel="poly"),
        "Isomap": _of(lowdim.Isomap),
        "Isomap approximate": _of(lowdim.Isomap, search="approximate"),
        "LLE approximate": _of(lowdim.LLE, search="approximate"),
        "LaplacianEigenmaps approximate": _of(lowdim.LaplacianEigenmaps, search="approximate"),
        "LaplacianEigenmaps radius": _of(lowdim.LaplacianEigenmaps, radius=0.6),
        "DiffusionMap": _of(lowdim.DiffusionMap, time=2),
        "SpectralClustering": _of(lowdim.SpectralClustering, n_clusters=12),
        "SpectralClustering lll": _of(lowdim.SpectralClustering, n_clusters=12, solver=lowdim.LLL(150)),
        "SpectralProblem": _given_matrix,
    }
    for name, kind in {
        "ClassicalMDS": lowdim.ClassicalMDS,
        "KernelPCA": partial(lowdim.KernelPCA, kernel="rbf"),
        "Isomap": lowdim.Isomap,
    }.items():
        found |= {f"{name} {way}": _of(kind, solver=solver) for way, solver in landmarks.items()}
    for name, kind in {
        "LLE": partial(lowdim.LLE, n_components=1),
        "LaplacianEigenmaps": partial(lowdim.LaplacianEigenmaps, n_components=3),
    }.items():
        ways: dict[str, Any] = eigensolvers | landmarks | variational | more
        if name == "LLE":
            # They do not converge on its small eigenvalues, and say so.
            del ways["lanczos"], ways["lobpcg"]
        found |= {f"{name} {way}": _of(kind, solver=solver) for way, solver in ways.items()}
    found |= {
        f"LLE {variant}": _of(lowdim.LLE, variant=variant, n_neighbors=12)
        for variant in ("standard", "modified", "hessian", "ltsa")
    }
    found |= {
        f"LaplacianEigenmaps {name}": _of(lowdim.LaplacianEigenmaps, affinity=affinity, n_neighbors=15)
        for name, affinity in {
            "entropic": lowdim.Entropic(5),
            "self-tuning": lowdim.SelfTuning(),
            "binary": lowdim.Binary(),
            "gaussian": lowdim.Gaussian(),
        }.items()
    }
    found |= _embeddings(iterations)
    found |= {
        f"neighbours {search}": partial(_searched, search, "euclidean")
        for search in ("blocked", "tree", "forest")
    }
    found["neighbours generic"] = partial(_searched, "generic", "chebyshev")
    if compiled_late:
        found["neighbours descent"] = partial(_searched, "descent", "canberra")
    return found | {"score": _scored, "estimate_dimension": _dimension, "sweep": _swept}
