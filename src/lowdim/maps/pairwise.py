"""Profiles of new points for methods of all pairs: squared distances or kernel values to the fitted points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors.metrics import Metric
from ..neighbors.pairwise import pairwise_distances
from ..spectral.kernel_functions import Kernel, cross_kernel


@dataclass(frozen=True, slots=True)
class SquaredDistances:
    """Profile of a new point: its squared distances to the fitted points."""

    metric: Metric
    rows: Rows

    def values(self, rows: Rows, run: Run) -> Floats:
        """One row for each new point, one column for each fitted point."""
        distances = pairwise_distances(rows, self.rows, self.metric, run)
        return np.square(distances, out=distances)


@dataclass(frozen=True, slots=True)
class GivenDistances:
    """New points come as rows of distances to the fitted ones."""

    def values(self, rows: Rows, run: Run) -> Floats:
        """Their squares."""
        distances: Floats = rows.block(slice(None)).copy()
        return np.square(distances, out=distances)


@dataclass(frozen=True, slots=True)
class KernelValues:
    """Profile of a new point: its kernel values with the fitted points."""

    kernel: Kernel
    rows: Rows

    def values(self, rows: Rows, run: Run) -> Floats:
        """One row for each new point, one column for each fitted point."""
        return cross_kernel(self.kernel, rows, self.rows, n_jobs=run.n_jobs)


@dataclass(frozen=True, slots=True)
class GivenValues:
    """New points come as rows of kernel values with the fitted ones."""

    def values(self, rows: Rows, run: Run) -> Floats:
        """The rows themselves."""
        return rows.block(slice(None))
