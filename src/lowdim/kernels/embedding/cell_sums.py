"""Potential and force of cells, groups of points that are far away, to second order in the size of the cell.

A cell of charge q about its centre g of charge has no dipole; with u = x - g and Q = sum c (y - g)(y - g)',

    potential = q K_0 - tr(Q) K_1 + 2 u'Qu K_2,    force = (q K_1 - tr(Q) K_2 + 2 u'Qu K_3) u - 2 K_2 Qu,

the Taylor expansion of sum c K(|x - y|^2) in y about g, and -1/2 of its gradient. A cell is a column of ``cells``: its
centre, q, and the upper triangle of Q.
"""

from __future__ import annotations

from typing import Any

from ...core.records import Floats
from ..compiling import njit
from .radials import add_flat_cells, add_solid_cells


@njit(cache=True, nogil=True, forceinline=True)
def add_cells(radial: Any, cells: Floats, count: int, place: Floats, out: Floats) -> None:
    """Add to ``out`` the potential and then the force of the first ``count`` cells, in two or three dimensions."""
    if place.size == 2:
        flat = add_flat_cells(radial, cells, count, place[0], place[1])
        out[0] += flat[0]
        out[1] += flat[1]
        out[2] += flat[2]
    else:
        solid = add_solid_cells(radial, cells, count, place[0], place[1], place[2])
        out[0] += solid[0]
        out[1] += solid[1]
        out[2] += solid[2]
        out[3] += solid[3]
