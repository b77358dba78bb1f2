"""Neighbour recall: the share of the k nearest that an embedding keeps, for every k."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from .distance_tables import RanksAsked, View
from .sampling import Sample
from .score_results import Estimate, RecallCurve


class Recall:
    """Q(k) = (1 / (k N)) sum_i |k nearest of i in the data, and in the embedding|, Q_NX of Lee & Verleysen (2009).

    R(k) = ((N - 1) Q(k) - k) / (N - 1 - k) is the same beyond chance: 0 for a random order, 1 for the true one. Its
    area against log k is sum_k R(k) / k over sum_k 1 / k, k = 1 ... N - 2 (Lee, Peluffo-Ordóñez & Verleysen 2015).
    """

    names = ("neighbor_recall", "recall_area")

    def __init__(self, ranks: RanksAsked, n_points: int) -> None:
        self.ranks = ranks
        self.place = int(np.searchsorted(ranks.ks, ranks.n_neighbors))
        self.chance = ranks.ks / (n_points - 1)

    def of_rows(self, view: View) -> Floats:
        """Q at some k, log-spaced, and the area, of each row."""
        shares = view.orders.kept.copy()
        shares[:, -1] -= self.ranks.offset
        return shares

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate | RecallCurve]:
        """Recall at n_neighbors, the area, and the curve."""
        shares = values[:, :-1]
        recall, half = shares.mean(axis=0), sample.error(shares)
        low, high = np.maximum(0.0, recall - half), np.minimum(1.0, recall + half)
        return {
            "neighbor_recall": sample.mean(values[:, self.place]),
            "recall_area": sample.mean(values[:, -1], lowest=-1.0),
            "recall_curve": RecallCurve(self.ranks.ks, recall, low, high, self.chance),
        }
