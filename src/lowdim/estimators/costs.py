"""Estimated seconds and bytes of each stage, for ``plan`` and ``solver="auto"``: rates times the work.

The rates were fitted to the stages of some 40 fits on two cores; ``python -m benchmarks plans`` measures anew.
"""

from __future__ import annotations

from dataclasses import replace

from ..embedding.repulsion.barnes_hut import BarnesHut
from ..embedding.repulsion.exact import Exact
from ..embedding.repulsion.protocol import Repulsion
from ..neighbors import plan_search
from ..records import PlannedStage
from ..spectral.reduce.configuration import LandmarkSolver

DOUBLE = 8
FLAT = 3
"""Columns up to which points are taken to lie on a surface, whose sparse factors fill in little."""
PAIR = 1.5e-10
"""Seconds of one column of a pair of rows, compared by matrix products."""


MOST_FACTORED = 5800
"""Points up to which the attractive Hessian of high-dimensional data is factored."""
WAVE = 12_000_000
"""Entries of a product with the landmark weights that are held at once."""


def square(n_rows: int) -> str:
    """What a dense method has to say of its size."""
    return f"a {n_rows} x {n_rows} matrix"


def affinities(n_rows: int, k: int, kept: int = 23) -> PlannedStage:
    """A weight for each edge, in both directions; a weight and what else is ``kept`` of it take so many bytes."""
    edges = n_rows * k
    return PlannedStage("affinities", edges * 5e-8, 64 * edges, kept=kept * edges)


def local_weights(n_rows: int, k: int) -> PlannedStage:
    """A small dense system for each point."""
    seconds = n_rows * (k**3 + 100 * k) * 6e-10
    return PlannedStage("weights", seconds, 62 * n_rows * k, kept=44 * n_rows * k)


