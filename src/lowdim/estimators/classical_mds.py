"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from .. import validation
from ..data.rows import Rows
from ..events import Events, Listener
from ..keeping import once
from ..mapping.extension import extension_map
from ..mapping.linear import LinearMap
from ..neighbors.metrics import Metric, resolve_metric
from ..neighbors.pairwise import pairwise_distances
from ..records import Floats, PlannedStage
from ..rules import Either, Function, Instance, Rule
from ..spectral.linear.choose import choose_solver, estimate, fit_pca
from ..spectral.linear.result import LinearFit
from ..spectral.operators import GramRows
from ..spectral.recipes.gram import distance_problem, scaled_coordinates, warn_of_empty_coordinates
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.nystrom import Nystrom
from ..spectral.signs import leading_signs
from ..spectral.solvers import solve
from . import costs
from .base import COMMON_RULES, Embedded
from .gram import embed_gram
from .landmarks import Points
from .shared import Shared
from .solvers import DENSE_SOLVER_RULE, LANDMARKS_RULE, Solver
from .spectral import SpectralEstimator


@dataclass(frozen=True, slots=True)
class SquaredDistances:
    """Profile of a new point: its squared distances to the fitted points."""

    metric: Metric
    rows: Rows
    n_jobs: int | None = None

    def values(self, rows: Rows) -> Floats:
        """One row for each new point, one column for each fitted point."""
        distances = pairwise_distances(rows, self.rows, self.metric, n_jobs=self.n_jobs)
        return np.square(distances, out=distances)


@dataclass(frozen=True, slots=True)
class GivenDistances:
    """New points come as rows of distances to the fitted ones."""

    def values(self, rows: Rows) -> Floats:
        """Their squares."""
        distances: Floats = rows.block(slice(None)).copy()
        return np.square(distances, out=distances)


class ClassicalMDS(SpectralEstimator):
    """max tr X'BX, B = -1/2 H D2 H: coordinates whose inner products are nearest to those of the distances.

    Torgerson (1952). Of Euclidean distances it is PCA, and is computed so, without any N x N matrix. For any other
    metric it is dense by nature: it holds the N x N distances, and says so before it begins where memory would not
    do. New points go by the extension of Gower (1968).

    Parameters
    ----------
    n_components
        Dimensions of the embedding.
    metric
        Name of a metric, a function of two rows, or ``"precomputed"`` (X holds all distances, dense).
    landmarks
        Landmark MDS (de Silva & Tenenbaum 2004): only the distances to these are needed. A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``: these form the distances always),
        or a landmark solver: `Nystrom` (landmark MDS), `LLL` or `LandmarkZ`, or its name.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.ClassicalMDS(2, metric="manhattan").fit_transform(roll.data).shape
    (300, 2)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "metric": Either(Instance(str), Function()),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
    }
    _landmark_solver: ClassVar[type[LandmarkSolver]] = Nystrom

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        landmarks: Any = None,
        solver: Solver = "auto",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.landmarks = landmarks
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if self.metric != "precomputed":
            return super()._check_input(X, reset=reset)
        rows = validation.check_pairwise(self, X, what="distances", reset=reset)
        validation.check_dense(rows, "ClassicalMDS needs the distances of all pairs")
        return validation.check_distances(rows, what="distances", reset=reset)

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        validation.check_components(self.n_components, rows.n_rows - 1, f"{rows.n_rows} points span no more")
        if isinstance(solver, LandmarkSolver):
            return embed_gram(self, self._rows_of(rows), Points.of_rows(self, rows), solver, events)
        if self._is_pca:
            return self._embed_by_pca(rows, events)
        with events.stage("distances"):
            profile, squared = self._squared_distances(rows, events)
        with events.stage("solve"):
            problem, mean_profile = distance_problem(squared)
            generator = validation.make_generator(self.random_state)
            solution = solve(
                problem, self.n_components, solver=solver, rng=generator, events=events, n_jobs=self.n_jobs
            )
        warn_of_empty_coordinates(solution, events)
        map_ = extension_map(profile, solution.vectors, solution.values, mean_profile, scale=-0.5)
        return Embedded(scaled_coordinates(solution), map_, solution)

    def _rows_of(self, rows: Rows) -> GramRows:
        """Squared distances, a block of rows at a time."""
        if self.metric == "precomputed":
            return GramRows(rows.n_rows, lambda block: np.square(rows.block(block)), scale=-0.5)
        metric = resolve_metric(self.metric, rows=rows)

        def squared(block: slice) -> Floats:
            part = Rows(rows.values[block])
            return np.square(pairwise_distances(part, rows, metric, n_jobs=self.n_jobs))

        return GramRows(rows.n_rows, squared, scale=-0.5)

    @property
    def _is_pca(self) -> bool:
        return (
            self.metric in ("euclidean", "l2") and self.landmarks is None and self.solver in ("auto", "exact")
        )

    @property
    def _keeps_rows(self) -> bool:
        return not self._is_pca

    def _embed_by_pca(self, rows: Rows, events: Events) -> Embedded:
        validation.check_components(
            self.n_components, rows.n_columns, "Euclidean distances span the columns of X"
        )
        events.chosen(
            "method", "PCA", "classical MDS of Euclidean distances is PCA, without the N x N matrix"
        )
        generator = validation.make_generator(self.random_state)
        with events.stage("directions"):
            limit = validation.parse_bytes(self.memory_limit)
            fit = once(
                events,
                "directions",
                lambda: fit_pca(
                    rows, self.n_components, "auto", generator=generator, events=events, memory_limit=limit
                ),
                kind=LinearFit,
            )
        with events.stage("project"):
            signs = leading_signs(LinearMap(fit.mean, fit.components).transform(rows))
            map_ = LinearMap(fit.mean, fit.components * signs[:, None])
            coordinates = map_.transform(rows)
        values = fit.explained_variance * (fit.n_samples - 1)
        return Embedded(
            coordinates, map_, attributes={"eigenvalues_": values}, figures={"eigenvalues": values}
        )

    def _squared_distances(
        self, rows: Rows, events: Events
    ) -> tuple[GivenDistances | SquaredDistances, Floats]:
        if self.metric == "precomputed":
            return GivenDistances(), np.square(rows.block(slice(None)))
        metric = resolve_metric(self.metric, rows=rows)
        squared = pairwise_distances(rows, rows, metric, n_jobs=self.n_jobs, events=events)
        np.square(squared, out=squared)
        return SquaredDistances(metric, rows, self.n_jobs), squared

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        if isinstance(solver, LandmarkSolver):
            return costs.gram_landmarks(rows.shape, solver, self.n_components)
        if self._is_pca:
            chosen, why = choose_solver(rows, self.n_components, validation.parse_bytes(self.memory_limit))
            seconds, size = estimate(chosen, rows, self.n_components)
            return [PlannedStage("directions", seconds, size, f"PCA by {chosen}: {why}")]
        stages = [] if self.metric == "precomputed" else [costs.pairwise("distances", n_rows, n_columns)]
        return [*stages, costs.dense_lanczos(n_rows, self.n_components)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
