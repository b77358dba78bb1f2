"""Colours for labels: distinct ones for classes, a colour scale for quantities.

Up to ten classes get the colours of Petroff 2021, chosen for all common kinds of colour vision. More classes are told
apart by hue and lightness together, as evenly as the OKLCH space (Ottosson 2020) allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records import Floats, Integers

_PETROFF = (
    0x3F90DA,
    0xFFA90E,
    0xBD1F01,
    0x94A4A2,
    0x832DB6,
    0xA96B59,
    0xE76300,
    0xB9AC70,
    0x717581,
    0x92DADD,
)
_MOST_CLASSES = 256
_LONGEST_NAME = 24
PLAIN = (0.25, 0.36, 0.52)
"""Of points without labels."""
MISSING = (0.8, 0.8, 0.8)
"""Of points whose quantity is not known."""
_SCALE = "viridis"


@dataclass(frozen=True, slots=True)
class Colouring:
    """A colour for each point (N x 3), and what explains them: named ``classes`` or the ``limits`` of a scale.

    ``codes`` is the place among the classes of each point.
    """

    colours: Floats
    classes: tuple[tuple[str, tuple[float, float, float]], ...] = ()
    limits: tuple[float, float] | None = None
    scale: str = _SCALE
    codes: Integers | None = None


def colouring(
    labels: NDArray[Any] | None, n_points: int, *, continuous: bool | None, scale: str | None
) -> Colouring:
    """Colours for ``labels``; whole numbers and names are classes, other numbers and many values a scale."""
    if labels is None:
        return Colouring(np.tile(PLAIN, (n_points, 1)))
    if labels.shape != (n_points,):
        raise InputError(f"labels: needs one for each of the {n_points} points, got shape {labels.shape}")
    if is_continuous(labels) if continuous is None else continuous:
        return _scaled(labels.astype(np.float64), scale or _SCALE)
    return _classed(labels)


def is_continuous(labels: NDArray[Any]) -> bool:
    """Whether the labels read as a quantity: fractions, or more whole numbers than a legend can hold."""
    if labels.dtype.kind not in "iuf":
        return False
    finite = labels[np.isfinite(labels)]
    whole = labels.dtype.kind in "iu" or bool(np.all(finite == np.round(finite)))
    return not whole or np.unique(finite).size > _MOST_CLASSES


def palette(count: int) -> Floats:
    """That many distinct colours (count x 3)."""
    if count <= len(_PETROFF):
        return np.array([[(code >> shift & 255) / 255 for shift in (16, 8, 0)] for code in _PETROFF[:count]])
    order = np.arange(count)
    hue = 2.0 * np.pi * order * (np.sqrt(5.0) - 1.0) / 2.0
    lightness = np.array([0.62, 0.80, 0.44])[order % 3]
    chroma = np.array([0.15, 0.11, 0.12])[order % 3]
    return _oklab_to_rgb(np.column_stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)]))


def _oklab_to_rgb(lab: Floats) -> Floats:
    """sRGB of OKLAB colours, clipped into the gamut (Ottosson 2020)."""
    to_cone = np.array(
        [
            [1.0, 0.3963377774, 0.2158037573],
            [1.0, -0.1055613458, -0.0638541728],
            [1.0, -0.0894841775, -1.2914855480],
        ]
    )
    to_linear = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip((lab @ to_cone.T) ** 3 @ to_linear.T, 0.0, 1.0)
    encoded: Floats = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return encoded


def classes_of(labels: NDArray[Any]) -> tuple[list[str], Integers]:
    """Names of the classes, in order, and the class of each point; numbers are in order however they are written.

    What is missing (None, NaN) is a class with an empty name.
    """
    if labels.dtype.kind == "O":
        labels = np.array(["" if _is_missing(value) else str(value) for value in labels], dtype=np.str_)
    values, codes = np.unique(labels, return_inverse=True)
    names = [_written(value) for value in values]
    order = sorted(range(len(names)), key=lambda place: _rank(names[place], place))
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return [names[place] for place in order], places[codes]


def scale_colours(places: Floats, scale: str | None) -> Floats:
    """Colours of a scale at places from 0 to 1."""
    from matplotlib import colormaps

    found: Floats = colormaps[scale or _SCALE](places)[:, :3]
    return found


def hexadecimal(colours: Floats) -> list[str]:
    """Colours as browsers write them."""
    return ["#" + bytes(row).hex() for row in np.round(colours * 255).astype(np.uint8)]


def short_name(name: str) -> str:
    """A name that fits a legend."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _classed(labels: NDArray[Any]) -> Colouring:
    names, codes = classes_of(labels)
    colours = palette(len(names))
    classes = tuple(
        (short_name(name) or "(empty)", (float(r), float(g), float(b)))
        for name, (r, g, b) in zip(names, colours, strict=True)
    )
    return Colouring(colours[codes], classes, codes=codes)


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)


def _written(value: Any) -> str:
    if isinstance(value, np.floating):
        return "" if np.isnan(value) else f"{value:g}"
    return str(value)


def _rank(name: str, place: int) -> tuple[bool, float, int]:
    """Numbers first and by value, the rest as they come."""
    try:
        value = float(name)
    except ValueError:
        return True, 0.0, place
    return False, value, place


def _scaled(values: Floats, scale: str) -> Colouring:
    known = np.isfinite(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 1.0)
    colours = np.tile(MISSING, (values.size, 1))
    span = high - low if high > low else 1.0
    colours[known] = scale_colours((values[known] - low) / span, scale)
    return Colouring(colours, limits=(float(low), float(low + span)), scale=scale)
