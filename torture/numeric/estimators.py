"""Every estimator of the table, with what a change of scale does to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lowdim
from lowdim import LLL, LandmarkZ, Nystrom, VariationalNystrom


@dataclass(frozen=True)
class Entry:
    """One row of the table.

    ``make(s, **parameters)`` gives the estimator for data that is s times as large, with every parameter that has the
    unit of the data scaled too; its embedding is then s^``power`` times the one of s = 1. ``exact`` says that the
    embedding itself must come back; else, where a minimum is found by small steps, its objective alone.
    """

    make: Callable[..., Any]
    power: int = 0
    exact: bool = True
    graph: bool = False
    pairwise: bool = False


def _plain(kind: Any, power: int = 0, **fixed: Any) -> Entry:
    graph = kind in (
        lowdim.Isomap,
        lowdim.LLE,
        lowdim.LaplacianEigenmaps,
        lowdim.DiffusionMap,
        lowdim.SpectralClustering,
    )
    return Entry(lambda s, **own: kind(**(fixed | own)), power, graph=graph)


def _embedding(kind: Any, **fixed: Any) -> Entry:
    return Entry(lambda s, **own: kind(**(fixed | own)), 0, exact=False, graph=True)


def _linear() -> dict[str, Entry]:
    table = {"PCA": _plain(lowdim.PCA, 1)}
    for solver in ("covariance", "snapshot", "randomized", "streaming"):
        table[f"PCA {solver}"] = _plain(lowdim.PCA, 1, solver=solver)
    table["PCA whiten"] = _plain(lowdim.PCA, 0, whiten=True)
    table["OrientedPCA"] = _plain(lowdim.OrientedPCA, 1)
    return table


def _gram(n_landmarks: int) -> dict[str, Entry]:
    table = {
        "ClassicalMDS": _plain(lowdim.ClassicalMDS, 1),
        "ClassicalMDS manhattan": _plain(lowdim.ClassicalMDS, 1, metric="manhattan"),
        "KernelPCA linear": _plain(lowdim.KernelPCA, 1, kernel="linear"),
        "KernelPCA rbf": Entry(
            lambda s, **own: lowdim.KernelPCA(**({"kernel": "rbf", "gamma": 0.3 / s / s} | own))
        ),
        "KernelPCA poly": Entry(
            lambda s, **own: lowdim.KernelPCA(
                **({"kernel": "poly", "degree": 2, "coef0": 1, "gamma": 0.3 / s / s} | own)
            )
        ),
        "KernelPCA cosine": _plain(lowdim.KernelPCA, 0, kernel="cosine"),
        "Isomap": _plain(lowdim.Isomap, 1),
        "Isomap radius": Entry(lambda s, **own: lowdim.Isomap(**({"radius": 0.9 * s} | own)), 1),
        "Isomap landmarks": _plain(lowdim.Isomap, 1, landmarks=n_landmarks),
    }
    for kind in (LLL, LandmarkZ, Nystrom):
        solver = kind(n_landmarks)
        table[f"ClassicalMDS {kind.__name__}"] = _plain(lowdim.ClassicalMDS, 1, solver=solver)
        table[f"KernelPCA {kind.__name__}"] = _plain(lowdim.KernelPCA, 1, kernel="linear", solver=solver)
        table[f"Isomap {kind.__name__}"] = _plain(lowdim.Isomap, 1, solver=solver)
    return table


def _local(n_landmarks: int) -> dict[str, Entry]:
    table = {}
    for variant in ("standard", "modified", "hessian", "ltsa"):
        table[f"LLE {variant}"] = _plain(lowdim.LLE, variant=variant)
    table["LaplacianEigenmaps"] = _plain(lowdim.LaplacianEigenmaps)
    table["LaplacianEigenmaps gaussian"] = Entry(
        lambda s, **own: lowdim.LaplacianEigenmaps(**({"bandwidth": 0.7 * s} | own))
    )
    table["LaplacianEigenmaps entropic"] = _plain(
        lowdim.LaplacianEigenmaps, affinity=lowdim.Entropic(4), n_neighbors=14
    )
    table["LaplacianEigenmaps radius"] = Entry(
        lambda s, **own: lowdim.LaplacianEigenmaps(**({"radius": 0.9 * s} | own))
    )
    table["DiffusionMap"] = _plain(lowdim.DiffusionMap)
    table["SpectralClustering"] = _plain(lowdim.SpectralClustering, n_clusters=3)
    for kind in (LLL, LandmarkZ, Nystrom, VariationalNystrom):
        solver = kind(n_landmarks)
        table[f"LLE {kind.__name__}"] = _plain(lowdim.LLE, solver=solver)
        table[f"LaplacianEigenmaps {kind.__name__}"] = _plain(lowdim.LaplacianEigenmaps, solver=solver)
        table[f"SpectralClustering {kind.__name__}"] = _plain(
            lowdim.SpectralClustering, n_clusters=3, solver=solver
        )
    return table


def _nonlinear() -> dict[str, Entry]:
    short = {"max_iter": 30}
    return {
        "MDS": Entry(lambda s, **own: lowdim.MDS(**(short | own)), 1, exact=False),
        "MDS order": Entry(
            lambda s, **own: lowdim.MDS(**(short | {"metric_mds": False} | own)), 1, exact=False
        ),
        "MDS pivots": Entry(lambda s, **own: lowdim.MDS(**(short | {"pivots": 20} | own)), 1, exact=False),
        "Sammon": Entry(lambda s, **own: lowdim.Sammon(**(short | own)), 1, exact=False),
        "SNE": _embedding(lowdim.SNE, **short),
        "SymmetricSNE": _embedding(lowdim.SymmetricSNE, **short),
        "TSNE": _embedding(lowdim.TSNE, **short),
        "TSNE barnes-hut": _embedding(lowdim.TSNE, repulsion="barnes-hut", **short),
        "TSNE fft": _embedding(lowdim.TSNE, repulsion="fft", **short),
        "ElasticEmbedding": _embedding(lowdim.ElasticEmbedding, **short),
        "UMAP": _embedding(lowdim.UMAP, **short),
        "UMAP fft": _embedding(lowdim.UMAP, repulsion="fft", **short),
        "NeighborSpectrum": _embedding(lowdim.NeighborSpectrum, positions=2, **short),
        "LargeVis": _embedding(lowdim.LargeVis, **short),
        "ForceAtlas2": _embedding(lowdim.ForceAtlas2, **short),
        "PaCMAP": Entry(lambda s, **own: lowdim.PaCMAP(**(short | own)), exact=False),
    }


def every_estimator(n_landmarks: int = 30) -> dict[str, Entry]:
    """All rows of the table."""
    return {**_linear(), **_gram(n_landmarks), **_local(n_landmarks), **_nonlinear()}
