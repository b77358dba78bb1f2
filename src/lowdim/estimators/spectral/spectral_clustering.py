"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ... import validation
from ...affinities import Affinity
from ...core.messages import named, setting
from ...core.parallel import row_blocks
from ...core.records import Floats, Integers, PlannedStage
from ...core.rules import Either, Nothing, OneOf, Rule, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...errors import DataWarning, InputError
from ...methods import costs
from ...methods.base import Embedded
from ...methods.clustering import COMPONENT_GROUPS, UnitEigenmaps
from ...methods.laplacian import USUAL_NEIGHBORS
from ...solvers.landmarks.configuration import LandmarkSolver
from ...spectral.grouping import Groups, assigned, cluster_qr, discretize, group
from ..base import Estimator, parameters
from ..graphs import AFFINITY_RULES, affinity_metric, check_affinity_input, graph_of
from ..shards.landmarks_over_shards import MOST_IN_MEMORY
from .spectral_driver import SpectralEstimator

STAGES = {"kmeans": "k-means", "discretize": "discretize", "cluster_qr": "cluster QR"}
"""Ways to group the rows, and the names of their stages."""

BLOCK = 1 << 16
"""Rows in shards whose labels are found at once."""

SAME = 1e-20
"""Squared distance below which two rows of length 1 are the same but for rounding."""


class FittedClustering:
    """What a fit leaves; apart from `SpectralClustering`, whose own fields are its parameters."""

    labels_: Integers
    cluster_centers_: Floats


