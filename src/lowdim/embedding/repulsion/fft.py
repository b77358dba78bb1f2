"""Repulsion by fast Fourier transforms: charges on a uniform grid, one convolution, the potential back at the points.

The grid is that of particle-mesh Ewald (Essmann et al. 1995): B-splines carry the charges to the nodes and the
potential back, and since the force is -1/2 of the potential's gradient, the splines' own derivatives give it from the
same nodes. An evaluation takes one transform forward and one back, where interpolating each sum by itself (Linderman et
al. 2019) takes three and four. A picture too wide for a fine grid gets a coarse one for the smooth part of the kernel,
and near pairs are summed one by one; points far outside the others are summed with all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from ... import kernels
from ...errors import InputError
from ...messages import named, setting
from ...places import State
from ...records import Floats, Integers
from ..similarity import Kernel
from .exact import ExactEngine
from .grid import Grid, Splines, Values
from .narrow import is_narrow, narrow_field
from .near import Cells
from .protocol import Field, FrozenField

LADDER = (
    (2e-2, 4, 0.5, 4.0),
    (1e-2, 4, 0.4, 4.0),
    (1e-3, 6, 0.3, 5.0),
    (1e-4, 6, 0.2, 7.0),
    (1e-5, 8, 0.2, 8.0),
    (1e-6, 8, 0.15, 10.0),
)
"""Relative error of the force, the order and step of the splines that keep to it, and the reach of the near part in
steps of a coarse grid."""
SINGLE = 1e-5
"""Tolerance down to which single precision is enough on the grid."""
POWER = 5
"""Power of the near part of the Student kernel: the far part has four continuous derivatives in squared distance."""
NODE, PAIR = 2.5e-8, 4e-9
"""Seconds of a node in two transforms, and of a near pair."""
ALWAYS, NODES_A_POINT = 1 << 18, 32
"""Nodes up to which a fine grid is taken without looking further: in all, and for each point."""
MOST_NODES = 1 << 24
"""Nodes of the largest grid that is kept for new points."""
FEW = 1e-3
"""Share of the points that may be left outside the grid."""


@dataclass(frozen=True, slots=True)
class FFT:
    """Repulsion interpolated on a grid, in one and two dimensions: time N + G log G for G nodes.

    Parameters
    ----------
    tolerance
        Relative error of the force, root mean square over the points, down to 1e-6. It is that of the nearest pairs:
        twice as large in a picture where points are few and far between.
    """

    tolerance: float = 2e-2

    def start(self, kernel: Kernel, n_points: int, n_components: int, n_jobs: int | None) -> FourierEngine:
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
        return FourierEngine(kernel, self.tolerance, n_jobs)


class FourierEngine:
    """The running engine: grids by their step, each with its kernels' transforms."""

    def __init__(self, kernel: Kernel, tolerance: float, n_jobs: int | None) -> None:
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.tolerance = tolerance
        self._splines, self._steps = splines_for(tolerance)
        self._grids: dict[float, Grid] = {}
        self._exact = ExactEngine(kernel, n_jobs)

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        X = np.ascontiguousarray(X)
        c = np.ones(X.shape[0]) if charges is None else charges
        box = Box.of(X)
        if is_narrow(box.low, box.high, self.tolerance):
            return narrow_field(X, c, self.kernel)
        outside = few_outside(X, box)
        if outside.size == 0:
            return self._field_inside(X, c, box)
        inside = np.ones(X.shape[0], dtype=np.bool_)
        inside[outside] = False
        core = self._field_inside(X[inside], c[inside], Box.of(X[inside]))
        beyond = self._exact.freeze(X[outside], c[outside])
        pull = beyond.at(X[inside])
        potential, force = np.empty(X.shape[0]), np.empty_like(X)
        potential[inside], force[inside] = core.potential + pull.potential, core.force + pull.force
        far = self._exact.freeze(X, c).at(X[outside])
        potential[outside], force[outside] = far.potential - c[outside], far.force
        return Field(potential, force)

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        X = np.ascontiguousarray(X)
        box = Box.of(X)
        if few_outside(X, box).size:
            return self._exact.sums(X, charges, order)
        grid, cells = self._scale(X, box)
        sums = np.zeros(charges.shape)
        if grid is not None:
            origin = grid.place(box.low, box.high)
            own = float(grid.kernel(np.zeros(1), order)[0])
            for column in range(charges.shape[1]):
                one = np.ascontiguousarray(charges[:, column])
                found = np.empty(X.shape[0])
                grid.gather(X, grid.potential(X, one, origin, order), origin, found)
                sums[:, column] = found - own * one
        if cells is not None:
            cells.add_sums(charges, self._power, order, sums)
        return sums

    def freeze(self, X: Floats, charges: Floats | None = None) -> FrozenField:
        """The field of the points as it stands, for new points."""
        c = np.ones(X.shape[0]) if charges is None else charges
        exact = self._exact.freeze(X, c)
        X = np.ascontiguousarray(X)
        box = Box.of(X)
        grid = self._new_grid(fineness(box))
        margin = 0.1 * float((box.high - box.low).max()) + 1.0
        low, high = box.low - margin, box.high + margin
        if grid.n_nodes(low, high) > MOST_NODES:
            return exact
        origin = grid.place(low, high)
        return FourierField(grid, grid.potential(X, c, origin, 0), origin, high, exact)

    def state(self) -> State:
        """The shapes of the grids, each of which stays while the picture fits it."""
        return {"grids": [(scale, grid.shape) for scale, grid in self._grids.items()]}

    def resume(self, state: State) -> None:
        """Go on with grids of the same shapes."""
        self._grids = {}
        for scale, shape in state["grids"]:
            self._grid(scale).shape = shape

    def _field_inside(self, X: Floats, charges: Floats, box: Box) -> Field:
        grid, cells = self._scale(X, box)
        potential, force = np.zeros(X.shape[0]), np.zeros_like(X)
        if grid is not None:
            origin = grid.place(box.low, box.high)
            grid.gather(X, grid.potential(X, charges, origin, 0), origin, potential, force)
            potential -= float(grid.kernel(np.zeros(1), 0)[0]) * charges
            # Pairs push each other equally: what is left of their sum is the grid's error.
            force -= np.einsum("n,nd->d", charges, force) / charges.sum()
        if cells is not None:
            cells.add_field(charges, self._power, potential, force)
        return Field(potential, force)

    def _scale(self, X: Floats, box: Box) -> tuple[Grid | None, Cells | None]:
        """The grid, and the near pairs where it is too coarse for them: the cheapest scale, from fine to coarse."""
        fine = self._grid(fineness(box))
        nodes = fine.n_nodes(box.low, box.high)
        cost = NODE * nodes
        chosen: tuple[Grid | None, Cells | None] = (fine, None)
        if nodes <= max(ALWAYS, NODES_A_POINT * X.shape[0]):
            return chosen
        for scale in [0.0] if self.kernel.name == "gaussian" else [2.0**k for k in range(1, 40)]:
            cells = Cells.of(X, self._reach(scale), self.n_jobs)
            other = PAIR * cells.n_pairs + (NODE * nodes / scale ** X.shape[1] if scale else 0.0)
            if other >= cost:
                break
            cost, chosen = other, (self._grid(scale) if scale else None, cells)
        return chosen

    @property
    def _power(self) -> int:
        return 0 if self.kernel.name == "gaussian" else POWER

    def _reach(self, scale: float) -> float:
        """How far the near part goes: to where a Gaussian is nothing, or the far part of a Student kernel is smooth."""
        return sqrt(log(1e2 / self.tolerance)) if scale == 0.0 else self._steps * scale * self._splines.step

    def _grid(self, scale: float) -> Grid:
        if scale not in self._grids:
            self._grids[scale] = self._new_grid(scale)
        return self._grids[scale]

    def _new_grid(self, scale: float) -> Grid:
        kernel = self.kernel.slope if scale <= 1.0 else FarStudent(self._reach(scale) ** 2)
        return Grid(replace(self._splines, step=self._splines.step * scale), kernel, self.n_jobs)


