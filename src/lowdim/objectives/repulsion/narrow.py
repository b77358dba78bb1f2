"""The field of a picture much narrower than the kernel, where a grid's differences drown in its rounding.

There the kernel is its own Taylor polynomial, K_1(D) = K_1 - K_2 D, and the sums are moments of the points.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...core.records import Floats
from ..similarities import Similarity
from .protocol import Field


def is_narrow(low: Floats, high: Floats, tolerance: float, kernel: Similarity) -> bool:
    """Whether what the polynomial leaves out, 3 D^2 of the push of a pair, keeps to a tolerance on the whole.

    D is in units of the kernel's width, and a kernel that is not smooth at 0 has no such polynomial. Pairs as far apart
    as the corners of the box are few: ten times the tolerance there is far below it on the whole.
    """
    D = float(((high - low) ** 2).sum()) / kernel.width**2
    return D == 0.0 or (kernel.is_smooth and sqrt(10 * tolerance / 3) >= D)


def narrow_field(X: Floats, charges: Floats, kernel: Similarity) -> Field:
    """Potential and force from the moments of the points around their mean."""
    K_0, K_1, K_2 = (kernel.at_zero(order) for order in (0, 1, 2))
    total = charges.sum()
    Y = X - np.einsum("n,nd->d", charges, X) / total
    squares = np.einsum("nd,nd->n", Y, Y)
    weighted = charges[:, None] * Y
    second = np.einsum("nd,ne->de", weighted, Y)
    third = np.einsum("n,nd->d", squares, weighted)
    spread = squares * total + np.trace(second)
    bend = Y * spread[:, None] - third + 2 * np.einsum("nd,de->ne", Y, second)
    return Field(K_0 * (total - charges) - K_1 * spread, K_1 * total * Y - K_2 * bend)
