"""Objectives for the tests: t-SNE, s-SNE and EE over all pairs, quadratic ones, and ones that break."""

from __future__ import annotations

import numpy as np
from long_places import long_graph
from scipy import sparse

from lowdim.core.run import Run
from lowdim.objectives.protocol import Evaluation

RUN = Run.of()


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


class Stateless:
    """Evaluations leave nothing behind."""

    def state(self):
        return {}

    def resume(self, state):
        assert state == {}


class Dense(Stateless):
    """E = E+ + lambda E- of FORMULAS.md over all pairs; ``kind`` is "ee", "s-sne" or "t-sne"."""

    def __init__(self, kind, W, lam=1.0):
        self.kind, self.W, self.lam = kind, np.asarray(W), lam
        self.weights = long_graph(self.W)
        self.degrees = self.W.sum(axis=1)
        self.evaluations = 0

    def with_lambda(self, lam):
        other = Dense(self.kind, self.W, lam)
        other.weights = self.weights
        return other

    def pairs(self, X):
        """D, K, q (w- K for EE) and w of grad = 4 L(w) X."""
        D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        K = 1.0 / (1.0 + D) if self.kind == "t-sne" else np.exp(-D)
        np.fill_diagonal(K, 0.0)
        q = K if self.kind == "ee" else K / K.sum()
        w = (self.W - self.lam * q) * (K if self.kind == "t-sne" else 1.0)
        return D, K, q, w

    def evaluate(self, X, *, value=True):
        self.evaluations += 1
        D, K, _, w = self.pairs(X)
        attraction = np.sum(self.W * (np.log1p(D) if self.kind == "t-sne" else D))
        repulsion = K.sum() if self.kind == "ee" else np.log(K.sum())
        E = float(attraction + self.lam * repulsion)
        return Evaluation(E if value else None, 4.0 * laplacian(w) @ X)

    def wxx(self, X, i, *, positive=False):
        """w^xx of coordinate i."""
        _, K, q, _ = self.pairs(X)
        factor = self.lam * q
        if self.kind == "t-sne":
            factor = -(self.W - 2.0 * self.lam * q) * K**2
        if positive:
            factor = np.maximum(factor, 0.0)
        return factor * (X[:, None, i] - X[None, :, i]) ** 2

    def diagonal(self, X):
        columns = [self.wxx(X, i).sum(axis=1) for i in range(X.shape[1])]
        return 4.0 * self.degrees[:, None] + 8.0 * np.stack(columns, axis=1)

    def curvature(self, X):
        matrices = [8.0 * laplacian(self.wxx(X, i, positive=True)) for i in range(X.shape[1])]
        return lambda V: np.stack([A @ v for A, v in zip(matrices, V.T, strict=True)], axis=1)


class Quadratic(Stateless):
    """E = 1/2 sum_i x_i'A x_i + offset, A = a Laplacian and a ridge."""

    def __init__(self, A, offset=1.0, lam=1.0):
        self.A, self.offset, self.lam = np.asarray(A, float), offset, lam
        off = -self.A / 4.0
        np.fill_diagonal(off, 0.0)
        self.weights = long_graph(np.maximum(off, 0.0))
        self.degrees = np.diag(self.A) / 4.0

    def with_lambda(self, lam):
        return Quadratic(self.A, self.offset, lam)

    def evaluate(self, X, *, value=True):
        image = self.A @ X
        E = 0.5 * float(np.sum(X * image)) + self.offset
        return Evaluation(E if value else None, image)

    def diagonal(self, X):
        return np.repeat(np.diag(self.A)[:, None], X.shape[1], axis=1)

    def curvature(self, X):
        return np.zeros_like


class Curve(Stateless):
    """A function of one number, as an objective of one point: value and slope from a callable."""

    lam = 1.0
    weights = sparse.csr_array(np.zeros((1, 1)))
    degrees = np.ones(1)

    def __init__(self, function):
        self.function = function
        self.evaluations = 0

    def evaluate(self, X, *, value=True):
        self.evaluations += 1
        E, slope = self.function(float(X[0, 0]))
        return Evaluation(E, np.array([[slope]]))


class Fenced(Stateless):
    """Another objective that is not finite beyond a distance from the origin."""

    def __init__(self, inside, radius):
        self.inside, self.radius, self.lam = inside, radius, inside.lam
        self.weights, self.degrees = inside.weights, inside.degrees

    def evaluate(self, X, *, value=True):
        found = self.inside.evaluate(X, value=value)
        if np.abs(X).max() <= self.radius:
            return found
        return Evaluation(np.nan if value else None, np.full_like(X, np.nan))


def neighbor_weights(n=40, k=8, seed=0, *, total=1.0):
    """Symmetric weights of a graph of near points on a curve; they sum to ``total``."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, n))
    Y = np.stack([np.cos(2 * t), np.sin(2 * t), t], axis=1) + 0.02 * rng.standard_normal((n, 3))
    D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    scale = np.sort(D, axis=1)[:, k // 2][:, None]
    W = np.exp(-D / scale) * (np.sort(D, axis=1)[:, k - 1][:, None] >= D)
    W = (W + W.T) / 2
    return W * (total / W.sum())


def problem(kind, n=40, seed=0):
    """An objective of one kind, and an X to start from."""
    total = 0.2 * n if kind == "ee" else 1.0
    X = 0.3 * np.random.default_rng(seed + 1).standard_normal((n, 2))
    return Dense(kind, neighbor_weights(n, seed=seed, total=total), 0.5 if kind == "ee" else 1.0), X


class Walking:
    """A direction at an objective, with what it has learnt."""

    def __init__(self, direction, objective, run=RUN):
        self.prepared, self.learnt = direction.prepare(objective, run), None

    def at(self, X, gradient):
        self.place = X
        p, self.learnt = self.prepared.at(X, gradient, self.learnt)
        return p

    def moved(self, change, gradient_change):
        self.learnt = self.prepared.moved(self.learnt, self.place, change, gradient_change)


KINDS = ["ee", "s-sne", "t-sne"]
