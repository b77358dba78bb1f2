"""Colours and shapes for classes, such that no two of a thousand classes look the same.

A hundred colours for a light ground and a hundred for a dark one, each with a contrast of at least 3:1 to it and as far
as can be from all before (Glasbey et al. 2007) in the OKLAB space (Ottosson 2020), in which distances are those that
people see. The first ten are also told apart without red or green. No class is grey: grey is what is missing.
The table was made by ``tools/make_palette.py``. After a hundred the colours come again with another shape.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..core.records import Floats, Integers
from .palette_table import DARK, LIGHT, VIRIDIS

Colour = tuple[float, float, float]

LIGHT_GROUND: Colour = (1.0, 1.0, 1.0)
DARK_GROUND: Colour = (21 / 255, 24 / 255, 29 / 255)
"""As ``--paper`` of the pages."""
MISSING: Colour = (0.8, 0.8, 0.8)
"""Of points whose class or quantity is not known."""
DARK_MISSING: Colour = (0.28, 0.28, 0.28)
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
"""As Matplotlib calls them; the page draws the same in the same order."""
N_COLOURS = 100
_TOWARDS = 0.5
"""How far colours go towards black, or on a dark ground white, where even shapes come again."""


def palette(count: int, *, dark: bool = False) -> Floats:
    """Colours of so many classes (count x 3); those of fewer classes are the first of more."""
    place = np.arange(count)
    steps = _TOWARDS * _halved(place // (N_COLOURS * len(SHAPES)))[:, None]
    found: Floats = _table(DARK if dark else LIGHT)[place % N_COLOURS] * (1.0 - steps) + (
        steps if dark else 0.0
    )
    return found


def viridis(places: Floats) -> Floats:
    """The colours of the scale of quantities at places from 0 to 1."""
    table = _table(VIRIDIS)
    return table[np.minimum((places * len(table)).astype(np.int64), len(table) - 1)]


def shapes(count: int) -> Integers:
    """The place among `SHAPES` of each of so many classes: circles as long as the colours suffice."""
    return np.arange(count) // N_COLOURS % len(SHAPES)


def contrast(colours: Floats, ground: Colour) -> Floats:
    """Contrast of colours (N x 3) to a ground, from 1 to 21 (WCAG 2.2)."""
    bright, base = _luminance(colours), _luminance(np.array([ground]))[0]
    found: Floats = (np.maximum(bright, base) + 0.05) / (np.minimum(bright, base) + 0.05)
    return found


def to_oklab(colours: Floats) -> Floats:
    """OKLAB of sRGB colours (Ottosson 2020)."""
    to_cone = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    found: Floats = np.cbrt(_linear(colours) @ to_cone.T) @ to_lab.T
    return found


@cache
def _table(codes: str) -> Floats:
    return np.array([list(bytes.fromhex(code)) for code in codes.split()]) / 255.0


def _linear(colours: Floats) -> Floats:
    found: Floats = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return found


def _luminance(colours: Floats) -> Floats:
    found: Floats = _linear(colours) @ np.array([0.2126, 0.7152, 0.0722])
    return found


def _halved(places: Integers) -> Floats:
    """0, 1/2, 1/4, 3/4, 1/8, ...: numbers in [0, 1) that differ however many there are (van der Corput 1935)."""
    found, left, step = np.zeros(places.size), places.copy(), 0.5
    while left.any():
        found += step * (left % 2)
        left, step = left // 2, step / 2.0
    return found
