"""A directed graph in compressed rows made symmetric, in linear time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.parallel import light_rows
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run

Symmetry = Literal["union", "average", "mutual"]
Combine = Literal["larger", "smaller", "mean"]
MOST_PARTS, ENTRIES = 32, 1 << 18
"""Parts into which the rows are split, at most, and the entries that a part has, at least."""
MANY = 1 << 25
"""Entries from which on the result has indices of four bytes too, for which the loops that read it compile anew.
Neighbour embeddings of so many neighbours hold their lists and affinities in single precision."""


def symmetrize(matrix: Sparse, how: Symmetry, combine: Combine, run: Run) -> Sparse:
    """Symmetric matrix from ``matrix`` and its transpose, rows sorted; explicit zeros stay entries.

    Parameters
    ----------
    matrix
        Square, rows in any order, no entry twice.
    how
        "union" keeps an entry that either side has, "mutual" one that both have, "average" is (A + A') / 2.
    combine
        Value of an entry that both sides have, for "union" and "mutual".
    run
        Its workers share the rows.
    """
    size = matrix.shape[0]
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), names(matrix.indices, size)
    precision: Any = np.float32 if matrix.dtype == np.float32 else np.float64
    values = matrix.data.astype(precision, copy=False)
    loops = kernels.neighbors.merge
    rule, choice = getattr(loops, how.upper()), getattr(loops, combine.upper())
    # A part of the rows at a time: the transpose of all of them would take as much memory as the result.
    parts = _Parts.of(indices, size, max(1, min(size, MOST_PARTS, values.size // ENTRIES)), run)

    # Each part has room for all entries of both sides, of which it uses the first: memory that nobody writes to costs
    # nothing, and so the parts and the result are never there at once.
    room = [int(indptr[parts.bounds(part)[0]] + parts.starts[part]) for part in range(parts.count)]
    columns = np.empty(2 * indices.size, indices.dtype)
    entries = np.empty(2 * values.size, values.dtype)

    def merge(which: slice) -> Integers:
        first, last = parts.bounds(which.start)
        other = loops.transpose_entries(indptr, indices, values, parts.entries(which.start), first, last)
        # The transpose of the transpose is the matrix with its rows sorted, without a sort.
        own = loops.transpose(
            *loops.transpose(indptr[first : last + 1], indices, values, 0, size), 0, last - first
        )
        bounds, counts = (0, last - first), np.empty(last - first, np.int64)
        loops.count_merged(own[0], own[1], other[0], other[1], rule, bounds, counts)
        starts = room[which.start] + np.concatenate(([0], np.cumsum(counts)))
        loops.fill_merged(own, other, rule, choice, bounds, (starts, columns, entries))
        return counts

    counts = run.map(merge, parts.count, block_rows=1)
    return _canonical(entries, *_joined(counts, room, columns, entries))


def _canonical(values: Floats, indices: NDArray[Any], indptr: NDArray[Any]) -> Sparse:
    """The matrix of rows that are sorted and hold no entry twice."""
    result = Sparse((values, indices, indptr), shape=(indptr.size - 1, indptr.size - 1))
    result.has_sorted_indices = True
    result.has_canonical_format = True
    return result


@dataclass(frozen=True, slots=True)
class Union:
    """Where the entries of a symmetric union come from: other values on the same lists then need no merge.

    Entry e is the larger of the values at ``first[e]`` and ``second[e]``, which are one where one side alone has it.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]

    @classmethod
    def of(cls, indptr: NDArray[Any], indices: NDArray[Any]) -> Union:
        """The union of lists and their transpose; places take four bytes where these are enough."""
        size, loops = indptr.size - 1, kernels.neighbors.merge
        columns, count = names(indices, size), indices.size
        places = np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)
        other = loops.transpose(indptr.astype(np.int64, copy=False), columns, places, 0, size)
        own = loops.transpose(*other, 0, size)
        starts, merged = np.empty(size + 1, np.int64), np.empty(2 * count, columns.dtype)
        first, second = np.empty(2 * count, places.dtype), np.empty(2 * count, places.dtype)
        loops.fill_union(own, other, (starts, merged), first, second)
        for part in (merged, first, second):
            part.resize(int(starts[-1]), refcheck=False)
        return cls(names(starts, 2 * count), merged, first, second)

    def larger(self, values: Floats, run: Run) -> Sparse:
        """What `symmetrize` makes of the lists with these values, to the bit."""
        out = np.empty(self.indices.size)

        def fill(block: slice) -> None:
            kernels.neighbors.merge.larger_of(values, self.first, self.second, out, block.start, block.stop)

        run.map(fill, out.size)
        # Copies, in the integers of `symmetrize`: who drops entries of one matrix must not change the next.
        kind = _kind_of(out.size, self.indices)
        return _canonical(out, self.indices.astype(kind), self.indptr.astype(kind))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Columns in parts of 2^shift of them, and the places of the entries of each part, in order."""

    size: int
    shift: int
    places: NDArray[Any]
    starts: Integers

    @classmethod
    def of(cls, indices: NDArray[Any], size: int, most: int, run: Run) -> _Parts:
        """At most so many parts, or one more; blocks of entries are counted, then written down, on their own."""
        shift = (-(-size // most) - 1).bit_length()
        count, n_entries = (size + (1 << shift) - 1) >> shift, indices.size
        step = max(1, light_rows(n_entries, 3.0))
        counts = np.zeros((-(-n_entries // step), count), np.int64)
        places = np.empty(n_entries, np.int32 if n_entries < 2**31 else np.int64)

        def tally(block: slice) -> None:
            kernels.neighbors.merge.count_parts(
                indices, block.start, block.stop, shift, counts[block.start // step]
            )

        def write(block: slice) -> None:
            following = before[block.start // step].copy()
            kernels.neighbors.merge.list_parts(indices, block.start, block.stop, shift, following, places)

        run.map(tally, n_entries, block_rows=step)
        starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
        before = starts[:-1] + np.cumsum(counts, axis=0) - counts
        run.map(write, n_entries, block_rows=step)
        return cls(size, shift, places, starts)

    @property
    def count(self) -> int:
        """Number of parts."""
        return self.starts.size - 1

    def bounds(self, part: int) -> tuple[int, int]:
        """The first column of a part, and the one past its last."""
        return part << self.shift, min((part + 1) << self.shift, self.size)

    def entries(self, part: int) -> NDArray[Any]:
        """The places of the entries of a part."""
        return self.places[self.starts[part] : self.starts[part + 1]]


def names(indices: NDArray[Any], size: int) -> NDArray[Any]:
    """Indices below ``size`` in four bytes each, where these are enough."""
    return indices.astype(np.int32 if size < 2**31 else np.int64, copy=False)


def _kind_of(entries: int, indices: NDArray[Any]) -> Any:
    """The integers of a matrix of so many entries."""
    return np.int32 if MANY <= entries < 2**31 and indices.dtype == np.int32 else np.int64


def _joined(
    counts: list[Integers], room: list[int], columns: NDArray[Any], entries: Floats
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Indices and starts of consecutive rows, the parts and their values moved together in the memory they are in."""
    indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]))
    place = 0
    for first, number in zip(room, (int(part.sum()) for part in counts), strict=True):
        for whole in (columns, entries):
            whole[place : place + number] = whole[first : first + number]
        place += number
    for whole in (columns, entries):
        whole.resize(place, refcheck=False)
    kind = _kind_of(place, columns)
    return columns.astype(kind, copy=False), indptr.astype(kind, copy=False)
