"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..affinities import Affinity
from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events, Listener
from ..keeping import once
from ..messages import named, setting
from ..records import Floats, Integers, PlannedStage
from ..rules import Either, Nothing, Rule, Whole
from ..spectral.grouping import group
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.lll import LLL
from . import costs
from .base import Embedded, Map
from .laplacian import (
    AFFINITY_RULES,
    affinity_neighborhood,
    check_affinity_input,
    laplacian_stages,
    solve_laplacian,
)
from .neighborhood import PAIRWISE, Neighborhood, Streams
from .parts import Needs, embed_parts
from .shared import Shared
from .solvers import Solver
from .spectral import SpectralEstimator

SAME = 1e-20
"""Squared distance below which two rows of length 1 are the same but for rounding."""


@dataclass(frozen=True, slots=True)
class ConstantMap:
    """Every point is 1."""

    def transform(self, rows: Rows) -> Floats:
        """A column of ones."""
        return np.ones((rows.n_rows, 1))


@dataclass(frozen=True, slots=True)
class UnitRowsMap:
    """A map followed by the scaling of each row to length 1."""

    inner: Map

    def transform(self, rows: Rows) -> Floats:
        """Points on the unit sphere, each row alone."""
        X = self.inner.transform(rows)
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return np.asarray(X / np.where(lengths > 0, lengths, 1.0))


@dataclass(frozen=True, slots=True)
class NormalizedRowsMap:
    """A map followed by the constant coordinate and the scaling of each row to length 1."""

    inner: Map
    constant: float

    def transform(self, rows: Rows) -> Floats:
        """Points on the unit sphere, each row alone."""
        return normalize_rows(self.inner.transform(rows), self.constant)


def normalize_rows(X: Floats, constant: float) -> Floats:
    """Rows (constant, x) scaled to length 1.

    Ng, Jordan & Weiss (2001) scale the rows of the leading eigenvectors of D^-1/2 W D^-1/2. A row of those is
    sqrt(degree) (constant, x) with x the row of Laplacian eigenmaps, and the degree cancels.
    """
    rows = np.column_stack((np.full(X.shape[0], constant), X))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


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

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_RULES,
        "n_clusters": Whole(1),
        "n_components": Either(Whole(1), Nothing()),
        "n_init": Whole(1),
    }
    _landmark_solver: ClassVar[type[LandmarkSolver]] = LLL

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        n_neighbors: int | None = None,
        radius: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        affinity: str | Affinity = "auto",
        bandwidth: float | None = None,
        solver: Solver = "auto",
        search: str = "auto",
        n_init: int = 10,
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.solver = solver
        self.search = search
        self.n_init = n_init
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def predict(self, X: Any) -> Integers:
        """Group of each new point: that of the nearest centre."""
        check_is_fitted(self)
        rows = self._check_input(X, reset=False)
        points = self.map_.transform(rows)
        gaps = np.stack([np.linalg.norm(points - center, axis=1) for center in self.cluster_centers_])
        return np.asarray(gaps.argmin(axis=0))

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _embed(self, rows: Rows, events: Events, shared: Shared) -> Embedded:
        validation.check_clusters(self.n_clusters, rows.n_rows)
        embedded = super()._embed(rows, events, shared)
        with events.stage("k-means"):
            rng = Streams.of(self.random_state).solve
            labels, centers = once(
                events, "k-means", lambda: self._group(embedded.coordinates, embedded.landmarks, rng, events)
            )
        attributes = {**embedded.attributes, "labels_": labels, "cluster_centers_": centers}
        return replace(embedded, attributes=attributes)

    def _finish_map(self, map_: Map) -> Map:
        return UnitRowsMap(map_)

    @property
    def _n_coordinates(self) -> int:
        return self.n_components or self.n_clusters

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        hood = affinity_neighborhood(self, rows, events, shared)
        width = self._n_coordinates
        return embed_parts(
            hood,
            self.on_disconnected,
            Needs(width, width + 1),
            lambda part, events: self._embed_part(part, solver, events),
            events,
        )

    def _embed_part(self, hood: Neighborhood, solver: Solver, events: Events) -> Embedded:
        width = self._n_coordinates
        answer, map_, W = solve_laplacian(self, hood, max(1, width - 1), solver, events)
        if width == 1:
            # The constant eigenvector alone: every point is the same.
            return Embedded(np.ones((hood.n_points, 1)), ConstantMap())
        m = np.ones(hood.n_points) if hood.weights is None else hood.weights
        constant = float(1 / np.sqrt(m @ (W @ m)))
        return Embedded(
            normalize_rows(answer.solution.vectors, constant),
            NormalizedRowsMap(map_, constant),
            answer.solution,
            attributes={"affinity_matrix_": W} if answer.certificate is None else {},
            landmarks=None if answer.landmarks is None else normalize_rows(answer.landmarks, constant),
            certificate=answer.certificate,
        )

    def _group(
        self, points: Floats, landmarks: Floats | None, rng: np.random.Generator, events: Events
    ) -> tuple[Integers, Floats]:
        """k-means; with landmarks the starts are tried on these, and the best of them once on all points."""
        if points.shape[1] == 1:
            if self.n_clusters > 1:
                events.warned(
                    f"{setting('n_components', 1)} keeps the constant eigenvector alone, so all points fall into "
                    f"one group. Use {setting('n_components', self.n_clusters)}, or leave it out.",
                    DataWarning,
                )
            return np.zeros(points.shape[0], dtype=np.int64), np.ones((1, 1))
        n_clusters = self._affordable_clusters(points, events)
        start = None
        if landmarks is not None and count_apart(landmarks, n_clusters) == n_clusters:
            tried = group(landmarks, n_clusters, starts=self.n_init, rng=rng, n_jobs=self.n_jobs)
            start = tried.centers
        found = group(points, n_clusters, starts=self.n_init, centers=start, rng=rng, n_jobs=self.n_jobs)
        return found.labels, found.centers

    def _affordable_clusters(self, points: Floats, events: Events) -> int:
        """As many groups as asked for, or as there are different places, with a warning."""
        places = count_apart(points, self.n_clusters)
        if places < self.n_clusters:
            events.warned(
                f"The points fall on {places} different places of the embedding, so there are no more groups, "
                f"though {setting('n_clusters', self.n_clusters)} were asked for. Lower {named('n_clusters')}, or "
                f"raise {named('n_components')}.",
                DataWarning,
            )
        return places

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        grouping = costs.k_means(rows.n_rows, self._n_coordinates, self.n_clusters, self.n_init)
        return [*laplacian_stages(self, rows, solver), grouping]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self.affinity == "precomputed"
        return tags
