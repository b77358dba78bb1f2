"""Laplacian eigenmaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar

from ..affinities import Affinity
from ..data.rows import Rows
from ..events import Events, Listener
from ..records import PlannedStage
from ..rules import Rule
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.lll import LLL
from .base import Embedded
from .laplacian import (
    AFFINITY_RULES,
    affinity_neighborhood,
    check_affinity_input,
    laplacian_stages,
    solve_laplacian,
)
from .neighborhood import PAIRWISE, Neighborhood
from .parts import Needs, embed_parts
from .shared import Shared
from .solvers import Solver
from .spectral import SpectralEstimator


class LaplacianEigenmaps(SpectralEstimator):
    """min tr X'(D - W)X  s.t.  X'DX = I, X'D1 = 0: near points, weighted by affinity W, get near coordinates.

    Belkin & Niyogi (2003). The coordinates are the smallest non-trivial eigenvectors of the normalised graph
    Laplacian over the square root of the degree. New points go by the Nystrom extension (Bengio et al. 2004).

    Parameters
    ----------
    n_components
        Dimensions of the embedding.
    n_neighbors
        Nearest points that each point is tied to; None: 10, or all others where there are fewer.
    radius
        Tie each point to all within this distance instead: the geometric graph of threshold tau.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities: a weighted or unweighted graph).
    affinity
        ``"auto"``, `Gaussian`, `Entropic`, `Binary`, `SelfTuning` or their names ``"gaussian"``, ``"entropic"``,
        ``"binary"``, ``"self-tuning"``, or ``"precomputed"`` (as ``metric="graph"``).
        ``"auto"`` is self-tuning, or Gaussian where ``bandwidth`` is given.
    bandwidth
        Sigma of exp(-(d / sigma)^2).
    solver
        ``"auto"`` or ``"exact"``, or an eigensolver by name: ``"dense"``, ``"lanczos"``, ``"shift-invert"``,
        ``"lobpcg"``.
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
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.LaplacianEigenmaps(n_neighbors=12).fit_transform(roll.data).shape
    (500, 2)
    """

    _rules: ClassVar[Mapping[str, Rule]] = AFFINITY_RULES
    _landmark_solver: ClassVar[type[LandmarkSolver]] = LLL

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        radius: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        affinity: str | Affinity = "auto",
        bandwidth: float | None = None,
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
        self.radius = radius
        self.metric = metric
        self.affinity = affinity
        self.bandwidth = bandwidth
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
        return check_affinity_input(self, X, reset=reset)

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        hood = affinity_neighborhood(self, rows, events, shared)
        needs = Needs(self.n_components, self.n_components + 1)

        def embed(part: Neighborhood, events: Events) -> Embedded:
            answer, map_, W = solve_laplacian(self, part, self.n_components, solver, events)
            attributes = {"affinity_matrix_": W} if answer.certificate is None else {}
            return answer.embedded(map_, attributes=attributes)

        return embed_parts(hood, self.on_disconnected, needs, embed, events)

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        return laplacian_stages(self, rows, solver)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self.affinity == "precomputed"
        return tags
