"""The methods of the benchmark of ``auto``: lowdim's own solvers, scikit-learn's settings, a value to compare by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import lowdim

from .data import Labelled

NEIGHBORS = 10
GROUPS = 10
SOLVERS = ("lanczos", "shift-invert", "lobpcg")
_DENSE_LIMIT = 1000
"""Points up to which a dense solver is worth a try."""
MOST_POINTS = {"dense": 2500, "Floyd": 1500}
"""Points up to which some settings of scikit-learn's can end within the patience of a benchmark."""


Value = list[float] | Callable[[], list[float]]


@dataclass(frozen=True)
class Recipe:
    """A method: what a fit of either library returns is (value, seconds of its solver); ``limit`` bounds its points.

    The value is the list of the eigenvalues, or a figure that takes their place, or what computes it: equal ones mean
    equal solutions. ``table`` are the sizes of the table that ends within half an hour.
    """

    ours: Callable[[Any, str, str], tuple[Value, float]]
    own: Callable[[int], tuple[str, ...]]
    peer: Callable[[Any, Any], Value]
    settings: dict[str, Any]
    limit: int
    table: tuple[int, ...]
    tolerance: float = 1e-4
    has_metric: bool = False


def solve_seconds(model: Any) -> float:
    """Seconds of the eigensolver, or of the optimiser."""
    return sum(s.seconds for s in model.report_.stages if s.name in ("solve", "minimise", "optimise"))


def eigensolvers(size: int) -> tuple[str, ...]:
    """Those that can end within the patience of a benchmark."""
    return (*SOLVERS, "dense") if size <= _DENSE_LIMIT else SOLVERS


def eigenmaps(X: Any, solver: str, metric: str) -> tuple[list[float], float]:
    """On the graph that scikit-learn makes: the mean of both directions."""
    affinity = lowdim.Binary(symmetrize="average")
    model = lowdim.LaplacianEigenmaps(
        2, n_neighbors=NEIGHBORS, affinity=affinity, solver=solver, search="exact", metric=metric
    )
    model.fit(X)
    return model.eigenvalues_.tolist(), solve_seconds(model)


def peer_eigenmaps(X: Any, setting: str | None) -> list[float]:
    """scikit-learn counts each point among its neighbours; its value is the Rayleigh quotient of what it returns."""
    from sklearn.manifold import SpectralEmbedding

    model = SpectralEmbedding(
        2,
        affinity="nearest_neighbors",
        n_neighbors=NEIGHBORS + 1,
        eigen_solver=setting,
        random_state=0,
        n_jobs=-1,
    )
    Y = model.fit_transform(X)
    W = model.affinity_matrix_
    W = W - sparse.diags_array(W.diagonal())
    degrees = np.asarray(W.sum(axis=1)).ravel()
    Y = Y - (degrees @ Y) / degrees.sum()
    energy = (Y * (degrees[:, None] * Y - W @ Y)).sum(axis=0)
    return np.sort(energy / (degrees @ Y**2)).tolist()


def locally_linear(X: Any, solver: str, metric: str, variant: str) -> tuple[list[float], float]:
    """The value is the reconstruction error, the sum of the eigenvalues."""
    model = lowdim.LLE(2, n_neighbors=12, variant=variant, solver=solver, search="exact").fit(X)
    return [float(model.eigenvalues_.sum())], solve_seconds(model)


def peer_locally_linear(X: Any, setting: str, variant: str) -> list[float]:
    """LTSA and Hessian LLE of lowdim count a point among its neighbours, scikit-learn's do not: values differ there."""
    from sklearn.manifold import LocallyLinearEmbedding

    model = LocallyLinearEmbedding(
        n_neighbors=12,
        n_components=2,
        method=variant,
        eigen_solver=setting,
        random_state=0,
        n_jobs=-1,
        max_iter=1000,
    )
    return [float(model.fit(X).reconstruction_error_)]


def isomap(X: Any, solver: str, metric: str) -> tuple[list[float], float]:
    """Eigenvalues of the centred Gram matrix of the geodesics."""
    model = lowdim.Isomap(2, n_neighbors=NEIGHBORS, solver=solver, search="exact").fit(X)
    return model.eigenvalues_.tolist(), solve_seconds(model)


