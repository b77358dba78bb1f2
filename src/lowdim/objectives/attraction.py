"""The attractive part E+ = sum_nm w_nm f(D_nm) over the edges of a graph, f = -log K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.parallel import light_rows
from ..core.places import State
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from .similarities import Similarity

SHARES = 32
"""Shares into which the points of a plane are dealt out to the threads."""
OLD = 60
"""Evaluations after which the points are laid out anew."""


class Attraction:
    """sum w f(D), f = -log K, with a quarter of the gradient: w D for a Gaussian, w log(1 + D) for Student's kernel.

    Parameters
    ----------
    weights
        Symmetric weights of the edges.
    kernel
        The similarity whose -log is f.
    run
        Workers.
    single
        Single precision in the plane, where the kernel has code for it: twice as fast, forces true to six digits.
    double_values
        Double precision all the same wherever E+ is asked for, and the forces there.
    """

    def __init__(
        self,
        weights: Sparse,
        kernel: Similarity,
        run: Run,
        *,
        single: bool = False,
        double_values: bool = False,
    ) -> None:
        self.weights = weights
        self.kernel = kernel
        self.run = run
        self.single = single
        self.double_values = double_values
        self._layout: Layout | None = None

    def evaluate(self, X: Floats, *, value: bool = True) -> tuple[float | None, Floats]:
        """E+ where it is asked for, and the force sum_m w_nm f'(D_nm) (x_n - x_m), a quarter of E+'s gradient."""
        X = np.ascontiguousarray(X)
        force = np.empty_like(X)
        is_single = self.single and X.shape[1] == 2 and not (value and self.double_values)
        if is_single and (loop := self.kernel.plane_loop) is not None:
            return self._in_single(loop, X, force, value), force
        W, radial = self.weights, self.kernel.radial

        def work(rows: slice) -> float:
            energy: float = kernels.embedding.attraction.along_edges(
                radial, W.indptr, W.indices, W.data, X, rows.start, rows.stop, value, force
            )
            return energy

        energies = self.run.map(work, X.shape[0])
        return (float(np.sum(energies)) if value else None), force

    def state(self) -> State:
        """In which order the sums are taken, and for how long."""
        layout = self._layout
        return {} if layout is None else {"order": layout.order, "centre": layout.centre, "age": layout.age}

    def resume(self, state: State) -> None:
        """Go on in the order of a state."""
        self._layout = Layout.along(self.weights, **state, run=self.run) if state else None

    def _in_single(self, loop: Callable[..., float], X: Floats, force: Floats, value: bool) -> float | None:
        if self._layout is not None and self._layout.age >= OLD:
            # It goes before the new one is made: both together would be as large as the weights.
            self._layout = None
        if self._layout is None:
            self._layout = Layout.of(self.weights, X, self.run)
        layout = self._layout
        layout.age += 1
        points = np.empty(X.shape, dtype=np.float32)

        def place(rows: slice) -> None:
            kernels.embedding.attraction.place_plane(
                X, layout.centre, layout.order, rows.start, rows.stop, points
            )

        def work(rows: slice) -> float:
            edges = layout.indptr, layout.indices, layout.weights
            return loop(*edges, points, rows.start, rows.stop, value, layout.order, force)

        self.run.map(place, X.shape[0], block_rows=light_rows(X.shape[0], 9.0))
        energies = self.run.map(work, X.shape[0], block_rows=max(256, -(-X.shape[0] // SHARES)))
        return float(np.sum(energies)) if value else None


@dataclass(slots=True)
class Layout:
    """The edges in half the bytes, with points that are near in the picture near in memory.

    Point i is point ``order[i]`` of the weights. It serves while the picture is about the same. Around ``centre`` the
    coordinates are small enough for single precision.
    """

    order: Integers
    indptr: Integers
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    centre: Floats
    age: int = 0

    @classmethod
    def of(cls, W: Sparse, X: Floats, run: Run) -> Layout:
        """The edges in the order of the picture X."""
        order = np.argsort(along_curve(X), kind="stable")
        return cls.along(W, order, X.mean(axis=0), 0, run)

    @classmethod
    def along(cls, W: Sparse, order: Integers, centre: Floats, age: int, run: Run) -> Layout:
        """The edges in a given order."""
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        indptr = np.concatenate(([0], np.cumsum(np.diff(W.indptr)[order]))).astype(np.int64)
        indices, weights = np.empty(W.nnz, dtype=np.int32), np.empty(W.nnz, dtype=np.float32)

        def work(rows: slice) -> None:
            kernels.embedding.attraction.reorder(
                W.indptr, W.indices, W.data, order, place, indptr, rows.start, rows.stop, indices, weights
            )

        run.map(work, order.size)
        return cls(order, indptr, indices, weights, centre, age)


def along_curve(X: Floats) -> Integers:
    """Place of each point of the plane along a curve that fills it (Morton 1966): 1024 cells each way."""
    low = X.min(axis=0)
    span = float((X - low).max()) or 1.0
    cells = np.minimum((X - low) * (1024.0 / span), 1023).astype(np.int64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << shift)) & mask
    return np.asarray(cells[:, 0] | (cells[:, 1] << 1))
