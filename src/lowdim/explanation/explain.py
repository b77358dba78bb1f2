"""From a selection to its explanation: contrasts of features, and how the place in the picture hangs on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import named
from ..core.records import Floats
from ..core.rules import Real, Rule, Truth
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..validation import check_parameters
from .contrasts import Contrasts, contrast
from .record import Explanation
from .selecting import OWNER, check_selection
from .through_data import Slopes, slopes_through_data
from .through_map import slopes_through_map

_RULES: dict[str, Rule] = {"level": Real(0.0, high=1.0), "gradient": Truth()}


def explain_selection(
    model: Any,
    rows: Rows,
    selection: Any,
    *,
    against: Any,
    labels: Any,
    columns: Any,
    level: float,
    gradient: bool,
    pairwise: bool,
    run: Run,
) -> Explanation:
    """What `Estimator.explain` returns; ``pairwise``: the rows are no data of the fit, only columns."""
    check_parameters(OWNER, {"level": level, "gradient": gradient}, _RULES)
    inside, outside = _sides(selection, against, labels, rows.n_rows)
    names = _names(model, columns, rows.n_columns, pairwise)
    found = contrast(rows, inside, outside, 1.0 - level)
    X = np.asarray(model.embedding_, dtype=np.float64)
    apart = X[inside].mean(axis=0) - X[outside].mean(axis=0)
    distance = float(np.linalg.norm(apart))
    direction = apart / distance if distance > 0.0 else np.zeros(apart.size)
    slope, slopes, notes = _slopes(
        model, rows, X, inside, outside, direction, found, pairwise=pairwise, whole=gradient, run=run
    )
    adjoint = None if slopes is None else slopes.adjoint
    return Explanation(
        method=type(model).__name__,
        names=names,
        n_points=rows.n_rows,
        n_selected=found.inside.count,
        n_against=found.outside.count,
        level=float(level),
        mean=found.inside.mean,
        mean_against=found.outside.mean,
        deviation=found.deviation,
        effect=found.effect,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        q_value=found.q_value,
        distance=distance,
        direction=direction,
        shift=None if slope is None else slope * found.deviation,
        stretch=None if slopes is None or distance == 0.0 else slopes.stretched / distance,
        gradient=None if slopes is None else slopes.whole,
        damping=None if adjoint is None else adjoint.damping,
        steps=None if adjoint is None else adjoint.steps,
        residual=None if adjoint is None else adjoint.residual,
        notes=notes,
    )


def _sides(
    selection: Any, against: Any, labels: Any, n_rows: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    inside = check_selection("selection", selection, n_rows, labels)
    if against is None:
        return inside, ~inside
    outside = check_selection("against", against, n_rows, labels)
    both = int(np.count_nonzero(inside & outside))
    if both:
        raise InputError(
            f"{named('against', OWNER)} must hold other points than {named('selection')}; {both} are in both. Take "
            "them out of one."
        )
    return inside, outside


def _names(model: Any, columns: Any, width: int, pairwise: bool) -> tuple[str, ...]:
    """Names of the features: those given, those of the fit, or their numbers."""
    if columns is None and not pairwise:
        columns = getattr(model, "feature_names_in_", None)
    if columns is None:
        return tuple(map(str, range(width)))
    names = tuple(map(str, columns))
    if len(names) != width:
        raise InputError(
            f"{named('columns', OWNER)} must name each of the {width} features; got {len(names)} names. Give as many."
        )
    return names


def _slopes(
    model: Any,
    rows: Rows,
    X: Floats,
    inside: NDArray[np.bool_],
    outside: NDArray[np.bool_],
    direction: Floats,
    found: Contrasts,
    *,
    pairwise: bool,
    whole: bool,
    run: Run,
) -> tuple[Floats | None, Slopes | None, tuple[str, ...]]:
    """d distance / dY summed over the selected rows; all that the adjoint gives; and what is to be said of it."""
    if pairwise:
        note = "How places change with the features is not known: the model was fitted to a matrix between points."
        return None, None, (note,)
    if not direction.any():
        note = "How places change with the features is not known: both sides have one and the same centre."
        return None, None, (note,)
    if not hasattr(model, "_opened"):
        by_map, note = slopes_through_map(model, rows, inside, direction, found.deviation, run)
        return by_map, None, (note,)
    why = _no_adjoint(model)
    if not why:
        opened = model._opened(rows, run)
        group = np.arange(rows.n_rows)
        points, places, data = opened.points, X, rows
        if points.duplicates is not None:
            group, first = points.duplicates.group, points.duplicates.first
            places, data = X[first], rows.select(first)
        signs = inside / found.inside.count - outside / found.outside.count
        e = np.bincount(group, signs, places.shape[0])[:, None] * direction
        chosen = np.bincount(group, inside, places.shape[0]) > 0
        slopes, why = slopes_through_data(
            opened, np.ascontiguousarray(places), data, e, chosen, run, whole=whole
        )
        if slopes is not None:
            return slopes.over_selected, slopes, _told(slopes)
    by_map, note = slopes_through_map(model, rows, inside, direction, found.deviation, run)
    return by_map, None, (f"The gradient with respect to the data is not known: {why}.", note)


def _no_adjoint(model: Any) -> str:
    """Why there is no adjoint solve for a neighbour embedding; empty where there is one."""
    if not (model._reopens and model._pushes_alike):
        return f"the curvature of {type(model).__name__} is not summed"
    if getattr(model, "objective", None) == "faithful":
        return (
            "the step of objective='faithful' is the gradient of no function; objective='symmetric' has one"
        )
    if any(stage.name == "targets" for stage in model.report_.stages):
        return "the model was fitted to targets too, and does not keep them"
    if getattr(model.map_, "density", None) is not None:
        return "a term for densities holds the points too"
    if not isinstance(model.metric, str) or model.metric != "euclidean":
        return "slopes of distances are known of the Euclidean metric alone"
    return ""


def _told(slopes: Slopes) -> tuple[str, ...]:
    adjoint = slopes.adjoint
    if adjoint.damping == 0.0:
        return ()
    note = (
        f"The picture is not at rest (gradient {adjoint.restlessness:.1g} of the pull), and its curvature may be "
        f"negative along some moves. The solve ties neighbours by {100 * adjoint.damping:g} % more: shift and stretch "
        "are those of such a picture; compare features with each other, not with a refit."
    )
    return (note,)
