"""Laplacian eigenmaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from ...affinities import Affinity
from ...core.records import Floats
from ...core.rules import Rule
from ...data.rows import Rows
from ...methods.laplacian import USUAL_NEIGHBORS, Eigenmaps
from ...solvers.landmarks.configuration import LandmarkSolver
from ..base import parameters
from ..choosing.words import components_rule
from ..graphs import AFFINITY_RULES, affinity_metric, check_affinity_input, graph_of
from .spectral_driver import SpectralEstimator


@parameters
class LaplacianEigenmaps(SpectralEstimator):
    """min tr X'(D - W)X  s.t.  X'DX = I, X'D1 = 0: near points, weighted by affinity W, get near coordinates.

    Belkin & Niyogi (2003). The coordinates are the smallest non-trivial eigenvectors of the normalised graph
    Laplacian over the square root of the degree. New points go by the Nystrom extension (Bengio et al. 2004).

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"`` or ``"auto:eigengap"``: see
        docs/choosing.md.
    n_neighbors
        Nearest points that each point is tied to; None: 10, or all others where there are fewer. ``"auto"`` chooses it
        by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see docs/choosing.md.
    radius
        Tie each point to all within this distance instead: the geometric graph of threshold tau.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities: a weighted or unweighted graph).
    metric_params
        Parameters of the metric by name: p of minkowski, V (variances) of seuclidean, VI (inverse covariance) of
        mahalanobis, w (weights of the columns) of most others, or those of a function. None: the usual ones, from the
        data where they depend on it.
    affinity
        ``"auto"``, `Gaussian`, `Entropic`, `Binary`, `SelfTuning` or their names ``"gaussian"``, ``"entropic"``,
        ``"binary"``, ``"self-tuning"``, or ``"precomputed"`` (as ``metric="graph"``).
        ``"auto"`` is self-tuning, or Gaussian where ``bandwidth`` is given.
    bandwidth
        Sigma of exp(-(d / sigma)^2).
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name: ``"dense"``, ``"lanczos"``, ``"shift-invert"``, ``"lobpcg"``;
        or a landmark solver: `LLL`, `LandmarkZ`, `Nystrom`, `VariationalNystrom`, or its name. All but the last go over
        rows in shards: see docs/scale.md.
    search
        Neighbour search: ``"auto"``, ``"exact"`` or ``"approximate"``.
    on_disconnected
        ``"connect"`` (the nearest points of different components are tied, with a warning), ``"error"``,
        ``"largest"`` (the other points are placed by the map) or ``"per_component"``.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), smallest first
    affinity_matrix_ : sparse array of the distinct points (absent where only parts were embedded)
    component_labels_ : array (n_samples,), 0 for the largest component
    n_neighbors_, n_components_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.LaplacianEigenmaps(n_neighbors=12).fit_transform(roll.data).shape
    (500, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
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
    }

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _weakness(self, values: Floats) -> Floats:
        """The eigenvalues themselves, smallest first."""
        return np.maximum(values, np.finfo(np.float64).eps)

    def _method(self) -> Eigenmaps:
        metric, graph = affinity_metric(self), graph_of(self, USUAL_NEIGHBORS)
        return Eigenmaps(self._n_components, metric, graph, self.affinity, self.bandwidth)
