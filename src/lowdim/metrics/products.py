"""Distances of a few rows to all points by matrix products: without rounding, or with a bound on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.number_types import smallest_type
from ..data.rows import Rows
from ..kernels.neighbors.ranks import SORTED
from ..kernels.neighbors.tables import STRIP
from ..neighbors.centred_points import FURTHEST, middle_of
from ..neighbors.geometry import Geometry, native
from ..neighbors.searchers.blocked import longest_chain

LEAST_COLUMNS = 128
"""Rows of fewer columns are compared by differences: telling what rounding left open would take longer."""
MOST_BYTES = 1 << 30
"""Bytes up to which points in double precision are held in single precision too, which is quicker to read."""
LARGEST_ERROR = 1e-4
"""Most that a product of two unit vectors may be off."""
PACKED_BYTES = 1 << 18
SAMPLE = 512
"""Points whose middle all are measured from; any would do."""
NEAR = 64
"""Squared distances below so many of their errors are not left to products."""
MOST_OPEN = 16
"""Where the order depends on more than one point in so many, the whole row is measured by differences."""
MOST_NEAR = 64
"""Where more than one point in so many is that near, the whole row is measured by differences too."""


@dataclass(frozen=True, slots=True)
class WholeProducts:
    """Distances from |x|^2 + |y|^2 - 2 x'y of whole numbers that one or two bytes hold, without any rounding.

    Every product, every sum of products and so every entry is a whole number that ``precision`` holds: the matrix
    product gives what differences give, to the last bit and whatever its order of summation. ``middle`` of the type is
    subtracted first, so that the numbers are as small as can be.
    """

    values: NDArray[Any]
    precision: type[np.floating[Any]]
    middle: float
    squares: Floats

    @staticmethod
    def of(rows: Rows) -> WholeProducts | None:
        """For the rows, where they are such numbers in memory, of whatever type."""
        values = rows.values
        if not isinstance(values, np.ndarray) or rows.is_mapped:
            return None
        smallest = smallest_type(values)
        if smallest.kind not in "iu" or smallest.itemsize > 2:
            return None
        values, limits = values.astype(smallest, copy=False), np.iinfo(smallest)
        middle = (int(limits.max) + int(limits.min) + 1) // 2
        largest = rows.n_columns * (int(limits.max) - middle + 1) ** 2
        squares = np.empty(rows.n_rows)
        for part in row_blocks(rows.n_rows, rows.block_rows()):
            squares[part] = np.square(rows.block(part) - middle).sum(axis=1)
        precision = np.float32 if largest < 1 << 24 else np.float64
        return WholeProducts(native(values), precision, float(middle), squares)

    def fill(self, points: Integers, out: Floats) -> None:
        """Distances of some points to every point."""
        centre = np.full(self.values.shape[1], self.middle, self.precision)
        chosen = self.values[points].astype(self.precision) - centre
        _fill_all(chosen, self.squares[points], self.values, (centre, 1.0, 1.0), self.squares, out)


@dataclass(frozen=True, slots=True)
class DoubleProducts:
    """Distances from |x|^2 + |y|^2 - 2 x'y in double precision: close to exact, for what is estimated from them."""

    geometry: Geometry
    centre: Floats
    squares: Floats

    @staticmethod
    def of(geometry: Geometry, run: Run) -> DoubleProducts:
        """For dense points in memory under the Euclidean metric."""
        centre = middle_of(geometry, SAMPLE)[:-1] * geometry.unit
        return DoubleProducts(geometry, centre, _centred_squares(geometry, centre, run))

    def fill(self, points: Integers, out: Floats) -> None:
        """Distances of some points to every point."""
        values, unit = self.geometry.values, self.geometry.unit
        chosen = (values[points] - self.centre) * (1.0 / unit)
        _fill_all(chosen, self.squares[points], values, (self.centre, 1.0 / unit, unit), self.squares, out)


