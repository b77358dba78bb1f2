"""Charges on a uniform grid, convolved with a kernel by Fourier transforms, and the potential back at the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from ... import kernels
from ...core.parallel import light_rows
from ...core.records import Floats
from ...core.run import Run
from ..similarities import Slopes

Values = NDArray[Any]
SHARES = 8
"""Shares into which the strips of a grid are dealt out to the threads."""
LINES, NODES = 64, 1 << 16
"""Lines that are transformed at a time, and more of them where they have fewer nodes than these."""
ROOM = 1.06
"""A grid is made this much larger than needed, so that its kernel serves while the picture grows a little."""


@dataclass(frozen=True, slots=True)
class Splines:
    """B-splines of an even order on a grid of a step, held in numbers of a type."""

    order: int
    step: float
    dtype: type[np.floating[Any]]


class Grid:
    """A grid for points in one or two dimensions: it keeps its kernels' transforms while its shape stays.

    Parameters
    ----------
    splines
        Order, step and type of numbers.
    kernel
        K(D, order): the kernel of each order as a function of squared distances.
    run
        Workers.
    """

    def __init__(self, splines: Splines, kernel: Slopes, run: Run) -> None:
        self.splines = splines
        self.kernel = kernel
        self.run = run
        self.shape: tuple[int, ...] = ()
        self._transforms: dict[int, Values] = {}

    def place(self, low: Floats, high: Floats) -> Floats:
        """Make room for a box, and say where its first node is."""
        needed = padded(self.splines, low, high)
        fits = len(needed) == len(self.shape) and all(
            0.6 * shape <= n <= shape for n, shape in zip(needed, self.shape, strict=True)
        )
        if not fits:
            self.shape = tuple(fft.next_fast_len(int(ROOM * n) + 1, real=True) for n in needed)
            self._transforms = {}
        return np.asarray(np.floor(low / self.splines.step) * self.splines.step)

    def potential(self, X: Floats, charges: Floats, origin: Floats, order: int) -> Values:
        """Potential of order K_order at the nodes that the points can reach."""
        return self._convolve(self._spread(X, charges, origin), order)

    def _spread(self, X: Floats, charges: Floats, origin: Floats) -> Values:
        """Strip by strip, the even ones and then the odd ones: the same sums whatever the number of threads.

        A strip is as high as a stencil, which so reaches into the next one and no further.
        """
        inverse, height = 1.0 / self.splines.step, self.splines.order
        rows, columns = (*self.shape, 1)[:2]
        grid = np.zeros((rows // 2, columns), dtype=self.splines.dtype)
        strip_of, members = np.empty((2, X.shape[0]), dtype=np.int32)
        offsets = np.empty(rows // height + 2, dtype=np.int64)
        kernels.embedding.interpolation.fill_strips(X, origin, inverse, height, strip_of, offsets, members)
        filled = np.flatnonzero(np.diff(offsets))
        for parity in (0, 1):
            strips = filled[filled % 2 == parity]

            def work(block: slice, strips: NDArray[np.int64] = strips) -> None:
                kernels.embedding.interpolation.spread(
                    X, charges, origin, inverse, height, members, offsets, strips[block], grid
                )

            self.run.map(work, strips.size, block_rows=max(1, strips.size // SHARES))
        return grid

    def _convolve(self, grid: Values, order: int) -> Values:
        """Only the first half of the rows holds charges, and only that half is wanted back."""
        if order not in self._transforms:
            self._transforms[order] = self._transform(order)
        transform, half = self._transforms[order], grid.shape[0]
        if len(self.shape) == 1:
            line = fft.irfft(fft.rfft(grid[:, 0], self.shape[0]) * transform, self.shape[0])
            return np.ascontiguousarray(line[:half, None])
        height, width = self.shape
        spectrum = np.empty((half, width // 2 + 1), dtype=np.result_type(grid.dtype, np.complex64))

        def along_rows(rows: slice) -> None:
            spectrum[rows] = fft.rfft(grid[rows], axis=1)

        def down_columns(columns: slice) -> None:
            part = fft.fft(spectrum[:, columns], height, axis=0)
            part *= transform[:, columns]
            spectrum[:, columns] = fft.ifft(part, axis=0, overwrite_x=True)[:half]

        def back(rows: slice) -> None:
            grid[rows] = fft.irfft(spectrum[rows], width, axis=1)

        # Blocks of one size whatever the number of threads: then so are the results.
        self.run.map(along_rows, half, block_rows=max(LINES, NODES // width))
        self.run.map(down_columns, spectrum.shape[1], block_rows=max(LINES, NODES // height))
        self.run.map(back, half, block_rows=max(LINES, NODES // width))
        return grid

    def _transform(self, order: int) -> Values:
        """The kernel at the nodes, over the splines that carry charges and potential (Essmann et al. 1995, sec. 4)."""
        places = [np.minimum(np.arange(n), n - np.arange(n)) * self.splines.step for n in self.shape]
        D = places[0] ** 2 if len(places) == 1 else places[0][:, None] ** 2 + places[1] ** 2
        spectrum = fft.rfftn(self.kernel(D, order)).real
        carried = fft.rfft(self._sampled(self.shape[-1])).real
        if len(places) == 2:
            carried = fft.fft(self._sampled(self.shape[0])).real[:, None] * carried
        return np.asarray(spectrum / carried**2, dtype=self.splines.dtype)

    def _sampled(self, count: int) -> Floats:
        """The spline at the nodes around its centre, wrapped around a line of nodes."""
        order = self.splines.order
        values, slopes = np.zeros((2, kernels.embedding.interpolation.WIDEST))
        kernels.embedding.interpolation.splines(0.0, order, values, slopes)
        line = np.zeros(count)
        line[np.arange(1 - order // 2, 1 + order // 2) % count] = values[:order]
        return line


def padded(splines: Splines, low: Floats, high: Floats) -> list[int]:
    """Nodes along each side of a box, with the padding that keeps the convolution from wrapping around."""
    # Where the line of nodes closes the kernel has a kink. Dividing by the splines spreads it, the wider the higher
    # their order, by factors of 0.27, 0.43 and 0.54 a node for the orders 4, 6 and 8.
    order = splines.order
    return [int(2 * n) for n in (high - low) / splines.step + order + 2 + 6 * (order - 4)]


def count_nodes(splines: Splines, low: Floats, high: Floats) -> float:
    """Nodes of a grid for a box, in all."""
    sides = [fft.next_fast_len(n, real=True) for n in padded(splines, low, high)]
    return float(np.prod(sides, dtype=np.float64))


def gather(
    splines: Splines, nodes: Values, origin: Floats, X: Floats, run: Run, *, in_double: bool = False
) -> tuple[Floats, Floats]:
    """The potential of the nodes at places, and -1/2 of its gradient, in the precision of the nodes or in double."""
    inverse, order = 1.0 / splines.step, splines.order
    loops = kernels.embedding.interpolation
    loop = loops.gather_any if in_double else loops.gather
    potential, force = np.empty(X.shape[0]), np.empty_like(X)

    def work(rows: slice) -> None:
        loop(X, nodes, origin, inverse, order, rows.start, rows.stop, potential, force)

    run.map(work, X.shape[0], block_rows=light_rows(X.shape[0], 25.0))
    return potential, force
