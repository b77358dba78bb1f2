"""Base of the neighbour embeddings: E(X) = E+(X) + lambda E-(X), minimised from a start."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..affinities import Affinity, Binary, Entropic, FittedAffinity
from ..affinities.entropic import FittedEntropic
from ..data.rows import Rows
from ..embedding.attraction import Attraction
from ..embedding.objectives.base import NeighborObjective
from ..embedding.repulsion.exact import Exact, ExactEngine
from ..embedding.repulsion.protocol import Engine
from ..embedding.similarity import STUDENT, Kernel
from ..errors import DataWarning, InputError
from ..events import Events
from ..keeping import once
from ..mapping.fixed_embedding import FixedEmbeddingMap
from ..mapping.nystrom import GivenAffinities, NeighborAffinities
from ..messages import in_python, named, setting
from ..neighbors.build import follow_links
from ..neighbors.lookup import Lookup
from ..optimize.annealing import Annealing
from ..optimize.critical import critical_lambda
from ..optimize.descent import DirectedDescent
from ..optimize.directions import LimitedMemory, SpectralDirection
from ..optimize.homotopy import Phase, follow
from ..optimize.line_search import StrongWolfe
from ..optimize.named import named_optimizer
from ..optimize.outcome import Outcome, Stopping
from ..optimize.protocol import Optimizer
from ..records import Floats, PlannedStage, Sparse
from . import costs
from .base import Embedded
from .embedding_parameters import EmbeddingParameters
from .engines import check_repulsion, choose_repulsion
from .frames import Frames
from .laplacian import check_affinity_input
from .neighborhood import PAIRWISE, Neighborhood, Settings, Streams, find_neighborhood
from .shared import Shared
from .starts import check_start, find_start

USUAL_PERPLEXITY = 30.0
NEIGHBORS_PER_PERPLEXITY = 3
FEWEST_NEIGHBORS = 5
"""Neighbours below which a perplexity says nothing."""
TIES = 10.0
"""Perplexity below which new points keep that of the fitted ones."""
FEW_POINTS = 10_000
"""Points up to which t-SNE's schedule is longer and gentler."""
NEIGHBOR_PATIENCE = 2.0
"""Processor seconds of an exact search above which an approximate one will do: the picture comes out as good."""
MOST_ITERATIONS = 1000
USUAL_TOLERANCE = 1e-6
USUAL_DESCENT = 45
"""Iterations of a descent at each lambda, as a rule."""


def ties_of_new(n_neighbors: int, fitted: FittedAffinity, kernel: Kernel) -> tuple[int, FittedAffinity]:
    """Neighbours and affinity of a new point: under the Student kernel a third of the perplexity.

    Its pull weakens with distance, so that the nearest place a point all but alone, and in a third of the time. A
    Gaussian's grows: with fewer neighbours a copy of a fitted point would come to rest elsewhere.
    """
    if kernel != STUDENT or not isinstance(fitted, FittedEntropic) or fitted.perplexity <= TIES:
        return n_neighbors, fitted
    perplexity = max(TIES, fitted.perplexity / 3)
    return ceil(n_neighbors * perplexity / fitted.perplexity), replace(fitted, perplexity=perplexity)


def usual_iterations(n_points: int) -> int:
    """Length of t-SNE's schedule."""
    return 750 if n_points <= FEW_POINTS else 270


