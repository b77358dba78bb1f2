"""How far to believe a picture: each point, and distances between clusters."""

from __future__ import annotations

from .clusters import ClusterPair, ClusterTable
from .measure import trust
from .record import Trust

__all__ = ["ClusterPair", "ClusterTable", "Trust", "trust"]
