"""What every answer must hold beside being finite, against dense NumPy: orthonormality, eigenvalues, objectives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import lowdim

from . import references as reference

MOST_ENTRIES = 10_000_000
"""Data beyond this is not written out for dense NumPy."""


class Finding(Exception):
    """Something that must not be."""


def require(holds: Any, words: str) -> None:
    """A finding unless it holds."""
    if not holds:
        raise Finding(words)


def close(found: Any, wanted: Any, words: str, relative: float = 1e-6) -> None:
    """A finding unless two lists of numbers agree, relative to the largest of the wanted ones."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    size = max(float(np.abs(wanted).max(initial=0.0)), np.finfo(np.float64).tiny)
    gap = float(np.abs(found - wanted).max(initial=0.0)) / size
    require(gap <= relative, f"{words}: {found[:4]}, dense NumPy says {wanted[:4]}")


def check_model(model: Any, data: Any) -> None:
    """Everything that holds for any estimator: finite, complete, in order; then what holds for this one."""
    X = model.embedding_
    require(np.all(np.isfinite(X)), "the embedding is not finite")
    require(X.shape[0] == data.shape[0], "rows were lost")
    values = getattr(model, "eigenvalues_", None)
    if values is not None:
        require(np.all(np.isfinite(values)), f"eigenvalues are not finite: {values}")
        steps, slack = np.diff(values), 1e-9 * np.abs(values).max(initial=0.0)
        require(np.all(steps >= -slack) or np.all(steps <= slack), f"eigenvalues are not in order: {values}")
    for key, figure in model.report_.figures.items():
        if isinstance(figure, float | np.ndarray) and np.asarray(figure).dtype.kind == "f":
            require(np.all(np.isfinite(figure)), f"report_ holds {key} = {figure}")
    said_lost = any("vanish beside" in words for words in model.report_.warnings)
    if said_lost or data.shape[0] * data.shape[1] > MOST_ENTRIES:
        return
    is_exact = not hasattr(model, "certificate_")
    for kind, check in CHECKS.items():
        if isinstance(model, kind):
            check(model, data, is_exact)


def digits(data: Any) -> float:
    """Relative error that the type of the data allows to what is computed of it."""
    if data.dtype in (np.float32, np.float16):
        return 2e-3
    return 1e-6


def slack_of(X: Any, usual: float) -> float:
    """What is allowed of coordinates found in double precision: those that come back in single precision are rounded.

    Of rows or columns of length 1 that changes a length, and a product of two, by a few units of the last place.
    """
    return max(usual, 8 * float(np.finfo(X.dtype).eps))


def check_pca(model: Any, data: Any, is_exact: bool) -> None:
    """Variances, orthonormal directions, and coordinates that are the projection."""
    C = model.components_
    require(np.abs(C @ C.T - np.eye(len(C))).max() < 1e-8, "the components are not orthonormal")
    centred = reference.centred(data)
    tolerance = digits(data)
    wanted = reference.variances(data, len(C))
    lost = np.finfo(np.float64).eps * float(np.abs(reference.dense(data)).max())
    if np.sqrt(wanted.max(initial=0.0)) > 1e4 * lost:
        close(model.explained_variance_, wanted, "variances", tolerance)
        if not model.whiten:
            close(model.embedding_, centred @ C.T, "coordinates", tolerance)


def check_mds(model: Any, data: Any, is_exact: bool) -> None:
    """Eigenvalues of the centred squared distances, which the squared lengths of the coordinates are."""
    if not is_exact:
        return
    D = reference.distances(data, model.metric)
    if not wide_enough(D, data):
        return
    wanted = np.maximum(reference.largest_of_distances(D, model.n_components), 0)
    close((model.embedding_.astype(np.float64) ** 2).sum(axis=0), wanted, "eigenvalues", digits(data))


