"""Affinities between neighbours, and geodesic distances."""

from __future__ import annotations

from ..neighbors.symmetrize import symmetrize
from .binary import Binary
from .entropic import Entropic
from .fuzzy import Fuzzy
from .gaussian import Gaussian
from .geodesic import paths_from_new, shortest_paths, squared_paths
from .names import AFFINITY_RULE, resolve_affinity
from .self_tuning import SelfTuning
from .weigh import weigh, weigh_copies
from .weights import Affinity, FittedAffinity, degrees

__all__ = [
    "AFFINITY_RULE",
    "Affinity",
    "Binary",
    "Entropic",
    "FittedAffinity",
    "Fuzzy",
    "Gaussian",
    "SelfTuning",
    "degrees",
    "paths_from_new",
    "resolve_affinity",
    "shortest_paths",
    "squared_paths",
    "symmetrize",
    "weigh",
    "weigh_copies",
]