def peer_isomap(X: Any, setting: dict[str, str]) -> list[float]:
    """The same eigenvalues."""
    from sklearn.manifold import Isomap

    model = Isomap(n_neighbors=NEIGHBORS, n_components=2, n_jobs=-1, **setting)
    return np.asarray(model.fit(X).kernel_pca_.eigenvalues_).tolist()


def cut(W: Any, labels: Any) -> list[float]:
    """The normalised cut: the share of its weight that leaves each group, summed over the groups."""
    W = W - sparse.diags_array(W.diagonal())
    groups = np.eye(int(labels.max()) + 1)[labels]
    inside = (groups * (W @ groups)).sum(axis=0)
    return [float(np.sum(1 - inside / (W.sum(axis=1) @ groups)))]


def clustering(X: Any, solver: str, metric: str) -> tuple[Value, float]:
    """The value is the normalised cut."""
    affinity = lowdim.Binary(symmetrize="average")
    model = lowdim.SpectralClustering(
        GROUPS, n_neighbors=NEIGHBORS, affinity=affinity, solver=solver, search="exact", metric=metric
    ).fit(X)
    # Copies of a row are one point of the graph: no cut to compare then.
    same = model.affinity_matrix_.shape[0] == len(model.labels_)
    return (partial(cut, model.affinity_matrix_, model.labels_) if same else []), solve_seconds(model)


def peer_clustering(X: Any, setting: dict[str, str]) -> Value:
    """scikit-learn's groups on its own graph, which is the same."""
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        GROUPS, affinity="nearest_neighbors", n_neighbors=NEIGHBORS + 1, random_state=0, n_jobs=-1, **setting
    ).fit(X)
    return partial(cut, sparse.csr_array(model.affinity_matrix_), model.labels_)


def divergence(X: Any, Y: Any) -> list[float]:
    """KL over all pairs."""
    from .tsne import judge

    return [float(judge(Labelled(X, np.zeros(len(Y), dtype=int)), Y)["KL"])]


def t_sne(X: Any, solver: str, metric: str) -> tuple[Value, float]:
    """The solvers are the engines of the repulsion."""
    model = lowdim.TSNE(perplexity=30, repulsion=solver).fit(X)
    return partial(divergence, X, model.embedding_), model.report_.seconds


def peer_t_sne(X: Any, setting: dict[str, Any]) -> Value:
    """scikit-learn's by trees."""
    from sklearn.manifold import TSNE

    Y = TSNE(perplexity=30, random_state=0, n_jobs=-1, **setting).fit_transform(X)
    return partial(divergence, X, Y)


_SPECTRAL = {"default": "arpack"}
METHODS = {
    "LE": Recipe(
        eigenmaps,
        eigensolvers,
        peer_eigenmaps,
        {"amg": "amg", "lobpcg": "lobpcg", "default": None},
        100_000,
        (10_000, 100_000),
        has_metric=True,
    ),
    **{
        name: Recipe(
            partial(locally_linear, variant=variant),
            eigensolvers,
            partial(peer_locally_linear, variant=variant),
            {"dense": "dense", "default": "auto"},
            limit,
            table,
            1e-2,
        )
        for name, variant, limit, table in (
            ("LLE", "standard", 20_000, (5_000,)),
            ("modified LLE", "modified", 10_000, (2_000,)),
            ("Hessian LLE", "hessian", 10_000, (2_000,)),
            ("LTSA", "ltsa", 10_000, (2_000,)),
        )
    },
    "Isomap": Recipe(
        isomap,
        lambda size: ("lanczos", "dense") if size <= _DENSE_LIMIT else ("lanczos", "lobpcg"),
        peer_isomap,
        {
            "arpack": {"eigen_solver": "arpack", "path_method": "D"},
            "Floyd": {"path_method": "FW"},
            "default": {},
        },
        10_000,
        (10_000,),
    ),
    "clustering": Recipe(
        clustering,
        eigensolvers,
        peer_clustering,
        {
            "amg": {"eigen_solver": "amg"},
            "cluster_qr": {"assign_labels": "cluster_qr"},
            "lobpcg": {"eigen_solver": "lobpcg"},
            "default": {},
        },
        20_000,
        (5_000,),
        0.1,
        True,
    ),
    "t-SNE": Recipe(
        t_sne,
        lambda size: ("exact", "barnes-hut", "fft"),
        peer_t_sne,
        {"angle 0.8": {"angle": 0.8}, "default": {}},
        5_000,
        (1_500,),
        0.05,
    ),
}
