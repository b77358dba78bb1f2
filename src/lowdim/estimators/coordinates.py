"""Coordinates as an estimator keeps and returns them, and what its report says of how they were found."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..core.records import Floats, Solution
from ..data.rows import Rows


def read_only(array: Floats) -> Floats:
    """The same memory under an array that cannot be written to: maps share it, and kernels know them as writeable."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_came(coordinates: Floats, rows: Rows) -> Floats:
    """Coordinates in the precision of the rows: float32 where these are, else the float64 that they were found in."""
    single = rows.values.dtype == np.float32
    return cast(Floats, coordinates.astype(np.float32)) if single else coordinates


def describe(solution: Solution) -> dict[str, Any]:
    """Figures of a report: which eigensolver, what it found and how well."""
    return {
        "eigensolver": solution.solver,
        "eigenvalues": solution.values,
        "residuals": solution.residuals,
        "iterations": solution.iterations,
        "attempts": [f"{a.solver}: {a.outcome}" for a in solution.attempts],
    }
