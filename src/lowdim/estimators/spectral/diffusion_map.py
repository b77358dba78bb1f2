"""Diffusion maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from ...affinities import Affinity
from ...core.records import Floats
from ...core.rules import Real, Rule
from ...data.rows import Rows
from ...methods.diffusion import Diffusion
from ...methods.laplacian import USUAL_NEIGHBORS
from ...solvers.landmarks.configuration import LandmarkSolver
from ..base import parameters
from ..choosing.words import components_rule
from ..graphs import AFFINITY_RULES, affinity_metric, check_affinity_input, graph_of
from .spectral_driver import SpectralEstimator


@parameters
class DiffusionMap(SpectralEstimator):
    """lambda^t psi, P psi = lambda psi: where a walk along the data may be after t steps, whatever the density.

    Coifman & Lafon (2006). P is the walk by the kernel w_ij / (q_i q_j)^alpha, where q are the sums of the affinities
    w of each point, and psi are its eigenvectors, of length 1 under its stationary distribution, without the constant
    one. Distances between coordinates are diffusion distances. New points go by the Nystrom extension (Bengio et al.
    2004). scanpy's ``X_diffmap`` is the same at alpha = 1 and time = 0, each column times the square root of the
    stationary distribution, after a constant one of its own.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"`` or ``"auto:eigengap"``: see
        docs/choosing.md.
    alpha
        How much of the density of the points is divided out: 0 leaves it in (the normalised Laplacian), 1/2 gives the
        backward Fokker-Planck operator, 1 leaves the geometry alone (Laplace-Beltrami).
    time
        Steps t of the walk: the more, the larger the features that are left. 0: eigenvectors as they are.
    n_neighbors, radius, metric, metric_params, affinity, bandwidth, solver, search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), those of the walk, largest first, without the 1 of the constant vector
    n_neighbors_, n_components_ : what was chosen, of those that are ``"auto"``
    affinity_matrix_, component_labels_, report_ : as in `LaplacianEigenmaps`

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.DiffusionMap(n_neighbors=12, time=4).fit_transform(roll.data).shape
    (500, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
    alpha: float = 1.0
    time: float = 1.0
    n_neighbors: int | str | None = None
    radius: float | None = None
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    affinity: str | Affinity = "auto"
    bandwidth: float | None = None
    solver: str | LandmarkSolver = "auto"
    search: str = "auto"
    on_disconnected: str = "connect"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_RULES,
        "n_components": components_rule("eigengap"),
        "alpha": Real(0, closed=True),
        "time": Real(0, closed=True),
    }

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _weakness(self, values: Floats) -> Floats:
        """1 - lambda, the eigenvalues of the Laplacian of the walk."""
        return np.maximum(1.0 - values, np.finfo(np.float64).eps)

    def _method(self) -> Diffusion:
        metric, graph = affinity_metric(self), graph_of(self, USUAL_NEIGHBORS)
        return Diffusion(
            self._n_components,
            metric,
            graph,
            self.affinity,
            self.bandwidth,
            alpha=float(self.alpha),
            time=float(self.time),
        )
