"""Names of classes on the map itself: at the median of each class, or as near to it as no other name stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..records import Floats, Integers
from .colours import Colouring

_RINGS = 30
_DIRECTIONS = 16
_GAP = 2.0
_SMALLEST = 4.5
_LARGEST = 9.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels by its middle and its half sides."""

    x: float
    y: float
    across: float
    up: float


def write_names(axes: Any, points: Floats, tints: Colouring) -> int:
    """Write the names on axes whose layout is settled; the number of names that found no room.

    Larger classes are placed first. A name that had to step aside has a thin line to its median.
    """
    from matplotlib.patheffects import withStroke

    if tints.codes is None:
        return 0
    size = float(np.clip(34.0 / np.sqrt(len(tints.classes)) + 3.5, _SMALLEST, _LARGEST))
    medians, order = class_medians(points, tints.codes, len(tints.classes))
    texts = [
        axes.text(0.0, 0.0, name, fontsize=size, fontweight="bold", ha="center", va="center")
        for name, _ in tints.classes
    ]
    renderer = axes.figure.canvas.get_renderer()
    shapes = [text.get_window_extent(renderer) for text in texts]
    wanted = axes.transData.transform(medians)
    boxes = [
        Box(wanted[c, 0], wanted[c, 1], shapes[c].width / 2 + _GAP, shapes[c].height / 2 + _GAP)
        for c in order
    ]
    frame = axes.get_window_extent(renderer)
    found = place_boxes(boxes, (frame.x0, frame.x1, frame.y0, frame.y1))
    to_data = axes.transData.inverted()
    halo = [withStroke(linewidth=2.0, foreground="white", alpha=0.9)]
    for code, box, place in zip(order, boxes, found, strict=True):
        text = texts[code]
        if place is None:
            text.remove()
            continue
        text.set_position(to_data.transform((place.x, place.y)))
        text.set(color=_darkened(tints.classes[code][1]), path_effects=halo, zorder=6)
        if abs(place.x - box.x) > box.across or abs(place.y - box.y) > box.up:
            line = to_data.transform([(box.x, box.y), (place.x, place.y)])
            axes.plot(
                *line.T,
                color=_darkened(tints.classes[code][1]),
                linewidth=0.6,
                zorder=5,
                scalex=False,
                scaley=False,
            )
    return sum(place is None for place in found)


def class_medians(points: Floats, codes: Integers, n_classes: int) -> tuple[Floats, list[int]]:
    """Median of each class, coordinate by coordinate, and the classes from the largest to the smallest."""
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=n_classes)
    groups = np.split(points[by_class, :2], np.cumsum(counts)[:-1])
    return np.stack([np.median(group, axis=0) for group in groups]), np.argsort(
        -counts, kind="stable"
    ).tolist()


def place_boxes(boxes: list[Box], frame: tuple[float, float, float, float]) -> list[Box | None]:
    """Where each box can stand inside the frame (left, right, bottom, top) and clear of those before it.

    It is tried at its own place, then on rings around it; None where there is no room.
    """
    taken = np.empty((0, 4))
    placed: list[Box | None] = []
    for box in boxes:
        at = _first_free(_tries(box, frame), box, taken)
        placed.append(None if at is None else Box(*at, box.across, box.up))
        if at is not None:
            taken = np.vstack([taken, [*at, box.across, box.up]])
    return placed


def _tries(box: Box, frame: tuple[float, float, float, float]) -> Floats:
    """Places to try, the nearest first, all such that the box lies in the frame."""
    angle = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    rings = np.repeat(np.arange(1, _RINGS + 1), _DIRECTIONS) * 1.1
    angles = np.tile(angle, _RINGS)
    around = np.column_stack([rings * np.cos(angles), rings * np.sin(angles)]) * [
        (box.across + box.up) / 2,
        box.up,
    ]
    tries = np.vstack([[box.x, box.y], np.array([box.x, box.y]) + around])
    low = np.array([frame[0] + box.across, frame[2] + box.up])
    high = np.array([frame[1] - box.across, frame[3] - box.up])
    within: Floats = np.clip(tries, low, np.maximum(low, high))
    return within


def _first_free(tries: Floats, box: Box, taken: Floats) -> tuple[float, float] | None:
    needed: Floats = np.array([box.across, box.up]) + taken[None, :, 2:]
    apart: Floats = np.abs(tries[:, None, :] - taken[None, :, :2]) - needed
    free = np.flatnonzero(np.all(apart.max(axis=2) >= 0.0, axis=1))
    return (float(tries[free[0], 0]), float(tries[free[0], 1])) if free.size else None


def _darkened(colour: tuple[float, float, float]) -> tuple[float, ...]:
    """The colour of a class, dark enough to be read on white."""
    brightness = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return tuple(channel * min(1.0, 0.42 / max(brightness, 1e-9)) for channel in colour)
