"""The number of components by the intrinsic dimension of the data."""

from __future__ import annotations

from typing import Any

from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...metrics.dimension import estimate_dimension
from ..metric import metric_of
from .curve import Curve, nothing_to_choose
from .trials import sampled

NEIGHBORS = 30
MOST_ROWS = 10_000
"""Points among which neighbours are searched for."""


def choose_by_dimension(name: str, criterion: str, model: Any, rows: Rows, run: Run) -> Curve:
    """The median of three estimates of the intrinsic dimension: see `lowdim.estimate_dimension`.

    Maximum likelihood (Levina & Bickel 2005), two nearest neighbours (Facco et al. 2017), local principal components
    (Fukunaga & Olsen 1971).
    """
    tried = sampled(model, rows, None, MOST_ROWS, run)
    default = int(model.n_components or 2)
    count = min(NEIGHBORS, tried.n_points - 1)
    most = tried.n_points - 2
    if not model.__sklearn_tags__().input_tags.pairwise:
        most = min(most, rows.n_columns)
    if count < 3 or most < 1:
        why = f"the default: {tried.n_points} different points say nothing of a dimension"
        return nothing_to_choose(name, criterion, default, why, tried.rows.n_rows)
    try:
        found = estimate_dimension(
            tried.rows.values,
            n_neighbors=count,
            metric=metric_of(model),
            random_state=run.streams.anew()["landmarks"],
            n_jobs=run.n_jobs,
        )
    except InputError:
        why = "the default: the neighbours of the points say nothing of a dimension"
        return nothing_to_choose(name, criterion, default, why, tried.rows.n_rows)
    estimates = {word: float(value) for word, value in found.estimates.items()}
    why = "the median of " + ", ".join(f"{word} {value:.3g}" for word, value in estimates.items())
    if not found.agree:
        why += "; these disagree, so that the dimension may depend on the scale"
    return Curve(
        name,
        criterion,
        list(estimates),
        list(estimates.values()),
        max(1, min(found.dimension, most)),
        why,
        default,
        along="estimate",
        measured="dimension",
        n_rows=tried.rows.n_rows,
    )
