"""The graph of all pairs within a radius, and the rows that it leaves alone."""

from __future__ import annotations

import numpy as np

from ..records import Integers, Neighbors
from .index import Index


def radius_graph(index: Index, radius: float) -> Neighbors:
    """Neighbours of every indexed point within ``radius``, without itself: the epsilon graph, symmetric by nature."""
    return index.query_radius(None, radius)


def rows_without_neighbors(neighbors: Neighbors) -> Integers:
    """Rows that have no neighbour at all."""
    return np.flatnonzero(neighbors.counts == 0)
