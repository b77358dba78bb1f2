"""Estimated seconds and bytes of the stages of neighbour embeddings: rates times the work.

The rates were fitted to the stages of some 40 fits on two cores; ``python -m benchmarks plans`` measures anew.
"""

from __future__ import annotations

from ..core.records import PlannedStage
from ..objectives.repulsion.protocol import Repulsion

MOST_FACTORED = 5800
"""Points up to which the attractive Hessian of high-dimensional data is factored."""

DENSITY = 6.0
"""What the term of densities takes of an evaluation, in units of the attraction; measured for two kernels: 5 and 8."""


def optimise(
    n_rows: int,
    k: int,
    repulsion: Repulsion,
    iterations: int,
    *,
    by_partial_hessian: bool = False,
    density_share: float = 0.0,
) -> PlannedStage:
    """Attraction along the edges and repulsion between all points, at every iteration.

    A partial Hessian is factored where that is not too dear; each of its solves takes longer than a gradient. Densities
    go along the edges twice more in the last ``density_share`` of the iterations; without a schedule they have as many
    iterations of their own, after those without them.
    """
    edges = n_rows * min(1.5 * k, n_rows) * 1.5e-9
    each, note = repulsion.cost(n_rows)
    held, kept, seconds = 26 * n_rows * k + 400 * n_rows, 12 * n_rows * k, edges + each
    if by_partial_hessian:
        is_factored = n_rows <= MOST_FACTORED
        held += 14 * n_rows**2 if is_factored else 14 * n_rows * k
        seconds = 4 * seconds + (n_rows**2 * 1.6e-9 if is_factored else 0.0)
    if density_share:
        dense = DENSITY * edges * (4 if by_partial_hessian else density_share)
        seconds = (2 * seconds if by_partial_hessian else seconds) + dense
        held += 12 * n_rows * k
    return PlannedStage("optimise", iterations * seconds, held, note, kept=kept)


def embedding_map(n_rows: int, k: int) -> PlannedStage:
    """What places new points: links between neighbours, and the field of the repulsion."""
    return PlannedStage("map", n_rows * k * 2e-8, 12 * n_rows * k + (30 << 20))
