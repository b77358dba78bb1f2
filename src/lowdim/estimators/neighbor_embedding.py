"""The neighbour embeddings' one driver: E(X) = E+(X) + lambda E-(X), minimised from a start."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from ..affinities import Affinity, Binary, Entropic, FittedAffinity, resolve_affinity, weigh, weigh_copies
from ..affinities.entropic import NEIGHBORS_PER_PERPLEXITY, USUAL_PERPLEXITY, FittedEntropic
from ..core.events import Events
from ..core.messages import DATA, in_python, named, setting
from ..core.records import Floats, PlannedStage, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..maps.fixed_embedding import FixedEmbeddingMap
from ..maps.nystrom import GivenAffinities, NeighborAffinities
from ..methods import costs as method_costs
from ..methods.base import Embedded
from ..neighbors import plan_search
from ..neighbors.build import follow_links
from ..neighbors.lookup import Lookup
from ..neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ..neighbors.points import PAIRWISE, Points
from ..objectives.attraction import Attraction
from ..objectives.base import NeighborObjective
from ..objectives.divergence import negative_entropy
from ..objectives.repulsion.protocol import Engine
from ..objectives.similarities import Similarity
from ..optimize.critical import critical_lambda
from ..optimize.loop import minimise
from ..optimize.outcome import Outcome
from ..optimize.schedules import Annealing
from . import costs
from .embedding_parameters import EmbeddingParameters
from .embedding_schedule import choose_optimizer, make_schedule, path_of_lambda, usual_steps
from .graphs import check_affinity_input, metric_of
from .initial_embedding import check_start, find_start
from .repulsion_and_optimizer import check_repulsion, choose_repulsion

FEWEST_NEIGHBORS = 5
"""Neighbours below which a perplexity says nothing."""
TIES = 10.0
"""Perplexity below which new points keep that of the fitted ones."""
NEIGHBOR_PATIENCE = 2.0
"""Processor seconds of an exact search above which an approximate one will do: the picture comes out as good."""
USUAL_DESCENT = 45
"""Iterations of a descent at each lambda, as a rule."""
WIDEST = 1e6
"""Extent of a picture, in widths of the similarities, that no minimum has: it has none, and grows for ever."""


def ties_of_new(n_neighbors: int, fitted: FittedAffinity, kernel: Similarity) -> tuple[int, FittedAffinity]:
    """Neighbours and affinity of a new point: a third of the perplexity where the pull of the kernel fades.

    The nearest then place a point all but alone, and in a third of the time. Under a Gaussian the pull grows: with
    fewer neighbours a copy of a fitted point would come to rest elsewhere.
    """
    if not kernel.pull_fades or not isinstance(fitted, FittedEntropic) or fitted.perplexity <= TIES:
        return n_neighbors, fitted
    perplexity = max(TIES, fitted.perplexity / 3)
    return ceil(n_neighbors * perplexity / fitted.perplexity), replace(fitted, perplexity=perplexity)


class NeighborEmbedding(EmbeddingParameters):
    """Base of SNE, symmetric SNE, t-SNE and the elastic embedding.

    A subclass says which kernel the similarities have, the objective, the scale of the affinities, the repulsive weight
    of a pair, and up to which lambda there is a minimum.
    """

    _kernel: ClassVar[Similarity]
    _is_divergence: ClassVar[bool] = False
    """Whether E at lambda = 1 is KL(P | Q) over all pairs, but for a constant."""
    _surely_bounded: ClassVar[float] = 1.0
    """Lambda up to which E has a lower bound whatever the data: where it is a divergence and a part of E+ >= 0."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_repulsion(self.repulsion, self.n_components)
        if self.perplexity is not None and self.affinity != "auto":
            raise InputError(
                f"{named('perplexity')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('perplexity', self.perplexity)} with {setting('affinity', self.affinity)}. Put it into "
                f"the affinity{in_python(f', as in Entropic({self.perplexity:g})')}."
            )

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        given = check_start(self.init, rows.n_rows, self.n_components)
        hood = self._neighborhood(rows, run)
        W, fitted = run.stage("affinities", self._affinities, hood)
        start = run.stage("start", self._start, given, hood, W)
        objective = self._objective_of(hood, W, fitted, run)
        del W  # The objective has its own, on its scale: two of them would be the peak of the fit.
        lambdas = run.stage("path", self._path, objective)
        self._check_minimum(objective, lambdas)
        outcome = run.stage("optimise", self._minimise, objective, start, lambdas)
        map_ = run.stage("map", self._make_map, hood, fitted, objective, outcome.X)
        return self._embedded(hood, objective, outcome, map_)

    def _neighborhood(self, rows: Rows, run: Run) -> Neighborhood:
        """The neighbour graph, or the graph that was given."""
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
                    f"{empty} of the {graph.shape[0]} rows of {DATA} have no affinity to any other, so nothing says "
                    "where they belong. Leave them out, or tie them to some."
                )
            given = Points(Rows(graph), "graph")
            return find_neighborhood(given, Graph(None, np.inf, 1), run, components=False)
        wanted = self._wanted_neighbors(rows.n_rows)
        asked = Graph(self.n_neighbors, None, wanted, self.search, NEIGHBOR_PATIENCE)
        return find_neighborhood(Points(rows, metric_of(self)), asked, run, components=False)

    def _wanted_neighbors(self, n_rows: int) -> int:
        if self.n_neighbors is not None:
            return self.n_neighbors
        perplexity = self.perplexity
        if perplexity is None:
            perplexity = self.affinity.perplexity if isinstance(self.affinity, Entropic) else None
        return min(ceil(NEIGHBORS_PER_PERPLEXITY * (perplexity or USUAL_PERPLEXITY)), max(1, n_rows - 1))

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """Symmetric affinities, and what gives those of new points (None: they come given)."""
        if hood.points.metric == "graph":
            return weigh(hood.neighbors, None, run)
        is_auto = isinstance(self.affinity, str) and self.affinity == "auto"
        affinity = self._default_affinity(hood, run) if is_auto else resolve_affinity(self.affinity)
        return weigh(hood.neighbors, affinity, run)

    def _default_affinity(self, hood: Neighborhood, run: Run) -> Affinity:
        fewest = int(hood.neighbors.counts.min())
        if self.perplexity is not None:
            return Entropic(self.perplexity)
        if fewest < FEWEST_NEIGHBORS:
            run.chosen("affinity", "Binary", f"{hood.n_points} points are too few for a perplexity")
            return Binary()
        return Entropic()

    def _start(self, given: Floats | None, hood: Neighborhood, W: Sparse, run: Run) -> Floats:
        """Where to start: what was given, of the distinct points, or what ``init`` names."""
        if given is not None:
            copies = hood.points.duplicates
            return given if copies is None else given[copies.first]
        points = None if hood.points.pairwise else hood.index.rows
        return find_start(self.init, points, W, self.n_components, run)

    def _objective_of(
        self, hood: Neighborhood, W: Sparse, fitted: FittedAffinity | None, run: Run
    ) -> NeighborObjective:
        """E at lambda: the attraction of the affinities, the repulsion by the engine that suits."""
        copies = hood.points.copies
        weights = self._scaled(weigh_copies(W, fitted, hood.neighbors, copies, run), copies, fitted)
        repulsion = choose_repulsion(self.repulsion, hood.n_points, self.n_components, run.events)
        engine = repulsion.start(self._kernel, hood.n_points, self.n_components, run)
        attraction = Attraction(weights, self._kernel, run, single=not engine.is_exact)
        return self._make_objective(attraction, engine, copies, hood)

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        """The values of lambda to minimise at, one after the other."""
        steps = self.homotopy
        if isinstance(steps, str):
            steps = None if self._is_annealed else usual_steps(self.max_iter)
        is_count = isinstance(steps, numbers.Integral)
        critical = self._critical_lambda(objective, run) if is_count else None
        return path_of_lambda(steps, self.lam, critical, run)

    def _check_minimum(self, objective: NeighborObjective, lambdas: list[float]) -> None:
        """Say before the work where E has no minimum."""
        largest = self._largest_lambda(objective)
        if max(lambdas) > largest * (1.0 + 1e-9):
            raise InputError(
                f"{named('lam')} and the values of {named('homotopy')} must be at most {largest:.4g} for "
                f"{type(self).__name__} of these data: beyond that E falls for ever as points move apart, and has no "
                f"minimum; got {max(lambdas):g}. Lower {named('lam')}."
            )

    def _minimise(
        self, objective: NeighborObjective, start: Floats, lambdas: list[float], run: Run
    ) -> Outcome:
        usual = self._usual_annealing(objective, len(lambdas), run)
        optimizer, annealing = choose_optimizer(usual or self.optimizer, objective, run)
        schedule = make_schedule(
            lambdas,
            annealing,
            tolerance=self.tolerance,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
        )
        if max(lambdas) > self._surely_bounded:
            schedule = replace(schedule, widest=WIDEST)
        return minimise(objective, start, optimizer, schedule, self.record, run)

    def _make_map(
        self,
        hood: Neighborhood,
        fitted: FittedAffinity | None,
        objective: NeighborObjective,
        X: Floats,
        run: Run,
    ) -> FixedEmbeddingMap:
        strength, by_logarithm = self._strength(objective, X)
        affinities: GivenAffinities | NeighborAffinities = GivenAffinities()
        if fitted is not None:
            widest = int(hood.neighbors.counts.max(initial=1))
            count, fitted = ties_of_new(widest, fitted, self._kernel)
            index = hood.index
            if self.search == "auto":
                index = follow_links(index, hood.neighbors, count, run)
            affinities = NeighborAffinities(Lookup(index, count), fitted, hood.points.copies)
        field = objective.engine.freeze(X, objective.masses)
        return FixedEmbeddingMap(affinities, X, field, self._kernel, strength, by_logarithm)

    def _embedded(
        self, hood: Neighborhood, objective: NeighborObjective, outcome: Outcome, map_: FixedEmbeddingMap
    ) -> Embedded:
        """What the fit leaves, a row for every row of the data."""
        points = hood.points
        attributes: dict[str, Any] = {
            "objective_": outcome.value,
            "n_iter_": outcome.iterations,
            "history_": outcome.history,
        }
        figures: dict[str, Any] = {
            "objective": outcome.value,
            "iterations": outcome.iterations,
            "evaluations": outcome.evaluations,
            "stopped": outcome.reason,
            "gradient_norm": outcome.gradient_norm,
            "duplicates_collapsed": points.duplicates.n_collapsed if points.duplicates else 0,
            "neighbour_recall": "exact" if hood.neighbors.recall is None else hood.neighbors.recall,
        }
        if self._is_divergence and self.lam == 1.0:
            entropy = negative_entropy(objective.attraction.weights, objective.masses, objective.run)
            attributes["kl_divergence_"] = figures["kl_divergence"] = outcome.value + entropy
        if self.record:
            attributes["frames_"] = [(iteration, points.expand(X)) for iteration, X in outcome.frames]
        return Embedded(points.expand(outcome.X), map_, attributes=attributes, figures=figures)

    @property
    def _is_annealed(self) -> bool:
        """Whether lambda changes from step to step, so that a path is not needed."""
        return isinstance(self.optimizer, Annealing)

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        """The annealing that ``optimizer="auto"`` stands for; None: none."""
        return None

    def _critical_lambda(self, objective: NeighborObjective, run: Run) -> float:
        pair_weight = self._pair_weight(float(objective.counts.sum()))
        return critical_lambda(objective.weights, pair_weight, masses=objective.masses, run=run)

    @abstractmethod
    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """The objective at lambda."""

    @abstractmethod
    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """The affinities on the scale of the objective."""

    @abstractmethod
    def _pair_weight(self, n_rows: float) -> float:
        """Repulsive weight of a pair of rows where all points are in one place."""

    @abstractmethod
    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """How hard the field pushes a new point, and whether by its logarithm."""

    def _largest_lambda(self, objective: NeighborObjective) -> float:
        """The largest lambda that is not known to leave E without a minimum."""
        return np.inf

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows = rows.n_rows
        k = min(self._wanted_neighbors(n_rows), max(1, n_rows - 1))
        given = self.metric in PAIRWISE or self.affinity == "precomputed"
        stages = (
            [] if given else [plan_search(rows, metric_of(self), k, self.search, patience=NEIGHBOR_PATIENCE)]
        )
        repulsion = choose_repulsion(self.repulsion, n_rows, self.n_components, Events())
        return [
            *stages,
            method_costs.affinities(n_rows, k, kept=33),
            costs.optimise(
                n_rows, k, repulsion, self._planned(n_rows), by_partial_hessian=not self._is_annealed
            ),
            costs.embedding_map(n_rows, k),
        ]

    def _planned(self, n_rows: int) -> int:
        """Iterations that a fit is likely to take."""
        if isinstance(self.optimizer, Annealing):
            return self.max_iter or self.optimizer.iterations
        steps = usual_steps(self.max_iter) if isinstance(self.homotopy, str) else self.homotopy
        if not isinstance(steps, numbers.Integral):
            steps = len([] if steps is None else np.asarray(steps)) + 1
        usual = USUAL_DESCENT * max(2, int(steps))
        return min(usual, self.max_iter or usual)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self.affinity == "precomputed"
        return tags
