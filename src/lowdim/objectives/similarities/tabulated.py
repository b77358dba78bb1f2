"""Similarities for the compiled loops by tables of their slopes, and their near and far parts by Taylor polynomials.

The far part of K with a reach of sqrt(U) is, for D < U, the Taylor polynomial of K at U,

    T(D) = sum_{j <= 4} K_j(U) (U - D)^j / j!,

and K itself beyond: it has four continuous derivatives, and no trace of what K is like at 0. The near part is K - T.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kernels
from ...core.records import Floats

if TYPE_CHECKING:
    from .base import Similarity

Functions = Sequence[Callable[[Floats], Floats]]
SLOPES = (0, 1, 2)
"""Orders of the slopes that a similarity gives. Two more, which the far cells of a tree need, follow from the last."""
KEPT = 32
"""Tables that are kept, of a megabyte at most."""


@lru_cache(maxsize=KEPT)
def table_of(similarity: Similarity) -> Any:
    """K_0 to K_4, f, f' and -f''."""
    slopes = interpolated([lambda D, j=j: similarity.bounded(D, j) for j in SLOPES])  # type: ignore[misc]
    third = derivative(slopes[:, -1])
    core = similarity.core
    others = interpolated(
        [
            similarity.energy,
            lambda D: similarity.pull(np.maximum(D, core)),
            lambda D: similarity.relief(np.maximum(D, core)),
        ]
    )
    higher = np.stack([third, derivative(third)], axis=1)
    return kernels.embedding.radial_table.Table(
        np.ascontiguousarray(np.concatenate([slopes, higher, others], axis=1))
    )


@lru_cache(maxsize=KEPT)
def near_table(similarity: Similarity, U: float) -> Any:
    """K_0 to K_2 without the far part."""
    far = FarPart.of(similarity, U)
    functions = [lambda D, j=j: similarity.bounded(D, j) - far.polynomial(D, j) for j in SLOPES]
    return kernels.embedding.radial_table.Table(np.ascontiguousarray(interpolated(functions)))


@dataclass(frozen=True, slots=True)
class FarPart:
    """The Taylor polynomial of a similarity at U within the reach, the similarity itself beyond it."""

    similarity: Similarity
    U: float
    slopes: tuple[float, ...]

    @classmethod
    def of(cls, similarity: Similarity, U: float) -> FarPart:
        """The far part of a similarity."""
        interval, t = kernels.embedding.radial_table.locate(U)
        coefficients = table_of(similarity).coefficients[interval, :5]
        return cls(similarity, U, tuple(float(np.polyval(row, t)) for row in coefficients))

    def __call__(self, D: Floats, order: int) -> Floats:
        """(-d/dD)^order of it."""
        inside = D < self.U
        beyond = self.similarity.slope(np.where(inside, self.U, D), order)
        return np.where(inside, self.polynomial(D, order), beyond)

    def polynomial(self, D: Floats, order: int) -> Floats:
        """(-d/dD)^order of T."""
        terms = self.slopes[order:]
        return np.asarray(
            sum(value / factorial(j) * (self.U - D) ** j for j, value in enumerate(terms)), dtype=np.float64
        )


def interpolated(functions: Functions) -> Floats:
    """Coefficients (interval x function x power) of the polynomials through the functions at Chebyshev nodes."""
    table = kernels.embedding.radial_table
    count = table.DEGREE + 1
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count) / 2
    through = np.linalg.inv(np.vander(nodes, count)).T
    start, length = intervals()
    D = start[:, None] + length[:, None] * (nodes + 0.5)
    return np.stack([np.einsum("ij,jk->ik", function(D), through) for function in functions], axis=1)


def derivative(coefficients: Floats) -> Floats:
    """Minus the slope of the polynomials of one function (interval x power), as polynomials of the same degree."""
    powers = np.arange(coefficients.shape[1] - 1, 0, -1)
    lowered = -coefficients[:, :-1] * powers / intervals()[1][:, None]
    return np.hstack([np.zeros((lowered.shape[0], 1)), lowered])


def intervals() -> tuple[Floats, Floats]:
    """Where the intervals of a table begin, and how long they are."""
    table = kernels.embedding.radial_table
    octave, part = np.divmod(np.arange(table.COUNT), table.PARTS)
    base = 2.0 ** (table.LOWEST + octave)
    return base * (1.0 + part / table.PARTS), base / table.PARTS
