"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..affinities import Affinity
from ..core.records import Floats, Integers, PlannedStage
from ..core.rules import Either, Nothing, Rule, Whole
from ..core.run import Run
from ..data.rows import Rows
from ..errors import DataWarning
from ..methods import costs
from ..methods.base import Embedded
from ..methods.clustering import UnitEigenmaps
from ..methods.laplacian import USUAL_NEIGHBORS
from ..solvers.landmarks.configuration import LandmarkSolver
from ..spectral.grouping import group
from .base import parameters
from .graphs import AFFINITY_RULES, affinity_metric, check_affinity_input, graph_of
from .spectral import SpectralEstimator

SAME = 1e-20
"""Squared distance below which two rows of length 1 are the same but for rounding."""


@parameters
class SpectralClustering(ClusterMixin, SpectralEstimator):
    """Groups of points that are tied to each other more than to the rest: k-means on normalised Laplacian eigenmaps.

    Ng, Jordan & Weiss (2001): the leading ``n_components`` eigenvectors of D^-1/2 W D^-1/2, rows scaled to length 1,
    k-means. ``predict`` sends new points through the Nystrom extension to the nearest centre.

    Parameters
    ----------
    n_clusters
        Number of groups.
    n_components
        Eigenvectors to use, the constant one included; None: ``n_clusters``.
    n_neighbors, radius, metric, affinity, bandwidth, solver, search, on_disconnected
        As in `LaplacianEigenmaps`.
    n_init
        Starts of k-means; the best is kept.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    labels_ : array (n_samples,)
    cluster_centers_ : array (n_clusters, n_components), in the space of the embedding
    embedding_ : array (n_samples, n_components), rows of length 1
    eigenvalues_, component_labels_, report_ : as in `LaplacianEigenmaps`

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> labels = lowdim.SpectralClustering(n_clusters=2).fit_predict(X)
    >>> sorted(set(labels.tolist()))
    [0, 1]
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_components: int | None = None
    n_neighbors: int | None = None
    radius: float | None = None
    metric: str | Callable[..., float] = "euclidean"
    affinity: str | Affinity = "auto"
    bandwidth: float | None = None
    solver: str | LandmarkSolver = "auto"
    search: str = "auto"
    n_init: int = 10
    on_disconnected: str = "connect"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_RULES,
        "n_clusters": Whole(1),
        "n_components": Either(Whole(1), Nothing()),
        "n_init": Whole(1),
    }

    def predict(self, X: Any) -> Integers:
        """Group of each new point: that of the nearest centre."""
        check_is_fitted(self)
        rows = self._check_input(X, reset=False)
        points = self.map_.transform(rows, Run(workers=self._workers))
        gaps = np.stack([np.linalg.norm(points - center, axis=1) for center in self.cluster_centers_])
        return np.asarray(gaps.argmin(axis=0))

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _method(self) -> UnitEigenmaps:
        width = self.n_components or self.n_clusters
        metric, graph = affinity_metric(self), graph_of(self, USUAL_NEIGHBORS)
        return UnitEigenmaps(
            max(1, width - 1), metric, graph, self.affinity, self.bandwidth, with_constant_alone=width == 1
        )

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        validation.check_clusters(self.n_clusters, rows.n_rows)
        embedded = super()._embed(rows, run)
        labels, centers = run.stage(
            "k-means", self._group, embedded.coordinates, embedded.landmarks, kept=tuple
        )
        attributes = {**embedded.attributes, "labels_": labels, "cluster_centers_": centers}
        return replace(embedded, attributes=attributes)

    def _group(self, points: Floats, landmarks: Floats | None, run: Run) -> tuple[Integers, Floats]:
        """k-means; with landmarks the starts are tried on these, and the best of them once on all points."""
        if points.shape[1] == 1:
            if self.n_clusters > 1:
                run.warned(
                    "n_components=1 keeps the constant eigenvector alone, so all points fall into one group. Use "
                    f"n_components={self.n_clusters}, or leave it out.",
                    DataWarning,
                )
            return np.zeros(points.shape[0], dtype=np.int64), np.ones((1, 1))
        n_clusters = self._affordable_clusters(points, run)
        start = None
        if landmarks is not None and count_apart(landmarks, n_clusters) == n_clusters:
            tried = group(landmarks, n_clusters, starts=self.n_init, run=run)
            start = tried.centers
        found = group(
            points,
            n_clusters,
            starts=self.n_init,
            centers=start,
            run=run,
        )
        return found.labels, found.centers

    def _affordable_clusters(self, points: Floats, run: Run) -> int:
        """As many groups as asked for, or as there are different places, with a warning."""
        places = count_apart(points, self.n_clusters)
        if places < self.n_clusters:
            run.warned(
                f"The points fall on {places} different places of the embedding, so there are no more groups, though "
                f"n_clusters={self.n_clusters} were asked for. Lower n_clusters, or raise n_components.",
                DataWarning,
            )
        return places

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        width = self.n_components or self.n_clusters
        grouping = costs.k_means(rows.n_rows, width, self.n_clusters, self.n_init)
        return [*super()._plan_stages(rows), grouping]


def count_apart(points: Floats, most: int) -> int:
    """Rows of length 1 that differ by more than rounding, counted up to ``most``, each farthest from those before."""
    nearest = np.full(points.shape[0], np.inf)
    place = 0
    for count in range(1, most):
        gaps = points - points[place]
        np.minimum(nearest, np.einsum("ij,ij->i", gaps, gaps), out=nearest)
        place = int(nearest.argmax())
        if not nearest[place] > SAME:
            return count
    return most
