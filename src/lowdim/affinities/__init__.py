"""Affinities between neighbours, geodesic distances, and the graph Laplacian."""

from __future__ import annotations

from ..neighbors.symmetrize import symmetrize
from .binary import Binary
from .entropic import Entropic
from .gaussian import Gaussian
from .geodesic import paths_from_new, shortest_paths
from .laplacian import NormalizedWeights, degrees, laplacian, normalized
from .self_tuning import SelfTuning
from .weigh import weigh, weigh_copies
from .weights import Affinity, FittedAffinity

__all__ = [
    "Affinity",
    "Binary",
    "Entropic",
    "FittedAffinity",
    "Gaussian",
    "NormalizedWeights",
    "SelfTuning",
    "degrees",
    "laplacian",
    "normalized",
    "paths_from_new",
    "shortest_paths",
    "symmetrize",
    "weigh",
    "weigh_copies",
]
