"""The distances that a picture should have, and what each counts: rows of data, a matrix, weights of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ... import validation
from ...core.messages import DATA, named, shape
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from ...errors import DisconnectedError, InputError
from ...neighbors.metrics import resolve_metric
from ...neighbors.pairwise import pairwise_distances


def targets_of(rows: Rows, metric: Any, run: Run) -> Floats:
    """Distances between all rows, -1 where a matrix that was given has none."""
    if metric != "precomputed":
        distances = pairwise_distances(rows, rows, resolve_metric(metric, rows=rows), run)
        np.fill_diagonal(distances, 0.0)
        return distances
    given = np.array(rows.block(slice(None)), dtype=np.float64)
    given[np.isnan(given)] = -1.0
    return given


def check_tied(targets: Floats, weights: Floats | None, *, are_pivots: bool = False) -> None:
    """Raise a DisconnectedError where the pairs that count leave the points, or the pivots, in several groups."""
    if weights is None and targets.min() >= 0.0:
        return
    counts = targets >= 0.0 if weights is None else (targets >= 0.0) & (weights > 0.0)
    groups, labels = connected_components(counts, directed=False)
    if groups > 1:
        smallest = int(np.bincount(labels).min())
        what, remedy = ("pivots", f"raise {named('pivots')}") if are_pivots else ("points", "fit each alone")
        raise DisconnectedError(
            f"The distances that are there, and whose weight is above 0, tie the {targets.shape[0]} {what} into "
            f"{groups} groups, the smallest of {smallest}, between which nothing is known. Give distances between "
            f"them, or {remedy}."
        )


def power_weights(targets: Floats, power: float, run: Run) -> tuple[Floats, float]:
    """w = t^p, and the unit that it is in: that of the smallest target above 0.

    Where p is negative that one stands for those that are 0.
    """
    above = targets[targets > 0.0]
    smallest = float(above.min(initial=np.inf)) if above.size else 1.0
    if power < 0.0 and (zeros := int(np.sum(targets == 0.0)) - targets.shape[0]) > 0:
        run.chosen(
            f"weight of {zeros // 2} distances that are 0",
            f"that of {smallest:.3g}",
            "the smallest that is not: theirs would be without bound",
        )
    # Ratios alone count; so the powers of very small and very large distances are numbers too.
    return np.maximum(targets / smallest, 1.0 if power < 0.0 else 0.0) ** power, smallest**power


def given_weights(weights: Any, n_rows: int) -> Floats:
    """Weights of all pairs that the user gave, checked."""
    table = validation.check_block(weights, named("weights"), at_least=1)
    if table.shape != (n_rows, n_rows):
        raise InputError(
            f"{named('weights')} must be a power of the distances, or a matrix with a row and a column for each row of "
            f"{DATA}, {shape((n_rows, n_rows))}; got {shape(table.shape)}. Leave it out to count all pairs alike."
        )
    values = np.array(table.block(slice(None)), dtype=np.float64)
    if (lowest := float(values.min())) < 0.0:
        raise InputError(
            f"{named('weights')} must be >= 0, 0 for pairs that do not count; its smallest entry is {lowest:g}."
        )
    validation.check_symmetric(values, what="weights", name=named("weights"))
    return values