@parameters
class SpectralClustering(ClusterMixin, SpectralEstimator, FittedClustering):
    """Groups of points that are tied to each other more than to the rest: k-means on normalised Laplacian eigenmaps.

    Ng, Jordan & Weiss (2001): the leading ``n_components`` eigenvectors of D^-1/2 W D^-1/2, rows scaled to length 1,
    k-means. ``predict`` sends new points through the Nystrom extension to the nearest centre.

    A graph in pieces is joined by its shortest missing edges where distances are known. Where they are not, as for a
    graph that is given, and with ``on_disconnected="per_component"``, every component is one cluster at least, and the
    eigenvectors say which of them are split into the rest of ``n_clusters``. With more components than clusters the
    largest are clusters, and the others are added to those with the fewest points, with a warning; one of components
    with less than a tenth of the points of a mean cluster says that they take a cluster each.

    Parameters
    ----------
    n_clusters
        Number of groups.
    n_components
        Eigenvectors to use, the constant one included; None: ``n_clusters``.
    n_neighbors, radius, metric, metric_params, affinity, bandwidth, solver, search, on_disconnected
        As in `LaplacianEigenmaps`.
    n_init
        Starts of k-means and of ``"discretize"``; the best is kept.
    assign_labels
        How the rows are grouped: ``"kmeans"``; ``"discretize"``, the rotation that brings them nearest to indicators
        (Yu & Shi 2003); ``"cluster_qr"``, a pivoted QR factorisation, which draws nothing at random (Damle, Minden &
        Ying 2019). The last two make as many groups as there are eigenvectors.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    labels_ : array (n_samples,)
    cluster_centers_ : array (n_clusters, n_components), in the space of the embedding; orthogonal directions unless
        the labels are those of k-means
    embedding_ : array (n_samples, n_components), rows of length 1
    n_neighbors_ : int, what was chosen where ``n_neighbors`` is ``"auto"``
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
    n_neighbors: int | str | None = None
    radius: float | None = None
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    affinity: str | Affinity = "auto"
    bandwidth: float | None = None
    solver: str | LandmarkSolver = "auto"
    search: str = "auto"
    n_init: int = 10
    assign_labels: str = "kmeans"
    on_disconnected: str = "connect"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_RULES,
        "n_clusters": Whole(1),
        "n_components": Either(Whole(1), Nothing()),
        "n_init": Whole(1),
        "assign_labels": OneOf(*STAGES),
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

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _method(self) -> UnitEigenmaps:
        width = int(self.n_components or self.n_clusters)
        metric, graph = affinity_metric(self), graph_of(self, USUAL_NEIGHBORS)
        if self.assign_labels != "kmeans" and width != self.n_clusters:
            raise InputError(
                f"{setting('assign_labels', self.assign_labels)} makes as many groups as there are eigenvectors; got "
                f"{setting('n_components', width)} with {setting('n_clusters', self.n_clusters)}. Leave "
                f"{named('n_components')} out, or use {setting('assign_labels', 'kmeans')}."
            )
        return UnitEigenmaps(
            max(1, width - 1),
            metric,
            graph,
            self.affinity,
            self.bandwidth,
            with_constant_alone=width == 1,
            n_clusters=int(self.n_clusters),
        )

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        validation.check_clusters(self.n_clusters, rows.n_rows)
        embedded = super()._embed(rows, run)
        n_groups = embedded.figures.get(COMPONENT_GROUPS, 1)
        labels, centers = run.stage(
            STAGES[self.assign_labels],
            self._group,
            embedded.coordinates,
            embedded.landmarks,
            n_groups,
            kept=tuple,
        )
        attributes = {**embedded.attributes, "labels_": labels, "cluster_centers_": centers}
        return replace(embedded, attributes=attributes)

    def _after_shards(self, embedded: Embedded, run: Run) -> Embedded:
        """Labels of all rows: as in memory, or past a gigabyte of coordinates by the groups of the landmarks."""
        points, landmarks, stage = embedded.coordinates, embedded.landmarks, STAGES[self.assign_labels]
        assert landmarks is not None
        validation.check_clusters(self.n_clusters, points.shape[0])
        n_groups = embedded.figures.get(COMPONENT_GROUPS, 1)
        if points.nbytes <= MOST_IN_MEMORY:
            whole = np.asarray(points, dtype=np.float64)
            labels, centers = run.stage(stage, self._group, whole, landmarks, n_groups)
        else:
            centers = run.stage(stage, self._group, landmarks, None, n_groups)[1]
            blocks = row_blocks(points.shape[0], BLOCK)
            labels = np.concatenate([assigned(points[part], centers, run).labels for part in blocks])
        attributes = {**embedded.attributes, "labels_": labels, "cluster_centers_": centers}
        return replace(embedded, attributes=attributes)

    def _group(
        self, points: Floats, landmarks: Floats | None, n_groups: int, run: Run
    ) -> tuple[Integers, Floats]:
        """Labels and centres; with landmarks the starts of k-means are tried on these, the best once on all points.

        The first ``n_groups`` columns are indicators of parts of the graph that nothing ties to each other.
        """
        if points.shape[1] == 1:
            if self.n_clusters > 1:
                run.warned(
                    f"{setting('n_components', 1)} keeps the constant eigenvector alone, so all points fall into one "
                    f"group. Use {setting('n_components', self.n_clusters)}, or leave it out.",
                    DataWarning,
                )
            return np.zeros(points.shape[0], dtype=np.int64), np.ones((1, 1))
        if n_groups > 1:
            return self._group_parts(points, points if landmarks is None else landmarks, n_groups, run)
        n_clusters = self._affordable_clusters(count_apart(points, self.n_clusters), run)
        if self.assign_labels != "kmeans":
            found = self._directions(points, run)
        elif landmarks is not None and count_apart(landmarks, n_clusters) == n_clusters:
            start = group(landmarks, n_clusters, starts=self.n_init, run=run).centers
            found = group(points, n_clusters, centers=start, run=run)
        else:
            found = group(points, n_clusters, starts=self.n_init, run=run)
        return found.labels, found.centers

    def _directions(self, points: Floats, run: Run) -> Groups:
        """Groups around orthogonal directions, one for each column."""
        if self.assign_labels == "cluster_qr":
            return cluster_qr(points, run)
        return discretize(points, starts=self.n_init, run=run)

    def _group_parts(self, points: Floats, tried: Floats, n_groups: int, run: Run) -> tuple[Integers, Floats]:
        """Each part of the graph into groups of its own, as many as it has eigenvectors among the leading ones.

        With fewer eigenvectors than clusters they are gone through again, in their order.
        """
        owners = tried[:, :n_groups].argmax(axis=1)
        largest = np.abs(tried[:, n_groups:]).max(axis=0, initial=0.0)
        columns = n_groups + np.flatnonzero(largest)
        column_owners = owners[np.abs(tried[:, columns]).argmax(axis=0)]
        splits = np.resize(column_owners, self.n_clusters - n_groups if columns.size else 0)
        centers = []
        for part in range(n_groups):
            own = np.append(part, columns[column_owners == part])
            rows = np.ascontiguousarray(tried[owners == part][:, own])
            count = count_apart(rows, 1 + int(np.sum(splits == part)))
            if self.assign_labels == "kmeans":
                found = group(rows, count, starts=self.n_init, run=run).centers
            else:
                found = self._directions(rows, run).centers
            placed = np.zeros((len(found), points.shape[1]))
            placed[:, own] = found
            centers.append(placed)
        start = np.concatenate(centers)
        self._affordable_clusters(len(start), run)
        if self.assign_labels == "kmeans":
            grouped = group(points, len(start), centers=start, run=run)
        else:
            grouped = assigned(points, start, run)
        return grouped.labels, grouped.centers

    def _affordable_clusters(self, places: int, run: Run) -> int:
        """As many groups as asked for, or as there are different places, with a warning."""
        if places < self.n_clusters:
            run.warned(
                f"The points fall on {places} different places of the embedding, so there are no more groups, though "
                f"{setting('n_clusters', self.n_clusters)} were asked for. Lower {named('n_clusters')}, or raise "
                f"{named('n_components')}.",
                DataWarning,
            )
        return places

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        width = int(self.n_components or self.n_clusters)
        grouping = costs.k_means(rows.n_rows, width, int(self.n_clusters), int(self.n_init))
        return [*super()._plan_stages(rows), replace(grouping, name=STAGES[self.assign_labels])]


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
