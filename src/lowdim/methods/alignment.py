"""A = sum_i m_i S_i B_i S_i': small matrices B_i on overlapping patches, added into one sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..affinities.patches import Patches
from ..core import checks
from ..core.messages import named, setting
from ..core.records import Floats, Integers, Neighbors, Problem, Sparse
from ..core.run import Run
from ..errors import InputError
from ..spectral.operators import Explicit

WAVE_BYTES = 1 << 27


@dataclass(frozen=True, slots=True)
class LocalMatrices:
    """Patches (points by rising index) and the function that gives the matrices of a slice, end to end."""

    indptr: Integers
    indices: Integers
    n_points: int
    compute: Callable[[slice], Floats]
    block_rows: int

    @property
    def n_patches(self) -> int:
        """Number of patches."""
        return self.indptr.size - 1


def assemble(locals_: LocalMatrices, *, weights: Floats | None = None, run: Run) -> Sparse:
    """Sum of m_i S_i B_i S_i' over all patches: symmetric, indices sorted.

    Local matrices are computed in waves of bounded memory, in parallel, and each wave is added row by row of
    the result, in parallel again; the order of the sums is that of the patches.
    """
    indptr, indices, size = locals_.indptr, locals_.indices, locals_.n_points
    places = np.concatenate(([0], np.cumsum(np.diff(indptr) ** 2)))
    positions = np.arange(indices.size) - np.repeat(indptr[:-1], np.diff(indptr))
    held = csr_array((positions, indices, indptr), shape=(locals_.n_patches, size)).tocsc()
    holders = (held.indptr.astype(np.int64), held.indices.astype(np.int64))
    row_starts, columns = _pattern(locals_, holders, run=run)
    values = np.zeros(columns.size)
    for first, last in _waves(places, locals_.block_rows):
        local = np.empty(places[last] - places[first])

        def compute(rows: slice, first: int = first, local: Floats = local) -> None:
            start, stop = first + rows.start, first + rows.stop
            part = local[places[start] - places[first] : places[stop] - places[first]]
            part[:] = locals_.compute(slice(start, stop))
            if weights is not None:
                part *= np.repeat(weights[start:stop], np.diff(places[start : stop + 1]))

        def add(rows: slice, wave: tuple[int, int] = (first, last), local: Floats = local) -> None:
            block = (rows.start, rows.stop)
            kernels.affinities.assembly.add_patches(
                indptr, indices, *holders, held.data, row_starts, columns, values, local, places, wave, block
            )

        run.map(compute, last - first, block_rows=locals_.block_rows)
        run.map(add, size)
        run.progress(last, locals_.n_patches)
    cause = "the tangent plane of some neighbourhood is lost to rounding"
    checks.finite(
        values,
        "The local matrices",
        cause,
        f"Raise {named('n_neighbors')}, or lower {named('n_components')}.",
    )
    matrix = csr_array((values, columns, row_starts), shape=(size, size))
    matrix.has_sorted_indices = True
    return matrix


def tangent_problem(
    patches: Patches, kernel: Callable[..., None], n_components: int, *, weights: Floats | None, run: Run
) -> Problem:
    """The problem of matrices B_i that a compiled kernel makes of the Gram matrices of the patches alone."""
    neighbors = patches.neighbors

    def compute(rows: slice) -> Floats:
        grams = patches.grams(rows)
        span = slice(rows.start, rows.stop + 1)
        starts, local = neighbors.indptr[span], np.empty_like(grams)
        kernel(grams, starts - starts[0], patches.places[span], n_components, local)
        return local

    locals_ = LocalMatrices(
        neighbors.indptr, neighbors.indices, neighbors.n_points, compute, patches.block_rows
    )
    return aligned(locals_, weights=weights, run=run)


def aligned(locals_: LocalMatrices, *, weights: Floats | None, run: Run) -> Problem:
    """Smallest of the sum of the local matrices, without the constant vector."""
    matrix = assemble(locals_, weights=weights, run=run)
    trivial = np.ones((matrix.shape[0], 1))
    return Problem(Explicit(matrix, run.n_jobs), "smallest", mass=weights, trivial=trivial)


def _pattern(
    locals_: LocalMatrices, holders: tuple[Integers, Integers], run: Run
) -> tuple[Integers, Integers]:
    """Row starts and sorted columns of the sum."""
    indptr, indices, size = locals_.indptr, locals_.indices, locals_.n_points
    counts = np.empty(size, dtype=np.int64)

    def count(rows: slice) -> None:
        kernels.affinities.assembly.count_columns(indptr, indices, *holders, counts, rows.start, rows.stop)

    run.map(count, size)
    row_starts = np.concatenate(([0], np.cumsum(counts)))
    columns = np.empty(row_starts[-1], dtype=np.int64)

    def fill(rows: slice) -> None:
        kernels.affinities.assembly.fill_columns(
            indptr, indices, *holders, row_starts, columns, rows.start, rows.stop
        )

    run.map(fill, size)
    return row_starts, columns


def _waves(places: Integers, block_rows: int) -> list[tuple[int, int]]:
    """Consecutive patches whose matrices fill about ``WAVE_BYTES``, never fewer than a block."""
    n_patches = places.size - 1
    waves, first = [], 0
    while first < n_patches:
        reach = int(np.searchsorted(places, places[first] + WAVE_BYTES // 8, side="right")) - 1
        last = min(n_patches, max(reach, first + block_rows))
        waves.append((first, last))
        first = last
    return waves


def require_neighbors(neighbors: Neighbors, least: int, variant: str, why: str) -> None:
    """Refuse patches that are too small for a variant, with the row and the remedy."""
    counts = neighbors.counts
    if counts.size and (fewest := int(counts.min())) < least:
        raise InputError(
            f"{named('n_neighbors')}: {setting('variant', variant)} needs at least {least} points in every "
            f"neighbourhood ({why}), but that of point {int(np.argmin(counts))} has {fewest}. Raise "
            f"{named('n_neighbors')} (or {named('radius')}), or lower {named('n_components')}."
        )