@dataclass(frozen=True, slots=True)
class RoundedProducts:
    """Distances from |x|^2 + |y|^2 - 2 x'y, the products in single precision, everything else in double.

    Points are centred and brought to unit size. With rounded x and y and s terms in the longest chain of a sum the
    product is off by at most g |x| |y|, g about 2 u (s + 4) with u = 2^-24 (Higham 2002, section 3.1). Squared
    distances that are hardly larger than that are measured by differences, and so are rows that have many of them.
    """

    geometry: Geometry
    centre: NDArray[Any]
    unit: float
    squares: Floats
    packed: NDArray[np.float32] | None

    @staticmethod
    def of(geometry: Geometry, run: Run) -> RoundedProducts | None:
        """For many points in memory with some columns, none of them far outside, under the Euclidean metric."""
        rows = geometry.rows
        if rows.is_sparse or rows.is_mapped or rows.n_rows <= SORTED or rows.n_columns < LEAST_COLUMNS:
            return None
        values = geometry.values
        precision = np.float64 if values.dtype == np.float64 else np.float32
        # In the type of the points, so that what is subtracted from each of them is the same number.
        centre = (middle_of(geometry, SAMPLE)[:-1] * geometry.unit).astype(precision)
        squares = _centred_squares(geometry, centre, run)
        typical, reach = np.median(squares), squares.max()
        if not 0.0 < typical <= reach < FURTHEST**2 * typical or _error(rows.n_columns) > LARGEST_ERROR:
            return None
        scale = float(2.0 ** np.floor(np.log2(typical) / 2))
        unit, packed = geometry.unit * scale, None
        if precision is np.float64 and 4 * values.size <= MOST_BYTES:
            packed = np.empty(values.shape, np.float32)

            def pack(part: slice) -> None:
                packed[part] = (values[part] - centre) * (1.0 / unit)

            run.map(pack, rows.n_rows, block_rows=rows.block_rows(PACKED_BYTES))
        return RoundedProducts(geometry, centre, unit, squares / scale**2, packed)

    def fill(self, points: Integers, out: Floats) -> Rounding:
        """Distances of some points to every point, and how far they are off."""
        values, single = self.geometry.values, np.float32
        chosen = ((values[points] - self.centre) * self.centre.dtype.type(1.0 / self.unit)).astype(single)
        y: NDArray[Any] = values
        frame = self.centre, 1.0 / self.unit, self.unit
        if self.packed is not None:
            y, frame = self.packed, (np.zeros(values.shape[1], single), 1.0, self.unit)
        norms, reach, g = np.sqrt(self.squares[points]), np.sqrt(self.squares.max()), _error(values.shape[1])
        near = np.empty((points.size, values.shape[0] // MOST_NEAR), np.int32)
        counts = np.empty(points.size, np.int64)
        # Whatever is nearer than |x| is at most 2 |x| from the centre.
        limits = NEAR * g * norms * np.minimum(2.0 * norms, reach)
        kernels.neighbors.tables.product_table(
            _strips(chosen, single),
            self.squares[points],
            y,
            frame,
            self.squares,
            limits,
            out,
            near,
            counts,
        )
        same = np.ones(points.size)
        errors = np.column_stack((g * norms, norms, reach * same, self.unit * same))
        errors[counts > near.shape[1], 0] = 0.0
        rounded, exact = np.flatnonzero(errors[:, 0] > 0), np.flatnonzero(errors[:, 0] == 0)
        indices = near[rounded][np.arange(near.shape[1]) < counts[rounded, None]]
        self.measure(points, np.repeat(rounded, counts[rounded]), indices, out)
        self.compare(points, exact, out)
        return Rounding(self, points, errors)

    def measure(self, points: Integers, places: Integers, others: NDArray[Any], out: Floats) -> None:
        """Put distances of ``points[places]``, ascending places, to the ``others`` into their rows, by differences."""
        rows, counts = np.unique(places, return_counts=True)
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        block = self.geometry.block(self.geometry.rows.select(points[rows]), slice(0, rows.size))
        squared = self.geometry.pairs(block, indptr, others.astype(np.int64))
        out[places, others] = self.geometry.to_metric(squared)

    def compare(self, points: Integers, places: Integers, out: Floats) -> None:
        """Put the distances of ``points[places]`` to all points into their rows, by differences."""
        if places.size > 0:
            geometry, found = self.geometry, out[places]
            x = geometry.mapped(geometry.rows.select(points[places]), slice(0, places.size))
            kernels.neighbors.tables.dense_table(x, geometry.values, geometry.terms, geometry.unit, found)
            out[places] = found


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far the distances of ``points`` to all are off.

    ``errors`` are g |x|, |x|, the largest |y| and the unit of these, for each row: the squares of the distances are off
    by at most g |x| |y|. Where the first is 0 they are exact.
    """

    products: RoundedProducts
    points: Integers
    errors: Floats

    @contextmanager
    def settled(self, shown: Floats, given: Floats, ks: Integers, n_neighbors: int) -> Iterator[None]:
        """Within it, ``given`` has as many exact distances as the ranks that are asked for depend on."""
        n_rows, n_points = given.shape
        room = np.empty((n_rows, n_points // MOST_OPEN), np.int32)
        counts = np.full(n_rows, n_neighbors)
        kernels.neighbors.settling.undecided(shown, given, self.points, ks, self.errors, room, counts)
        crowded = np.flatnonzero(counts < 0)
        counts[crowded] = 0
        places = np.repeat(np.arange(n_rows), counts)
        others = room[np.arange(room.shape[1]) < counts[:, None]]
        # The other measures shall not depend on whether orders were asked for.
        kept, rows = given[places, others], given[crowded]
        self.products.measure(self.points, places, others, given)
        self.products.compare(self.points, crowded, given)
        yield
        given[places, others], given[crowded] = kept, rows


def _centred_squares(geometry: Geometry, centre: NDArray[Any], run: Run) -> Floats:
    """Squared distances of all points from a centre, in the geometry's unit."""

    def measure(part: slice) -> Floats:
        found = np.empty(part.stop - part.start)
        kernels.neighbors.tables.centred_squares(geometry.values[part], centre, 1.0 / geometry.unit, found)
        return found

    return np.concatenate(run.map(measure, geometry.rows.n_rows))


def _fill_all(
    chosen: NDArray[Any],
    own: Floats,
    values: NDArray[Any],
    frame: tuple[NDArray[Any], float, float],
    squares: Floats,
    out: Floats,
) -> None:
    """Distances of rows in a frame to all points from their products, whatever rounding does to them."""
    no_limits, no_room = np.full(len(chosen), -np.inf), np.empty((len(chosen), 0), np.int32)
    strips, counts = _strips(chosen, chosen.dtype.type), np.empty(len(chosen), np.int64)
    kernels.neighbors.tables.product_table(
        strips, own, values, frame, squares, no_limits, out, no_room, counts
    )


def _error(n_columns: int) -> float:
    """g: how far twice a product of two unit vectors of so many columns may be off."""
    return 1.1 * float(np.finfo(np.float32).eps) * (longest_chain(n_columns) + 4)


def _strips(rows: NDArray[Any], precision: type[np.floating[Any]]) -> NDArray[Any]:
    """Rows in strips, ``strips[s, c, j]`` coordinate c of row STRIP s + j, filled up with zeros."""
    count = -(-len(rows) // STRIP)
    filled = np.zeros((count * STRIP, rows.shape[1]), precision)
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(count, STRIP, -1).transpose(0, 2, 1))