def wide_enough(D: np.ndarray, data: Any) -> bool:
    """Whether the points differ by more than the rounding of their own digits."""
    largest = float(np.abs(reference.dense(data)).max())
    return bool(D.max() > 1e5 * np.finfo(np.float64).eps * largest)


def check_isomap(model: Any, data: Any, is_exact: bool) -> None:
    """Eigenvalues of the centred squared geodesics, where the graph is in one piece."""
    if not is_exact or model.radius is not None or model.metric != "euclidean":
        return
    first, place = reference.groups(data)
    rows = reference.about_first(data)[first]
    D = reference.distances(rows)
    if not wide_enough(D, data):
        return
    k = min(model.n_neighbors or 10, first.size - 1)
    G = reference.geodesics(D, k)
    if not np.all(np.isfinite(G)):
        return
    wanted = reference.largest_of_distances(G[np.ix_(place, place)], model.n_components)
    # The constant vector is no coordinate, and its eigenvalue of 0 stands between the others.
    close(np.maximum(model.eigenvalues_, 0), np.maximum(wanted, 0), "eigenvalues", digits(data))


def check_lle(model: Any, data: Any, is_exact: bool) -> None:
    """X'X = I and X'1 = 0 over all rows; of standard LLE its eigenvalues too."""
    X, slack = model.embedding_.astype(np.float64), slack_of(model.embedding_, 1e-7)
    if is_exact or isinstance(model.solver, lowdim.LLL | lowdim.VariationalNystrom):
        require(np.abs(X.T @ X - np.eye(X.shape[1])).max() < slack, "X'X is not I")
        require(np.abs(X.sum(axis=0)).max() < 1e-6 * np.sqrt(len(X)), "X'1 is not 0")
    if not is_exact or model.variant != "standard" or model.metric != "euclidean" or model.radius is not None:
        return
    if model.report_.figures["components"] > 1:
        return
    first, place = reference.groups(data)
    rows = reference.about_first(data)[first]
    if not wide_enough(reference.distances(rows), data):
        return
    k = min(model.n_neighbors or 12, first.size - 1)
    # A power of two leaves ties as they are.
    W = reference.local_weights(rows / 2.0 ** np.frexp(np.abs(rows).max())[1], k, model.reg)
    mass = np.bincount(place).astype(float)
    wanted = reference.smallest_of_weights(W, mass, model.n_components)
    gap = np.abs(model.eigenvalues_ - wanted).max()
    require(gap < 1e-7, f"eigenvalues {model.eigenvalues_}, dense NumPy says {wanted}")


def check_laplacian(model: Any, data: Any, is_exact: bool) -> None:
    """Affinities finite, positive and symmetric; X'DX = I; residuals and eigenvalues of L x = lambda D x."""
    W = getattr(model, "affinity_matrix_", None)
    if W is None:
        return
    require(np.all(np.isfinite(W.data)) and W.data.min(initial=1.0) > 0, "affinities are not positive")
    require(abs(W - W.T).max() == 0, "affinities are not symmetric")
    if isinstance(model, lowdim.SpectralClustering):
        return
    X, W = model.embedding_, W.toarray()
    if len(W) > 2000:
        return
    if len(W) != len(X):
        first, place = reference.groups(data)
        mass = np.bincount(place).astype(float)
        X, W = X[first], mass[:, None] * W * mass[None, :]
    gap, skew = reference.laplacian_residuals(W, X, model.eigenvalues_)
    require(skew < 1e-7, f"X'DX differs from I by {skew:.2g}")
    require(gap < 1e-6, f"residuals of {gap:.2g}")
    wanted = reference.laplacian_values(W, X.shape[1])
    gap = np.abs(model.eigenvalues_ - wanted).max()
    require(gap < 1e-7, f"eigenvalues {model.eigenvalues_}, dense NumPy says {wanted}")


