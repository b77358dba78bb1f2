"""Procrustes alignment: how far one embedding is from another, whatever its position, turn and size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core.records import Floats
from ..errors import InputError
from .inputs import read_points


@dataclass(frozen=True, slots=True)
class Procrustes:
    """``aligned`` = scale * A rotation + translation, and ``error`` = |aligned - B|_F / |B - mean(B)|_F."""

    aligned: Floats
    error: float
    rotation: Floats
    scale: float
    translation: Floats


def procrustes(A: ArrayLike, B: ArrayLike) -> Procrustes:
    """Move, turn or reflect, and scale ``A`` onto ``B`` with the least squared error (Schönemann & Carroll 1970).

    Parameters
    ----------
    A, B
        Embeddings of the same points, both N x d.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> B = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> round(lowdim.procrustes(3 * B[:, ::-1] + 5, B).error, 12)
    0.0
    """
    a, b = _points("A", A), _points("B", B)
    if a.shape != b.shape:
        raise InputError(
            f"procrustes: A and B must have one shape, got {a.shape} and {b.shape}; give both N x d"
        )
    a_mean, b_mean = a.mean(axis=0), b.mean(axis=0)
    a, b = a - a_mean, b - b_mean
    a_unit, b_unit = np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)
    if b_unit == 0:
        raise InputError("procrustes: all rows of B are equal, so that no error relative to its size exists")
    # Both are scaled to entries near 1, so that the squares can neither overflow nor vanish.
    a, b = a / (a_unit or 1.0), b / b_unit
    left, singular, right = np.linalg.svd(a.T @ b)
    rotation = left @ right
    spread = float(np.einsum("ij,ij->", a, a))
    ratio = float(singular.sum()) / spread if spread > 0 else 0.0
    turned = ratio * (a @ rotation)
    error = float(np.linalg.norm(turned - b) / np.linalg.norm(b))
    scale = ratio * float(b_unit) / float(a_unit or 1.0)
    return Procrustes(turned * b_unit + b_mean, error, rotation, scale, b_mean - scale * (a_mean @ rotation))


def _points(name: str, value: ArrayLike) -> Floats:
    rows = read_points("procrustes", name, value, flat=True)
    return rows.block(slice(None))
