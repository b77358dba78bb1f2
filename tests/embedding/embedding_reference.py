"""Dense NumPy references for the objectives: N x N matrices, written down as the formulas are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from long_places import long_graph
from scipy.special import logsumexp

from lowdim.core.run import Run
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.elastic import ElasticEmbedding
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import GAUSSIAN, STUDENT
from lowdim.objectives.sne import SNE
from lowdim.objectives.symmetric_sne import SymmetricSNE
from lowdim.objectives.t_sne import TSNE

NAMES = ("ee", "ee-distances", "s-sne", "t-sne", "sne")
KERNELS = {name: STUDENT if name == "t-sne" else GAUSSIAN for name in NAMES}


@dataclass
class Case:
    """An objective, and all that a dense formula of it needs."""

    name: str
    P: np.ndarray
    lam: float
    masses: np.ndarray | None
    data: np.ndarray | None

    @property
    def counts(self):
        return np.ones(len(self.P)) if self.masses is None else self.masses

    @property
    def W(self):
        """Symmetric attractive weights."""
        return (self.P + self.P.T) / 2

    def objective(self, d, repulsion=None, n_jobs=1):
        n_points, kernel = len(self.P), KERNELS[self.name]
        engine = (repulsion or Exact()).start(kernel, n_points, d, Run.of(0, n_jobs))
        attraction = Attraction(long_graph(self.W), kernel, Run.of(0, n_jobs))
        if self.name.startswith("ee"):
            return ElasticEmbedding(attraction, engine, self.lam, self.masses, self.data)
        made = {"s-sne": SymmetricSNE, "t-sne": TSNE, "sne": SNE}[self.name]
        return made(attraction, engine, self.lam, self.masses)


def make_case(name, rng, *, n_points=11, lam=1.0, masses=False):
    """A random sparse problem; with masses, every third point stands for two or three rows."""
    P = rng.uniform(size=(n_points, n_points)) * (rng.uniform(size=(n_points, n_points)) < 0.5)
    P[np.arange(n_points), (np.arange(n_points) + 1) % n_points] += 0.1
    np.fill_diagonal(P, 0.0)
    counts = np.where(np.arange(n_points) % 3 == 0, 2.0 + np.arange(n_points) % 2, 1.0)
    if name == "sne":
        P *= ((counts if masses else 1.0) / P.sum(axis=1))[:, None]
    else:
        P = P + P.T
        P /= P.sum()
    data = rng.normal(size=(n_points, 4)) if name == "ee-distances" else None
    return Case(name, P, lam, counts if masses else None, data)


def differences(X):
    return X[:, None] - X[None]


def squares(X):
    return (differences(X) ** 2).sum(axis=-1)


def negative_weights(case):
    """w- of the elastic embedding."""
    return np.ones(case.P.shape) if case.data is None else squares(case.data)


def expanded(case):
    """The same case with every copy as a row of its own, and the point that each row belongs to."""
    group = np.repeat(np.arange(len(case.P)), case.counts.astype(int))
    shares = case.P / np.outer(case.counts, case.counts)
    data = None if case.data is None else case.data[group]
    return Case(case.name, shares[np.ix_(group, group)], case.lam, None, data), group


def dense_value(case, X):
    """E(X) of a case without masses, as the table of the formulas has it, in logarithms where sums are small."""
    D, off = squares(X), ~np.eye(len(X), dtype=bool)
    if case.name == "t-sne":
        return (case.P * np.log1p(D)).sum() + case.lam * logsumexp(-np.log1p(D[off]))
    attraction = (case.P * D).sum()
    if case.name == "s-sne":
        return attraction + case.lam * logsumexp(-D[off])
    if case.name == "sne":
        return attraction + case.lam * logsumexp(np.where(off, -D, -np.inf), axis=1).sum()
    return attraction + case.lam * (negative_weights(case) * np.exp(-D))[off].sum()


def pair_weights(case, X):
    """(w, w^xx without the coordinates, w^q) of a case, masses included."""
    D, mu, lam = squares(X), case.counts, case.lam
    off = 1 - np.eye(len(X))
    K = KERNELS[case.name].slope(D) * np.outer(mu, mu) * off
    if case.name == "sne":
        S = (K.sum(axis=1) + mu * (mu - 1)) / mu
        Q = K / S[:, None]
        q = (Q + Q.T) / 2
        return case.W - lam * q, lam * q, None
    if case.name.startswith("ee"):
        K = K * negative_weights(case)
        return case.W - lam * K, lam * K, None
    q = K / (K.sum() + mu @ (mu - 1))
    if case.name == "s-sne":
        return case.P - lam * q, lam * q, -q
    K1 = STUDENT.slope(D)
    return (case.P - lam * q) * K1, -(case.P - 2 * lam * q) * K1**2, -q * K1


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def block_laplacian(w_xx, X):
    """L^xx: (n i) x (m j) from w^xx_nm (x_n - x_m)_i (x_n - x_m)_j."""
    away = differences(X)
    W = w_xx[:, :, None, None] * away[:, :, :, None] * away[:, :, None, :]
    n, d = X.shape
    L = -W.transpose(0, 2, 1, 3)
    for i in range(n):
        L[i, :, i, :] = W[i].sum(axis=0)
    return L.reshape(n * d, n * d)


def dense_hessian(case, X):
    """4 L (x) I + 8 L^xx - 16 lambda vec(L^q X) vec(L^q X)'; for SNE a rank-one term for each row."""
    w, w_xx, w_q = pair_weights(case, X)
    H = 4 * np.kron(laplacian(w), np.eye(X.shape[1])) + 8 * block_laplacian(w_xx, X)
    if w_q is not None:
        g = (laplacian(w_q) @ X).ravel()
        H -= 16 * case.lam * np.outer(g, g)
    if case.name == "sne":
        mu, K = case.counts, np.exp(-squares(X)) * (1 - np.eye(len(X)))
        S = K @ mu + mu - 1
        for n in range(len(X)):
            pull = (mu * K[n])[:, None] * (X[n] - X)
            g = 2 * pull
            g[n] -= 2 * pull.sum(axis=0)
            H -= case.lam * mu[n] / S[n] ** 2 * np.outer(g, g)
    return H


def numerical_gradient(function, X, step=1e-5):
    """Central differences of a function of X, along a last axis of X's entries."""
    out = []
    for place in np.ndindex(X.shape):
        E = np.zeros_like(X)
        E[place] = step
        out.append((function(X + E) - function(X - E)) / (2 * step))
    return np.stack(out, axis=-1)


def relative(a, b):
    return np.linalg.norm(np.asarray(a) - b) / max(np.linalg.norm(b), 1e-300)
