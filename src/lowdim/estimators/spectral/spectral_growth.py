"""How a spectral embedding takes in more rows: by landmarks they are placed, exactly it is solved again.

Eigenvectors of more rows are others, and each is free in its sign: a new solution is turned so that every coordinate
points as it did. Landmarks carry all rows, and what they carry does not change with their number: nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...maps.turning import rows_of, turned
from ...methods.base import Embedded
from ...neighbors.growth import stacked
from ..shifts import describe_shift

Solve = Callable[[Rows, Run], Embedded]


def is_by_landmarks(model: Any) -> bool:
    """Whether a fitted model rests on landmarks."""
    return hasattr(model, "certificate_")


def grown(solve: Solve, before: Any, added: Rows, run: Run) -> Embedded:
    """More rows: placed, or all solved for."""
    if is_by_landmarks(before):
        placed = run.stage("place", before.map_.transform, added)
        coordinates = np.concatenate([before.embedding_.astype(np.float64), placed])
        return _as_it_was(before, coordinates, {"rows_added": added.n_rows})
    everything = stacked(_held(before), added)
    old = before.embedding_.astype(np.float64)
    return _aligned(solve(everything, run), old, {"rows_added": added.n_rows})


def shrunk(solve: Solve, before: Any, kept: Integers, run: Run) -> Embedded:
    """Fewer rows: the others left where they are, or solved for."""
    gone = before.embedding_.shape[0] - kept.size
    old = before.embedding_[kept].astype(np.float64)
    if is_by_landmarks(before):
        return _as_it_was(before, old, {"rows_removed": gone})
    return _aligned(solve(_held(before).select(kept), run), old, {"rows_removed": gone})


def _held(model: Any) -> Rows:
    """The rows of a fit, from its map."""
    name = type(model).__name__
    if model.__sklearn_tags__().input_tags.pairwise:
        raise InputError(
            f"This {name} was fitted to a matrix between points, of which rows of new points alone are only a part. "
            "Fit again to the matrix of all points."
        )
    rows = rows_of(model.map_)
    if rows is None or rows.n_rows != model.embedding_.shape[0]:
        there = 0 if rows is None else rows.n_rows
        raise InputError(
            f"This {name} holds {there} of its {model.embedding_.shape[0]} rows, and it can only be solved again for "
            "all of them: equal rows are held once, and some maps hold none. Fit again to all rows."
        )
    return rows


def _as_it_was(before: Any, coordinates: Floats, figures: dict[str, Any]) -> Embedded:
    """The same map and landmarks with other rows."""
    attributes = {name: vars(before)[name] for name in ("eigenvalues_",) if name in vars(before)}
    return Embedded(
        coordinates,
        before.map_,
        attributes=attributes,
        figures=figures | {"median_shift": 0.0},
        certificate=before.certificate_,
    )


def _aligned(embedded: Embedded, old: Floats, figures: dict[str, Any]) -> Embedded:
    """The new solution with its coordinates pointing as the old ones did, where its map can be turned with them."""
    new = embedded.coordinates
    together = ((old - old.mean(axis=0)) * (new[: len(old)] - new[: len(old)].mean(axis=0))).sum(axis=0)
    signs = np.where(together < 0, -1.0, 1.0)
    map_ = turned(embedded.map, signs) if "preimage_" not in embedded.attributes else None
    if map_ is not None:
        embedded = replace(embedded, coordinates=new * signs, map=map_)
    return replace(
        embedded,
        figures=dict(embedded.figures)
        | figures
        | describe_shift(old, np.asarray(embedded.coordinates[: len(old)])),
    )
