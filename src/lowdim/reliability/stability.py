"""Where is the map torn? What a point's place is worth, by its curvature and by placing it again.

At a minimum a point rests where its block of the Hessian is positive: the smaller the least eigenvalue, the farther a
small change of the data moves it (singularity). Where two places are nearly as good, a small move of its row sends it
from the one to the other (perturbation). Both are those of the leave-one-out map (Liu, Ma & Zhong, Nature
Communications 2025): all other points stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run, Workers
from ..core.streams import Streams
from ..data.rows import Rows
from ..maps.fixed_embedding import FixedEmbeddingMap
from .lists import Lists
from .models import Reopened
from .placing import placed_by_map, placed_without
from .spectral_axes import Axis, axes_of

PAIRS, SLOW_PAIRS = 2e10, 2e9
"""Pairs that are summed for the curvature at most: of kernels with code of their own, and of others."""


@dataclass(frozen=True, slots=True)
class Stability:
    """Scores of the points looked at, None where they cannot be had; the axes of spectral methods; and why."""

    singularity: Floats | None = None
    perturbation: Floats | None = None
    axes: tuple[Axis, ...] = ()
    notes: tuple[str, ...] = ()


def measure_stability(
    model: Any,
    rows: Rows,
    points: Floats,
    lists: Lists,
    ks: tuple[int, ...],
    move: float,
    is_same_metric: bool,
    run: Run,
) -> Stability:
    """What the model can say of the places of its points; ``move`` in usual distances to the first of the ``ks``.

    ``is_same_metric``: the lists are by the metric of the model.
    """
    if not getattr(model, "_reopens", False):
        note = (
            f"Singularity does not apply to {type(model).__name__}: its points are not placed by an objective that "
            "adds up over pairs, whose curvature at a point could be taken."
        )
        moved, why = placed_by_map(model, rows, points, lists, ks, move)
        return Stability(None, moved, axes_of(model), (note, *why))
    if any(stage.name == "targets" for stage in model.report_.stages):
        note = "Stability is not known: the model was fitted to targets too, and does not keep them."
        return Stability(notes=(note,))
    if getattr(model.map_, "density", None) is not None:
        note = "Stability is not known: a term for densities holds the points too, and its curvature is not summed."
        return Stability(notes=(note,))
    seed = model.random_state if isinstance(model.random_state, int | np.integer) else 0
    # As in the fit: the same draws where its neighbours are found by draws.
    again = Run(workers=Workers(run.n_jobs), streams=Streams(seed))
    known = lists.without_copies() if is_same_metric and model._pushes_alike else None
    checked = model._check_input(rows.values, reset=False)
    opened: Reopened = model._reopened(checked, again, known, lists.index)
    copies = opened.points.duplicates
    places = np.ascontiguousarray(points if copies is None else points[copies.first], dtype=np.float64)
    own = lists.rows if copies is None else copies.group[lists.rows]
    singular, why_singular = singularity(opened, places, own)
    map_: FixedEmbeddingMap = model.map_
    if model._pushes_alike:
        moved, why = placed_without(opened, map_, rows, lists, own, ks, move, run)
    else:
        moved, why = placed_by_map(model, rows, points, lists, ks, move)
    return Stability(singular, moved, (), (*why_singular, *why))


def singularity(opened: Reopened, places: Floats, own: Integers) -> tuple[Floats | None, tuple[str, ...]]:
    """1 / lambda_min of each point's block over the median, infinite where lambda_min <= 0: no place to rest."""
    objective = opened.objective
    most = PAIRS if objective.kernel.has_code else SLOW_PAIRS
    different = np.unique(own)
    count = max(1, int(most / places.shape[0]))
    notes: tuple[str, ...] = ()
    if different.size > count:
        different = different[np.linspace(0, different.size - 1, count).astype(np.int64)]
        notes = (f"Singularity was measured of {count:,} points: all pairs would be too many.",)
    least = np.full(places.shape[0], np.nan)
    least[different] = np.linalg.eigvalsh(objective.blocks(places, different))[:, 0]
    found = np.where(
        least > 0, 1.0 / np.where(least > 0, least, 1.0), np.where(np.isnan(least), np.nan, np.inf)
    )
    stable = found[np.isfinite(found)]
    middle = float(np.median(stable)) if stable.size else 1.0
    return found[own] / middle, notes
