"""Names of classes on the map itself: at the median of each class, or as near to it as no other name stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers
from .colours import Colouring, short_name

MOST_NAMES = 300
"""Names that a picture can hold; more would cover the points that they explain."""
_RINGS = 30
_FEW_RINGS = 5
"""Where names are left out anyway: long lines from names to medians would only cover the map."""
_DIRECTIONS = 16
_GAP = 2.0
_SMALLEST = 4.5
_LARGEST = 11.0

Frame = tuple[float, float, float, float]
"""Left, right, bottom and top in pixels."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels by its middle and its half sides."""

    x: float
    y: float
    across: float
    up: float


def write_names(axes: Any, points: Floats, tints: Colouring) -> int:
    """Write the names on axes whose layout is settled; the number of names that are not there.

    Larger classes are placed first, and at most 300 are tried. A name that had to step aside has a thin line to its
    median. What is missing has no name.
    """
    from matplotlib.patheffects import withStroke

    if tints.codes is None:
        return 0
    medians, order = class_medians(points, tints.codes, len(tints.classes))
    wanted = [code for code in order if not tints.classes[code].is_missing]
    tried = wanted[:MOST_NAMES]
    size = float(np.clip(34.0 / np.sqrt(max(len(tried), 1)) + 3.5, _SMALLEST, _LARGEST))
    texts = [_text(axes, short_name(tints.classes[code].name), size) for code in tried]
    renderer = axes.figure.canvas.get_renderer()
    shapes = [text.get_window_extent(renderer) for text in texts]
    places = axes.transData.transform(medians)
    boxes = [
        Box(places[code, 0], places[code, 1], shape.width / 2 + _GAP, shape.height / 2 + _GAP)
        for code, shape in zip(tried, shapes, strict=True)
    ]
    frame = axes.get_window_extent(renderer)
    rings = _RINGS if len(tried) == len(wanted) else _FEW_RINGS
    found = place_boxes(boxes, (frame.x0, frame.x1, frame.y0, frame.y1), rings)
    to_data = axes.transData.inverted()
    halo = [withStroke(linewidth=2.6, foreground="white", alpha=0.95)]
    for code, text, box, place in zip(tried, texts, boxes, found, strict=True):
        if place is None:
            text.remove()
            continue
        colour = _darkened(tints.classes[code].colour)
        text.set_position(to_data.transform((place.x, place.y)))
        text.set(color=colour, path_effects=halo, zorder=6)
        if abs(place.x - box.x) > box.across or abs(place.y - box.y) > box.up:
            line = to_data.transform([(box.x, box.y), (place.x, place.y)])
            axes.plot(*line.T, color=colour, linewidth=0.6, zorder=5, scalex=False, scaley=False)
    return len(wanted) - sum(place is not None for place in found)


def class_medians(points: Floats, codes: Integers, n_classes: int) -> tuple[Floats, list[int]]:
    """Median of each class, coordinate by coordinate, and the classes from the largest to the smallest.

    One sort of all points for each coordinate, whatever the number of classes; every class has a point.
    """
    counts = np.bincount(codes, minlength=n_classes)
    starts = np.cumsum(counts) - counts
    middles = starts + (counts - 1) // 2, starts + counts // 2
    medians = np.empty((n_classes, 2))
    for axis in range(2):
        values = points[np.lexsort((points[:, axis], codes)), axis]
        medians[:, axis] = (values[middles[0]] + values[middles[1]]) / 2.0
    return medians, np.argsort(-counts, kind="stable").tolist()


def place_boxes(boxes: list[Box], frame: Frame, rings: int = _RINGS) -> list[Box | None]:
    """Where each box can stand inside the frame and clear of those before it.

    It is tried at its own place, then on so many rings around it; None where there is no room. Pixels that are
    taken are marked, so that a try looks at the pixels of its own box only, however many boxes there are.
    """
    taken = np.zeros((_pixels(frame[3] - frame[2]), _pixels(frame[1] - frame[0])), dtype=np.bool_)
    placed: list[Box | None] = []
    for box in boxes:
        at = _first_free(_tries(box, frame, rings), box, frame, taken)
        placed.append(at)
        if at is not None:
            taken[_covered(at.x, at.y, box, frame)] = True
    return placed


def _pixels(length: float) -> int:
    return int(np.ceil(length)) + 1


def _covered(x: float, y: float, box: Box, frame: Frame) -> tuple[slice, slice]:
    """Lines and columns of pixels that a box at this place touches."""
    left, bottom = x - box.across - frame[0], y - box.up - frame[2]
    return (
        slice(max(0, int(np.floor(bottom))), int(np.ceil(bottom + 2 * box.up))),
        slice(max(0, int(np.floor(left))), int(np.ceil(left + 2 * box.across))),
    )


def _tries(box: Box, frame: Frame, rings: int) -> Floats:
    """Places to try, the nearest first, all such that the box lies in the frame."""
    angle = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    far = np.repeat(np.arange(1, rings + 1), _DIRECTIONS) * 1.1
    angles = np.tile(angle, rings)
    around = np.column_stack([far * np.cos(angles), far * np.sin(angles)]) * [
        (box.across + box.up) / 2,
        box.up,
    ]
    tries = np.vstack([[box.x, box.y], np.array([box.x, box.y]) + around])
    low = np.array([frame[0] + box.across, frame[2] + box.up])
    high = np.array([frame[1] - box.across, frame[3] - box.up])
    within: Floats = np.clip(tries, low, np.maximum(low, high))
    return within


def _first_free(tries: Floats, box: Box, frame: Frame, taken: NDArray[np.bool_]) -> Box | None:
    for x, y in tries.tolist():
        if not taken[_covered(x, y, box, frame)].any():
            return Box(x, y, box.across, box.up)
    return None


def _text(axes: Any, name: str, size: float) -> Any:
    return axes.text(0.0, 0.0, name, fontsize=size, fontweight="bold", ha="center", va="center")


def _darkened(colour: tuple[float, float, float]) -> tuple[float, ...]:
    """The colour of a class, dark enough to be read on white and on its own points."""
    brightness = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return tuple(channel * min(0.75, 0.22 / max(brightness, 1e-9)) for channel in colour)
