"""PaCMAP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from ... import validation
from ...affinities import FittedAffinity, weigh
from ...affinities.scaled_nearest import ScaledNearest
from ...core.messages import DATA, setting
from ...core.records import Floats, Sparse
from ...core.rules import OneOf, Real, Rule
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...neighbors.mid_near import mid_near_pairs
from ...neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ...neighbors.points import Points
from ...objectives import pacmap
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import Saturating, ShiftedStudent, Similarity
from ...optimize.adam import Adam
from ...optimize.loop import minimise
from ...optimize.outcome import Outcome, Stopping
from ...optimize.schedules import PairPhases, Phase, Schedule
from ..base import Estimator, parameters
from ..embedding_driver.embedding_parameters import COMMON_EMBEDDING_RULES
from ..embedding_driver.neighbor_embedding import NEIGHBOR_PATIENCE, NeighborEmbedding
from ..graphs import check_points
from ..metric import metric_of
from .without_terms import refuse_terms

USUAL_NEIGHBORS = 10
EXTRA = 50
"""Neighbours beyond those wanted among which the nearest in units of the scales are looked for."""
USUAL_ITERATIONS = 450
START = 0.01
"""Deviation of a start along its widest axis."""
NEAR, MIDDLE = 10.0, 10_000.0
"""Scales at which the pull of near and of mid-near pairs fades."""


@parameters
class PaCMAP(NeighborEmbedding):
    """min sum_near (1 + D) / (11 + D) + n_FP / N sum 1 / (2 + D), after phases in which mid-near pairs count too.

    PaCMAP (Wang, Huang, Rudin & Shaposhnik 2021) with its further pairs in expectation, over all points, so that a step
    takes all of them: same data and seed, same picture, on any number of threads. In the first two of three phases
    mid-near pairs (of six random points the second nearest) lay out the picture at large. New points are placed
    against the embedding as it stands, each alone.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    n_neighbors
        Near pairs of each point; None: 10, or all others where there are fewer. ``"auto"`` chooses it
        by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see docs/choosing.md.
    MN_ratio
        Mid-near pairs for each near one.
    FP_ratio
        n_FP, further pairs, for each near one.
    lr
        Learning rate of Adam: about how far a coordinate moves in a step.
    metric
        Name of a metric, a function of two rows, or ``"precomputed"`` (X holds all distances).
    metric_params
        As in `LaplacianEigenmaps`.
    optimizer
        ``"auto"``: Adam, in three phases.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where to start: ``"auto"`` (``"pca"``, or ``"spectral"`` of distances), ``"pca"``, ``"spectral"``, both with a
        deviation of 0.01, ``"random"``, or coordinates.
    max_iter
        Iterations, of which the phases have 2/9, 2/9 and 5/9; None: 450.
    max_seconds
        Seconds for the optimisation; the best embedding so far is kept. None: no bound.
    tolerance
        Stop where the objective falls by less than this share of itself an iteration in the last phase; None: never.
    record
        Keep the embedding of every so many iterations in ``frames_``; 0: none.
    target_metric, target_weight, density, density_share, density_shift
        Of the other neighbour embeddings; here they stay as they are.
    search
        Neighbour search: ``"auto"``, ``"exact"`` or ``"approximate"``.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    objective_ : float, the function above at the end
    n_iter_ : int
    history_ : iterations, seconds, values, evaluations and lambda wherever the objective was computed
    frames_ : list of (iteration, embedding), where ``record`` asked for them
    n_neighbors_ : int, what was chosen where ``n_neighbors`` is ``"auto"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.PaCMAP().fit_transform(roll.data).shape
    (300, 2)
    """

    _: KW_ONLY
    MN_ratio: float = 0.5
    FP_ratio: float = 2.0
    lr: float = 1.0

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_EMBEDDING_RULES,
        "MN_ratio": Real(0, closed=True),
        "FP_ratio": Real(0),
        "lr": Real(0),
        "optimizer": OneOf("auto"),
    }
    _leading: ClassVar[tuple[str, ...]] = ("n_neighbors", "MN_ratio", "FP_ratio")
    _surely_bounded: ClassVar[float] = np.inf
    _pushes_alike: ClassVar[bool] = False
    _goes_on_warm: ClassVar[bool] = False
    _anneals: ClassVar[bool] = True

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_terms(self)

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if self.metric == "graph":
            raise InputError(
                f"PaCMAP compares distances of any two points, which a graph does not have; got "
                f"{setting('metric', 'graph')}. Give points or all distances, or use UMAP, LargeVis or ForceAtlas2."
            )
        rows = check_points(self, X, what="distances", reset=reset)
        if self.metric == "precomputed" and reset and rows.is_sparse:
            raise InputError(
                f"PaCMAP compares distances of any two points; {DATA} is sparse, and holds some of them. Give all "
                "distances, dense, or the points."
            )
        return rows

    @property
    def _attractive_kernel(self) -> Similarity:
        return Saturating(NEAR)

    @property
    def _repulsive_kernel(self) -> Similarity:
        return ShiftedStudent(2.0)

    def _near(self, n_others: int) -> int:
        """Near pairs of each point."""
        return min(USUAL_NEIGHBORS, n_others) if self._n_neighbors is None else self._n_neighbors

    def _usual_neighbors(self, n_points: int) -> int:
        return self._near(max(1, n_points - 1))

    def _wanted_neighbors(self, n_rows: int) -> int:
        others = max(1, n_rows - 1)
        return min(self._near(others) + EXTRA, others)

    def _neighborhood(self, rows: Rows, run: Run) -> Neighborhood:
        """More neighbours than near pairs, among which the scales choose."""
        points = Points(rows, metric_of(self)).distinct(run)
        collapsed = 0 if points.duplicates is None else points.duplicates.n_collapsed
        validation.check_neighbors(self._near(points.n_points - 1), points.n_points, collapsed)
        wanted = self._wanted_neighbors(points.n_points)
        asked = Graph(wanted, None, wanted, self.search, NEIGHBOR_PATIENCE, is_light=True)
        return find_neighborhood(points, asked, run, components=False)

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        return weigh(hood.neighbors, ScaledNearest(self._near(hood.n_points - 1)), run)

    def _start(self, given: Floats | None, hood: Neighborhood, W: Sparse, run: Run) -> Floats:
        """What was given or drawn as it is; else the start that ``init`` names, 0.01 wide."""
        X = super()._start(given, hood, W, run)
        return X if given is not None or self.init == "random" else START * X

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [1.0]

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        run, near = attraction.run, self._near(hood.n_points - 1)
        pairs = run.stage("pairs", mid_near_pairs, hood.index, round(near * self.MN_ratio), masses)
        middle = Attraction(pairs, Saturating(MIDDLE), run, single=attraction.single)
        further = max(1.0, float(round(near * self.FP_ratio)))
        return pacmap.PaCMAP(attraction, engine, 1.0, masses, middle=middle, further=further)

    def _minimise(
        self, objective: NeighborObjective, start: Floats, lambdas: list[float], run: Run
    ) -> Outcome:
        iterations = self._planned(start.shape[0])
        run.chosen("optimizer", f"Adam, {iterations} iterations in three phases", "PaCMAP's own")
        stopping = Stopping(
            tolerance=self.tolerance or 0.0, max_iterations=iterations, is_budget=True, window=3
        )
        phase = Phase(1.0, stopping, PairPhases(iterations))
        schedule = Schedule((phase,), None, self.max_seconds)
        return minimise(objective, start, Adam(float(self.lr)), schedule, self.record, run)

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """n_FP / N over the mean degree: a new point's pull sums to 1."""
        assert isinstance(objective, pacmap.PaCMAP)
        degree = float(objective.attraction.weights.sum()) / float(objective.counts.sum())
        return objective.rate / degree, False

    def _planned(self, n_rows: int) -> int:
        return self.max_iter or USUAL_ITERATIONS
