"""What an answer must be, computed another way: dense NumPy on all rows, copies written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.spatial.distance import cdist


def dense(data: Any) -> np.ndarray:
    """The rows in the widest numbers there are."""
    return np.asarray(data.toarray() if sparse.issparse(data) else data).astype(np.longdouble)


def centred(data: Any) -> np.ndarray:
    """Rows about their mean, which is taken in long doubles."""
    rows = dense(data)
    return np.asarray(rows - rows.mean(axis=0), dtype=np.float64)


def variances(data: Any, count: int) -> np.ndarray:
    """Variances of the principal components."""
    return np.linalg.svd(centred(data), compute_uv=False)[:count] ** 2 / max(1, data.shape[0] - 1)


def distances(data: Any, metric: str = "euclidean") -> np.ndarray:
    """All distances, of rows about their mean."""
    return cdist(centred(data), centred(data), "cityblock" if metric == "manhattan" else metric)


def largest_of_distances(D: np.ndarray, count: int) -> np.ndarray:
    """Leading eigenvalues of -1/2 H D2 H."""
    size = float(D.max()) or 1.0
    squared = (D / size) ** 2
    H = np.eye(len(D)) - 1.0 / len(D)
    values = np.linalg.eigvalsh(-0.5 * H @ squared @ H)[::-1][:count]
    return values * size**2


def groups(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """The first of equal rows, in order, and the place of each row among these."""
    _, first, inverse = np.unique(dense(data), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return first[order], place[inverse.ravel()]


def neighbor_lists(D: np.ndarray, k: int) -> np.ndarray:
    """The k nearest others of each point, ties by index."""
    far = D.copy()
    np.fill_diagonal(far, np.inf)
    return np.argsort(far, axis=1, kind="stable")[:, :k]


def geodesics(D: np.ndarray, k: int) -> np.ndarray:
    """Shortest paths in the graph of the k nearest neighbours; infinite between its parts."""
    from scipy.sparse.csgraph import shortest_path

    lists = neighbor_lists(D, k)
    rows = np.repeat(np.arange(len(D)), lists.shape[1])
    tied = np.zeros(D.shape, dtype=bool)
    tied[rows, lists.ravel()] = True
    lengths = np.where(tied | tied.T, D, np.inf)
    return np.asarray(shortest_path(np.where(np.isfinite(lengths), lengths, 0.0), directed=False))


def local_weights(points: np.ndarray, k: int, reg: float) -> np.ndarray:
    """Weights that rebuild each point from its k nearest (Roweis & Saul 2000)."""
    lists = neighbor_lists(cdist(points, points), k)
    W = np.zeros((len(points), len(points)))
    for i, near in enumerate(lists):
        steps = points[near] - points[i]
        steps /= np.abs(steps).max()
        G = steps @ steps.T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    return W


def smallest_of_weights(W: np.ndarray, mass: np.ndarray, count: int) -> np.ndarray:
    """Smallest eigenvalues of (I - W)'M(I - W) against M, off the constant."""
    F = np.eye(len(W)) - W
    root = np.sqrt(mass)
    S = (F.T * mass) @ F / root[:, None] / root[None, :]
    return np.linalg.eigvalsh(S)[1 : count + 1]


def laplacian_residuals(W: np.ndarray, X: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Largest |D^-1/2 (L x - lambda D x)| and largest entry of X'DX - I."""
    degrees = W.sum(axis=1)
    root = np.sqrt(degrees)
    Y = root[:, None] * X
    normal = W / root[:, None] / root[None, :]
    images = Y - normal @ Y
    gap = float(np.linalg.norm(images - Y * values, axis=0).max())
    return gap, float(np.abs(Y.T @ Y - np.eye(X.shape[1])).max())


def laplacian_values(W: np.ndarray, count: int) -> np.ndarray:
    """Smallest eigenvalues of the normalised Laplacian, off the constant."""
    root = np.sqrt(W.sum(axis=1))
    S = np.eye(len(W)) - W / root[:, None] / root[None, :]
    return eigh(S, eigvals_only=True)[1 : count + 1]


def conditional(D: np.ndarray, k: int, perplexity: float) -> np.ndarray:
    """Entropic affinities on the k nearest by bisection, in units of each row's nearest gap."""
    lists = neighbor_lists(D, k)
    P = np.zeros(D.shape)
    for i, near in enumerate(lists):
        squares = (D[i, near] / D[i, near].max()) ** 2
        squares -= squares.min()
        low, high = 0.0, 1e30
        for _ in range(300):
            beta = (low + high) / 2 if high < 1e29 else max(1.0, 2 * low)
            p = np.exp(-beta * squares)
            p /= p.sum()
            entropy = -np.sum(p[p > 0] * np.log(p[p > 0]))
            low, high = (beta, high) if entropy > np.log(perplexity) else (low, beta)
        P[i, near] = p
    return P


def divergence(P: np.ndarray, X: np.ndarray, kernel: str) -> float:
    """KL(P | Q) of pair probabilities, Q from the embedding."""
    D = cdist(X, X, "sqeuclidean")
    K = np.exp(-D) if kernel == "gaussian" else 1 / (1 + D)
    np.fill_diagonal(K, 0.0)
    Q = K / K.sum()
    on = P > 0
    return float(np.sum(P[on] * np.log(P[on] / np.maximum(Q[on], 1e-300))))
