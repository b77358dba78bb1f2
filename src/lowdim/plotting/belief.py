"""What `lowdim.trust` found, on a picture: points that are not to be believed in grey, ellipses of the local metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.records import Floats, Integers
from ..errors import InputError
from ..reliability.record import Trust
from .colours import Colouring
from .drawing import TEXT
from .labels import Columns, Labels
from .palette import MISSING
from .thumbnails import spread_out

MOST = 150
"""Ellipses of a picture."""
SPACE = 0.035
"""Room of an ellipse, as a share of the width of the axes."""
LONGEST = 2.0
"""Lengths of a usual half axis beyond which one is cut, lest it crosses the picture."""


def check_trust(trust: Trust | None, n_points: int) -> None:
    """Raise an InputError where the record is of other points."""
    if trust is None:
        return
    if not isinstance(trust, Trust):
        raise InputError(
            f"trust must be what lowdim.trust returns; got {type(trust).__name__}. Give lowdim.trust(X, embedding)."
        )
    if trust.n_points != n_points:
        raise InputError(
            f"trust must be of the points of the embedding; it has {trust.n_points} and the embedding {n_points}. Give "
            "that of this embedding."
        )


def beside(labels: Labels, columns: Columns, trust: Trust | None) -> Columns:
    """Where labels are looked for by name: among what was found, or else among the columns that were given."""
    is_found = trust is not None and isinstance(labels, str) and labels in trust.column_names
    return trust if is_found else columns


def without_doubtful(tints: Colouring, trust: Trust) -> Colouring:
    """The colours, and those of what is not to be believed grey and below the others."""
    doubtful = trust.doubtful
    colours = np.where(doubtful[:, None], np.asarray(MISSING), tints.colours)
    missing = doubtful if tints.missing is None else doubtful | tints.missing
    return replace(tints, colours=colours, missing=missing)


def draw_ellipses(axes: Any, points: Floats, trust: Trust | None) -> int:
    """What the map makes of balls of one size, where they do not cover each other; how many were drawn.

    The size is such that a usual ball fills the room that an ellipse has.
    """
    from matplotlib.collections import EllipseCollection

    if trust is None or trust.dual is None or points.shape[1] != 2 or trust.dual.shape[1] != 2:
        raise InputError(
            "ellipses need a picture of two dimensions, and trust, which knows the metric at its points. Give "
            "trust=lowdim.trust(X, embedding), or leave ellipses out."
        )
    axes.figure.draw_without_rendering()
    places = axes.transData.transform(points)
    known = np.flatnonzero(np.isfinite(trust.dual).all(axis=(1, 2)))
    chosen: Integers = known[spread_out(places[known], SPACE * axes.get_window_extent().width, MOST)]
    values, vectors = np.linalg.eigh(trust.dual[chosen])
    lengths = np.sqrt(np.maximum(values, 0.0))
    usual = float(np.median(np.sqrt(lengths.prod(axis=1)))) or 1.0
    left, right = axes.get_xlim()
    scale = 0.4 * SPACE * (right - left) / usual
    lengths = np.minimum(lengths, LONGEST * usual)
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    axes.add_collection(
        EllipseCollection(
            2.0 * scale * lengths[:, 1],
            2.0 * scale * lengths[:, 0],
            angles,
            units="xy",
            offsets=points[chosen],
            offset_transform=axes.transData,
            facecolors="none",
            edgecolors=TEXT,
            linewidths=0.7,
        )
    )
    return int(chosen.size)
