"""Repulsion by fast Fourier transforms: charges on a uniform grid, one convolution, the potential back at the points.

The grid is that of particle-mesh Ewald (Essmann et al. 1995): B-splines carry the charges to the nodes and the
potential back, and since the force is -1/2 of the potential's gradient, the splines' own derivatives give it from the
same nodes. An evaluation takes one transform forward and one back, where interpolating each sum by itself (Linderman et
al. 2019) takes three and four. A picture too wide for a fine grid gets a coarse one for the smooth part of the kernel,
and near pairs are summed one by one; points far outside the others are summed with all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ...core.messages import named, setting
from ...core.parallel import light_rows
from ...core.places import State
from ...core.records import Floats, Integers
from ...core.run import Run
from ...errors import InputError
from ..similarities import Similarity, Slopes
from .barnes_hut import BarnesHutEngine
from .bending import bends_by_sums
from .box import Box, few_outside
from .exact import ExactEngine, ExactField
from .grid import Grid, Splines, Values, count_nodes, gather
from .narrow import is_narrow, narrow_field
from .near import Cells
from .protocol import Field, FrozenField

LADDER = (
    (2e-2, 4, 0.5, 4.0),
    (1e-2, 4, 0.4, 4.0),
    (1e-3, 6, 0.3, 5.0),
    (1e-4, 6, 0.2, 7.0),
    (1e-5, 8, 0.2, 8.0),
    (1e-6, 8, 0.13, 12.0),
)
"""Relative error of the force, the order and step of the splines that keep to it, and the reach of the near part in
steps of a coarse grid."""
SINGLE = 1e-5
"""Tolerance down to which single precision is enough on the grid."""
NODE, PAIR, TABLE_PAIR = 8e-9, 8e-9, 1.6e-8
"""Seconds of a node in two transforms, of a near pair, and of one whose kernel is looked up in a table."""
ALWAYS, NODES_A_POINT = 1 << 18, 32
"""Nodes up to which a fine grid is taken without looking further: in all, and for each point."""
MOST_NODES = 1 << 24
"""Nodes of the largest grid that is kept for new points."""
VAST = 2.0**40
"""Steps of the finest grid across a picture from which trees sum it: a trial of a line search that went far astray."""


@dataclass(frozen=True, slots=True)
class FFT:
    """Repulsion interpolated on a grid, in one and two dimensions: time N + G log G for G nodes.

    Parameters
    ----------
    tolerance
        Relative error of the force, root mean square over the points, down to 1e-6. It is that of the nearest pairs:
        twice as large in a picture where points are few and far between.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits").data[:200]
    >>> lowdim.TSNE(repulsion=lowdim.FFT(tolerance=1e-3), max_iter=50).fit(digits).embedding_.shape
    (200, 2)
    """

    tolerance: float = 2e-2

    name: ClassVar[str] = "fft"
    most_components: ClassVar[int | None] = 2

    def cost(self, n_points: int) -> tuple[float, str]:
        """Grows with the number of points; the transforms take a time of their own."""
        return n_points * 2e-7 + 3e-3, "Fourier transforms"

    def start(self, kernel: Similarity, n_points: int, n_components: int, run: Run) -> FourierEngine:
        """The engine that runs."""
        if n_components > 2:
            raise InputError(
                f"{setting('repulsion', 'fft')} works in 1 and 2 dimensions; got "
                f"{setting('n_components', n_components)}. Use 'barnes-hut' for 3, or 'exact' for any number."
            )
        if not LADDER[-1][0] <= self.tolerance < 1:
            raise InputError(
                f"{named('tolerance', 'FFT')} must be from {LADDER[-1][0]:g} to below 1; got {self.tolerance!r}. "
                "Use Exact() for more accuracy."
            )
        return FourierEngine(kernel, self.tolerance, run)


class FourierEngine:
    """The running engine: grids by their scale, each with its kernels' transforms.

    A scale is the step of a grid over that of a wide picture. A kernel that is smooth at 0 has a fine grid to itself
    while that is small enough, and shares a coarse one with the near pairs beyond; one that is not smooth always
    shares. For a kernel that ends, near pairs may be all.
    """

    is_exact: ClassVar[bool] = False

    def __init__(self, kernel: Similarity, tolerance: float, run: Run) -> None:
        self.kernel = kernel
        self.run = run
        self.tolerance = tolerance
        splines, self._steps = splines_for(tolerance)
        # A kernel that is not smooth has steps so fine that slopes between nodes would drown in single precision; so
        # would those of one that does not fade, beside its values far away.
        dtype = splines.dtype if kernel.is_smooth and kernel.fades else np.float64
        self._splines = replace(splines, step=splines.step * kernel.width, dtype=dtype)
        self._grids: dict[float, Grid] = {}
        self._exact = ExactEngine(kernel, run)

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        return self.fields(X, [charges])[0]

    def fields(self, X: Floats, charges: Sequence[Floats | None]) -> list[Field]:
        """The field of each of several charges, on one grid and with the same near pairs."""
        X = np.ascontiguousarray(X)
        each = [np.ones(X.shape[0]) if c is None else c for c in charges]
        box = Box.of(X)
        if is_narrow(box.low, box.high, self.tolerance, self.kernel):
            return [narrow_field(X, c, self.kernel) for c in each]
        if self._is_vast(box):
            trees = BarnesHutEngine(self.kernel, theta_for(self.tolerance), self.run)
            return [trees.field(X, c) for c in each]
        outside = few_outside(X, box)
        if outside.size == 0:
            parts = self._parts(X, box)
            return [self._field_inside(X, c, box, parts) for c in each]
        inside = np.ones(X.shape[0], dtype=np.bool_)
        inside[outside] = False
        within, box = X[inside], Box.of(X[inside])
        parts = self._parts(within, box)
        cores = [self._field_inside(within, c[inside], box, parts) for c in each]
        return [self._with_outside(X, c, inside, outside, core) for c, core in zip(each, cores, strict=True)]

    def _with_outside(
        self, X: Floats, c: Floats, inside: NDArray[np.bool_], outside: Integers, core: Field
    ) -> Field:
        """The field where a few points lie far outside: these are summed with all."""
        beyond = self._exact.freeze(X[outside], c[outside])
        pull = beyond.at(X[inside], self.run)
        potential, force = np.empty(X.shape[0]), np.empty_like(X)
        potential[inside], force[inside] = core.potential + pull.potential, core.force + pull.force
        far = self._exact.freeze(X, c).at(X[outside], self.run)
        potential[outside] = far.potential - self.kernel.at_zero() * c[outside]
        force[outside] = far.force
        return Field(potential, force)

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        X = np.ascontiguousarray(X)
        box = Box.of(X)
        if self._is_vast(box) or few_outside(X, box).size:
            return self._exact.sums(X, charges, order)
        parts = self._parts(X, box)
        sums = np.zeros(charges.shape)
        if (grid := parts.grid) is not None:
            origin = grid.place(box.low, box.high)
            own = float(grid.kernel(np.zeros(1), order)[0])
            for column in range(charges.shape[1]):
                one = np.ascontiguousarray(charges[:, column])
                nodes = grid.potential(X, one, origin, order)
                found, _ = gather(grid.splines, nodes, origin, X, self.run)
                sums[:, column] = found - own * one
                if parts.level and order == 0:
                    sums[:, column] += parts.level * (one.sum() - one)
        if parts.cells is not None:
            parts.cells.add_sums(parts.near, charges, order, sums)
        return sums

    def bends(self, X: Floats, charges: Floats) -> Floats:
        """sum_{m != n} (2 K_1 - 4 K_2 u u') c_m, u = x_n - x_m, for charges that are vectors (N x d).

        On the grid this is one kernel for each pair of coordinates: d transforms forward and d back, where the sums
        that it can be multiplied out to are d^2 + 3 d.
        """
        X = np.ascontiguousarray(X)
        box = Box.of(X)
        if self._is_vast(box) or few_outside(X, box).size:
            return self._exact.bends(X, charges)
        parts = self._parts(X, box)
        found = np.zeros(charges.shape)
        if (grid := parts.grid) is not None:
            origin = grid.place(box.low, box.high)
            own = 2.0 * float(grid.kernel(np.zeros(1), 1)[0])
            for axis, nodes in enumerate(grid.bends(X, charges, origin)):
                found[:, axis] = gather(grid.splines, nodes, origin, X, self.run)[0] - own * charges[:, axis]
        if (cells := parts.cells) is not None:

            def near(columns: Floats, order: int) -> Floats:
                sums = np.zeros(columns.shape)
                cells.add_sums(parts.near, columns, order, sums)
                return sums

            found += bends_by_sums(near, X, charges)
        return found

    def freeze(self, X: Floats, charges: Floats | None = None) -> FrozenField:
        """The field of the points as it stands, for new points."""
        c = np.ones(X.shape[0]) if charges is None else charges
        if not self.kernel.is_smooth:
            # New places would need the near pairs too: a tree has them.
            return BarnesHutEngine(self.kernel, theta_for(self.tolerance), self.run).freeze(X, c)
        exact = self._exact.freeze(X, c)
        X = np.ascontiguousarray(X)
        box = Box.of(X)
        grid = self._new_grid(self._fineness(box))
        margin = 0.1 * box.widest + 1.0
        low, high = box.low - margin, box.high + margin
        if self._is_vast(box) or count_nodes(grid.splines, low, high) > MOST_NODES:
            return exact
        origin = grid.place(low, high)
        return FourierField(grid.splines, grid.potential(X, c, origin, 0), origin, high, exact)

    def state(self) -> State:
        """The shapes of the grids, each of which stays while the picture fits it."""
        return {"grids": [(scale, grid.shape) for scale, grid in self._grids.items()]}

    def resume(self, state: State) -> None:
        """Go on with grids of the same shapes."""
        self._grids = {}
        for scale, shape in state["grids"]:
            self._grid(scale).shape = shape

    def _field_inside(self, X: Floats, charges: Floats, box: Box, parts: Parts) -> Field:
        potential, force = np.zeros(X.shape[0]), np.zeros_like(X)
        if (grid := parts.grid) is not None:
            origin = grid.place(box.low, box.high)
            nodes = grid.potential(X, charges, origin, 0)
            potential, force = gather(grid.splines, nodes, origin, X, self.run)
            self._deduct(charges, float(grid.kernel(np.zeros(1), 0)[0]), parts.level, potential, force)
        if parts.cells is not None:
            parts.cells.add_field(parts.near, charges, potential, force)
        return Field(potential, force)

    def _deduct(self, charges: Floats, own: float, level: float, potential: Floats, force: Floats) -> None:
        """Take from a field what each point adds to its own potential, and give back what a level took from it.

        Pairs push each other equally: what is left of their sum is the grid's error, and goes too.
        """

        def add(rows: slice) -> tuple[float, float, float]:
            sums: tuple[float, float, float] = kernels.embedding.interpolation.push(
                charges, force, rows.start, rows.stop
            )
            return sums

        def deduct(rows: slice) -> None:
            kernels.embedding.interpolation.deduct(
                charges, own + level, level * total, mean, rows.start, rows.stop, potential, force
            )

        block = light_rows(charges.size, 3.0)
        total, *push = np.sum(self.run.map(add, charges.size, block_rows=block), axis=0).tolist()
        mean = np.array(push) / total
        self.run.map(deduct, charges.size, block_rows=block)

    def _parts(self, X: Floats, box: Box) -> Parts:
        """The grid, and the near pairs where it is too coarse for them: the cheapest scale, from fine to coarse."""
        most = max(ALWAYS, NODES_A_POINT * X.shape[0])
        if self.kernel.is_smooth:
            fine = self._fineness(box)
            nodes = self._nodes(fine, box)
            chosen, cost, first = Parts(self._grid(fine)), NODE * nodes, 1
            if nodes <= most:
                return chosen
            unit = 1.0
        else:
            first = self._finest(box, most)
            unit = 2.0**first
            chosen, cost, nodes = Parts(None), inf, self._nodes(unit, box)
        pair = TABLE_PAIR if self.kernel.is_tabulated else PAIR
        reach = self.kernel.reach(self.tolerance)
        if reach is not None:
            cells = Cells.of(X, reach, self.run)
            return Parts(None, cells, self.kernel.radial) if pair * cells.n_pairs < cost else chosen
        for scale in (2.0**k for k in range(first, first + 40)):
            cells = Cells.of(X, self._reach(scale), self.run)
            other = pair * cells.n_pairs + NODE * nodes / (scale / unit) ** X.shape[1]
            if other >= cost:
                break
            near = self.kernel.near(self._reach(scale) ** 2)
            cost, chosen = other, Parts(self._grid(scale), cells, near, self._level(scale))
        return chosen

    def _reach(self, scale: float) -> float:
        """How far the near part goes: to where the far part is smooth on the grid."""
        return self._steps * scale * self._splines.step

    def _level(self, scale: float) -> float:
        """What is taken from the far part on a grid in a picture narrower than the kernel, lest differences drown."""
        return float(self.kernel.slope(np.full(1, self._reach(scale) ** 2))[0]) if scale < 1.0 else 0.0

    def _fineness(self, box: Box) -> float:
        """The scale of a fine grid: where points are close their pushes all but cancel."""
        widest = box.widest / self.kernel.width
        return 0.25 if widest < 1.5 else 0.5 if widest < 6.0 else 1.0

    def _finest(self, box: Box, most: float) -> int:
        """The power of two of the finest scale whose grid has no more than about so many nodes."""
        return ceil(log2(2.0 * box.widest / (self._splines.step * most ** (1.0 / box.low.size))))

    def _is_vast(self, box: Box) -> bool:
        return box.widest > VAST * self._splines.step

    def _nodes(self, scale: float, box: Box) -> float:
        return count_nodes(self._scaled(scale), box.low, box.high)

    def _scaled(self, scale: float) -> Splines:
        return replace(self._splines, step=self._splines.step * scale)

    def _grid(self, scale: float) -> Grid:
        if scale not in self._grids:
            self._grids[scale] = self._new_grid(scale)
        return self._grids[scale]

    def _new_grid(self, scale: float) -> Grid:
        kernel: Slopes = self.kernel.slope
        if scale > 1.0 or not self.kernel.is_smooth:
            kernel = self.kernel.far(self._reach(scale) ** 2)
            if level := self._level(scale):
                kernel = Lowered(kernel, level)
        return Grid(self._scaled(scale), kernel, self.run)


@dataclass(frozen=True, slots=True)
class Parts:
    """What sums a field: a grid, near pairs with their part of the kernel, and what the grid has too little of it."""

    grid: Grid | None
    cells: Cells | None = None
    near: Any = None
    level: float = 0.0


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel less a constant, which no force knows of."""

    kernel: Slopes
    level: float

    def __call__(self, D: Floats, order: int) -> Floats:
        """K_order - level for the order 0."""
        return self.kernel(D, order) - self.level if order == 0 else self.kernel(D, order)


@dataclass(frozen=True, slots=True)
class FourierField:
    """The field of fixed points on its grid, exact for the places beyond it."""

    splines: Splines
    nodes: Values
    origin: Floats
    end: Floats
    exact: ExactField

    def at(self, places: Floats, run: Run) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        inside = np.all((places >= self.origin) & (places <= self.end), axis=1)
        potential, force = np.empty(places.shape[0]), np.empty(places.shape)
        near = np.ascontiguousarray(places[inside])
        # Where a new point comes to rest depends on the last digits of its forces, and models are kept for long.
        potential[inside], force[inside] = gather(
            self.splines, self.nodes, self.origin, near, run, in_double=True
        )
        if not inside.all():
            beyond = self.exact.at(places[~inside], run)
            potential[~inside], force[~inside] = beyond.potential, beyond.force
        return Field(potential, force)


def splines_for(tolerance: float) -> tuple[Splines, float]:
    """The cheapest splines that keep to a tolerance, and the reach of the near part in steps of a coarse grid."""
    _, order, step, reach = next(rung for rung in LADDER if rung[0] <= tolerance)
    return Splines(order, step, np.float32 if tolerance >= SINGLE else np.float64), reach


def theta_for(tolerance: float) -> float:
    """The opening of a tree whose forces keep to a tolerance: the error falls as its third power."""
    return min(0.7, 0.5 * float(np.cbrt(tolerance / 1e-3)))
