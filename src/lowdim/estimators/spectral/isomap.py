"""Isomap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import validation
from ...core.messages import named, setting
from ...core.records import Floats
from ...core.rules import Rule
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...maps.geodesic import SquaredGeodesics
from ...methods.isomap import USUAL_NEIGHBORS, Geodesic
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.landmarks.nystrom import Nystrom
from ...solvers.named import DENSE_SOLVER_RULE, LANDMARKS_RULE
from ..base import parameters
from ..choosing.words import components_rule
from ..graphs import NEIGHBOR_RULES, check_points, graph_of
from ..metric import metric_of
from .spectral_driver import SpectralEstimator


@parameters
class Isomap(SpectralEstimator):
    """Classical MDS on geodesic distances: max tr X'BX, B = -1/2 H D2 H, D2 the squared shortest paths of a graph.

    Tenenbaum, de Silva & Langford (2000). The graph ties each point to its ``n_neighbors`` nearest (K-Isomap) or to all
    within ``radius`` (epsilon-Isomap). New points go by the extension of Bengio et al. (2004): their geodesics run
    through the graph, which is all that is kept besides the data.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"`` or ``"auto:eigengap"``: see
        docs/choosing.md.
    n_neighbors
        Nearest points that each point is tied to; None: 10, or all others where there are fewer. ``"auto"`` chooses it
        by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see docs/choosing.md.
    radius
        Tie each point to all within this distance instead (epsilon-Isomap).
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds edge lengths; all edges are used, an unweighted graph has lengths 1).
    metric_params
        As in `LaplacianEigenmaps`.
    landmarks
        Landmark Isomap (de Silva & Tenenbaum 2003): geodesics run from these only. A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``), or a landmark solver: `Nystrom`
        (landmark Isomap), `LLL` or `LandmarkZ`, or its name. Rows in shards take `LandmarkZ`: see docs/scale.md.
    search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    residual_variance_ : array (n_components,), 1 - R^2 of geodesic and embedded distances for 1, 2, ... coordinates
        (from 1000 points to all others where there are more; absent where only parts were embedded)
    reconstruction_error_ : float, |B - XX'| / N (absent where residual_variance_ is)
    component_labels_ : array (n_samples,), 0 for the largest component
    n_neighbors_, n_components_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.Isomap(n_neighbors=8).fit_transform(roll.data).shape
    (500, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | str | None = None
    radius: float | None = None
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    landmarks: Any = None
    solver: str | LandmarkSolver = "auto"
    search: str = "auto"
    on_disconnected: str = "connect"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **NEIGHBOR_RULES,
        "n_components": components_rule("eigengap"),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
    }
    _usual_landmarks: ClassVar[type[LandmarkSolver]] = Nystrom
    _instead: ClassVar[Mapping[str, str]] = {
        "dist_matrix_": ": the N x N geodesics are not kept. geodesics(X) finds them again, for all rows or for some."
    }

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="edge lengths", reset=reset)

    def _method(self) -> Geodesic:
        return Geodesic(self._n_components, metric_of(self), graph_of(self, USUAL_NEIGHBORS))

    def geodesics(self, X: Any) -> Floats:
        """Lengths of the shortest paths from each row of X to the fitted points, through the graph (n x N).

        They are found anew at every call and not kept: whether there is room for an N x N table, the caller knows.
        Rows that are equal are one point: N counts distinct fitted rows, in the order of their first appearance.

        Parameters
        ----------
        X
            New points or fitted ones, in the form that ``transform`` takes.

        Raises
        ------
        InputError
            The model does not hold the graph: it is of landmarks, or of a graph in pieces that were embedded apart.
        MemoryLimitError
            The table would not fit into ``memory_limit`` or into the free memory.
        """
        check_is_fitted(self)
        rows = self._check_input(X, reset=False)
        profile = getattr(self.map_, "profile", None)
        if not isinstance(profile, SquaredGeodesics):
            raise InputError(
                f"geodesics of Isomap need the graph of all points, which this model does not hold. Fit with "
                f"{setting('solver', 'exact')}, without {named('landmarks')}, and with "
                f"{setting('on_disconnected', 'connect')}."
            )
        shape = rows.n_rows, profile.graph.shape[0]
        validation.check_memory(
            8 * shape[0] * shape[1],
            self.memory_limit,
            what=f"The table of geodesics, {shape[0]} x {shape[1]},",
            instead="Ask for some rows at a time.",
        )
        return np.sqrt(profile.values(rows, Run(workers=self._workers)))

    def reconstruction_error(self) -> float:
        """|B - XX'| / N, B the centred Gram matrix of the geodesics: what the embedding leaves of it."""
        check_is_fitted(self, "reconstruction_error_")
        return float(vars(self)["reconstruction_error_"])