def lanczos(n_rows: int, edges: int, n_components: int, n_columns: int = FLAT + 1) -> PlannedStage:
    """Some hundreds of products with a sparse matrix; large surfaces take more than is worth it, and then a factor."""
    vectors = DOUBLE * n_rows * (2 * n_components + 60 + edges // 2)
    if n_columns <= FLAT:
        factor = 1400 * n_rows if n_rows > 50_000 else 0
        return PlannedStage("solve", n_rows * 6e-5, vectors + factor, "Lanczos, or a factor", elastic=True)
    products = 100 + 4 * n_components
    # Past the caches a product takes longer a row.
    seconds = products * n_rows * (1.5e-7 + edges * 2e-9) * (1 + n_rows * 1e-6)
    return PlannedStage("solve", seconds, vectors, "Lanczos")


def sparse_factor(n_rows: int, k: int, n_columns: int) -> PlannedStage:
    """A sparse factor of the neighbour graph of high-dimensional data fills in with the square of its size.

    Surfaces fill in far less. The solver knows once it has seen the graph, and keeps to ``memory_limit``.
    """
    if n_columns <= FLAT:
        return PlannedStage(
            "solve", n_rows * k * 3e-6, 140 * n_rows * k, "factor and Lanczos, of a surface", elastic=True
        )
    return PlannedStage(
        "solve", n_rows**2 * 2.2e-8, int(3.0 * n_rows**2), "factor and Lanczos, at most", elastic=True
    )


def geodesics(n_rows: int, k: int) -> PlannedStage:
    """Shortest paths between all pairs."""
    return PlannedStage(
        "geodesics",
        n_rows**2 * (10 + k) * 6e-10,
        DOUBLE * n_rows**2,
        square(n_rows),
        certain=True,
        kept=DOUBLE * n_rows**2,
    )


def residual_variance(n_rows: int) -> PlannedStage:
    """All distances in the embedding beside the geodesics."""
    return PlannedStage("residual variance", n_rows**2 * 5e-9, min(1 << 27, 5 * n_rows**2))


def pairwise(name: str, n_rows: int, n_columns: int) -> PlannedStage:
    """All pairs of rows compared, in the stage that a method calls by this name."""
    size = DOUBLE * n_rows**2
    return PlannedStage(
        name, n_rows**2 * (n_columns + 5) * PAIR, size, square(n_rows), certain=True, kept=size
    )


def in_blocks(dense: PlannedStage) -> PlannedStage:
    """A stage that passes over a dense matrix without ever holding it."""
    return replace(dense, bytes=min(1 << 28, dense.bytes), note="a block at a time", certain=False, kept=0)


def dense_lanczos(n_rows: int, n_components: int) -> PlannedStage:
    """Some dozens of products with a dense matrix that is there."""
    seconds = (30 + 2 * n_components) * n_rows**2 * 5e-10
    return PlannedStage("solve", seconds, DOUBLE * n_rows * (2 * n_components + 60), square(n_rows))


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


def alone(
    shape: tuple[int, int], solver: LandmarkSolver, n_components: int, fit: list[PlannedStage]
) -> list[PlannedStage]:
    """The method on the landmarks, then the weights of all points on them."""
    n_rows, n_columns = shape
    size = min(solver.n_landmarks, n_rows)
    K_Z = min(solver.n_neighbors or min(n_components + 3, 15), size)
    found = plan_search((size, n_columns), "euclidean", K_Z, "exact")
    extended = landmark_weights(n_rows, n_columns, size, K_Z)
    return [found, *fit, replace(extended, name="extend")]


def landmark_geodesics(n_rows: int, n_landmarks: int, k: int, limit: int | None) -> PlannedStage:
    """Shortest paths from the landmarks to all points, kept where that takes no more than half of the limit."""
    seconds, held = n_rows * n_landmarks * (10 + k) * 1e-9, DOUBLE * n_rows * n_landmarks
    if limit is not None and 2 * held > limit:
        block = max(limit // 4, DOUBLE * n_rows)
        return PlannedStage("geodesics", 2 * seconds, block, "a block at a time, twice")
    return PlannedStage(
        "geodesics", seconds, int(1.2 * held), f"{n_landmarks} x {n_rows} distances", kept=held
    )


def gram_landmarks(shape: tuple[int, int], solver: LandmarkSolver, n_components: int) -> list[PlannedStage]:
    """Landmark MDS and kernel PCA: a Gram matrix of the landmarks; LLL passes over all pairs, a block at a time."""
    n_rows, n_columns = shape
    size = min(solver.n_landmarks, n_rows)
    if solver.restricts:
        pairs = in_blocks(pairwise("reduce", n_rows, n_columns))
        return [pairs, *restricted(shape, solver, n_components, n_rows)]
    held = min(1 << 27, DOUBLE * n_rows * size)
    extended = PlannedStage("extend", n_rows * size * (n_columns + 5) * PAIR, held)
    return [pairwise("landmarks", size, n_columns), dense_lanczos(size, n_components), extended]


def k_means(n_rows: int, n_columns: int, n_clusters: int, n_init: int) -> PlannedStage:
    """Assignments and means, some twenty times a start."""
    return PlannedStage("k-means", 20.0 * n_init * n_rows * n_columns * n_clusters * 1e-9, DOUBLE * n_rows)


def optimise(
    n_rows: int, k: int, repulsion: Repulsion, iterations: int, *, by_partial_hessian: bool = False
) -> PlannedStage:
    """Attraction along the edges and repulsion between all points, at every iteration.

    A partial Hessian is factored where that is not too dear; each of its solves takes longer than a gradient.
    """
    edges = n_rows * min(1.5 * k, n_rows) * 1.5e-9
    if isinstance(repulsion, Exact):
        each, note = n_rows**2 * 4e-10, "all pairs at every iteration"
    elif isinstance(repulsion, BarnesHut):
        each, note = n_rows * 4e-7, "trees"
    else:
        each, note = n_rows * 2e-7 + 3e-3, "Fourier transforms"
    held, kept, seconds = 26 * n_rows * k + 400 * n_rows, 12 * n_rows * k, edges + each
    if by_partial_hessian:
        is_factored = n_rows <= MOST_FACTORED
        held += 14 * n_rows**2 if is_factored else 14 * n_rows * k
        seconds = 4 * seconds + (n_rows**2 * 1.6e-9 if is_factored else 0.0)
    return PlannedStage("optimise", iterations * seconds, held, note, kept=kept)


def embedding_map(n_rows: int, k: int) -> PlannedStage:
    """What places new points: links between neighbours, and the field of the repulsion."""
    return PlannedStage("map", n_rows * k * 2e-8, 12 * n_rows * k + (30 << 20))
