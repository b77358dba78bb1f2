"""The neighbour embeddings' one driver: E(X) = E+(X) + lambda E-(X), minimised from a start."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...affinities import FittedAffinity, weigh_copies
from ...affinities.radii import local_radii
from ...affinities.targets import agreed, as_probabilities, heed_labels, heed_numbers, means
from ...core.events import Events
from ...core.messages import DATA, named, setting
from ...core.records import Floats, Integers, PlannedStage, Sparse
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...maps.fixed_embedding import FixedEmbeddingMap, ties_of_new
from ...maps.nystrom import GivenAffinities, NeighborAffinities
from ...methods import costs as method_costs
from ...methods.base import Embedded
from ...neighbors import plan_search
from ...neighbors.build import follow_links
from ...neighbors.lookup import Lookup
from ...neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ...neighbors.points import PAIRWISE, Points
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.density import Density
from ...objectives.divergence import negative_entropy
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import Similarity
from ...optimize.loop import minimise
from ...optimize.momentum import Momentum
from ...optimize.outcome import Outcome
from ...optimize.schedules import Annealing
from ...validation.targets import check_labels, check_numbers
from .. import costs
from ..base import Estimator
from ..metric import metric_of
from .embedding_growth import grown, shrunk
from .embedding_schedule import LATE_STEP, choose_optimizer, going_on, make_schedule
from .embedding_trials import EmbeddingTrials
from .initial_embedding import check_start, find_start
from .reopening import Reopening
from .repulsion_and_optimizer import attraction_beside, check_repulsion, choose_repulsion

NEIGHBOR_PATIENCE = 2.0
"""Processor seconds of an exact search above which an approximate one will do: the picture comes out as good."""
WIDEST = 1e6
"""Extent of a picture, in widths of the similarities, that no minimum has: it has none, and grows for ever."""


class NeighborEmbedding(Reopening, EmbeddingTrials):
    """Base of SNE, symmetric SNE, t-SNE, the elastic embedding and UMAP.

    A subclass says which affinities there are, which kernels attraction and repulsion have, the objective, the scale of
    the affinities, the path of lambda and up to which lambda there is a minimum.
    """

    _is_divergence: ClassVar[bool] = False
    """Whether E at lambda = 1 is KL(P | Q) over all pairs, but for a constant."""
    _heeded = staticmethod(as_probabilities)
    """What makes affinities of what targets have left of them."""
    _late_share: ClassVar[float] = 0.0
    """Share of a schedule's iterations, at its end, in which the repulsion is as it is in the end."""
    _surely_bounded: ClassVar[float] = 1.0
    """Lambda up to which E has a lower bound whatever the data: where it is a divergence and a part of E+ >= 0."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of ``X`` and keep the map for new points.

        Parameters
        ----------
        X
            Points as rows (array, memory map, SciPy sparse matrix, pandas or polars frame), or what ``metric`` says.
        y
            Targets that the embedding is to follow too, as ``target_metric`` says: a label or numbers for each row.
            None: there are none. They count where ``target_weight`` is above 0.
        """
        super().fit(X, y)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_repulsion(self.repulsion, self.n_components)

    def _check_targets(self, y: Any, rows: Rows) -> NDArray[Any] | None:
        if y is None or self.target_weight == 0:
            return None
        return check_labels(y, rows) if self.target_metric == "categorical" else check_numbers(y, rows)

    def _embed_toward(self, targets: NDArray[Any], rows: Rows, run: Run) -> Embedded:
        return self._embed(rows, run, targets)

    def _embed(self, rows: Rows, run: Run, targets: NDArray[Any] | None = None) -> Embedded:
        given = check_start(self.init, rows.n_rows, self.n_components)
        hood = self._neighborhood(rows, run)
        W, fitted = run.stage("affinities", self._affinities, hood)
        radii = run.stage("radii", self._radii, W, hood) if self.density else None
        edges = W
        if targets is not None:
            W = run.stage("targets", self._heed, W, targets, hood)
        start = run.stage("start", self._start, given, hood, W)
        # What targets have made of the affinities is no longer what was fitted.
        objective = self._objective_of(hood, W, fitted if targets is None else None, run)
        if radii is not None:
            objective = objective.with_density(self._density_of(objective, edges, radii, run))
        del W, edges  # The objective has its own, on its scale: two of them would be the peak of the fit.
        lambdas = run.stage("path", self._path, objective)
        self._check_minimum(objective, lambdas)
        outcome = run.stage("optimise", self._minimise, objective, start, lambdas)
        map_ = run.stage("map", self._make_map, hood, fitted, objective, outcome.X)
        return self._embedded(hood, objective, outcome, map_)

    def _neighborhood(self, rows: Rows, run: Run) -> Neighborhood:
        """The neighbour graph, or the graph that was given."""
        if self._takes_graph:
            graph = rows.compressed().copy()
            graph.eliminate_zeros()
            empty = int(np.sum(np.diff(graph.indptr) == 0))
            if empty:
                raise InputError(
                    f"{empty} of the {graph.shape[0]} rows of {DATA} have no affinity to any other, so nothing says "
                    "where they belong. Leave them out, or tie them to some."
                )
            given = Points(Rows(graph), "graph")
            return find_neighborhood(given, Graph(None, np.inf, 1), run, components=False)
        points = Points(rows, metric_of(self))
        hood = find_neighborhood(points, self._graph_of(rows.n_rows), run, components=False)
        if not hood.neighbors.indices.size:
            raise InputError(
                f"{DATA} holds no distance between any two points, so nothing says which belong together. Store some."
            )
        return hood

    def _graph_of(self, n_rows: int) -> Graph:
        """The neighbour graph of so many rows."""
        wanted = self._wanted_neighbors(n_rows)
        count = None if self._n_neighbors is None else wanted
        counts_itself = self._n_neighbors is not None and wanted < self._n_neighbors
        graph = Graph(count, None, wanted, self.search, NEIGHBOR_PATIENCE, is_light=True)
        return replace(graph, counts_itself=counts_itself)

    def _grown(self, before: Estimator, rows: Rows, run: Run) -> Embedded:
        return grown(self, before, rows, run)

    def _shrunk(self, before: Estimator, kept: Integers, run: Run) -> Embedded:
        return shrunk(self, before, kept, run)

    def _heed(self, W: Sparse, targets: NDArray[Any], hood: Neighborhood, run: Run) -> Sparse:
        """The affinities where targets count too."""
        copies, weight = hood.points.duplicates, float(self.target_weight)
        if self.target_metric == "categorical":
            labels = targets if copies is None else agreed(targets, copies)
            return heed_labels(W, labels, weight, self._heeded)
        values = targets if copies is None else means(targets, copies)
        return heed_numbers(W, values, weight, self._wanted_neighbors(W.shape[0]), self._heeded, run)

    def _radii(self, W: Sparse, hood: Neighborhood, run: Run) -> Floats:
        """Local radii of the points in the data."""
        if hood.points.metric == "graph":
            raise InputError(
                f"{named('density')} keeps how far the neighbours of each point are, and {DATA} holds affinities, "
                f"without distances; got {setting('density', self.density)}. Give points or distances, or use "
                f"{setting('density', 0)}."
            )
        return local_radii(W, hood.neighbors, run)

    def _density_of(self, objective: NeighborObjective, edges: Sparse, radii: Floats, run: Run) -> Density:
        """The term for densities, with the weight of all attraction together."""
        strength = float(self.density) * float(objective.attraction.weights.data.sum(dtype=np.float64))
        return Density(
            edges,
            radii,
            objective.attraction.kernel,
            strength,
            float(self.density_shift),
            objective.counts,
            run,
        )

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
        engine = self._engine_of(self._repulsive_kernel, hood.n_points, run)
        attraction = attraction_beside(engine, self.repulsion, weights, self._attractive_kernel, run)
        objective = self._make_objective(attraction, engine, copies, hood)
        if self._early_kernel is None:
            return objective
        engine = self._engine_of(self._early_kernel, hood.n_points, run.silent())
        return objective.with_opening(self._make_objective(attraction, engine, copies, hood))

    def _engine_of(self, kernel: Similarity, n_points: int, run: Run) -> Engine:
        """What sums the repulsion of a kernel."""
        repulsion = choose_repulsion(self.repulsion, kernel, n_points, self.n_components, run.events)
        return repulsion.start(kernel, n_points, self.n_components, run)

    def _check_minimum(self, objective: NeighborObjective, lambdas: list[float]) -> None:
        """Say before the work where E has no minimum."""
        largest = self._largest_lambda(objective)
        if max(lambdas) > largest * (1.0 + 1e-9):
            known = self.get_params(deep=False)
            what = " and the values of ".join(named(name) for name in ("lam", "homotopy") if name in known)
            raise InputError(
                f"{what} must be at most {largest:.4g} for "
                f"{type(self).__name__} of these data: beyond that E falls for ever as points move apart, and has no "
                f"minimum; got {max(lambdas):g}. Lower {named('lam')}."
            )

    def _minimise(
        self, objective: NeighborObjective, start: Floats, lambdas: list[float], run: Run
    ) -> Outcome:
        usual = self._usual_annealing(objective, len(lambdas), run)
        optimizer, annealing = choose_optimizer(usual or self.optimizer, objective, run)
        if annealing is not None and self._goes_on:
            annealing = going_on(annealing)
        schedule = make_schedule(
            lambdas,
            annealing,
            tolerance=self.tolerance,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
        )
        if max(lambdas) > self._surely_bounded:
            schedule = replace(schedule, widest=WIDEST)
        if objective.has_late_terms:
            share, most = self._late_share, None
            if objective.density is not None:
                share = float(self.density_share)
                if isinstance(optimizer, Momentum):
                    most = LATE_STEP * objective.attraction.kernel.width
            schedule = schedule.with_late_terms(share, most)
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
        kernel = objective.attraction.kernel
        affinities: GivenAffinities | NeighborAffinities = GivenAffinities()
        if fitted is not None:
            count = int(hood.neighbors.counts.max(initial=1))
            if objective.density is None:
                count, fitted = ties_of_new(count, fitted, kernel)
            index = hood.index
            if self.search == "auto":
                index = follow_links(index, hood.neighbors, count, run)
            affinities = NeighborAffinities(Lookup(index, count), fitted, hood.points.copies)
        density = None if objective.density is None else objective.density.freeze(X, float(self.density))
        return FixedEmbeddingMap(affinities, X, objective.freeze(X), kernel, strength, by_logarithm, density)

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
        value = outcome.value
        if objective.density is not None:
            value -= objective.density.evaluate(outcome.X)[0]
            figures |= self._densities(objective.density, outcome)
            attributes["density_correlation_"] = figures["density_correlation"]
        if self._is_divergence and objective.lam == 1.0:
            entropy = negative_entropy(objective.attraction.weights, objective.masses, objective.run)
            attributes["kl_divergence_"] = figures["kl_divergence"] = value + entropy
        if not points.pairwise and type(self)._grown is not Estimator._grown:
            attributes["neighbor_lists_"] = hood.neighbors
            if points.duplicates is not None:
                attributes["point_of_row_"] = points.duplicates.group
        if self.record:
            attributes["frames_"] = [(iteration, points.expand(X)) for iteration, X in outcome.frames]
        return Embedded(points.expand(outcome.X), map_, attributes=attributes, figures=figures)

    def _densities(self, density: Density, outcome: Outcome) -> dict[str, float]:
        """Correlation of the logarithms of local radii at the end, and before densities counted."""
        figures = {"density_correlation": density.correlation(outcome.X)}
        if len(outcome.phases) > 1:
            figures["density_correlation_without"] = density.correlation(outcome.phases[-2].X)
        return figures

    @property
    def _takes_graph(self) -> bool:
        """Whether the data are affinities."""
        return isinstance(self.metric, str) and self.metric == "graph"

    @property
    @abstractmethod
    def _attractive_kernel(self) -> Similarity:
        """The similarity whose -log attracts."""

    @property
    @abstractmethod
    def _repulsive_kernel(self) -> Similarity:
        """The similarity that repels."""

    @property
    def _early_kernel(self) -> Similarity | None:
        """A smoother similarity that repels early in its place; None: the same."""
        return None

    @abstractmethod
    def _wanted_neighbors(self, n_rows: int) -> int:
        """Neighbours of each point."""

    @abstractmethod
    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """Symmetric affinities, and what gives those of new points (None: they come given)."""

    @abstractmethod
    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        """The values of lambda to minimise at, one after the other."""

    @abstractmethod
    def _planned(self, n_rows: int) -> int:
        """Iterations that a fit is likely to take."""

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        """The annealing that ``optimizer="auto"`` stands for; None: none."""
        return None

    @abstractmethod
    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """The objective at lambda."""

    @abstractmethod
    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """The affinities on the scale of the objective."""

    @abstractmethod
    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """How hard the field pushes a new point, and whether by its logarithm."""

    def _largest_lambda(self, objective: NeighborObjective) -> float:
        """The largest lambda that is not known to leave E without a minimum."""
        return np.inf

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows = rows.n_rows
        k = min(self._wanted_neighbors(n_rows), max(1, n_rows - 1))
        given = self.metric in PAIRWISE or self._takes_graph
        stages = (
            [] if given else [plan_search(rows, metric_of(self), k, self.search, patience=NEIGHBOR_PATIENCE)]
        )
        repulsion = choose_repulsion(
            self.repulsion, self._repulsive_kernel, n_rows, self.n_components, Events()
        )
        return [
            *stages,
            method_costs.affinities(n_rows, k, kept=33),
            costs.optimise(
                n_rows,
                k,
                repulsion,
                self._planned(n_rows),
                by_partial_hessian=not self._is_annealed,
                density_share=float(self.density_share) if self.density else 0.0,
            ),
            costs.embedding_map(n_rows, k),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE or self._takes_graph
        return tags
