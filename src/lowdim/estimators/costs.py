"""Estimated seconds and bytes of each stage, for ``plan``: rates measured on two cores, times the work."""

from __future__ import annotations

from ..records import PlannedStage

DOUBLE = 8


def square(n_rows: int) -> str:
    """What a dense method has to say of its size."""
    return f"a {n_rows} x {n_rows} matrix"


def neighbors(n_rows: int, n_columns: int, k: int, search: str) -> PlannedStage:
    """Exact search compares all pairs; the approximate one walks a graph of the points."""
    exact = n_rows**2 * (2.0 * n_columns + 30) / 1e11
    approximate = n_rows * (n_columns + 60) * 7e-7
    held = 2 * DOUBLE * n_rows * k + 4 * n_rows * n_columns
    if search == "approximate" or (search == "auto" and approximate < exact / 4):
        return PlannedStage("neighbours", approximate, held + 300 * n_rows, "approximate")
    return PlannedStage("neighbours", exact, held, "exact")


def affinities(n_rows: int, k: int) -> PlannedStage:
    """A weight for each edge, in both directions."""
    return PlannedStage("affinities", n_rows * k * 1e-7, 4 * DOUBLE * n_rows * k)


def local_weights(n_rows: int, k: int) -> PlannedStage:
    """A small dense system for each point."""
    return PlannedStage("weights", n_rows * (k**3 + 100 * k) * 2e-9, 2 * DOUBLE * n_rows * k)


def lanczos(n_rows: int, edges: int, n_components: int) -> PlannedStage:
    """Some hundreds of products with a sparse matrix."""
    products = 100 + 20 * n_components
    seconds = products * n_rows * (edges * 4e-9 + n_components * 8e-9)
    return PlannedStage("solve", seconds, DOUBLE * n_rows * (2 * n_components + 40 + edges), "Lanczos")


def sparse_factor(n_rows: int, k: int, n_components: int) -> PlannedStage:
    """A sparse factor of the neighbour graph of high-dimensional data fills in with the square of its size.

    Surfaces and curves fill in far less: the solver knows, once it has seen the graph, and keeps to ``memory_limit``.
    """
    return PlannedStage("solve", n_rows**2 * 2.2e-8, int(3.5 * n_rows**2), "factor and Lanczos, at most")


def geodesics(n_rows: int, k: int) -> PlannedStage:
    """Shortest paths between all pairs."""
    return PlannedStage(
        "geodesics", n_rows**2 * (10 + k) * 6e-10, DOUBLE * n_rows**2, square(n_rows), certain=True
    )


def pairwise(n_rows: int, n_columns: int) -> PlannedStage:
    """All pairs of rows compared."""
    return PlannedStage(
        "pairs", n_rows**2 * (n_columns + 5) * 1e-9, DOUBLE * n_rows**2, square(n_rows), certain=True
    )


def dense_lanczos(n_rows: int, n_components: int) -> PlannedStage:
    """Some dozens of products with a dense matrix."""
    return PlannedStage(
        "solve", (30 + 2 * n_components) * n_rows**2 * 5e-10, DOUBLE * n_rows**2, square(n_rows)
    )


def k_means(n_rows: int, n_columns: int, n_clusters: int, n_init: int) -> PlannedStage:
    """Assignments and means, some twenty times a start."""
    return PlannedStage("k-means", 20.0 * n_init * n_rows * n_columns * n_clusters * 1e-9, DOUBLE * n_rows)