class NeighborEmbedding(EmbeddingParameters):
    """Base of SNE, symmetric SNE, t-SNE and the elastic embedding: a subclass says what is minimised, and how."""

    _kernel: ClassVar[Kernel]
    _has_schedule: ClassVar[bool] = False
    _usual_steps: ClassVar[int | None] = None
    """Steps of lambda where ``homotopy`` is left to ``auto`` and there is no schedule."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_repulsion(self.repulsion, self.n_components)
        if self.perplexity is not None and self.affinity != "auto":
            raise InputError(
                f"{named('perplexity')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('perplexity', self.perplexity)} with {setting('affinity', self.affinity)}. "
                f"{in_python(f'Put it into the affinity, as in Entropic({self.perplexity:g}).', 'Give one of them.')}"
            )

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _embed(self, rows: Rows, events: Events, shared: Shared) -> Embedded:
        given = check_start(self.init, rows.n_rows, self.n_components)
        hood = self._neighborhood(rows, events, shared)
        streams, masses = hood.settings.streams, hood.weights
        with events.stage("affinities"):
            W, fitted = self._affinities(hood, events)
            weights = self._attraction_weights(W, masses, fitted)
        with events.stage("start"):
            if given is not None:
                start = given if hood.duplicates is None else given[hood.duplicates.first]
            else:
                points = None if hood.settings.pairwise else hood.index.rows
                start = once(
                    events,
                    "start",
                    lambda: find_start(
                        self.init,
                        points,
                        W,
                        self.n_components,
                        rng=streams.solve,
                        events=events,
                        n_jobs=self.n_jobs,
                    ),
                    rng=streams.solve,
                )
        repulsion = choose_repulsion(self.repulsion, hood.n_points, self.n_components, events)
        engine = repulsion.start(self._kernel, hood.n_points, self.n_components, self.n_jobs)
        attraction = Attraction(weights, self._kernel, self.n_jobs, single=not isinstance(repulsion, Exact))
        objective = self._make_objective(attraction, engine, masses, hood)
        frames = Frames(max(1, self.record), [])
        if self.record:
            events.listeners = (*events.listeners, frames)
        with events.stage("optimise"):
            outcome = self._minimise(objective, start, events, frames)
        with events.stage("map"):
            map_ = self._make_map(hood, fitted, objective, outcome.X)
        return self._embedded(hood, objective, outcome, map_, frames)

    def _embedded(
        self,
        hood: Neighborhood,
        objective: NeighborObjective,
        outcome: Outcome,
        map_: FixedEmbeddingMap,
        frames: Frames,
    ) -> Embedded:
        def expand(X: Floats) -> Floats:
            return X if hood.duplicates is None else X[hood.duplicates.group]

        further = self._extra_attributes(objective, outcome)
        attributes: dict[str, Any] = {
            "objective_": outcome.value,
            "n_iter_": outcome.iterations,
            "history_": outcome.history,
            **further,
        }
        if self.record:
            attributes["frames_"] = [(iteration, expand(X)) for iteration, X in frames.kept]
        figures = {
            "objective": outcome.value,
            "iterations": outcome.iterations,
            "evaluations": outcome.evaluations,
            "stopped": outcome.reason,
            "gradient_norm": outcome.gradient_norm,
            "duplicates_collapsed": hood.duplicates.n_collapsed if hood.duplicates else 0,
            "neighbour_recall": "exact" if hood.neighbors.recall is None else hood.neighbors.recall,
            **{name.removesuffix("_"): value for name, value in further.items()},
        }
        return Embedded(expand(outcome.X), map_, attributes=attributes, figures=figures)

    def _neighborhood(self, rows: Rows, events: Events, shared: Shared) -> Neighborhood:
        streams = Streams.of(self.random_state)
        if self.affinity == "precomputed" or self.metric == "graph":
            graph = (
                rows.values.copy()
                if isinstance(rows.values, csr_array)
                else csr_array(rows.block(slice(None)))
            )
            graph.eliminate_zeros()
            empty = int(np.sum(np.diff(graph.indptr) == 0))
            if empty:
                raise InputError(
                    f"{empty} of the {graph.shape[0]} rows of X have no affinity to any other, so nothing says where "
                    "they belong. Leave them out, or tie them to some."
                )
            settings = Settings("graph", None, np.inf, "auto", self.n_jobs, streams)
            return find_neighborhood(Rows(graph), settings, 1, events, shared, components=False)
        wanted = self.n_neighbors
        if wanted is None:
            wanted = ceil(NEIGHBORS_PER_PERPLEXITY * (self.perplexity or self._perplexity_of_affinity))
            wanted = min(wanted, max(1, rows.n_rows - 1))
        settings = Settings(
            self.metric, self.n_neighbors, None, self.search, self.n_jobs, streams, NEIGHBOR_PATIENCE
        )
        return find_neighborhood(rows, settings, wanted, events, shared, components=False)

    @property
    def _perplexity_of_affinity(self) -> float:
        return float(self.affinity.perplexity) if isinstance(self.affinity, Entropic) else USUAL_PERPLEXITY

    def _affinities(self, hood: Neighborhood, events: Events) -> tuple[Sparse, FittedAffinity | None]:
        """Symmetric affinities, and what gives those of new points (None: they come given)."""
        lists = hood.neighbors
        if hood.settings.metric == "graph":
            W = csr_array(
                (lists.distances, lists.indices, lists.indptr), shape=(hood.n_points, hood.n_points)
            )
            W.sort_indices()
            return W, None
        affinity = self._default_affinity(hood, events) if isinstance(self.affinity, str) else self.affinity
        fitted = affinity.fit(lists, events=events, n_jobs=self.n_jobs)
        return fitted.weights(lists, events=events, n_jobs=self.n_jobs), fitted

    def _default_affinity(self, hood: Neighborhood, events: Events) -> Affinity:
        fewest = int(hood.neighbors.counts.min())
        if self.perplexity is not None:
            return Entropic(self.perplexity)
        if fewest < FEWEST_NEIGHBORS:
            events.chosen("affinity", "Binary", f"{hood.n_points} points are too few for a perplexity")
            return Binary()
        perplexity = min(USUAL_PERPLEXITY, fewest / NEIGHBORS_PER_PERPLEXITY)
        why = "the default" if perplexity == USUAL_PERPLEXITY else f"a third of {fewest} neighbours"
        events.chosen("perplexity", f"{perplexity:.4g}", why)
        return Entropic(perplexity)

    def _attraction_weights(self, W: Sparse, masses: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """W+ of the points; a point that stands for m rows pulls m times as hard."""
        if masses is not None:
            M = diags_array(masses)
            W = csr_array((M @ W + W @ M) / 2)
        return self._scaled(W, masses, fitted)

    def _minimise(
        self, objective: NeighborObjective, start: Floats, events: Events, frames: Frames
    ) -> Outcome:
        optimizer = self._choose_optimizer(objective, events)
        schedule = optimizer.iterations if isinstance(optimizer, Annealing) else None
        stopping = Stopping(
            tolerance=self.tolerance
            if self.tolerance is not None
            else (0.0 if schedule else USUAL_TOLERANCE),
            max_iterations=self.max_iter or schedule or MOST_ITERATIONS,
            is_budget=self.max_iter is not None or schedule is not None,
            window=3,
        )
        steps = self.homotopy
        if isinstance(steps, str):
            steps = self._usual_steps if schedule is None else None
        phases = [Phase(lam, optimizer, stopping) for lam in self._path(objective, steps, events)]
        return follow(
            objective,
            start,
            phases,
            max_seconds=self.max_seconds,
            events=events,
            n_jobs=self.n_jobs,
            beside=frames,
        )

    def _choose_optimizer(self, objective: NeighborObjective, events: Events) -> Optimizer:
        if not isinstance(self.optimizer, str):
            return self.optimizer
        if self.optimizer != "auto":
            return named_optimizer(self.optimizer)
        if self._has_schedule:
            few = objective.degrees.size <= FEW_POINTS
            iterations = self.max_iter or usual_iterations(objective.degrees.size)
            schedule = Annealing(iterations, rate=0.5, momentum=0.9) if few else Annealing(iterations)
            events.chosen(
                "optimizer", f"annealed momentum, {schedule.iterations} iterations", "the quickest measured"
            )
            return schedule
        events.chosen("optimizer", "L-BFGS on the spectral direction", "the quickest measured")
        noise = 0.0 if isinstance(objective.engine, ExactEngine) else 1e-6
        return DirectedDescent(LimitedMemory(initial=SpectralDirection()), StrongWolfe(noise=noise))

    def _path(self, objective: NeighborObjective, path: Any, events: Events) -> list[float]:
        """The values of lambda to minimise at, one after the other."""
        if path is None:
            return [self.lam]
        if isinstance(path, numbers.Integral):
            critical = self._critical_lambda(objective, events)
            if critical >= self.lam:
                events.warned(
                    f"{setting('lam', self.lam)} is below the critical lambda {critical:.3g}, where all points in "
                    "one place are the minimum. Raise lam.",
                    DataWarning,
                )
                return [self.lam]
            low = max(critical, 1e-8 * self.lam)
            events.chosen("homotopy", f"{path} steps from lambda = {low:.3g}", "the critical lambda")
            return [float(lam) for lam in np.geomspace(low, self.lam, int(path))]
        steps = np.asarray(path, dtype=np.float64).ravel()
        if not (steps.size and np.isfinite(steps).all() and (steps > 0).all()):
            raise InputError(
                f"{named('homotopy')} must hold finite values of lambda > 0; got {path!r}. Give such values, or a "
                "count."
            )
        return [*(float(lam) for lam in steps), *([] if steps[-1] == self.lam else [self.lam])]

    def _critical_lambda(self, objective: NeighborObjective, events: Events) -> float:
        pair_weight = self._pair_weight(float(objective.counts.sum()))
        return critical_lambda(
            objective.weights, pair_weight, masses=objective.masses, events=events, n_jobs=self.n_jobs
        )

    @abstractmethod
    def _pair_weight(self, n_rows: float) -> float:
        """Repulsive weight of a pair of rows where all points are in one place."""

    @abstractmethod
    def _scaled(self, W: Sparse, masses: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """The affinities on the scale of the objective."""

    @abstractmethod
    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """The objective at lambda."""

    @abstractmethod
    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """How hard the field pushes a new point, and whether by its logarithm."""

    def _extra_attributes(self, objective: NeighborObjective, outcome: Outcome) -> dict[str, Any]:
        return {}

    def _make_map(
        self, hood: Neighborhood, fitted: FittedAffinity | None, objective: NeighborObjective, X: Floats
    ) -> FixedEmbeddingMap:
        strength, by_logarithm = self._strength(objective, X)
        affinities: GivenAffinities | NeighborAffinities = GivenAffinities()
        if fitted is not None:
            widest = int(hood.neighbors.counts.max(initial=1))
            count, fitted = ties_of_new(widest, fitted, self._kernel)
            index = hood.index
            if self.search == "auto":
                index = follow_links(index, hood.neighbors, hood.settings.streams.links)
            affinities = NeighborAffinities(Lookup(index, count), fitted, hood.weights, self.n_jobs)
        field = objective.engine.freeze(X, objective.masses)
        return FixedEmbeddingMap(affinities, X, field, self._kernel.name, strength, by_logarithm, self.n_jobs)

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        k = self.n_neighbors or ceil(
            NEIGHBORS_PER_PERPLEXITY * (self.perplexity or self._perplexity_of_affinity)
        )
        k = min(k, max(1, n_rows - 1))
        given = self.metric in PAIRWISE or self.affinity == "precomputed"
        stages = [] if given else [costs.neighbors(n_rows, n_columns, k, self.search, NEIGHBOR_PATIENCE)]
        repulsion = choose_repulsion(self.repulsion, n_rows, self.n_components, Events())
        scheduled = self._has_schedule and self.optimizer == "auto"
        most = self.max_iter or (usual_iterations(n_rows) if scheduled else MOST_ITERATIONS)
        iterations = most if scheduled else min(most, USUAL_DESCENT) * (self._usual_steps or 2)
        return [
            *stages,
            costs.affinities(n_rows, k, kept=33),
            costs.optimise(n_rows, k, repulsion, iterations, by_partial_hessian=not scheduled),
            costs.embedding_map(n_rows, k),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self.affinity == "precomputed"
        return tags
