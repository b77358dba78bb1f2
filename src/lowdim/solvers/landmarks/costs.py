"""Estimated seconds and bytes of what landmark solvers do: rates times the work.

The rates were fitted to the stages of some 40 fits on two cores; ``python -m benchmarks plans`` measures anew.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.records import PlannedStage
from ...methods.base import Method, Size
from ...methods.costs import DOUBLE, PAIR
from .configuration import LandmarkSolver

WAVE = 12_000_000
"""Entries of a product with the landmark weights that are held at once."""


def landmark_weights(n_rows: int, n_columns: int, n_landmarks: int, K_Z: int) -> PlannedStage:
    """The nearest landmarks of each point, and a small system for each."""
    search = n_rows * n_landmarks * (2.0 * n_columns + 30) / 3e11
    systems = n_rows * K_Z * (2e-7 + K_Z * (n_columns + K_Z) * 3e-11)
    kept = 2 * DOUBLE * n_rows * K_Z + 2 * DOUBLE * n_landmarks * n_columns
    note = f"{n_landmarks} landmarks, {K_Z} a point"
    return PlannedStage("landmarks", search + systems, kept + 2 * DOUBLE * n_rows * K_Z, note, kept=kept)


def reduction(n_rows: int, edges: int, K_Z: int, n_landmarks: int) -> PlannedStage:
    """Z'AZ and Z'BZ, accumulated over row blocks."""
    seconds = n_rows * edges * K_Z * 2.5e-9 + n_landmarks**2 * 1e-8
    kept = 2 * DOUBLE * n_landmarks**2
    wave = 7 * min(WAVE, n_rows * edges * K_Z)
    note = f"two {n_landmarks} x {n_landmarks} matrices"
    return PlannedStage("reduce", seconds, kept + wave + 6 * n_rows * edges, note, certain=True, kept=kept)


def small_problem(n_landmarks: int, n_components: int) -> PlannedStage:
    """A dense generalised eigenproblem of the landmarks."""
    seconds = 9e-12 * n_landmarks**3 + 5e-8 * n_landmarks**2 + 0.03
    return PlannedStage("small problem", seconds, 4 * DOUBLE * n_landmarks**2)


def restricted(
    shape: tuple[int, int], solver: LandmarkSolver, n_components: int, edges: int
) -> list[PlannedStage]:
    """What follows once the whole problem is there: landmarks, reduction, small problem, polish."""
    n_rows, n_columns = shape
    size = min(solver.n_landmarks, n_rows)
    K_Z = min(solver.n_neighbors or min(n_components + 3, 15), size)
    stages = [
        landmark_weights(n_rows, n_columns, size, K_Z),
        reduction(n_rows, edges, K_Z * 2**solver.smooth, size),
        small_problem(size, n_components),
    ]
    if solver.polish:
        seconds = solver.polish * n_rows * (edges * 4e-9 + n_components * 8e-9) * (n_components + 4) / 4
        stages.append(PlannedStage("polish", seconds, 4 * DOUBLE * n_rows * (n_components + 4)))
    return stages


def alone(size: Size, solver: LandmarkSolver, method: Method) -> list[PlannedStage]:
    """The method on the landmarks, then the weights of all points on them."""
    n_rows, n_columns = size.shape
    count = min(solver.n_landmarks, n_rows)
    K_Z = min(solver.n_neighbors or min(method.width + 3, 15), count)
    own = method.costs(replace(size, n_rows=count))
    extended = landmark_weights(n_rows, n_columns, count, K_Z)
    return [*own.forming, *own.solving, replace(extended, name="extend")]


def nystrom(size: Size, solver: LandmarkSolver, method: Method) -> list[PlannedStage]:
    """The method on the landmarks and its own map for the others, or distances from the landmarks to all points."""
    n_rows, n_columns = size.shape
    count = min(solver.n_landmarks, n_rows)
    own = method.costs(replace(size, n_rows=count))
    if method.has_landmark_distances:
        whole = method.costs(size)
        found = [stage for stage in whole.forming if stage.name == "neighbours"]
        chosen = PlannedStage("landmarks", 0.0, DOUBLE * count * n_columns, f"{count} landmarks")
        return [*found, chosen, landmark_distances(size, count, whole.degree), *own.solving[:1]]
    if own.entries < count:
        return alone(size, solver, method)
    held = min(1 << 27, DOUBLE * n_rows * count)
    extended = PlannedStage("extend", n_rows * count * (n_columns + 5) * PAIR, held)
    return [*own.forming, *own.solving, extended]


def landmark_distances(size: Size, n_landmarks: int, degree: int) -> PlannedStage:
    """Shortest paths from the landmarks to all points, kept where that takes no more than half of the limit."""
    n_rows, limit = size.n_rows, size.memory_limit
    seconds, held = n_rows * n_landmarks * (10 + degree) * 1e-9, DOUBLE * n_rows * n_landmarks
    if limit is not None and 2 * held > limit:
        block = max(limit // 4, DOUBLE * n_rows)
        return PlannedStage("geodesics", 2 * seconds, block, "a block at a time, twice")
    return PlannedStage(
        "geodesics", seconds, int(1.2 * held), f"{n_landmarks} x {n_rows} distances", kept=held
    )
