"""Small models of every kind, and a comparison to the last bit."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import lowdim
from lowdim.models.files import read_document
from lowdim.optimize import DirectedDescent, Momentum, StrongWolfe
from lowdim.optimize.directions import LimitedMemory, SpectralDirection
from lowdim.store import registry
from lowdim.store.container import open_container, write_container

POINTS = lowdim.datasets.swiss_roll(90, random_state=0).data
APART = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
NEAR = sparse.csr_array(np.where(APART < 9, APART, 0.0))
TIES = sparse.csr_array(np.where((APART < 9) & (APART > 0), 1.0, 0.0))
PARTS = np.vstack([POINTS[:45], POINTS[:40] + 500, POINTS[:2] - 700])
LAPLACIAN = np.diag(TIES.sum(axis=0)) - TIES.toarray()
WIDE = np.random.default_rng(1).normal(size=(600, 20)) @ np.random.default_rng(2).normal(size=(20, 130))
SHORT: dict[str, Any] = {"max_iter": 15, "perplexity": 8}

Made = tuple[Any, Any]


def _solvers() -> dict[str, Callable[[], Made]]:
    made: dict[str, Callable[[], Made]] = {}
    for solver in (lowdim.LLL, lowdim.LandmarkZ, lowdim.Nystrom, lowdim.VariationalNystrom):
        for method in (lowdim.LLE, lowdim.LaplacianEigenmaps, lowdim.DiffusionMap, lowdim.SpectralClustering):
            made[f"{method.__name__}-{solver.name}"] = lambda method=method, solver=solver: (
                method(3, solver=solver(25)),
                POINTS,
            )
    for method in (lowdim.SNE, lowdim.SymmetricSNE, lowdim.TSNE, lowdim.ElasticEmbedding):
        for repulsion in ("exact", "barnes-hut", "fft"):
            made[f"{method.__name__}-{repulsion}"] = lambda method=method, repulsion=repulsion: (
                method(repulsion=repulsion, **SHORT),
                POINTS,
            )
    for repulsion in ("exact", "barnes-hut", "fft"):
        for method in (lowdim.UMAP, lowdim.LargeVis, lowdim.PaCMAP, lowdim.ForceAtlas2):
            made[f"{method.__name__}-{repulsion}"] = lambda method=method, repulsion=repulsion: (
                method(repulsion=repulsion, max_iter=5),
                POINTS,
            )
    made["UMAP-density"] = lambda: (lowdim.UMAP(density=2.0, max_iter=5), POINTS)
    for objective in ("t-sne", "sne", "symmetric-sne", "elastic-embedding"):
        made[f"NeighborSpectrum-{objective}"] = lambda objective=objective: (
            lowdim.NeighborSpectrum(objective=objective, positions=3, max_iter=5),
            POINTS,
        )
    kinds = (
        lowdim.Gaussian(4.0),
        lowdim.Entropic(5.0),
        lowdim.Binary(),
        lowdim.SelfTuning(3),
        lowdim.Fuzzy(),
    )
    for affinity in kinds:
        made[f"affinity-{type(affinity).__name__}"] = lambda affinity=affinity: (
            lowdim.LaplacianEigenmaps(n_neighbors=20, affinity=affinity),
            POINTS,
        )
    for policy in ("connect", "largest", "per_component"):
        for method in (
            lowdim.LaplacianEigenmaps,
            lowdim.DiffusionMap,
            lowdim.SpectralClustering,
            lowdim.Isomap,
        ):
            made[f"{method.__name__}-{policy}"] = lambda method=method, policy=policy: (
                method(on_disconnected=policy, radius=15.0),
                PARTS,
            )
    for variant in ("standard", "modified", "hessian", "ltsa"):
        made[f"LLE-{variant}"] = lambda variant=variant: (lowdim.LLE(variant=variant), POINTS)
    return made


ZOO: dict[str, Callable[[], Made]] = {
    "PCA": lambda: (lowdim.PCA(2), POINTS),
    "PCA-white": lambda: (lowdim.PCA(2, whiten=True, solver="randomized"), POINTS),
    "OrientedPCA": lambda: (lowdim.OrientedPCA(2), POINTS),
    "MDS": lambda: (lowdim.ClassicalMDS(), POINTS),
    "MDS-manhattan": lambda: (lowdim.ClassicalMDS(metric="manhattan"), POINTS),
    "MDS-seuclidean": lambda: (lowdim.ClassicalMDS(metric="seuclidean"), POINTS),
    "MDS-precomputed": lambda: (lowdim.ClassicalMDS(metric="precomputed"), APART),
    "MDS-landmarks": lambda: (lowdim.ClassicalMDS(landmarks=25), POINTS),
    "MDS-lll": lambda: (lowdim.ClassicalMDS(metric="cosine", solver=lowdim.LLL(25)), POINTS),
    "MDS-z-precomputed": lambda: (
        lowdim.ClassicalMDS(metric="precomputed", solver=lowdim.LandmarkZ(25)),
        APART,
    ),
    "Stress": lambda: (lowdim.MDS(max_iter=15), POINTS),
    "Stress-order": lambda: (lowdim.MDS(metric=False, max_iter=15), POINTS),
    "Stress-pivots": lambda: (lowdim.MDS(metric="manhattan", pivots=30, max_iter=15), POINTS),
    "Stress-precomputed": lambda: (lowdim.MDS(metric="precomputed", pivots=30, max_iter=15), APART),
    "Stress-missing": lambda: (
        lowdim.MDS(metric="precomputed", max_iter=15),
        np.where((APART > 12) & (APART < 14), np.nan, APART),
    ),
    "Sammon": lambda: (lowdim.Sammon(max_iter=15), POINTS),
    "KernelPCA": lambda: (lowdim.KernelPCA(kernel="rbf", gamma=0.01), POINTS),
    "KernelPCA-inverse": lambda: (lowdim.KernelPCA(kernel="rbf", fit_inverse_transform=True), POINTS),
    "KernelPCA-landmarks": lambda: (lowdim.KernelPCA(kernel="poly", landmarks=np.arange(0, 90, 3)), POINTS),
    "KernelPCA-precomputed": lambda: (lowdim.KernelPCA(kernel="precomputed"), POINTS @ POINTS.T),
    "Isomap": lambda: (lowdim.Isomap(), POINTS),
    "Isomap-radius": lambda: (lowdim.Isomap(radius=9.0), POINTS),
    "Isomap-landmarks": lambda: (lowdim.Isomap(landmarks=25), POINTS),
    "Isomap-lll": lambda: (lowdim.Isomap(solver=lowdim.LLL(25)), POINTS),
    "Isomap-graph": lambda: (lowdim.Isomap(metric="graph"), NEAR),
    "Isomap-graph-landmarks": lambda: (lowdim.Isomap(metric="graph", landmarks=25), NEAR),
    "LE-sparse": lambda: (lowdim.LaplacianEigenmaps(), sparse.csr_array(np.where(POINTS > 0, POINTS, 0.0))),
    "LE-very-sparse": lambda: (
        lowdim.LaplacianEigenmaps(),
        sparse.random_array((80, 4000), density=0.01, rng=0, format="csr"),
    ),
    "LE-graph": lambda: (lowdim.LaplacianEigenmaps(metric="graph"), TIES),
    "Diffusion-graph": lambda: (lowdim.DiffusionMap(metric="graph"), TIES),
    "LE-precomputed": lambda: (lowdim.LaplacianEigenmaps(metric="precomputed"), APART),
    "LE-lll-precomputed": lambda: (
        lowdim.LaplacianEigenmaps(metric="precomputed", solver=lowdim.LLL(25)),
        APART,
    ),
    "LE-parts-precomputed": lambda: (
        lowdim.LaplacianEigenmaps(
            metric="precomputed", on_disconnected="per_component", n_neighbors=8, solver=lowdim.LLL(60)
        ),
        np.sqrt(((PARTS[:85, None] - PARTS[None, :85]) ** 2).sum(axis=2)),
    ),
    "LE-mahalanobis": lambda: (lowdim.LaplacianEigenmaps(metric="mahalanobis"), POINTS),
    "LE-forest": lambda: (lowdim.LaplacianEigenmaps(search="approximate"), WIDE),
    "LE-wide-lll": lambda: (lowdim.LaplacianEigenmaps(solver=lowdim.LLL(550)), WIDE),
    "LE-integers": lambda: (lowdim.LaplacianEigenmaps(), (8 * (POINTS + 20)).astype(np.uint8)),
    "LE-fortran": lambda: (lowdim.LaplacianEigenmaps(), np.asfortranarray(POINTS)),
    "Clustering-one": lambda: (lowdim.SpectralClustering(1, n_components=1), POINTS),
    "Problem": lambda: (lowdim.SpectralProblem(LAPLACIAN), None),
    "Problem-sparse": lambda: (lowdim.SpectralProblem(sparse.coo_array(LAPLACIAN), np.ones(90)), POINTS),
    "Problem-lll": lambda: (lowdim.SpectralProblem(LAPLACIAN, solver=lowdim.LLL(25)), POINTS),
    "TSNE-graph": lambda: (lowdim.TSNE(metric="graph", max_iter=15), TIES),
    "ForceAtlas2-graph": lambda: (lowdim.ForceAtlas2(metric="graph", gravity=0, max_iter=15), TIES),
    "TSNE-copies": lambda: (
        lowdim.TSNE(1, init="random", record=5, **SHORT),
        np.vstack([POINTS, POINTS[:20]]),
    ),
    "TSNE-start": lambda: (
        lowdim.TSNE(init=POINTS[:, :2], optimizer=Momentum(), homotopy=(0.5,), **SHORT),
        POINTS,
    ),
    "TSNE-three": lambda: (lowdim.TSNE(3, repulsion=lowdim.BarnesHut(0.7), **SHORT), POINTS),
    "TSNE-line": lambda: (lowdim.TSNE(1, repulsion=lowdim.FFT(1e-4), **SHORT), POINTS),
    "EE-optimizer": lambda: (
        lowdim.ElasticEmbedding(
            optimizer=DirectedDescent(LimitedMemory(5, SpectralDirection(kappa=7)), StrongWolfe()), **SHORT
        ),
        POINTS,
    ),
    **_solvers(),
}


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """A model of the zoo, and new rows for it (None: it takes none)."""
    model, X = ZOO[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    if X is None:
        return model, None
    is_matrix = X.shape[0] == X.shape[1] and X.shape[0] == model.n_features_in_
    return model, X[:30] if is_matrix else X[5:50] + X[:45]


def assert_same(one: Any, other: Any, path: str = "model") -> None:
    """Two values are of the same types and equal to the last bit."""
    if sparse.issparse(one) and one.format not in ("csr", "csc"):
        one = one.tocsr()
    assert type(one) is type(other) or isinstance(one, np.memmap), path
    if isinstance(one, np.ndarray):
        assert one.shape == other.shape, path
        if one.dtype.kind in "OU":
            assert (one.dtype.kind, one.tolist()) == (other.dtype.kind, other.tolist()), path
        else:
            assert one.dtype == other.dtype, path
            assert one.tobytes() == other.tobytes(), path
    elif sparse.issparse(one):
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(one, part), getattr(other, part), f"{path}.{part}")
    elif isinstance(one, dict):
        assert list(one) == list(other), path
        for key in one:
            assert_same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), path
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{path}.{place}")
    elif (name := registry.name_of(type(one))) is not None:
        take = registry.find(name).take
        assert_same(take(one), take(other), path)
    elif dataclasses.is_dataclass(one) or isinstance(one, np.random.Generator | np.random.RandomState):
        raise AssertionError(f"{path} is no part of a model")
    else:
        assert repr(one) == repr(other), path


def taken_apart(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The tree and the arrays of a model file, to be changed."""
    with open_container(path) as file:
        return read_document(file, path), {name: array.copy() for name, array in file.arrays().items()}


def forged(path: Path, document: Any, arrays: dict[str, np.ndarray], **metadata: str) -> Path:
    """A file of whatever contents, with digests that agree."""
    import json

    text = document if isinstance(document, str) else json.dumps(document)
    write_container(path, arrays, {"version": "1", "lowdim": "0.1.0", "model": text} | metadata)
    return path


def with_first(document: dict[str, Any], *entries: list[Any]) -> dict[str, Any]:
    """A copy of a tree with more objects, before all others."""

    def moved(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                key: part + len(entries) if key == "object" else moved(part) for key, part in node.items()
            }
        return [moved(part) for part in node] if isinstance(node, list) else node

    return {"objects": [*entries, *moved(document["objects"])], "model": document["model"] + len(entries)}
