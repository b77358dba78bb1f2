"""Locally linear embedding and its kin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from ...core.rules import OneOf, Real, Rule
from ...data.rows import Rows
from ...methods.lle import VARIANTS, LocallyLinear, fewest_neighbors
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.named import SOLVER_RULE
from ..base import parameters
from ..choosing.words import components_rule
from ..graphs import NEIGHBOR_RULES, check_points, graph_of
from ..metric import metric_of
from .spectral_driver import SpectralEstimator

USUAL_NEIGHBORS = 12


@parameters
class LLE(SpectralEstimator):
    """min tr X'AX  s.t.  X'X = I, X'1 = 0: each point stays the same combination of its neighbours.

    Four ways to A, one file each:

    - ``"standard"`` (Roweis & Saul 2000): A = (I - W)'(I - W), W the weights that best rebuild each point from its
      neighbours.
    - ``"modified"`` (Zhang & Wang 2006): several weight vectors for each point, so that no regularisation decides.
    - ``"hessian"`` (Donoho & Grimes 2003): the curvature of functions on the tangent planes.
    - ``"ltsa"`` (Zhang & Zha 2004): local tangent coordinates, aligned.

    Distances alone are enough: G_jk = (d_j^2 + d_k^2 - d_jk^2) / 2, so any metric works. New points take the weights
    of their nearest fitted points (Saul & Roweis 2003).

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"``: see docs/choosing.md.
    n_neighbors
        Nearest points of each point; None: 12 (more where the variant needs more), or all others where there are fewer.
        ``"auto"`` chooses them by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see
        docs/choosing.md.
    variant
        ``"standard"``, ``"modified"``, ``"hessian"`` or ``"ltsa"``.
    reg
        Regularisation of the local systems, as a share of the trace of each.
    radius
        Take all points within this distance as neighbours instead.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds edge lengths; all edges are used).
    metric_params
        As in `LaplacianEigenmaps`.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name: ``"dense"``, ``"shift-invert"``, ``"lobpcg"``, ``"lanczos"``;
        or a landmark solver: `LLL`, `LandmarkZ`, `Nystrom`, `VariationalNystrom`, or its name. All but the last go over
        rows in shards: see docs/scale.md.
    search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), smallest first
    reconstruction_error_ : float, their sum
    component_labels_ : array (n_samples,), 0 for the largest component
    n_neighbors_, n_components_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.LLE(n_neighbors=12, variant="modified").fit_transform(roll.data).shape
    (500, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | str | None = None
    variant: str = "standard"
    reg: float = 1e-3
    radius: float | None = None
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    solver: str | LandmarkSolver = "auto"
    search: str = "auto"
    on_disconnected: str = "connect"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **NEIGHBOR_RULES,
        "n_components": components_rule(),
        "variant": OneOf(*VARIANTS),
        "reg": Real(0, high=1e100),
        "solver": SOLVER_RULE,
    }

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="edge lengths", reset=reset)

    def _method(self) -> LocallyLinear:
        usual = max(USUAL_NEIGHBORS, fewest_neighbors(self.variant, self._n_components) + 1)
        return LocallyLinear(
            self._n_components, metric_of(self), graph_of(self, usual), self.variant, float(self.reg)
        )

    @property
    def _fewest_neighbors(self) -> int:
        return max(2, fewest_neighbors(self.variant, self._n_components))

    @property
    def reconstruction_error_(self) -> float:
        """tr X'AX, what neighbours leave of their points: the sum of the eigenvalues (Roweis & Saul 2000, eq. 2)."""
        return float(self.eigenvalues_.sum())
