"""Stages of a fit as an outlook shows them: the search between components, and the sparse eigenproblem.

Which solver it comes to is decided by the rule of the ladder, with counts that were drawn from samples.
"""

from __future__ import annotations

import math

from ..core.records import PlannedStage
from ..methods.base import Method, Size, Solver
from ..methods.costs import DOUBLE, PAIR
from ..neighbors.points import Points
from .eigen.forecast import TRIAL
from .eigen.lanczos import basis_size
from .exact import Exact
from .outlook import Eigenproblem, Outlook, outlook

SURVEYED = 8e-6
"""Seconds a row of what comes before and after: norms, levels, the order of a factor, residuals."""
ENDED = 1 / 3
"""Share of its products after which Lanczos gives up, where it does not see its end."""
WHOLE = 1.4
"""How many times as long a factor and its solves take as the parts of them that the choice weighs."""
HEAPS = 1.25
"""What a factor takes beyond its entries: the thread that makes it has a heap of its own."""


def sharpened(stages: list[PlannedStage], solver: Solver, method: Method, size: Size) -> list[PlannedStage]:
    """The stages of a solver, with what a sample of the rows tells of the graph and of the eigenproblem."""
    if size.rows is None or solver.works_alone(method, Points(size.rows, method.metric)):
        return stages
    if (seen := outlook(method, size)) is None:
        return stages
    found = []
    for stage in stages:
        is_seen = stage.name == "solve" and isinstance(solver, Exact) and seen.problem is not None
        found.append((_solve(seen.problem, method, solver.eigensolver) if is_seen else None) or stage)
        if stage.name == "neighbours":
            found += _connection(seen, method, size)
    return found


def _solve(seen: Eigenproblem, method: Method, eigensolver: str) -> PlannedStage | None:
    """The stage ``solve``; None where the solver that was asked for is another."""
    breadth, forecast, fill, k = seen.breadth, seen.forecast, seen.fill, method.n_components
    if eigensolver not in ("auto", "exact", "lanczos", "shift-invert"):
        return None
    is_free = eigensolver in ("auto", "exact")
    is_first = seen.is_known or eigensolver == "shift-invert" or (is_free and forecast.prefers_factor)
    products = seen.products or (TRIAL if breadth.halves else forecast.budget(k) * ENDED)
    # The vectors and their images; the matrix, and what it is made of.
    held = DOUBLE * breadth.size * (basis_size(k) + 20) + 16 * breadth.stored
    seconds = SURVEYED * breadth.size * (1 if breadth.is_laplacian else 2)
    if not is_first:
        seconds += products * forecast.product
    if math.isinf(forecast.factored) or not (is_first or (is_free and seen.products is None)):
        return PlannedStage("solve", seconds, int(held), "Lanczos", elastic=True)
    if fill is not None:
        held += HEAPS * fill.bytes(halves=breadth.halves)
    return PlannedStage(
        "solve", seconds + WHOLE * forecast.factored, int(held), "factor and Lanczos", elastic=True
    )


def _connection(seen: Outlook, method: Method, size: Size) -> list[PlannedStage]:
    """The search for the shortest edges between components, where there are several."""
    if seen.n_components == 1 or getattr(method, "graph").on_disconnected != "connect":  # noqa: B009
        return []
    seconds = seen.outside * size.n_rows * (size.n_columns + 10) * PAIR
    return [PlannedStage("connect", seconds, int(16 * size.n_rows), f"{seen.n_components:.0f} components")]
