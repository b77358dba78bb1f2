"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..affinities import Affinity
from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events, Listener
from ..mapping.nystrom import NystromMap
from ..records import Floats, Integers, PlannedStage
from ..validation import Either, Nothing, Rule, Whole
from . import costs
from .base import Embedded, Estimator
from .laplacian import (
    AFFINITY_RULES,
    DEFAULT_NEIGHBORS,
    affinity_neighborhood,
    check_affinity_input,
    solve_laplacian,
)
from .neighborhood import PAIRWISE, Neighborhood
from .parts import Needs, embed_parts


@dataclass(frozen=True, slots=True)
class NormalizedRowsMap:
    """The Nystrom map followed by the constant coordinate and the scaling of each row to length 1."""

    inner: NystromMap
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


class SpectralClustering(ClusterMixin, Estimator):
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
    random_state, n_jobs, memory_limit, callback, verbose
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
        solver: str = "auto",
        search: str = "auto",
        n_init: int = 10,
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
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

    def _embed(self, rows: Rows, events: Events) -> Embedded:
        validation.check_clusters(self.n_clusters, rows.n_rows)
        hood = affinity_neighborhood(self, rows, events)
        width = self.n_components or self.n_clusters
        needs = Needs(width, width + 1)
        embedded = embed_parts(hood, self.on_disconnected, needs, self._embed_connected, events)
        with events.stage("k-means"):
            labels, centers = self._group(embedded.coordinates, hood.settings.rng, events)
        attributes = {**embedded.attributes, "labels_": labels, "cluster_centers_": centers}
        return Embedded(
            embedded.coordinates, embedded.map, embedded.solution, attributes, figures=embedded.figures
        )

    def _embed_connected(self, hood: Neighborhood, events: Events) -> Embedded:
        width = self.n_components or self.n_clusters
        if width == 1:
            return self._constant(hood, events)
        solution, map_, W = solve_laplacian(self, hood, width - 1, events)
        m = np.ones(hood.n_points) if hood.weights is None else hood.weights
        constant = float(1 / np.sqrt(m @ (W @ m)))
        coordinates = normalize_rows(solution.vectors, constant)
        return Embedded(
            coordinates, NormalizedRowsMap(map_, constant), solution, attributes={"affinity_matrix_": W}
        )

    def _constant(self, hood: Neighborhood, events: Events) -> Embedded:
        """One eigenvector is the constant one: every point is the same."""
        _, map_, _ = solve_laplacian(self, hood, 1, events)
        empty = NystromMap(map_.affinities, map_.embedding[:, :0], map_.eigenvalues[:0])
        return Embedded(np.ones((hood.n_points, 1)), NormalizedRowsMap(empty, 1.0))

    def _group(self, points: Floats, rng: np.random.Generator, events: Events) -> tuple[Integers, Floats]:
        from sklearn.cluster import KMeans

        if points.shape[1] == 1:
            if self.n_clusters > 1:
                events.warned(
                    "n_components=1 keeps the constant eigenvector alone, so all points fall into one group. Use "
                    f"n_components={self.n_clusters}, or leave it out.",
                    DataWarning,
                )
            return np.zeros(points.shape[0], dtype=np.int64), np.ones((1, 1))
        seed = int(rng.integers(2**31 - 1))
        groups = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed).fit(points)
        return groups.labels_.astype(np.int64), groups.cluster_centers_

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        k, width = self.n_neighbors or DEFAULT_NEIGHBORS, self.n_components or self.n_clusters
        given = self.metric in PAIRWISE or self.affinity == "precomputed"
        stages = [] if given else [costs.neighbors(n_rows, n_columns, k, self.search)]
        return [
            *stages,
            costs.affinities(n_rows, k),
            costs.lanczos(n_rows, 2 * k, width),
            costs.k_means(n_rows, width, self.n_clusters, self.n_init),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self.affinity == "precomputed"
        return tags
