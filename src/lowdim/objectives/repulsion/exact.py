"""Repulsion summed over all pairs: exact, in any number of dimensions, O(N^2 d) time and O(N d) memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import kernels
from ...core.records import Floats
from ...core.run import Run
from ..similarities import Similarity
from .bending import bends_by_sums
from .layout import charges_of, columns, places, rows_per_block
from .protocol import Field, Stateless


@dataclass(frozen=True, slots=True)
class Exact:
    """Sum the repulsion over all pairs of points.

    Exact to rounding, for any number of dimensions. The time grows with the square of the number of points: the engine
    of choice up to some thousands of points, and the reference for the others.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits").data[:200]
    >>> lowdim.TSNE(repulsion=lowdim.Exact(), max_iter=50).fit(digits).embedding_.shape
    (200, 2)
    """

    name: ClassVar[str] = "exact"
    most_components: ClassVar[int | None] = None

    def cost(self, n_points: int) -> tuple[float, str]:
        """Grows with the square of the number of points."""
        return n_points**2 * 4e-10, "all pairs at every iteration"

    def start(self, kernel: Similarity, n_points: int, n_components: int, run: Run) -> ExactEngine:
        """The engine that runs."""
        return ExactEngine(kernel, run)


@dataclass(slots=True)
class ExactEngine(Stateless):
    """Sums over all pairs."""

    is_exact: ClassVar[bool] = True

    kernel: Similarity
    run: Run

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        frozen = self.freeze(X, charges)
        return _field(frozen, X, self.run, own=True)

    def fields(self, X: Floats, charges: Sequence[Floats | None]) -> list[Field]:
        """The field of each of several charges."""
        return [self.field(X, each) for each in charges]

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        n_points = X.shape[0]
        radial, sources, at = self.kernel.radial, columns(X), places(X)
        rows_of_charges = np.ascontiguousarray(charges.T, dtype=np.float64)
        out = np.empty((n_points, charges.shape[1]))

        def work(rows: slice) -> None:
            kernels.embedding.pair_sums.sums(
                radial, order, sources, rows_of_charges, at, rows.start, rows.stop, out
            )

        self.run.map(work, n_points, block_rows=rows_per_block(n_points, n_points))
        return out

    def bends(self, X: Floats, charges: Floats) -> Floats:
        """sum_{m != n} (2 K_1 - 4 K_2 u u') c_m, u = x_n - x_m, for charges that are vectors (N x d)."""
        return bends_by_sums(lambda moves, order: self.sums(X, moves, order), X, charges)

    def freeze(self, X: Floats, charges: Floats | None = None) -> ExactField:
        """The field of the points as it stands, for new points."""
        return ExactField(self.kernel, columns(X), charges_of(X.shape[0], charges))


@dataclass(frozen=True, slots=True)
class ExactField:
    """The field of fixed points: coordinates in columns (d x N), and charges."""

    kernel: Similarity
    columns: Floats
    charges: Floats

    def at(self, places: Floats, run: Run) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        return _field(self, places, run, own=False)


def _field(frozen: ExactField, X: Floats, run: Run, *, own: bool) -> Field:
    """Potential and force at places, or (``own``) at the points themselves, without their own share."""
    sources, charges, at = frozen.columns, frozen.charges, places(X)
    radial = frozen.kernel.radial
    sum_rows = (
        kernels.embedding.pair_sums.field_low
        if sources.shape[0] <= 3
        else kernels.embedding.pair_sums.field_any
    )
    out = np.empty((X.shape[0], 1 + sources.shape[0]))

    def work(rows: slice) -> None:
        sum_rows(radial, sources, charges, at, own, rows.start, rows.stop, out)

    run.map(work, X.shape[0], block_rows=rows_per_block(X.shape[0], sources.shape[1]))
    return Field(out[:, 0].copy(), out[:, 1 : 1 + X.shape[1]].copy())
