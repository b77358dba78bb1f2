"""Data sets with a known answer, digits without end, and the well-known ones by name."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from ..core.rules import Whole
from ..errors import InputError
from .cepstra import Cepstra, two_speaker_cepstra
from .deformed import deformed_digits
from .faces import translated_faces
from .stored import Available, AvailableTable, Dataset, Seed, available, cache_folder, load

__all__ = [
    "Available",
    "AvailableTable",
    "Cepstra",
    "Dataset",
    "Seed",
    "available",
    "cache_folder",
    "deformed_digits",
    "load",
    "s_curve",
    "severed_sphere",
    "swiss_roll",
    "translated_faces",
    "two_speaker_cepstra",
]


def swiss_roll(
    n: int, *, noise: float = 0.0, hole: bool = False, aspect: float = 4.0, random_state: Seed = None
) -> Dataset:
    """A rectangle rolled up: the spiral of radius t, t from 1.5 pi to 4.5 pi, drawn evenly over its surface.

    Parameters
    ----------
    n
        Number of points.
    noise
        Standard deviation of Gaussian noise added to the three coordinates.
    hole
        Leave out the middle third of both sides.
    aspect
        Length along the spiral (about 90) over the width of the rectangle. At 4 and above the first eigenvectors of a
        graph Laplacian are all harmonics of the long side.
    random_state
        Seed or generator.

    Returns
    -------
    Dataset
        ``parameters`` are the flat coordinates, arc length and width: the isometric embedding itself.
    """
    generator = np.random.default_rng(random_state)
    first, last = 1.5 * np.pi, 4.5 * np.pi
    begin, end = _spiral_length(np.array([first, last]))
    square = _unit_square(n, hole, generator)
    length = begin + (end - begin) * square[:, 0]
    width = (end - begin) / aspect * square[:, 1]
    angle = _spiral_angle(length, first, last)
    data = np.column_stack([angle * np.cos(angle), width, angle * np.sin(angle)])
    return Dataset(_noisy(data, noise, generator), parameters=np.column_stack([length - begin, width]))


def s_curve(n: int, *, noise: float = 0.0, hole: bool = False, random_state: Seed = None) -> Dataset:
    """A strip bent to an S, drawn evenly; ``parameters`` are its flat coordinates, arc length and width."""
    generator = np.random.default_rng(random_state)
    square = _unit_square(n, hole, generator)
    angle = 3.0 * np.pi * (square[:, 0] - 0.5)
    width = 2.0 * square[:, 1]
    data = np.column_stack([np.sin(angle), width, np.sign(angle) * (np.cos(angle) - 1.0)])
    return Dataset(_noisy(data, noise, generator), parameters=np.column_stack([angle, width]))


def severed_sphere(n: int, *, noise: float = 0.0, random_state: Seed = None) -> Dataset:
    """A unit sphere without its poles and a slice, drawn evenly; ``parameters`` are longitude and polar angle."""
    generator = np.random.default_rng(random_state)
    longitude = generator.uniform(0.0, 2.0 * np.pi - 0.55, _count(n))
    height = generator.uniform(-np.cos(np.pi / 8), np.cos(np.pi / 8), n)
    radius = np.sqrt(1.0 - height**2)
    data = np.column_stack([radius * np.cos(longitude), radius * np.sin(longitude), height])
    return Dataset(_noisy(data, noise, generator), parameters=np.column_stack([longitude, np.arccos(height)]))


def _count(n: int) -> int:
    """Number of points, checked."""
    if not Whole(1).allows(n):
        raise InputError(f"n, the number of points, must be a whole number >= 1; got {n!r}.")
    return int(n)


def _unit_square(n: int, hole: bool, generator: np.random.Generator) -> Floats:
    """Points drawn evenly over the unit square, without its middle ninth where there is a hole."""
    square = generator.uniform(size=(_count(n), 2))
    while hole and (inside := np.all(np.abs(square - 0.5) < 1 / 6, axis=1)).any():
        square[inside] = generator.uniform(size=(int(inside.sum()), 2))
    return square


def _spiral_length(angle: Floats) -> Floats:
    """Arc length of the spiral r = t from 0 to t."""
    return (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle)) / 2.0


def _spiral_angle(length: Floats, first: float, last: float) -> Floats:
    """Inverse of the arc length: a table, then two Newton steps."""
    table = np.linspace(first, last, 256)
    angle = np.interp(length, _spiral_length(table), table)
    for _ in range(2):
        angle -= (_spiral_length(angle) - length) / np.sqrt(1.0 + angle**2)
    return angle


def _noisy(data: Floats, noise: float, generator: np.random.Generator) -> Floats:
    return data + noise * generator.standard_normal(data.shape) if noise else data
