"""Locally linear embedding and its kin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar

from .. import validation
from ..affinities.patches import Patches, patches_of
from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events, Listener
from ..mapping.locally_linear import LocallyLinearMap
from ..neighbors import plan_search
from ..neighbors.edges import with_self
from ..records import PlannedStage, Problem
from ..rules import OneOf, Real, Rule
from ..run import Run
from ..spectral.recipes.lle_hessian import hessian_lle
from ..spectral.recipes.lle_ltsa import ltsa
from ..spectral.recipes.lle_modified import modified_lle
from ..spectral.recipes.lle_standard import standard_lle
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.lll import LLL
from . import costs
from .base import Embedded
from .by_solver import solve_problem
from .landmarks import Points
from .neighborhood import NEIGHBOR_RULES, PAIRWISE, Neighborhood, Settings, check_points, find_neighborhood
from .parts import Needs, embed_parts
from .shared import Shared
from .solvers import SOLVER_RULE, Solver
from .spectral import SpectralEstimator

DEFAULT_NEIGHBORS = 12


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
        Dimensions of the embedding.
    n_neighbors
        Nearest points of each point; None: 12 (more where the variant needs more), or all others where there are fewer.
    variant
        ``"standard"``, ``"modified"``, ``"hessian"`` or ``"ltsa"``.
    reg
        Regularisation of the local systems, as a share of the trace of each.
    radius
        Take all points within this distance as neighbours instead.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds edge lengths; all edges are used).
    solver
        ``"auto"`` or ``"exact"``, or an eigensolver by name: ``"dense"``, ``"shift-invert"``, ``"lobpcg"``,
        ``"lanczos"``.
    search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), smallest first; their sum is the reconstruction error
    component_labels_ : array (n_samples,), 0 for the largest component
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.LLE(n_neighbors=12, variant="modified").fit_transform(roll.data).shape
    (500, 2)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **NEIGHBOR_RULES,
        "variant": OneOf("standard", "modified", "hessian", "ltsa"),
        "reg": Real(0),
        "solver": SOLVER_RULE,
    }
    _landmark_solver: ClassVar[type[LandmarkSolver]] = LLL

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        variant: str = "standard",
        reg: float = 1e-3,
        radius: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        solver: Solver = "auto",
        search: str = "auto",
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.reg = reg
        self.radius = radius
        self.metric = metric
        self.solver = solver
        self.search = search
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="edge lengths", reset=reset)

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        hood = find_neighborhood(rows, Settings.of(self), self._default_neighbors, events, shared)
        needs = Needs(self.n_components, max(self.n_components, self._fewest_neighbors) + 1)

        def embed(part: Neighborhood, events: Events) -> Embedded:
            problem = self._build(part, events)
            answer = solve_problem(problem, self.n_components, solver, Points.of_hood(part), self, events)
            own = LocallyLinearMap(part.lookup, answer.solution.vectors, self.reg, self.n_jobs)
            figures = {"reconstruction_error": float(answer.solution.values.sum())}
            return answer.embedded(answer.map or own, figures=figures)

        return embed_parts(hood, self.on_disconnected, needs, embed, events)

    @property
    def _fewest_neighbors(self) -> int:
        d: int = self.n_components
        return {"standard": 1, "modified": d + 1, "ltsa": d + 1, "hessian": d + d * (d + 1) // 2}[
            self.variant
        ]

    @property
    def _default_neighbors(self) -> int:
        return max(DEFAULT_NEIGHBORS, self._fewest_neighbors + 1)

    def _build(self, hood: Neighborhood, events: Events) -> Problem:
        validation.check_components(
            self.n_components,
            hood.n_points - 1,
            f"{hood.n_points} points have so many coordinates beside the constant one",
        )
        if hood.settings.pairwise and hood.index.rows.is_sparse:
            events.warned(
                "X is a sparse graph: distances among the neighbours of a point that it does not hold are taken along "
                "its edges. Give dense distances, or the points, for exact ones.",
                DataWarning,
            )
        with events.stage("weights"):
            neighbors = hood.bridged()
            if self.variant in ("ltsa", "hessian"):
                # Zhang & Zha (2004) count a point among its own neighbours. Without that, a point that is nobody's
                # neighbour has no equation, and on real data such points fill the null space with single points.
                neighbors = with_self(neighbors)
            patches = patches_of(hood.index, neighbors, None, Run(n_jobs=self.n_jobs))
            return self._problem(patches, hood, events)

    def _problem(self, patches: Patches, hood: Neighborhood, events: Events) -> Problem:
        weights, n_jobs = hood.weights, self.n_jobs
        if self.variant == "standard":
            return standard_lle(patches, reg=self.reg, weights=weights, n_jobs=n_jobs, events=events)
        d = self.n_components
        if self.variant == "modified":
            return modified_lle(patches, d, reg=self.reg, weights=weights, n_jobs=n_jobs, events=events)
        if self.variant == "hessian":
            return hessian_lle(patches, d, weights=weights, n_jobs=n_jobs, events=events)
        return ltsa(patches, d, weights=weights, n_jobs=n_jobs, events=events)

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        d, k = self.n_components, self.n_neighbors or self._default_neighbors
        if isinstance(solver, self._alone):
            size = min(solver.n_landmarks, n_rows)
            alone = [costs.local_weights(size, k), costs.sparse_factor(size, k, n_columns)]
            return costs.alone(rows.shape, solver, d, alone)
        stages = [] if self.metric in PAIRWISE else [plan_search(rows, self.metric, k, self.search)]
        stages.append(costs.local_weights(n_rows, k))
        if isinstance(solver, LandmarkSolver):
            return [*stages, *costs.restricted(rows.shape, solver, d, 2 * k)]
        if self.variant == "standard":
            return [*stages, costs.sparse_factor(n_rows, k, n_columns)]
        if n_columns <= costs.FLAT:
            return [*stages, costs.sparse_factor(n_rows, 4 * k, n_columns)]
        return [*stages, costs.lanczos(n_rows, 4 * k, d)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE
        return tags
