"""Very many points as a picture of their density, in which classes and quantities keep their colours.

One count per pixel by `numpy.bincount`, and the sums of what colours it: four passes over the points, whatever the
number of classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve

from ..core.records import Floats, Integers
from .colours import Colouring

_FAINTEST = 0.4
_SPREAD = np.array([[0.5, 1.0, 0.5], [1.0, 1.0, 1.0], [0.5, 1.0, 0.5]])
_CROWDED = 4


@dataclass(frozen=True, slots=True)
class Raster:
    """Colours and opacity (height x width x 4, first line at the bottom) between left, right, bottom and top."""

    pixels: Floats
    extent: tuple[float, float, float, float]


def shade(points: Floats, tints: Colouring, width: int, height: int) -> Raster:
    """Shade points of the plane on a grid of so many pixels.

    A pixel has the mean colour of its points. Its opacity lies between the rank of its count among the filled pixels,
    which equalises as Datashader does, and the logarithm of the count, so that both crowds and outskirts have a shape.
    A pixel that stands alone is spread over its neighbours, or it could not be seen.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.array([width, height])
    pixel = float(np.max((high - low) / (size - 1))) or 1.0
    left, bottom = (low + high) / 2.0 - size * pixel / 2.0
    across, up = ((points - [left, bottom]) / pixel).astype(np.int64).T
    place: Integers = np.clip(up, 0, height - 1) * width + np.clip(across, 0, width - 1)
    sums: Floats = np.empty((3, height, width))
    for channel, colour in enumerate(tints.colours.T):
        sums[channel] = np.bincount(place, weights=colour, minlength=width * height).reshape(height, width)
    tally = np.bincount(place, minlength=width * height).reshape(height, width)
    counts: Floats = tally.astype(np.float64)
    alone = _alone(counts)
    sums = np.stack([_widened(channel, alone) for channel in sums])
    counts = _widened(counts, alone)
    pixels = np.zeros((height, width, 4))
    filled = counts > 0
    pixels[filled, :3] = (sums[:, filled] / counts[filled]).T
    pixels[filled, 3] = _FAINTEST + (1.0 - _FAINTEST) * _ranked(counts[filled])
    extent = (float(left), float(left + width * pixel), float(bottom), float(bottom + height * pixel))
    return Raster(np.clip(pixels, 0.0, 1.0), extent)


def _alone(counts: Floats) -> NDArray[np.bool_]:
    """The filled pixels with few filled neighbours."""
    filled = counts > 0
    neighbours = convolve(filled.astype(np.float64), np.ones((3, 3)), mode="nearest") - 1.0
    return filled & (neighbours < _CROWDED)


def _widened(values: Floats, alone: NDArray[np.bool_]) -> Floats:
    """Values with those of some pixels added to the pixels around them."""
    widened: Floats = np.where(alone, 0.0, values) + convolve(
        np.where(alone, values, 0.0), _SPREAD, mode="constant"
    )
    return widened


def _ranked(counts: Floats) -> Floats:
    """Share of the counts that are smaller, halfway to the logarithm of the count: 0 for the least, 1 for the most."""
    values, codes, tally = np.unique(counts, return_inverse=True, return_counts=True)
    if values.size == 1:
        return np.ones(counts.size)
    rank = (np.cumsum(tally) - tally) / (counts.size - tally[-1])
    depth = np.log(values / values[0]) / np.log(values[-1] / values[0])
    found: Floats = (0.5 * (rank + depth))[codes]
    return found
