"""Maps of spectral clustering: points on the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from .base import Map


@dataclass(frozen=True, slots=True)
class ConstantMap:
    """Every point is 1."""

    def transform(self, rows: Rows, run: Run) -> Floats:
        """A column of ones."""
        return np.ones((rows.n_rows, 1))


@dataclass(frozen=True, slots=True)
class UnitRowsMap:
    """A map followed by the scaling of each row to length 1."""

    inner: Map

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Points on the unit sphere, each row alone."""
        X = self.inner.transform(rows, run)
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return np.asarray(X / np.where(lengths > 0, lengths, 1.0))


@dataclass(frozen=True, slots=True)
class NormalizedRowsMap:
    """A map followed by the constant coordinate and the scaling of each row to length 1."""

    inner: Map
    constant: float

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Points on the unit sphere, each row alone."""
        return normalize_rows(self.inner.transform(rows, run), self.constant)


@dataclass(frozen=True, slots=True)
class PlacedRowsMap:
    """The first coordinates of a map, rows scaled to length 1, in some ``columns`` of ``width``; the others are 0."""

    inner: Map
    columns: Integers
    width: int

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Points on the unit sphere, each row alone."""
        return place_rows(self.inner.transform(rows, run), self.columns, self.width)


def place_rows(X: Floats, columns: Integers, width: int) -> Floats:
    """As many of the first coordinates as there are columns, scaled to rows of length 1 and put there."""
    taken, rows = X[:, : columns.size], np.zeros((X.shape[0], width))
    rows[:, columns] = taken / np.linalg.norm(taken, axis=1, keepdims=True)
    return rows


def normalize_rows(X: Floats, constant: float) -> Floats:
    """Rows (constant, x) scaled to length 1.

    Ng, Jordan & Weiss (2001) scale the rows of the leading eigenvectors of D^-1/2 W D^-1/2. A row of those is
    sqrt(degree) (constant, x) with x the row of Laplacian eigenmaps, and the degree cancels.
    """
    rows = np.column_stack((np.full(X.shape[0], constant), X))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
