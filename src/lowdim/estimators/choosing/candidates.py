"""The values of a parameter that are tried, and the default among them."""

from __future__ import annotations

from math import ceil
from typing import Any

from ...affinities.entropic import NEIGHBORS_PER_PERPLEXITY

PERPLEXITIES = (5.0, 10.0, 20.0, 30.0, 50.0, 75.0, 100.0)
NEIGHBORS = (5, 7, 10, 15, 20, 30, 50, 75)
MULTIPLES = (1.5, 2.0, 3.0, 4.0, 6.0)
"""Neighbours that carry the affinities of a perplexity, as multiples of it."""
FEWEST_NEIGHBORS = 5
"""Other points below which a perplexity says nothing."""


def perplexities(model: Any, n_points: int) -> tuple[list[float], float | None]:
    """Perplexities that so many points allow, and the default; none where they are too few."""
    others = n_points - 1 if model.n_neighbors is None else min(int(model.n_neighbors), n_points - 1)
    if others < FEWEST_NEIGHBORS:
        return [], None
    most = others / NEIGHBORS_PER_PERPLEXITY
    default = max(1.0, min(model._usual_perplexity, most))
    return sorted({*(value for value in PERPLEXITIES if value <= most), default}), default


def neighbor_counts(model: Any, n_points: int) -> tuple[list[int], int | None]:
    """Numbers of neighbours that so many points allow, and the default; none where they are too few."""
    own = int(model._counts_itself)
    fewest, most = model._fewest_neighbors + own, n_points - 1 + own
    if most < fewest:
        return [], None
    default = min(model._usual_neighbors(n_points), most)
    tried: list[int] = list(NEIGHBORS)
    if (perplexity := getattr(model, "_known_perplexity", None)) is not None:
        tried = [ceil(factor * perplexity) for factor in MULTIPLES]
    return sorted({*(value for value in tried if fewest <= value <= most), default}), default
