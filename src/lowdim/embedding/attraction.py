"""The attractive part E+ = sum_nm w_nm f(D_nm) over the edges of a graph, f = -log K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..parallel import map_blocks
from ..places import State
from ..records import Floats, Integers, Sparse
from .similarity import Kernel

OLD = 60
"""Evaluations after which the points are laid out anew."""


class Attraction:
    """sum w D for the Gaussian kernel, sum w log(1 + D) for the Student kernel, with a quarter of the gradient.

    Parameters
    ----------
    weights
        Symmetric weights of the edges.
    kernel
        The similarity whose -log is f.
    n_jobs
        Threads.
    single
        Single precision in the plane for the Student kernel: twice as fast, forces true to six digits.
    """

    def __init__(self, weights: Sparse, kernel: Kernel, n_jobs: int | None, *, single: bool = False) -> None:
        self.weights = weights
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.single = single and kernel.name == "student"
        self._layout: Layout | None = None

    def evaluate(self, X: Floats, *, value: bool = True) -> tuple[float | None, Floats]:
        """E+ where it is asked for, and the force sum_m w_nm f'(D_nm) (x_n - x_m), a quarter of E+'s gradient."""
        X = np.ascontiguousarray(X)
        force = np.empty_like(X)
        if self.single and X.shape[1] == 2:
            return self._in_single(X, force, value), force
        W = self.weights
        function = (
            kernels.attraction.student if self.kernel.name == "student" else kernels.attraction.gaussian
        )

        def work(rows: slice) -> float:
            energy: float = function(W.indptr, W.indices, W.data, X, rows.start, rows.stop, value, force)
            return energy

        energies = map_blocks(work, X.shape[0], n_jobs=self.n_jobs)
        return (float(np.sum(energies)) if value else None), force

    def state(self) -> State:
        """In which order the sums are taken, and for how long."""
        layout = self._layout
        return {} if layout is None else {"order": layout.order, "centre": layout.centre, "age": layout.age}

    def resume(self, state: State) -> None:
        """Go on in the order of a state."""
        self._layout = Layout.along(self.weights, **state, n_jobs=self.n_jobs) if state else None

    def _in_single(self, X: Floats, force: Floats, value: bool) -> float | None:
        if self._layout is None or self._layout.age >= OLD:
            self._layout = Layout.of(self.weights, X, self.n_jobs)
        layout = self._layout
        layout.age += 1
        x, y = np.empty((2, X.shape[0]), dtype=np.float32)

        def place(rows: slice) -> None:
            kernels.attraction.place_plane(X, layout.centre, layout.order, rows.start, rows.stop, x, y)

        def work(rows: slice) -> float:
            energy: float = kernels.attraction.student_plane(
                layout.indptr,
                layout.indices,
                layout.weights,
                x,
                y,
                rows.start,
                rows.stop,
                value,
                layout.order,
                force,
            )
            return energy

        map_blocks(place, X.shape[0], n_jobs=self.n_jobs)
        energies = map_blocks(work, X.shape[0], n_jobs=self.n_jobs)
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
    def of(cls, W: Sparse, X: Floats, n_jobs: int | None) -> Layout:
        """The edges in the order of the picture X."""
        order = np.argsort(along_curve(X), kind="stable")
        return cls.along(W, order, X.mean(axis=0), 0, n_jobs)

    @classmethod
    def along(cls, W: Sparse, order: Integers, centre: Floats, age: int, n_jobs: int | None) -> Layout:
        """The edges in a given order."""
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        indptr = np.concatenate(([0], np.cumsum(np.diff(W.indptr)[order]))).astype(np.int64)
        indices, weights = np.empty(W.nnz, dtype=np.int32), np.empty(W.nnz, dtype=np.float32)

        def work(rows: slice) -> None:
            kernels.attraction.reorder(
                W.indptr, W.indices, W.data, order, place, indptr, rows.start, rows.stop, indices, weights
            )

        map_blocks(work, order.size, n_jobs=n_jobs)
        return cls(order, indptr, indices, weights, centre, age)


def along_curve(X: Floats) -> Integers:
    """Place of each point of the plane along a curve that fills it (Morton 1966): 1024 cells each way."""
    low = X.min(axis=0)
    span = float((X - low).max()) or 1.0
    cells = np.minimum((X - low) * (1024.0 / span), 1023).astype(np.int64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << shift)) & mask
    return np.asarray(cells[:, 0] | (cells[:, 1] << 1))
