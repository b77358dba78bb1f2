"""Small images warped by a random affine map and a smooth random displacement, each row with its own random numbers.

Row i draws from stream i of the seed: it does not depend on which rows are made with it, nor where.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers
from .compiling import njit
from .counter import draw, stream

SOURCE = 0
AFFINE = 1
FIELD = 8
"""Numbers of the random draws of a row: its source, its affine map, its displacements."""

Single = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@njit(cache=True, nogil=True)
def choose_sources(seed: Any, n_sources: int, out: Integers) -> None:
    """Which image each of the first rows is made from."""
    for row in range(out.size):
        out[row] = int(draw(stream(seed, row), SOURCE) * n_sources)


@njit(cache=True, nogil=True)
def fill_field(key: Any, first: int, amount: float, basis: Single, across: Single, field: Single) -> None:
    """A smooth random surface over the pixels: a tensor spline with random coefficients of at most ``amount``."""
    side, knots = basis.shape
    for i in range(knots):
        for c in range(side):
            across[i, c] = 0
        for j in range(knots):
            height = np.float32(amount * (2.0 * draw(key, first + i * knots + j) - 1.0))
            for c in range(side):
                across[i, c] += height * basis[c, j]
    for r in range(side):
        line = field[r]
        for c in range(side):
            line[c] = 0
        for i in range(knots):
            weight = basis[r, i]
            for c in range(side):
                line[c] += weight * across[i, c]


@njit(cache=True, nogil=True)
def affine_map(key: Any, amounts: Floats, out: Single) -> None:
    """Rows (a, b, shift) of a random map of (row, column): rotation, shear and two scales about the middle."""
    turn, size, shear, shift = amounts[0], amounts[1], amounts[2], amounts[3]
    angle = turn * (2.0 * draw(key, AFFINE) - 1.0)
    tall = np.exp(size * (2.0 * draw(key, AFFINE + 1) - 1.0))
    wide = np.exp(size * (2.0 * draw(key, AFFINE + 2) - 1.0))
    slant = shear * (2.0 * draw(key, AFFINE + 3) - 1.0)
    cosine, sine = np.cos(angle), np.sin(angle)
    out[0, 0], out[0, 1] = cosine * tall, -sine * wide
    out[1, 0], out[1, 1] = (sine + slant * cosine) * tall, (cosine - slant * sine) * wide
    out[0, 2] = shift * (2.0 * draw(key, AFFINE + 4) - 1.0)
    out[1, 2] = shift * (2.0 * draw(key, AFFINE + 5) - 1.0)


@njit(cache=True, nogil=True)
def sample(framed: Single, affine: Single, down: Single, right: Single, out: Bytes) -> None:
    """Bilinear values of an image with an empty frame at the displaced place of every pixel."""
    side = down.shape[0]
    width = framed.shape[1]
    flat = framed.ravel()
    middle, last = np.float32(0.5 * (side - 1)), np.float32(side + 1)
    low, one, half = np.float32(0), np.float32(1), np.float32(0.5)
    for r in range(side):
        y = np.float32(r) - middle
        for c in range(side):
            x = np.float32(c) - middle
            # The frame is one pixel wide: place (1, 1) of it is the first pixel.
            row = affine[0, 0] * y + affine[0, 1] * x + affine[0, 2] + down[r, c] + middle + one
            column = affine[1, 0] * y + affine[1, 1] * x + affine[1, 2] + right[r, c] + middle + one
            row, column = min(max(row, low), last), min(max(column, low), last)
            top, left = min(np.intp(row), side), min(np.intp(column), side)
            part, share = row - np.float32(top), column - np.float32(left)
            place = np.uintp(top * width + left)
            above = flat[place] + share * (flat[place + np.uintp(1)] - flat[place])
            place += np.uintp(width)
            below = flat[place] + share * (flat[place + np.uintp(1)] - flat[place])
            out[r * side + c] = np.uint8(above + part * (below - above) + half)


@njit(cache=True, nogil=True)
def deform_rows(
    images: Bytes, sources: Integers, seed: Any, start: int, basis: Single, amounts: Floats, out: Bytes
) -> None:
    """Rows ``start`` and on, each from its source image (m x side x side).

    ``amounts`` are the largest angle, logarithm of a scale, shear, shift in pixels, and spline coefficient.
    """
    side, knots = basis.shape
    framed = np.zeros((side + 2, side + 2), np.float32)
    down, right = np.empty((side, side), np.float32), np.empty((side, side), np.float32)
    across, affine = np.empty((knots, side), np.float32), np.empty((2, 3), np.float32)
    for place in range(out.shape[0]):
        key = stream(seed, start + place)
        image = images[sources[place]]
        for r in range(side):
            for c in range(side):
                framed[r + 1, c + 1] = image[r, c]
        affine_map(key, amounts, affine)
        fill_field(key, FIELD, amounts[4], basis, across, down)
        fill_field(key, FIELD + knots * knots, amounts[4], basis, across, right)
        sample(framed, affine, down, right, out[place])
