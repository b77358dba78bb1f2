"""The leave-one-out map of t-SNE by its definition: the full loss of one point, all affinities, many starts.

E_i(y) = 2 sum_j p_ij log(1 + |y - y_j|^2) + log(Z_rest + 2 sum_j 1 / (1 + |y - y_j|^2)), with row i of the data moved
and p_ij = (p_j|i + p_i|j) / 2N of all others (Liu, Ma & Zhong 2025).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

STARTS = 5
"""Strongest ties whose places are starts, beside the point's own and the mean of all ties."""


class LeaveOneOut:
    """A picture Y of the rows X by t-SNE of a perplexity."""

    def __init__(self, X: np.ndarray, Y: np.ndarray, perplexity: float) -> None:
        self.X, self.Y, self.entropy = X, Y, np.log(perplexity)
        squares = _squares(X)
        others = squares + np.diag(np.full(len(X), np.inf))
        self.least = others.min(axis=1)
        self.beta = np.array([self._row(np.delete(row, i))[1] for i, row in enumerate(squares)])
        self.weights = np.exp(-self.beta[:, None] * (others - self.least[:, None]))
        kernel = 1.0 / (1.0 + _squares(Y)) - np.eye(len(Y))
        self.sums = kernel.sum(axis=1)

    def place(self, i: int, row: np.ndarray) -> np.ndarray:
        """Where point i comes to rest with its row moved."""
        keep = np.arange(len(self.X)) != i
        others = self.Y[keep]
        squares = np.square(self.X[keep] - row).sum(axis=1)
        back = np.exp(-self.beta[keep] * (squares - self.least[keep]))
        back /= self.weights[keep].sum(axis=1) - self.weights[keep, i] + back
        p = (self._row(squares)[0] + back) / (2 * len(self.X))
        rest = self.sums.sum() - 2 * self.sums[i]

        def loss(y: np.ndarray) -> tuple[float, np.ndarray]:
            v = y - others
            K = 1.0 / (1.0 + np.square(v).sum(axis=1))
            total = rest + 2 * K.sum()
            slope = 4 * (p * K) @ v - 4 * (K * K) @ v / total
            return float(-2 * p @ np.log(K) + np.log(total)), slope

        starts = [self.Y[i], p @ others / p.sum(), *others[np.argsort(-p)[:STARTS]]]
        ends = [minimize(loss, y, jac=True, method="L-BFGS-B", options={"gtol": 1e-10}) for y in starts]
        return np.asarray(min(ends, key=lambda end: float(end.fun)).x)

    def _row(self, squares: np.ndarray) -> tuple[np.ndarray, float]:
        """p_j|i of one row, and its beta, by bisection."""
        low, high, beta = 0.0, np.inf, 1.0 / float(np.median(squares))
        away = squares - squares.min()
        for _ in range(100):
            w = np.exp(-beta * away)
            entropy = np.log(w.sum()) + beta * (w @ away) / w.sum()
            if abs(entropy - self.entropy) < 1e-9:
                break
            low, high = (beta, high) if entropy > self.entropy else (low, beta)
            beta = 2 * beta if high == np.inf else (low + high) / 2
        return w / w.sum(), beta


def _squares(points: np.ndarray) -> np.ndarray:
    norms = np.square(points).sum(axis=1)
    found = np.maximum(norms[:, None] + norms - 2 * points @ points.T, 0.0)
    np.fill_diagonal(found, 0.0)
    return found
