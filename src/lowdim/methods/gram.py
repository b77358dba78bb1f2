"""Classical MDS, Isomap and kernel PCA: the largest eigenvectors of a centred Gram matrix.

Torgerson (1952); Cox & Cox (2001), sec. 2.2: with squared distances D2 and H = I - 11'/N, B = -1/2 H D2 H holds the
inner products of the centred points, and X = V Lam^1/2 from its leading eigenpairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..core import checks
from ..core.messages import DATA, named, setting
from ..core.records import Floats, Problem, Solution, Sparse
from ..core.run import Run
from ..errors import DataWarning, NumericalError
from ..spectral.operators import CenteredGram, Explicit

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class GramProblem(Problem):
    """The largest eigenvectors of a centred Gram matrix, and the mean of its rows before that, which the map needs."""

    mean_profile: Any = None


@dataclass(frozen=True, slots=True)
class DistanceProblem(GramProblem):
    """The problem of ``squared`` distances, ``moment`` their mean square; those of Isomap are along ``edges``."""

    squared: Any = None
    moment: float = 0.0
    edges: Any = None


def distance_problem(
    squared: Floats, copies: Floats | None = None, edges: Sparse | None = None, *, run: Run
) -> DistanceProblem:
    """The problem of squared distances, and their (weighted) mean over the points."""
    n_points = squared.shape[0]
    mass = np.ones(n_points) if copies is None else copies
    sums, squares = np.empty(n_points), np.empty(n_points)

    def gather(rows: slice) -> None:
        kernels.spectral.dense_symmetric.moments(squared, mass, sums, squares, rows.start, rows.stop)

    run.map(gather, n_points)
    if not np.isfinite(sums).all():
        checks.finite(
            squared,
            "The squared distances",
            "distances overflow, or lead nowhere",
            f"Rescale the data, or raise {named('n_neighbors')} or {named('radius')}.",
        )
    mean_profile = sums / mass.sum()
    return DistanceProblem(
        CenteredGram(squared, copies, run.n_jobs),
        "largest",
        mass=copies,
        trivial=np.ones((n_points, 1)),
        mean_profile=mean_profile,
        squared=squared,
        moment=float(mass @ squares) / float(mass.sum()) ** 2,
        edges=edges,
    )


def kernel_problem(kernel: Floats, run: Run) -> GramProblem:
    """The problem of a kernel matrix, which is centred in place, and its mean over the points before that.

    Schoelkopf, Smola & Mueller (1998), eq. A.2. Digits that the kernel values of all points share are lost to what is
    centred: a warning where they are half of all, an error where they are all.
    """
    cure = f"Lower {named('gamma')} or {named('degree')}, or rescale {DATA}."
    checks.finite(kernel, "The kernel", "its values overflow or are not numbers", cure)
    size = max(kernel.max(), -kernel.min())
    mean_profile = kernel.mean(axis=0)
    kernel -= mean_profile
    kernel -= kernel.mean(axis=1)[:, None]
    share = float(max(kernel.max(), -kernel.min()) / size) if size > 0 else 1.0
    if 0 < share < 16 * EPSILON:
        raise NumericalError(
            f"The kernel values of all points agree to rounding: beside their common part of {size:.3g} nothing is "
            f"left of the differences between points. Centre the columns of {DATA}, or use "
            f"{setting('kernel', 'linear')} or 'rbf', which do not depend on an offset."
        )
    if 0 < share < np.sqrt(EPSILON):
        run.warned(
            f"The kernel values of all points share their first {-np.log10(share):.0f} digits, which are lost to the "
            f"embedding. Centre the columns of {DATA}.",
            DataWarning,
        )
    trivial = np.ones((kernel.shape[0], 1))
    return GramProblem(Explicit(kernel, run.n_jobs), "largest", trivial=trivial, mean_profile=mean_profile)


def scaled(X: Floats, values: Floats) -> Floats:
    """X = V Lam^1/2; an eigenvalue that is not positive carries no coordinate."""
    return X * np.sqrt(np.maximum(values, 0))


def warn_of_empty_coordinates(solution: Solution, run: Run) -> None:
    """Warn where the distances or kernel values span fewer dimensions than were asked for."""
    floor = np.finfo(np.float64).eps * solution.vectors.shape[0] * np.max(solution.values, initial=0.0)
    if empty := int(np.sum(solution.values <= floor)):
        run.warned(
            f"{empty} of {solution.values.size} coordinates have no positive eigenvalue and are 0 for every point: the "
            f"data spans only {solution.values.size - empty} dimensions here. Lower {named('n_components')}.",
            DataWarning,
        )
