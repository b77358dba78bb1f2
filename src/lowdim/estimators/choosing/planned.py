"""What a choice would cost, without making it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import PlannedStage
from ...data.rows import Rows
from ...neighbors import plan_search
from ...neighbors.points import PAIRWISE
from ...spectral.linear.choose import estimate
from ..metric import metric_of
from .by_connection import TRIED
from .by_spectrum import MOST_COLUMNS
from .candidates import neighbor_counts, perplexities
from .criteria import criterion_of
from .settled import open_parameters, with_defaults, with_values
from .trials import MOST_ROWS

WARM = 0.4
"""What a fit takes that begins from the picture of another value, as a share of one from the beginning."""
SCORED_PAIR = 1.5e-7
"""Seconds for each pair of points that a score compares."""


def planned_choices(model: Any, rows: Rows) -> list[PlannedStage]:
    """A stage for each parameter that is left open."""
    return [_planned(model, name, rows) for name in open_parameters(model)]


def _planned(model: Any, name: str, rows: Rows) -> PlannedStage:
    criterion, settled = criterion_of(model, name, rows), with_defaults(model)
    title = f"choose {name}"
    if criterion in ("connected", "dimension"):
        count = TRIED[-1] if criterion == "connected" else 30
        if metric_of(settled) in PAIRWISE:
            return PlannedStage(title, rows.n_rows**2 * 2e-9, 8 * rows.n_rows, f"by {criterion}")
        search = plan_search(
            rows, metric_of(settled), min(count, max(1, rows.n_rows - 1)), getattr(settled, "search", "auto")
        )
        return PlannedStage(title, search.seconds + rows.n_rows * 1e-5, search.bytes, f"by {criterion}")
    if criterion in ("hard-threshold", "mle"):
        some = rows if rows.n_columns <= MOST_COLUMNS else _first(rows)
        solver: Any = "snapshot" if some.n_rows < some.n_columns else "covariance"
        seconds, size = estimate(solver, some, None)
        return PlannedStage(title, seconds, size, f"by {criterion}, from all singular values")
    some = _first(rows)
    told = f"by {criterion}" + (f", on {some.n_rows} rows" if some.n_rows < rows.n_rows else "")
    if criterion == "eigengap":
        return _together(title, settled._plan_stages(some), 1.0, 0.0, told)
    find: Any = perplexities if name == "perplexity" else neighbor_counts
    values, _ = find(settled, some.n_rows)
    widest = with_values(settled, {name: values[-1]}) if values else settled
    times = 1.0 + (WARM if settled._goes_on_warm else 1.0) * max(0, len(values) - 1)
    looking = 0.0 if criterion == "bic" else SCORED_PAIR * some.n_rows**2 * len(values)
    return _together(title, widest._plan_stages(some), times, looking, f"{told}, {len(values)} values")


def _first(rows: Rows) -> Rows:
    """As many rows as are tried."""
    return rows.select(np.arange(min(rows.n_rows, MOST_ROWS)))


def _together(title: str, stages: list[PlannedStage], times: float, more: float, told: str) -> PlannedStage:
    seconds = times * sum(stage.seconds for stage in stages) + more
    return PlannedStage(title, seconds, max((stage.bytes for stage in stages), default=0), told)
