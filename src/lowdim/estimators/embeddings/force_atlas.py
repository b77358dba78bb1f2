"""ForceAtlas2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from ...affinities import FittedAffinity, Fuzzy, weigh
from ...core.messages import DATA, named, setting
from ...core.records import Floats, Sparse
from ...core.rules import Real, Rule, Truth, is_open
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...neighbors.components import find_components
from ...neighbors.neighborhood import Neighborhood
from ...objectives import force_atlas
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import GAUSSIAN, Logarithm, LogarithmicSpring, Similarity
from ...optimize.outcome import Outcome
from ...optimize.schedules import Annealing
from ..base import Estimator, parameters
from ..choosing.words import neighbors_rule
from ..embedding_driver.embedding_parameters import COMMON_EMBEDDING_RULES
from ..embedding_driver.initial_embedding import find_start
from ..embedding_driver.neighbor_embedding import NeighborEmbedding
from ..graphs import check_points
from .umap import joined
from .without_terms import refuse_terms

USUAL_NEIGHBORS = 15
SOFTENING = 1e-4
"""eps over the scaling: two points with one edge of weight 1 rest at a distance of 2 sqrt(scaling)."""
USUAL_ITERATIONS = 150
"""Iterations of a descent, as a rule."""
MOST_DOUBLINGS = 40


@parameters
class ForceAtlas2(NeighborEmbedding):
    """min sum w D - scaling sum m_i m_j log D + 4 gravity sum m_i r_i, m_i the edges of i and 1 more.

    ForceAtlas2 (Jacomy et al. 2014): an edge pulls by its weight times its length, two points push each other by
    scaling m_i m_j / distance, and gravity pulls each towards the middle, from which it is r_i away. Here that energy
    is minimised by a descent, where the original has steps of its own that never come to rest. From data the graph is
    UMAP's, as in scanpy's ``draw_graph``; with ``metric="graph"`` it is X. New points are placed against the
    embedding as it stands, each alone.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    n_neighbors
        Neighbours of each point in the graph, the point itself among them, as UMAP counts them; None: 15, or all points
        where there are fewer. ``"auto"`` chooses them by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or
        ``"auto:connected"``: see docs/choosing.md.
    scaling
        Weight of the repulsion: pictures are sqrt(scaling) times as wide.
    gravity
        g, how hard points are pulled to the middle. Without it a graph that falls apart has no minimum.
    strong_gravity
        Whether gravity grows with the distance.
    lin_log
        Whether an edge pulls by log(1 + length) instead of its length: tighter groups (Noack 2007).
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds weights: a weighted or unweighted graph).
    metric_params
        As in `LaplacianEigenmaps`.
    optimizer
        ``"auto"`` (L-BFGS on the spectral direction), ``"gd"``, ``"fp"``, ``"diagh"``, ``"sd"``, ``"sd-"``, ``"cg"``,
        ``"lbfgs"``, ``"momentum"``, or a configured object of `lowdim.optimize`.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where to start: ``"auto"`` and ``"spectral"`` (Laplacian eigenmaps of the same graph), ``"pca"``,
        ``"random"``, all of them scaled to the least energy; or coordinates.
    max_iter
        Iterations at most; None: 1000.
    max_seconds
        Seconds for the optimisation; the best embedding so far is kept. None: no bound.
    tolerance
        Stop where the energy falls by less than this share of itself an iteration; None: 1e-6.
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
    >>> lowdim.ForceAtlas2(n_neighbors=10).fit_transform(roll.data).shape
    (300, 2)
    """

    _: KW_ONLY
    scaling: float = 2.0
    gravity: float = 1.0
    strong_gravity: bool = False
    lin_log: bool = False

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_EMBEDDING_RULES,
        "n_neighbors": neighbors_rule(2),
        "scaling": Real(0),
        "gravity": Real(0, closed=True),
        "strong_gravity": Truth(),
        "lin_log": Truth(),
    }
    _leading: ClassVar[tuple[str, ...]] = ("n_neighbors", "scaling", "gravity")
    _surely_bounded: ClassVar[float] = np.inf
    _counts_itself: ClassVar[bool] = True
    _pushes_alike: ClassVar[bool] = False

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_terms(self)

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        rows = check_points(self, X, what="affinities", reset=reset)
        count = None if is_open(self.n_neighbors) else self._n_neighbors
        if reset and count is not None and count > rows.n_rows:
            raise InputError(
                f"{named('n_neighbors')} must be at most the number of points, each of which is its own first "
                f"neighbour; got {setting('n_neighbors', self.n_neighbors)} with {rows.n_rows} points. Use "
                f"{named('n_neighbors')} <= {rows.n_rows}."
            )
        return rows

    @property
    def _attractive_kernel(self) -> Similarity:
        return LogarithmicSpring() if self.lin_log else GAUSSIAN

    @property
    def _repulsive_kernel(self) -> Similarity:
        return Logarithm(SOFTENING * float(self.scaling))

    def _wanted_neighbors(self, n_rows: int) -> int:
        """The others among the neighbours."""
        if self._n_neighbors is not None:
            return self._n_neighbors - 1
        return max(1, min(USUAL_NEIGHBORS, n_rows) - 1)

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """The fuzzy graph, or the graph that was given."""
        return weigh(hood.neighbors, None if hood.points.metric == "graph" else Fuzzy(), run)

    def _start(self, given: Floats | None, hood: Neighborhood, W: Sparse, run: Run) -> Floats:
        if given is not None:
            return super()._start(given, hood, W, run)
        name = "spectral" if self.init == "auto" else self.init
        if self.init == "auto":
            run.chosen("init", name, "lays the graph out at large")
        if name == "spectral":
            W = joined(W, hood, run)
        points = None if hood.points.pairwise else hood.index.rows
        return find_start(name, points, W, self.n_components, run)

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [float(self.scaling)]

    def _minimise(
        self, objective: NeighborObjective, start: Floats, lambdas: list[float], run: Run
    ) -> Outcome:
        if isinstance(self.init, str):
            start = rescaled(objective, start)
        return super()._minimise(objective, start, lambdas, run)

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        W = attraction.weights
        if not self.gravity and (parts := find_components(W)).count > 1:
            raise InputError(
                f"The graph of {DATA} falls into {parts.count} parts, and without gravity these push each other away "
                f"for ever; got {setting('gravity', self.gravity)}. Use {setting('gravity', 1)}, or raise "
                f"{named('n_neighbors')}."
            )
        rows = np.ones(W.shape[0]) if masses is None else masses
        return force_atlas.ForceAtlas2(
            attraction,
            engine,
            float(self.scaling),
            masses,
            charges=rows * (1.0 + np.diff(W.indptr)),
            gravity=float(self.gravity),
            strong=bool(self.strong_gravity),
        )

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """2 scaling sum m / sum d: a new point has the usual charge for its degree, and its pull sums to 1."""
        assert isinstance(objective, force_atlas.ForceAtlas2)
        weight = float(objective.attraction.weights.data.sum(dtype=np.float64))
        return 2.0 * objective.lam * float(objective.charges.sum()) / weight, False

    def _planned(self, n_rows: int) -> int:
        if isinstance(self.optimizer, Annealing):
            return self.max_iter or self.optimizer.iterations
        return min(USUAL_ITERATIONS, self.max_iter or USUAL_ITERATIONS)


def rescaled(objective: NeighborObjective, X: Floats) -> Floats:
    """X times the power of two with the least E."""

    def value(power: int) -> float:
        found = objective.evaluate(2.0**power * X).value
        assert found is not None
        return found

    best, least = 0, value(0)
    for step in (1, -1):
        while abs(best) < MOST_DOUBLINGS and (tried := value(best + step)) < least:
            best, least = best + step, tried
        if best:
            break
    return np.asarray(2.0**best * X)