@dataclass(frozen=True, slots=True)
class FarStudent:
    """The Taylor polynomial of 1 / (1 + u) at u = U within the reach, the kernel itself beyond it."""

    U: float

    def __call__(self, D: Floats, order: int) -> Floats:
        """(-d/du)^order of it."""
        K, c, p = 1.0 / (1.0 + D), 1.0 / (1.0 + self.U), POWER
        t = np.clip((self.U - D) * c, 0.0, None)
        if order == 0:
            return np.asarray(K * (1 - t**p))
        if order == 1:
            return np.asarray(K * (K - t ** (p - 1) * (K * t + p * c)))
        near = t ** (p - 2) * (2 * (K * t) ** 2 + 2 * p * K * c * t + p * (p - 1) * c * c)
        return np.asarray(K * (2 * K * K - near))


@dataclass(frozen=True, slots=True)
class FourierField:
    """The field of fixed points on its grid, exact for the places beyond it."""

    grid: Grid
    nodes: Values
    origin: Floats
    end: Floats
    exact: FrozenField

    def at(self, places: Floats) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        inside = np.all((places >= self.origin) & (places <= self.end), axis=1)
        potential, force = np.empty(places.shape[0]), np.empty(places.shape)
        near = np.ascontiguousarray(places[inside])
        found, steep = np.empty(near.shape[0]), np.empty_like(near)
        self.grid.gather(near, self.nodes, self.origin, found, steep)
        potential[inside], force[inside] = found, steep
        if not inside.all():
            beyond = self.exact.at(places[~inside])
            potential[~inside], force[~inside] = beyond.potential, beyond.force
        return Field(potential, force)


def splines_for(tolerance: float) -> tuple[Splines, float]:
    """The cheapest splines that keep to a tolerance, and the reach of the near part in steps of a coarse grid."""
    _, order, step, reach = next(rung for rung in LADDER if rung[0] <= tolerance)
    return Splines(order, step, np.float32 if tolerance >= SINGLE else np.float64), reach


@dataclass(frozen=True, slots=True)
class Box:
    """Least and greatest coordinates of some points, and their standard deviations."""

    low: Floats
    high: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: Floats) -> Box:
        """The box of some points."""
        low, high, deviation = np.empty((3, X.shape[1]))
        kernels.interpolation.extent(X, low, high, deviation)
        return cls(low, high, deviation)


def fineness(box: Box) -> float:
    """The step of the grid over that of a wide picture: where points are close their pushes all but cancel."""
    widest = float((box.high - box.low).max())
    return 0.25 if widest < 1.5 else 0.5 if widest < 6.0 else 1.0


def few_outside(X: Floats, box: Box) -> Integers:
    """The few points that lie far outside the others, where they make the box more than four times as wide."""
    few = int(FEW * X.shape[0])
    widest = float((box.high - box.low).max())
    nobody = np.zeros(0, dtype=np.int64)
    if few == 0 or widest <= 12 * float(box.deviation.max()):
        return nobody
    trimmed = (few + 1) // 2
    ends = np.partition(X, (trimmed, -1 - trimmed), axis=0)
    low, high = ends[trimmed], ends[-1 - trimmed]
    width = float((high - low).max())
    if widest <= 4 * width + 1.0:
        return nobody
    return np.flatnonzero(np.any(np.abs(X - (low + high) / 2) > (high - low) / 2 + width, axis=1))
