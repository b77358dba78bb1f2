"""Z'AZ for sparse landmark weights Z, by the form of A; every sum runs in an order that no thread count changes.

Points are taken in waves, whose rows of A Z fill a bounded buffer. In a wave the rows are made by blocks of
points, then added up by ranges of landmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

from ... import kernels
from ...core.parallel import map_blocks
from ...core.records import Floats, Integers, Sparse
from ...core.run import Run
from ...spectral.operators import narrowed

#: Entries of the compressed rows of a wave (12 bytes each), and bytes of its full rows: they stay in cache.
_SPARSE_WAVE = 1_500_000
_FULL_WAVE = 6_000_000
#: Share of the landmarks that a row of A Z, or of F Z in a product with itself, touches from which it is held in full.
_FULL_SHARE = 0.07
_FULL_SHARE_GRAM = 0.16
_SAMPLE = 64
#: Rows of a dense matrix that are multiplied at once: their sums on a thousand landmarks stay in cache.
_LANES = 32
_TILE = 64
_NONE: Floats = np.empty(0)
Done = Callable[[int], None]
Compressed = tuple[NDArray[Any], NDArray[Any], Floats]
"""Row starts, columns (or the other way round) and values, in whatever integers they came."""


@dataclass(frozen=True, slots=True)
class Carriers:
    """Landmark weights Z (N x L) by rows and by columns, and the threads to use.

    The points that landmark l carries begin at ``starts[l]``.
    """

    Z: Sparse
    by_landmark: Compressed
    n_jobs: int | None

    @classmethod
    def of(cls, Z: Sparse, n_jobs: int | None) -> Carriers:
        """Both forms of Z."""
        narrow = narrowed(Z)
        columns = sparse.csc_array(narrow)
        return cls(narrow, (columns.indptr.astype(np.int64), columns.indices, columns.data), n_jobs)

    @property
    def shape(self) -> tuple[int, int]:
        """N and L."""
        return int(self.Z.shape[0]), int(self.Z.shape[1])

    @property
    def rows(self) -> Compressed:
        """Z in compressed rows, as the kernels take it."""
        return self.Z.indptr, self.Z.indices, self.Z.data

    @property
    def starts(self) -> Integers:
        """Where the points of each landmark begin."""
        return self.by_landmark[0][:-1]

    def over_points(self, work: Callable[[slice], None], rows: slice) -> None:
        """Call on every block of a range of points, on threads."""
        count = rows.stop - rows.start

        def shifted(block: slice) -> None:
            work(slice(rows.start + block.start, rows.start + block.stop))

        map_blocks(shifted, count, n_jobs=self.n_jobs, block_rows=max(1, min(1024, -(-count // 16))))

    def over_landmarks(self, work: Callable[[slice], None]) -> None:
        """Call on every range of landmarks, on threads."""
        count = self.shape[1]
        map_blocks(work, count, n_jobs=self.n_jobs, block_rows=max(1, min(_TILE, -(-count // 32))))


def fold(S: Floats, factor: float, n_jobs: int | None) -> None:
    """S = factor (S + S'), in place."""

    def work(rows: slice) -> None:
        kernels.spectral.reduction.fold(S, factor, _TILE, rows.start, rows.stop)

    map_blocks(work, S.shape[0], n_jobs=n_jobs, block_rows=_TILE)


def mirror(S: Floats) -> None:
    """Put what stands below the diagonal above it too, in place."""
    kernels.spectral.reduction.mirror(S, _TILE, 0, S.shape[0])


def with_diagonal(carriers: Carriers, mass: Floats | None) -> Floats:
    """Z' diag(mass) Z."""
    out, scale = np.zeros((carriers.shape[1],) * 2), _NONE if mass is None else mass
    cursor = carriers.starts.copy()
    indptr, columns, values = carriers.rows
    starts, counts = indptr[:-1].astype(np.int64), np.diff(indptr).astype(np.int64)
    whole = slice(0, carriers.shape[0])
    _add_sparse(carriers, carriers.by_landmark, cursor, [starts, counts, columns, values], scale, whole, out)
    fold(out, 0.5, carriers.n_jobs)
    return out


def with_sparse(
    carriers: Carriers, matrix: Sparse, *, diagonal: Floats, sign: float, done: Done | None = None
) -> Floats:
    """Z'AZ for the symmetric A with this diagonal that is ``sign`` times a sparse matrix off it.

    The upper triangle is enough: with U = diag(A) / 2 + triu(A, 1), Z'AZ = Z'UZ + (Z'UZ)'.
    """
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    out = np.zeros((carriers.shape[1],) * 2)
    cursor = carriers.starts.copy()
    product = _Product(carriers, matrix, diagonal, sign)
    if product.share() < _FULL_SHARE:
        for rows, *wave in product.sparse_waves():
            _add_sparse(carriers, carriers.by_landmark, cursor, wave, _NONE, rows, out)
            _tell(done, rows)
    else:
        for rows, image in product.full_waves():
            _add_full(carriers, cursor, image, rows, out)
            _tell(done, rows)
    fold(out, 1.0, carriers.n_jobs)
    return out


def with_factor(carriers: Carriers, F: Sparse, weights: Floats | None, done: Done | None = None) -> Floats:
    """(F Z)' diag(weights) (F Z): what is positive semidefinite stays it to rounding."""
    width = carriers.shape[1]
    out = np.zeros((width, width))
    product = _Product(carriers, F, _NONE, 1.0)
    if product.share() < _FULL_SHARE_GRAM:
        indptr, points, shares = np.empty(width + 1, np.int64), np.empty(0, np.int32), _NONE
        for rows, *wave in product.sparse_waves():
            starts, counts, columns, values = wave
            if points.size < values.size:
                points, shares = np.empty(values.size, np.int32), np.empty(values.size)
            kernels.spectral.reduction.transpose_rows(starts, counts, columns, values, indptr, points, shares)
            scale = _NONE if weights is None else weights[rows]
            by_landmark, cursor = (indptr, points, shares), indptr[:-1].copy()
            _add_sparse(carriers, by_landmark, cursor, wave, scale, slice(0, starts.size), out)
            _tell(done, rows)
        fold(out, 0.5, carriers.n_jobs)
        return out
    for rows, image in product.full_waves():
        if weights is not None:
            np.multiply(image, np.sqrt(weights[rows])[:, None], out=image)
        # Fortran reads C's rows as columns: its lower triangle is the upper one of ``out``.
        blas.dsyrk(1.0, image.T, beta=1.0, c=out.T, lower=1, overwrite_c=1)
        _tell(done, rows)
    out[np.diag_indices(width)] /= 2
    fold(out, 1.0, carriers.n_jobs)
    return out


def with_rows(
    carriers: Carriers, blocks: Callable[[int], Iterable[tuple[slice, Floats]]], mass: Floats, run: Run
) -> tuple[Floats, Floats]:
    """Z'MRMZ and R m for a dense symmetric R that comes a block of rows at a time, M = diag(m).

    ``blocks(start)`` are those from a row on.
    """
    n_points, width = carriers.shape

    def start() -> dict[str, Any]:
        sums = {"out": np.zeros((width, width)), "sums": np.empty(n_points)}
        return {**sums, "cursor": carriers.starts.copy(), "start": 0}

    def step(state: dict[str, Any]) -> dict[str, Any]:
        rows, given = next(iter(blocks(state["start"])))
        block = np.ascontiguousarray(given, dtype=np.float64)
        image = np.empty((block.shape[0], width))

        def work(part: slice) -> None:
            columns = np.ascontiguousarray(block[part].T)
            sums_of = np.empty((width, columns.shape[1]))
            kernels.spectral.reduction.dense_rows(columns, mass, carriers.rows, sums_of)
            np.multiply(sums_of.T, mass[rows][part, None], out=image[part])

        run.map(work, block.shape[0], block_rows=_LANES)
        state["sums"][rows] = block @ mass
        _add_full(carriers, state["cursor"], image, rows, state["out"])
        run.progress(rows.stop, n_points)
        return state | {"start": rows.stop}

    found = run.iterate("rows", start, step, lambda state: state["start"] >= n_points)
    fold(found["out"], 0.5, carriers.n_jobs)
    return found["out"], found["sums"]


def sparse_product(carriers: Carriers, matrix: Sparse) -> Sparse:
    """M Z as a sparse matrix, columns sorted."""
    product = _Product(carriers, matrix, _NONE, 1.0)
    parts, lengths = [], []
    for _, starts, counts, columns, values in product.sparse_waves():
        places = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        parts.append((columns[places], values[places]))
        lengths.append(counts.copy())
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    out = sparse.csr_array((values, columns, indptr), shape=(matrix.shape[0], carriers.shape[1]))
    out.sort_indices()
    return out


def _add_sparse(
    carriers: Carriers,
    by_landmark: Compressed,
    cursor: Integers,
    wave: Sequence[NDArray[Any]],
    scale: Floats,
    rows: slice,
    out: Floats,
) -> None:
    def add(part: slice) -> None:
        kernels.spectral.reduction.add_sparse(
            by_landmark, cursor, *wave, scale, out, rows.start, rows.stop, part.start, part.stop
        )

    carriers.over_landmarks(add)


def _add_full(carriers: Carriers, cursor: Integers, image: Floats, rows: slice, out: Floats) -> None:
    def add(part: slice) -> None:
        kernels.spectral.reduction.add_full(
            carriers.by_landmark, cursor, image, out, rows.start, rows.stop, part.start, part.stop
        )

    carriers.over_landmarks(add)


def _tell(done: Done | None, rows: slice) -> None:
    if done is not None:
        done(rows.stop)


@dataclass(frozen=True, slots=True)
class _Product:
    """Rows of ``sign M Z``, or of ``(diagonal / 2 + sign triu(M, 1)) Z``, a wave of them at a time."""

    carriers: Carriers
    matrix: Sparse
    diagonal: Floats
    sign: float

    @property
    def _source(self) -> Compressed:
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    def share(self) -> float:
        """Share of the landmarks that a row touches, from a sample of rows."""
        n_rows, width = self.matrix.shape[0], self.carriers.shape[1]
        picked = np.unique(np.linspace(0, n_rows - 1, min(_SAMPLE, n_rows)).astype(np.int64))
        counts, starts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        columns, values = np.empty(width, np.int32), np.empty(width)
        touched = 0
        for i in picked:
            self._fill(starts, counts, columns, values, int(i), slice(int(i), int(i) + 1))
            touched += int(counts[0])
        return touched / (picked.size * max(1, width))

    def _fill(
        self,
        starts: Integers,
        counts: Integers,
        columns: NDArray[Any],
        values: Floats,
        first: int,
        rows: slice,
    ) -> None:
        kernels.spectral.reduction.sparse_rows(
            self._source, self.carriers.rows, self.diagonal, self.sign, self.carriers.shape[1],
            starts, counts, columns, values, first, rows.start, rows.stop,
        )  # fmt: skip

    def sparse_waves(self) -> Iterator[tuple[Any, ...]]:
        """Waves of compressed rows: which, where each begins, its length, columns, values; buffers are used again."""
        n_rows, width = self.matrix.shape[0], self.carriers.shape[1]
        bounds = np.empty(n_rows, np.int64)
        half = self.diagonal.size > 0

        def bound(rows: slice) -> None:
            kernels.spectral.reduction.row_bounds(
                self.matrix.indptr, self.matrix.indices, self.carriers.Z.indptr, half, width, bounds, 0,
                rows.start, rows.stop,
            )  # fmt: skip

        self.carriers.over_points(bound, slice(0, n_rows))
        ends = np.cumsum(bounds)
        capacity = min(int(ends[-1]) if n_rows else 0, max(_SPARSE_WAVE, int(bounds.max(initial=0))))
        columns, values = np.empty(capacity, np.int32), np.empty(capacity)
        first = 0
        while first < n_rows:
            before = int(ends[first] - bounds[first])
            last = max(first + 1, int(np.searchsorted(ends, before + capacity, side="right")))
            rows = slice(first, last)
            starts = ends[rows] - bounds[rows] - before
            counts = np.empty(last - first, np.int64)

            def fill(part: slice, starts: Integers = starts, counts: Integers = counts) -> None:
                self._fill(starts, counts, columns, values, rows.start, part)  # noqa: B023 - done within the turn

            self.carriers.over_points(fill, rows)
            yield rows, starts, counts, columns, values
            first = last

    def full_waves(self) -> Iterator[tuple[slice, Floats]]:
        """Waves of full rows; the buffer is used again."""
        n_rows, width = self.matrix.shape[0], self.carriers.shape[1]
        wave_rows = min(n_rows, max(64, _FULL_WAVE // (8 * width)))
        buffer = np.empty((wave_rows, width))
        for first in range(0, n_rows, wave_rows):
            rows = slice(first, min(first + wave_rows, n_rows))

            def fill(part: slice, first: int = first) -> None:
                kernels.spectral.reduction.full_rows(
                    self._source, self.carriers.rows, self.diagonal, self.sign, buffer, first,
                    part.start, part.stop,
                )  # fmt: skip

            self.carriers.over_points(fill, rows)
            yield rows, buffer[: rows.stop - first]
