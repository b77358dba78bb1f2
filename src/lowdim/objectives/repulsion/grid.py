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
        self._transforms: dict[int | tuple[int, int], Values] = {}

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
        grid = self._spread(X, charges, origin)
        self._convolve([grid], [[self._transform(order)]])
        return grid

    def bends(self, X: Floats, charges: Floats, origin: Floats) -> list[Values]:
        """2 K_1 - 4 K_2 u u' with charges that are vectors (N x d), a coordinate at a time, at the nodes."""
        axes = range(len(self.shape))
        grids = [self._spread(X, np.ascontiguousarray(charges[:, axis]), origin) for axis in axes]
        self._convolve(grids, [[self._transform((min(i, j), max(i, j))) for j in axes] for i in axes])
        return grids

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

    def _convolve(self, grids: list[Values], transforms: list[list[Values]]) -> None:
        """Put into each grid the sum of all, each convolved with its kernel: transforms[to][from].

        Only the first half of the rows holds charges, and only that half is wanted back.
        """
        half = grids[0].shape[0]
        if len(self.shape) == 1:
            spectra = [fft.rfft(grid[:, 0], self.shape[0]) for grid in grids]
            for grid, each in zip(grids, transforms, strict=True):
                grid[:, 0] = fft.irfft(_mixed(spectra, each), self.shape[0])[:half]
            return
        height, width = self.shape
        dtype = np.result_type(grids[0].dtype, np.complex64)
        spectra = [np.empty((half, width // 2 + 1), dtype=dtype) for _ in grids]

        def along_rows(rows: slice) -> None:
            for grid, spectrum in zip(grids, spectra, strict=True):
                spectrum[rows] = fft.rfft(grid[rows], axis=1)

        def down_columns(columns: slice) -> None:
            parts = [fft.fft(spectrum[:, columns], height, axis=0) for spectrum in spectra]
            for spectrum, each in zip(spectra, transforms, strict=True):
                mixed = _mixed(parts, [kernel[:, columns] for kernel in each])
                spectrum[:, columns] = fft.ifft(mixed, axis=0, overwrite_x=True)[:half]

        def back(rows: slice) -> None:
            for grid, spectrum in zip(grids, spectra, strict=True):
                grid[rows] = fft.irfft(spectrum[rows], width, axis=1)

        # Blocks of one size whatever the number of threads: then so are the results.
        self.run.map(along_rows, half, block_rows=max(LINES, NODES // width))
        self.run.map(down_columns, spectra[0].shape[1], block_rows=max(LINES, NODES // height))
        self.run.map(back, half, block_rows=max(LINES, NODES // width))

    def _transform(self, what: int | tuple[int, int]) -> Values:
        """The kernel at the nodes, over the splines that carry charges and potential (Essmann et al. 1995, sec. 4).

        ``what`` is an order of the kernel, or two coordinates of 2 K_1 - 4 K_2 u u'.
        """
        if what not in self._transforms:
            spectrum = fft.rfftn(self._at_nodes(what)).real
            carried = fft.rfft(self._sampled(self.shape[-1])).real
            if len(self.shape) == 2:
                carried = fft.fft(self._sampled(self.shape[0])).real[:, None] * carried
            self._transforms[what] = np.asarray(spectrum / carried**2, dtype=self.splines.dtype)
        return self._transforms[what]

    def _at_nodes(self, what: int | tuple[int, int]) -> Floats:
        """A kernel at the nodes, with distances around the end of a line where these are shorter."""
        steps = [np.where(np.arange(n) <= n // 2, np.arange(n), np.arange(n) - n) for n in self.shape]
        sides = [side * self.splines.step for side in steps]
        places = np.meshgrid(*sides, indexing="ij", sparse=True)
        D = np.asarray(sum(place**2 for place in places))
        if isinstance(what, int):
            return np.asarray(self.kernel(D, what))
        i, j = what
        bend = -4.0 * self.kernel(D, 2) * places[i] * places[j]
        return np.asarray(bend + 2.0 * self.kernel(D, 1) if i == j else bend)

    def _sampled(self, count: int) -> Floats:
        """The spline at the nodes around its centre, wrapped around a line of nodes."""
        order = self.splines.order
        values, slopes = np.zeros((2, kernels.embedding.interpolation.WIDEST))
        kernels.embedding.interpolation.splines(0.0, order, values, slopes)
        line = np.zeros(count)
        line[np.arange(1 - order // 2, 1 + order // 2) % count] = values[:order]
        return line


def _mixed(parts: list[Values], transforms: list[Values]) -> Values:
    """The sum of spectra, each times its kernel."""
    total = parts[0] * transforms[0]
    for part, transform in zip(parts[1:], transforms[1:], strict=True):
        total += part * transform
    return np.asarray(total)


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
