"""Colours and shapes for classes, such that no two of a thousand classes look the same.

The first ten are the colours of Petroff 2021, chosen for all common kinds of colour vision. Those after them are each
as far as can be from all before, in the OKLAB space (Ottosson 2020), in which distances are those that people see.
After 48 the nearest two would be about as close as Petroff's own nearest two; from there on the colours come again,
darker and with another shape.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..core.records import Floats, Integers

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
MISSING = (0.8, 0.8, 0.8)
"""Of points whose class or quantity is not known."""
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
"""As Matplotlib calls them; the page draws the same in the same order."""
N_COLOURS = 48
"""As many as can be told apart: the nearest two are 0.10 apart in OKLAB, Petroff's own nearest two 0.09."""
_LEVELS = 16
_LIGHTNESS = (0.32, 0.87)
"""Darker colours look like black, lighter ones cannot be seen on white."""
_DARKEST = 0.5


def palette(count: int) -> Floats:
    """Colours of so many classes (count x 3); those of fewer classes are the first of more."""
    place = np.arange(count)
    rounds = place // N_COLOURS
    shades = 1.0 - _DARKEST * _halved(rounds)
    coloured: Floats = _distinct()[place % N_COLOURS] * shades[:, None]
    return coloured


def shapes(count: int) -> Integers:
    """The place among `SHAPES` of each of so many classes: circles as long as the colours suffice."""
    return np.arange(count) // N_COLOURS % len(SHAPES)


@cache
def _distinct() -> Floats:
    """Petroff's colours, then of a grid of colours always the one that is farthest from all before, white and grey."""
    known = np.array([[(code >> shift & 255) / 255 for shift in (16, 8, 0)] for code in _PETROFF])
    levels = np.linspace(0.0, 1.0, _LEVELS)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    places = to_oklab(grid)
    usable = (places[:, 0] > _LIGHTNESS[0]) & (places[:, 0] < _LIGHTNESS[1])
    grid, places = grid[usable], places[usable]
    taken = to_oklab(np.vstack([known, [(1.0, 1.0, 1.0), MISSING]]))
    nearest = np.linalg.norm(places[:, None] - taken[None], axis=2).min(axis=1)
    chosen = []
    for _ in range(N_COLOURS - len(known)):
        farthest = int(nearest.argmax())
        chosen.append(grid[farthest])
        nearest = np.minimum(nearest, np.linalg.norm(places - places[farthest], axis=1))
    return np.vstack([known, *chosen])


def to_oklab(colours: Floats) -> Floats:
    """OKLAB of sRGB colours (Ottosson 2020)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
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
    found: Floats = np.cbrt(linear @ to_cone.T) @ to_lab.T
    return found


def _halved(places: Integers) -> Floats:
    """0, 1/2, 1/4, 3/4, 1/8, ...: numbers in [0, 1) that differ however many there are (van der Corput 1935)."""
    found, left, step = np.zeros(places.size), places.copy(), 0.5
    while left.any():
        found += step * (left % 2)
        left, step = left // 2, step / 2.0
    return found
