"""The attractive part E+ = sum_nm w_nm f(D_nm) over the edges of a graph, f = -log K."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..parallel import map_blocks
from ..records import Floats, Sparse
from .similarity import Kernel


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
    """

    def __init__(self, weights: Sparse, kernel: Kernel, n_jobs: int | None) -> None:
        self.weights = weights
        self.kernel = kernel
        self.n_jobs = n_jobs

    def evaluate(self, X: Floats, *, value: bool = True) -> tuple[float | None, Floats]:
        """E+ where it is asked for, and the force sum_m w_nm f'(D_nm) (x_n - x_m), a quarter of E+'s gradient."""
        W, X = self.weights, np.ascontiguousarray(X)
        force = np.empty_like(X)
        function = (
            kernels.attraction.student if self.kernel.name == "student" else kernels.attraction.gaussian
        )

        def work(rows: slice) -> float:
            energy: float = function(W.indptr, W.indices, W.data, X, rows.start, rows.stop, value, force)
            return energy

        energies = map_blocks(work, X.shape[0], n_jobs=self.n_jobs)
        return (float(np.sum(energies)) if value else None), force
