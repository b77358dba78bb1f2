"""Estimated seconds and bytes of each stage, for ``plan`` and ``solver="auto"``: rates times the work.

The rates were fitted to the stages of some 40 fits on two cores; ``python -m benchmarks plans`` measures anew.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.records import PlannedStage

DOUBLE = 8
FLAT = 3
"""Columns up to which points are taken to lie on a surface, whose sparse factors fill in little."""
PAIR = 1.5e-10
"""Seconds of one column of a pair of rows, compared by matrix products."""


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


def local_matrices(n_rows: int, k: int) -> PlannedStage:
    """A small dense eigenproblem for each point, and their sum: every pair of neighbours is an entry of it."""
    pairs = n_rows * (k + 1) ** 2
    return PlannedStage("weights", n_rows * (k**3 * 3e-9 + k**2 * 3.5e-8), 24 * pairs, kept=6 * pairs)


def lanczos(n_rows: int, edges: int, n_components: int, n_columns: int = FLAT + 1) -> PlannedStage:
    """Some hundreds of products with a sparse matrix; surfaces, which would take thousands, a factor."""
    vectors = DOUBLE * n_rows * (2 * n_components + 60 + edges // 2)
    if n_columns <= FLAT:
        return PlannedStage(
            "solve",
            n_rows * 2.5e-5,
            vectors + 1400 * n_rows,
            "factor and Lanczos, of a surface",
            elastic=True,
        )
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
        n_rows**2 * (10 + k) * 4e-10,
        DOUBLE * n_rows**2,
        square(n_rows),
        certain=True,
        kept=DOUBLE * n_rows**2,
    )


def residual_variance(n_rows: int) -> PlannedStage:
    """All distances in the embedding beside the geodesics."""
    return PlannedStage("residual variance", n_rows**2 * 4e-10, min(1 << 24, 8 * n_rows**2))


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


def k_means(n_rows: int, n_columns: int, n_clusters: int, n_init: int) -> PlannedStage:
    """Assignments and means, some twenty times a start."""
    return PlannedStage("k-means", 20.0 * n_init * n_rows * n_columns * n_clusters * 1e-9, DOUBLE * n_rows)
