"""Criteria that look at the embedding of each value of ``perplexity`` or ``n_neighbors``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.run import Run
from ...methods.base import Embedded
from ...metrics import score
from .candidates import neighbor_counts, perplexities
from .curve import Curve, best_of, nothing_to_choose
from .trials import Tried, along

NEIGHBORS = 15
"""Neighbours that trustworthiness and continuity look at."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What is looked at: its words, whether less of it is better, and what difference counts.

    ``resolution`` is a difference of scores, as a share of the best where ``is_share``. Seeds alone change these
    measures by as much: docs/choosing.md has the figures.
    """

    words: str
    less_is_better: bool
    resolution: float
    is_share: bool = False


CRITERIA: dict[str, Criterion] = {
    "recall_area": Criterion("area under the recall curve", False, 0.015),
    "trustworthiness": Criterion("mean of trustworthiness and continuity", False, 0.005),
    "bic": Criterion("pseudo-BIC", True, 0.02, is_share=True),
}


def choose_by_embedding(name: str, criterion: str, tried: Tried, run: Run) -> Curve:
    """The value of a parameter whose embedding is the best by a criterion."""
    find: Any = perplexities if name == "perplexity" else neighbor_counts
    values, default = find(tried.model, tried.n_points)
    n_rows = tried.rows.n_rows
    if len(values) < 2:
        why = f"{tried.n_points} different points leave nothing to choose from"
        return nothing_to_choose(name, criterion, default, why, n_rows)
    known = CRITERIA[criterion]
    if criterion == "bic":
        scores = _pseudo_bic(values, along(tried, name, values, _divergence, run), n_rows)
    else:
        scores = along(tried, name, values, _quality(criterion, tried, run), run)
    resolution = known.resolution
    if known.is_share:
        resolution *= float(np.nanmin(np.abs(scores))) if np.isfinite(scores).any() else 0.0
    return best_of(
        name,
        criterion,
        values,
        scores,
        default,
        less_is_better=known.less_is_better,
        resolution=resolution,
        named=known.words,
        n_rows=n_rows,
    )


def _divergence(embedded: Embedded) -> float:
    return float(embedded.figures["kl_divergence"])


def _pseudo_bic(perplexities: list[float], divergences: list[float], n_rows: int) -> list[float]:
    """2 KL(P | Q) + log(N) perplexity / N (Cao & Wang 2017, eq. 4)."""
    penalty = np.log(n_rows) / n_rows
    return [2.0 * kl + penalty * value for value, kl in zip(perplexities, divergences, strict=True)]


def _quality(criterion: str, tried: Tried, run: Run) -> Callable[[Embedded], float]:
    """How well an embedding keeps neighbours.

    ``recall_area``: at all scales alike, R_NX(k) over log k (Lee, Peluffo-Ordóñez & Verleysen 2015).
    ``trustworthiness``: the mean of it and of continuity at 15 neighbours (Venna & Kaski 2006).
    """
    measures = ("recall_area",) if criterion == "recall_area" else ("trustworthiness", "continuity")
    n_neighbors = max(1, min(NEIGHBORS, tried.rows.n_rows // 3))

    def look(embedded: Embedded) -> float:
        found = score(
            tried.rows.values,
            embedded.coordinates,
            n_neighbors=n_neighbors,
            metric=tried.metric,
            measures=measures,
            sample="all",
            n_jobs=run.n_jobs,
        )
        return float(np.mean([float(found[measure]) for measure in measures]))

    return look