def check_diffusion(model: Any, data: Any, is_exact: bool) -> None:
    """Eigenvalues of a walk, largest first, those of dense NumPy; coordinates of no more than their size."""
    W = getattr(model, "affinity_matrix_", None)
    if W is None:
        return
    values = model.eigenvalues_
    require(np.all(np.abs(values) < 1 + 1e-9) and np.all(np.diff(values) <= 1e-9), f"eigenvalues {values}")
    if W.shape[0] > 2000:
        return
    first, place = reference.groups(data) if W.shape[0] != data.shape[0] else (None, np.arange(W.shape[0]))
    mass = np.bincount(place).astype(float)
    W = W.toarray()
    density = W @ mass
    weights = (
        mass / (density / density.mean()) ** model.alpha
    )  # one factor after the other: both at once overflow
    K = (W * weights[:, None]) * weights
    wanted = 1 - reference.laplacian_values(K / K.sum(), values.size)
    gap = np.abs(values - wanted).max()
    require(gap < 1e-7, f"eigenvalues {values}, dense NumPy says {wanted}")
    D = K.sum(axis=1) / K.sum()
    X = model.embedding_.astype(np.float64)
    X = X if first is None else X[first]
    lengths = D @ (X * X)
    skew = np.abs(lengths - np.abs(values) ** (2 * model.time)).max()
    require(skew < slack_of(model.embedding_, 1e-7), f"X'DX differs from |Lam|^2t by {skew:.2g}")


def check_clustering(model: Any, data: Any, is_exact: bool) -> None:
    """A label for every row, the same for equal rows, rows of length 1."""
    labels = model.labels_
    require(labels.shape == (data.shape[0],) and labels.min() >= 0, "labels are missing")
    require(labels.max() < model.n_clusters, "there are more labels than clusters")
    lengths = np.linalg.norm(model.embedding_.astype(np.float64), axis=1)
    require(np.abs(lengths - 1).max() < slack_of(model.embedding_, 1e-9), "rows are not of length 1")
    if model.metric == "euclidean":
        _, place = reference.groups(data)
        order = np.argsort(place, kind="stable")
        same = place[order][1:] == place[order][:-1]
        require(np.all(labels[order][1:][same] == labels[order][:-1][same]), "equal rows have other labels")


def check_embedding(model: Any, data: Any, is_exact: bool) -> None:
    """The objective against the dense one of the same affinities, where no rows were collapsed."""
    require(np.isfinite(model.objective_), "the objective is not finite")
    exact = isinstance(model, lowdim.TSNE | lowdim.SymmetricSNE) and model.metric == "euclidean"
    if not exact or sparse.issparse(data) or model.report_.figures.get("duplicates_collapsed", 0):
        return
    first, _ = reference.groups(data)
    if first.size < data.shape[0] or first.size < 10:
        return
    D = reference.distances(data)
    if not wide_enough(D, data):
        return
    perplexity = min(30.0, min(90, len(D) - 1) / 3)
    P = reference.conditional(D, min(90, len(D) - 1), perplexity)
    P = (P + P.T) / P.sum() / 2
    kernel = "student" if isinstance(model, lowdim.TSNE) else "gaussian"
    found, wanted = model.kl_divergence_, reference.divergence(P, model.embedding_, kernel)
    allowed = (0.03 if len(D) > 100 else 0.2) if model.repulsion == "fft" else 1e-6
    words = f"KL(P | Q) is {found:.6g}, dense NumPy says {wanted:.6g}"
    require(abs(found - wanted) <= 1e-3 * abs(wanted) + allowed, words)


CHECKS: dict[Any, Any] = {
    lowdim.PCA: check_pca,
    lowdim.ClassicalMDS: check_mds,
    lowdim.Isomap: check_isomap,
    lowdim.LLE: check_lle,
    lowdim.LaplacianEigenmaps: check_laplacian,
    lowdim.DiffusionMap: check_diffusion,
    lowdim.SpectralClustering: check_clustering,
    (lowdim.SNE, lowdim.SymmetricSNE, lowdim.TSNE, lowdim.ElasticEmbedding): check_embedding,
}
