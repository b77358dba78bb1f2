"""What every similarity answers: its slopes, and what follows from them.

Every objective needs only the derivatives K_j = (-d/dD)^j K: K_0 for its value, K_1 for its gradient, K_2 for its
Hessian. The attraction has f = -log K.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field
from math import log2
from typing import Any, ClassVar

import numpy as np

from ...core.records import Floats
from .tabulated import FarPart, near_table, table_of

Slopes = Callable[[Floats, int], Floats]
"""K(D, order): K_order of squared distances."""

CORE = -40
"""Power of two of the core in units of the kernel's width, squared."""


class Similarity(ABC):
    """A kernel K(D) of the squared distance, which falls from K(0) towards 0.

    A subclass is a frozen record of the kernel's parameters. It must have ``slope``; all else follows from that,
    through tables for the compiled loops, unless it knows something better.
    """

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    name: ClassVar[str]
    is_smooth: ClassVar[bool] = True
    """Whether its slopes are finite at D = 0, as K itself must be. Then a fine grid carries the kernel alone."""
    fades: ClassVar[bool] = True
    """Whether K stays of one size however far points are apart; else its differences drown in single precision."""
    pull_fades: ClassVar[bool] = True
    """Whether f' falls to 0 with distance, so that a point's nearest neighbours place it all but alone."""

    @abstractmethod
    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K_j(D) = (-d/dD)^j K(D) for j = 0, 1, 2."""

    def energy(self, D: Floats) -> Floats:
        """f = -log K."""
        return np.asarray(-np.log(self.slope(D, 0)))

    def pull(self, D: Floats) -> Floats:
        """f' = K_1 / K."""
        return np.asarray(self.slope(D, 1) / self.slope(D, 0))

    def relief(self, D: Floats) -> Floats:
        """-f'' = K_2 / K - (K_1 / K)^2."""
        return np.asarray(self.slope(D, 2) / self.slope(D, 0) - self.pull(D) ** 2)

    @property
    def width(self) -> float:
        """Length over which K changes as 1 / (1 + D) does over 1: the unit in which grids are fine or coarse."""
        return 1.0

    @property
    def core(self) -> float:
        """D below which loops and engines take the slopes as they are there: 0, or little where they are infinite at 0.

        Points so near hardly push each other, and not at all in one place: what matters is that no number grows so
        large that others are lost beside it.
        """
        return 0.0 if self.is_smooth else 2.0 ** round(2.0 * log2(self.width) + CORE)

    def bounded(self, D: Floats, order: int) -> Floats:
        """K_order with its slopes as they are at the core inside it."""
        return self.slope(np.maximum(D, self.core) if order else D, order)

    def at_zero(self, order: int = 0) -> float:
        """K_order at 0, or as near as the core allows: what copies of a point are to each other."""
        return float(self.bounded(np.zeros(1), order)[0])

    @property
    def stiffness(self) -> float:
        """f' at D = 0, the pull that the spectral direction knows; at D = ``width``^2 where it is infinite at 0."""
        place = 0.0 if self.is_smooth else self.width**2
        return float(self.pull(np.full(1, place))[0])

    def reach(self, tolerance: float) -> float | None:
        """The distance beyond which K is nothing to a relative tolerance of the forces; None: there is none."""
        return None

    @property
    def has_code(self) -> bool:
        """Whether compiled loops over pairs have code of its own; by a table a pair takes some ten times as long."""
        return type(self).radial is not Similarity.radial

    @property
    def radial(self) -> Any:
        """K for the compiled loops (`lowdim.kernels.embedding.radials`)."""
        return table_of(self)

    @property
    def is_tabulated(self) -> bool:
        """Whether the compiled loops look it up in a table, which takes them four times as long."""
        return type(self).radial is Similarity.radial

    def far(self, U: float) -> Slopes:
        """What a coarse grid can carry: within D < U a polynomial that goes over into K smoothly."""
        return FarPart.of(self, U)

    def near(self, U: float) -> Any:
        """K without its far part for the compiled loops, for D < U."""
        return near_table(self, U)

    @property
    def plane_loop(self) -> Callable[..., float] | None:
        """The loop over edges in the plane in single precision, where there is code for it.

        It takes the edges, the points, from and up to which place, whether E+ is wanted, the point of each place and
        the forces to fill, and returns E+.
        """
        return None
