"""From the coordinates of kernel PCA back to points: a ridge regression between the two, learned from the fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from ..errors import NumericalError
from .kernel_functions import Kernel, cross_kernel, gram_matrix


@dataclass(frozen=True, slots=True)
class Preimage:
    """y = k(x, X) A,  A = (K + ridge I)^-1 Y: points y of coordinates x (Bakir, Weston & Schoelkopf 2004, eq. 6).

    K holds the values of a kernel between the fitted coordinates X, Y their points.
    """

    kernel: Kernel
    coordinates: Floats
    weights: Floats

    def points(self, coordinates: Floats, run: Run) -> Floats:
        """The points (M x D) of coordinates (M x d)."""
        values = cross_kernel(self.kernel, Rows(coordinates), Rows(self.coordinates), n_jobs=run.n_jobs)
        return values @ self.weights


def learn_preimage(kernel: Kernel, coordinates: Floats, rows: Rows, ridge: float, run: Run) -> Preimage:
    """The regression from the coordinates of a fit to its rows; time N^3, and an N x N array."""
    system = gram_matrix(
        kernel, Rows(coordinates), n_jobs=run.n_jobs, done=lambda done: run.progress(done, rows.n_rows)
    )
    system.flat[:: system.shape[0] + 1] += ridge
    try:
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise NumericalError(
            f"The way back to points has no solution at alpha={ridge!r}: the kernel of the coordinates is not positive "
            "definite. Raise alpha, or use a kernel that is, such as 'rbf'."
        ) from error
    weights = cho_solve(factor, rows.block(slice(None), np.float64), check_finite=False)
    return Preimage(kernel, coordinates, np.ascontiguousarray(weights))
