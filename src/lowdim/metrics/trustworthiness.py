"""Trustworthiness and continuity: neighbours that are shown and are none, and neighbours that are not shown."""

from __future__ import annotations

from ..core.records import Floats
from .distance_tables import View
from .sampling import Sample
from .score_results import Estimate


class Trustworthiness:
    """1 - (2 / (N k (2 N - 3 k - 1))) sum_i sum_j (r(i, j) - k), j the intruders among the k nearest of i.

    Trustworthiness: j is shown among the k nearest and has rank r(i, j) > k in the data. Continuity: j is one of the k
    nearest in the data and has rank r(i, j) > k in the embedding (Venna & Kaski 2001; 2006).
    For k >= N / 2 the factor is 2 / (N (N - k) (N - k - 1)), so that the worst order is always 0.
    """

    names = ("trustworthiness", "continuity")

    def __init__(self, n_points: int, n_neighbors: int) -> None:
        self.worst = worst_intrusion(n_points, n_neighbors)

    def of_rows(self, view: View) -> Floats:
        """1 less the share of the worst that could be, of each row."""
        return 1.0 - view.orders.intrusions / self.worst

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate]:
        """Both, as means over the rows."""
        return {name: sample.mean(values[:, column]) for column, name in enumerate(self.names)}


def worst_intrusion(n_points: int, n_neighbors: int) -> float:
    """How far beyond the k nearest those shown can be ranked at worst, summed over the k shown of one point."""
    n, k = n_points, n_neighbors
    worst = k * (2 * n - 3 * k - 1) / 2 if 2 * k < n else (n - k) * (n - k - 1) / 2
    # With all others as neighbours there is nobody left to intrude.
    return max(worst, 1.0)
