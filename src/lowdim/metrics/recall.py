"""Neighbour recall: the share of the k nearest that an embedding keeps, for every k."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.records import Floats
from .sampling import Sample
from .scores import Estimate, RecallCurve
from .views import View

CURVE_POINTS = 60


class Recall:
    """Q(k) = (1 / (k N)) sum_i |k nearest of i in the data, and in the embedding|, Q_NX of Lee & Verleysen (2009).

    R(k) = ((N - 1) Q(k) - k) / (N - 1 - k) is the same beyond chance: 0 for a random order, 1 for the true one. Its
    area against log k is sum_k R(k) / k over sum_k 1 / k, k = 1 ... N - 2 (Lee, Peluffo-Ordóñez & Verleysen 2015).
    """

    names = ("neighbor_recall", "recall_area")

    def __init__(self, n_points: int, n_neighbors: int) -> None:
        others = n_points - 1
        spaced = np.geomspace(1, max(1, others - 1), CURVE_POINTS).round().astype(np.int64)
        self.ks = np.union1d(spaced, n_neighbors)
        self.place = int(np.searchsorted(self.ks, n_neighbors))
        k = np.arange(1.0, others)
        total = float((1 / k).sum())
        # R(k) / k as a multiple of the number kept, k Q(k), and what is to be subtracted.
        self.weights = np.append(others / (k * k * (others - k)), 0.0) / total
        self.offset = float((1 / (others - k)).sum()) / total
        self.chance = self.ks / others

    def of_rows(self, view: View) -> Floats:
        """Q at some k, log-spaced, and the area, of each row."""
        shares = np.empty((view.points.size, self.ks.size + 1))
        kernels.neighbors.ranks.kept_shares(view.orders[1], self.ks, self.weights, shares)
        shares[:, -1] -= self.offset
        return shares

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate | RecallCurve]:
        """Recall at n_neighbors, the area, and the curve."""
        shares = values[:, :-1]
        recall, half = shares.mean(axis=0), sample.error(shares)
        low, high = np.maximum(0.0, recall - half), np.minimum(1.0, recall + half)
        return {
            "neighbor_recall": sample.mean(values[:, self.place]),
            "recall_area": sample.mean(values[:, -1], lowest=-1.0),
            "recall_curve": RecallCurve(self.ks, recall, low, high, self.chance),
        }
