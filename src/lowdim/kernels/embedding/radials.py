"""The questions to radial functions, with all that is known to answer them.

Loops import the questions from here, so that they are compiled anew when an answer changes (`compiling.source_stamp`).
"""

from __future__ import annotations

from .radial import (
    REORDER,
    add_flat,
    add_flat_cells,
    add_solid,
    add_solid_cells,
    charged,
    energy,
    near,
    pull,
    relief,
    slopes,
    three_slopes,
)
from .radial_gaussian import Gaussian
from .radial_student import Student, StudentNear
from .radial_table import Table

__all__ = [
    "REORDER",
    "Gaussian",
    "Student",
    "StudentNear",
    "Table",
    "add_flat",
    "add_flat_cells",
    "add_solid",
    "add_solid_cells",
    "charged",
    "energy",
    "near",
    "pull",
    "relief",
    "slopes",
    "three_slopes",
]
