"""UMAP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import curve_fit
from sklearn.utils.validation import check_is_fitted

from ...affinities import FittedAffinity, Fuzzy, weigh
from ...affinities.targets import as_fuzzy_sets
from ...core.messages import named, setting
from ...core.records import Components, Floats, Sparse
from ...core.rules import OneOf, Real, Rule, Share, is_open
from ...core.run import Run
from ...data.rows import Rows
from ...errors import DisconnectedError, InputError
from ...neighbors.components import connect_components, find_components
from ...neighbors.neighborhood import Neighborhood
from ...objectives import umap
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import Power, RoundedLogarithm, Similarity
from ...optimize.momentum import Momentum
from ...optimize.schedules import Annealing
from ..base import parameters
from ..choosing.words import neighbors_rule
from ..embedding_driver.embedding_parameters import COMMON_EMBEDDING_RULES
from ..embedding_driver.initial_embedding import find_start
from ..embedding_driver.neighbor_embedding import NeighborEmbedding
from ..graphs import check_points

USUAL_NEIGHBORS = 15
WIDTH = 10.0
"""Extent of every coordinate of a start, as in umap-learn; for many points where the farthest coordinate is."""
PARTS_WIDTH = 20.0
"""The latter for many points whose graph is in parts: nothing holds these together, and short schedules do not carry
them as far apart as they end up."""
FEWEST_POINTS, FEW_POINTS = 2_500, 10_000
"""Points up to which a picture has unfolded after 500 steps, and up to which it is given the 700 that it takes, or the
1000 where ``min_dist`` is next to 0."""
TIGHT = 0.05
"""Share of the spread below which ``min_dist`` makes groups so tight that more steps are needed."""
LATE_PUSH, LATE_SHARE = 8.0, 0.15
"""Longest push of a pair at the end, of 4 before, and for which share of the iterations. Small clusters, whose points
few others push, are narrower than the rounded core of a push of 4, and would shrink to dots in it."""
CURVE_POINTS, CURVE_LENGTH = 300, 3.0
"""Places to which a and b are fitted, from 0 to so many times the spread."""


@parameters
class UMAP(NeighborEmbedding):
    """min sum mu log(1 + a D^b) + m / (2 N) sum d_i log(1 + 1 / (a D_ik^b)): UMAP in full batch.

    UMAP (McInnes, Healy & Melville 2018) with the step that its sampled optimiser takes in expectation, over all
    edges and all pairs: same data, same picture, on any number of threads. mu is the fuzzy graph of the data, d_i the
    sums of its rows, m ``negative_sample_rate``; a and b follow from ``min_dist`` and ``spread``. New points are
    placed against the embedding as it stands, each alone.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    n_neighbors
        Neighbours of each point in the graph, the point itself among them, as UMAP counts them; None: 15, or all points
        where there are fewer. ``"auto"`` chooses them by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or
        ``"auto:connected"``: see docs/choosing.md.
    min_dist
        Distance in the embedding up to which points count as together: the smaller, the tighter are the groups.
    spread
        Scale of the embedding: distance beyond ``min_dist`` over which the similarity falls to 1 / e.
    local_connectivity
        Nearest neighbours that a point is surely tied to.
    set_op_mix_ratio
        1: an edge counts where either end has it (fuzzy union); 0: where both have it (intersection); or between.
    repulsion_strength
        Weight of the repulsion.
    negative_sample_rate
        m, points that the sampled optimiser would draw against each end of an edge.
    objective
        ``"faithful"``: the expected step of the sampled optimiser, which is the gradient of no function; or
        ``"symmetric"``: the gradient of the function above, which every ``optimizer`` can minimise.
    target_metric
        What ``y`` of ``fit`` holds: ``"categorical"`` (labels; -1, NaN or None where one is not known) or
        ``"euclidean"`` (numbers, one or several columns; NaN where one is not known).
    target_weight
        How much ``y`` counts against the data, from 0 to 1.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities mu: a weighted or unweighted graph).
    metric_params
        As in `LaplacianEigenmaps`.
    optimizer
        ``"auto"`` (momentum on a schedule), or with ``objective="symmetric"`` also ``"gd"``, ``"fp"``, ``"diagh"``,
        ``"sd"``, ``"sd-"``, ``"cg"``, ``"lbfgs"``, ``"momentum"``, or a configured object of `lowdim.optimize`.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where to start: ``"auto"`` and ``"spectral"`` (Laplacian eigenmaps of the same graph), ``"pca"``,
        ``"random"``, all of them 10 wide along every axis, above 10,000 points 20 along the widest, ``"spectral"`` then
        40 where the graph is in parts; or coordinates.
    max_iter
        Iterations at most; None: for the own schedule 500 up to 2,500 points, 700 up to 10,000 (1000 where ``min_dist``
        is next to 0), else 160 (300); 1000 for others.
    max_seconds
        Seconds for the optimisation; the best embedding so far is kept. None: no bound.
    tolerance
        Stop where the objective falls by less than this share of itself an iteration; None: 1e-6, or no such
        stop for a schedule.
    record
        Keep the embedding of every so many iterations in ``frames_``; 0: none.
    density
        How much the local radii of the data count, so that what is dense there is dense in the picture (densMAP and
        den-SNE, Narayan, Berger & Cho 2021): weight of the correlation of their logarithms. 0: not at all;
        2 is usual.
    density_share
        Share of a schedule's iterations, at its end, in which densities count. Other optimisers go on with them where
        they have come to rest without.
    density_shift
        Added to the variance of the logarithms of the picture's radii, so that radii all but equal do not count.
    search
        Neighbour search: ``"auto"``, ``"exact"`` or ``"approximate"``.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    objective_ : float, the function above at the end
    a_, b_ : float, parameters of the similarity
    n_iter_ : int
    history_ : iterations, seconds, values, evaluations and lambda wherever the objective was computed
    frames_ : list of (iteration, embedding), where ``record`` asked for them
    density_correlation_ : float, correlation of the logarithms of local radii in data and picture, where ``density``
        is above 0
    n_neighbors_ : int, what was chosen where ``n_neighbors`` is ``"auto"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.UMAP(n_neighbors=10).fit_transform(roll.data).shape
    (300, 2)
    """

    _: KW_ONLY
    n_components: int = 2
    min_dist: float = 0.1
    spread: float = 1.0
    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    repulsion_strength: float = 1.0
    negative_sample_rate: float = 5
    objective: str = "faithful"
    target_weight: float = 0.5

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_EMBEDDING_RULES,
        "n_neighbors": neighbors_rule(2),
        "min_dist": Real(0, closed=True),
        "spread": Real(0),
        "local_connectivity": Real(0, closed=True),
        "set_op_mix_ratio": Share(),
        "repulsion_strength": Real(0),
        "negative_sample_rate": Real(0),
        "objective": OneOf("faithful", "symmetric"),
    }
    _leading: ClassVar[tuple[str, ...]] = ("n_components", "n_neighbors", "min_dist", "spread")
    _surely_bounded: ClassVar[float] = np.inf
    _counts_itself: ClassVar[bool] = True
    _anneals: ClassVar[bool] = True
    _late_share: ClassVar[float] = LATE_SHARE
    _steady_rate: ClassVar[float] = 0.15
    _heeded = staticmethod(as_fuzzy_sets)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.min_dist > self.spread:
            raise InputError(
                f"{named('min_dist')} must be at most {named('spread')}; got {setting('min_dist', self.min_dist)} and "
                f"{setting('spread', self.spread)}. Lower the one or raise the other."
            )
        if (
            self.objective == "faithful"
            and not self._is_scheduled
            and not isinstance(self.optimizer, Momentum)
        ):
            raise InputError(
                f"{setting('optimizer', self.optimizer)} lowers a function, and the step of "
                f"{setting('objective', 'faithful')} is the gradient of none. Use "
                f"{setting('objective', 'symmetric')}, or {setting('optimizer', 'auto')}."
            )

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
    def _is_scheduled(self) -> bool:
        """Whether the optimiser is UMAP's own schedule, or another that no function has to fall for."""
        return self._is_annealed or (isinstance(self.optimizer, str) and self.optimizer == "momentum")

    @property
    def _curve(self) -> tuple[float, float]:
        return fit_curve(float(self.min_dist), float(self.spread))

    @property
    def a_(self) -> float:
        """a of the similarity 1 / (1 + a d^2b)."""
        check_is_fitted(self)
        return self._curve[0]

    @property
    def b_(self) -> float:
        """b of the same."""
        check_is_fitted(self)
        return self._curve[1]

    @property
    def _attractive_kernel(self) -> Similarity:
        return Power(*self._curve)

    @property
    def _repulsive_kernel(self) -> Similarity:
        return RoundedLogarithm.cut(*self._curve, float(self.repulsion_strength), LATE_PUSH)

    @property
    def _early_kernel(self) -> Similarity | None:
        return RoundedLogarithm.cut(*self._curve, float(self.repulsion_strength))

    def _wanted_neighbors(self, n_rows: int) -> int:
        """The others among the neighbours."""
        if self._n_neighbors is not None:
            return self._n_neighbors - 1
        return max(1, min(USUAL_NEIGHBORS, n_rows) - 1)

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """The fuzzy graph, or the graph that was given."""
        if hood.points.metric == "graph":
            return weigh(hood.neighbors, None, run)
        return weigh(hood.neighbors, Fuzzy(self.local_connectivity, self.set_op_mix_ratio), run)

    def _start(self, given: Floats | None, hood: Neighborhood, W: Sparse, run: Run) -> Floats:
        """What was given as it is; else the start that ``init`` names, drawn out to its usual width."""
        if given is not None:
            return super()._start(given, hood, W, run)
        name = "spectral" if self.init == "auto" else self.init
        if self.init == "auto":
            run.chosen("init", name, "as in UMAP's reference")
        points = None if hood.points.pairwise else hood.index.rows
        if name == "spectral" and points is None:
            W = joined(W, hood, run)
        X = find_start(name, points, W, self.n_components, run)
        if X.shape[0] <= FEW_POINTS:
            low, high = X.min(axis=0), X.max(axis=0)
            return (X - 0.5 * (low + high)) * (WIDTH / np.maximum(high - low, 1e-300))
        is_in_parts = name == "spectral" and find_components(W).count > 1
        return X * ((PARTS_WIDTH if is_in_parts else WIDTH) / float(np.abs(X).max()))

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [float(self.repulsion_strength)]

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        if not self._has_own_schedule:
            return None
        annealing = self._annealing_of(objective.size)
        run.chosen(
            "optimizer",
            f"annealed momentum, {annealing.iterations} iterations",
            "as low as the sampled optimiser",
        )
        return annealing

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return umap.UMAP(
            attraction,
            engine,
            float(self.repulsion_strength),
            masses,
            negatives=float(self.negative_sample_rate),
            faithful=self.objective == "faithful",
        )

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """lambda m / (2 N): the rest of a fitted point over d_i, by which a new point's pull sums to 1."""
        assert isinstance(objective, umap.UMAP)
        return objective.lam * objective.rate, False

    def _planned(self, n_rows: int) -> int:
        if isinstance(self.optimizer, Annealing):
            return self.max_iter or self.optimizer.iterations
        return self._annealing_of(n_rows).iterations

    def _annealing_of(self, n_points: int) -> Annealing:
        return usual_annealing(n_points, self.max_iter, float(self.spread), float(self.min_dist))


@lru_cache(maxsize=64)
def fit_curve(min_dist: float, spread: float) -> tuple[float, float]:
    """a and b with which 1 / (1 + a D^b) is next to 1 up to min_dist and exp(-(d - min_dist) / spread) beyond."""
    d = np.linspace(0.0, CURVE_LENGTH * spread, CURVE_POINTS)
    wanted = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist) / spread))
    # In units of the spread, where a and b are about 1: the fit is the same, and finds its way whatever the scale.
    (a, b), _ = curve_fit(lambda x, a, b: 1.0 / (1.0 + a * x ** (2.0 * b)), d / spread, wanted)
    return float(a * spread ** (-2.0 * b)), float(b)


def usual_annealing(n_points: int, max_iter: int | None, spread: float, min_dist: float) -> Annealing:
    """The schedule that was measured to come as low as the sampled optimiser."""
    usual, rate, early = 160, 0.15, 0.9
    if n_points <= FEW_POINTS:
        longer = 1000 if min_dist < TIGHT * spread else 700
        usual, rate, early = 500 if n_points <= FEWEST_POINTS else longer, 0.3, 0.8
    elif min_dist < TIGHT * spread:
        usual, rate, early = 300, 0.1, 0.8
    return Annealing(
        max_iter or usual,
        exaggeration=2.0,
        rate=rate,
        momentum=0.9,
        max_displacement=5.0 * spread,
        early_momentum=early,
    )


def joined(W: Sparse, hood: Neighborhood, run: Run) -> Sparse:
    """The graph with its components tied together, so that its eigenvectors say more than who is in which.

    By the shortest bridges where there are distances, else each by its strongest point to that of the largest.
    """
    components = find_components(W)
    if components.count == 1:
        return W
    if hood.points.metric != "graph":
        try:
            bridges = connect_components(components, hood.index, run.silent())
        except DisconnectedError:
            pass
        else:
            lists = replace(hood, bridges=bridges).bridged(capped=True)
            return Fuzzy().fit(lists, run.silent()).weights(lists, run.silent())
    return starred(W, components)


def starred(W: Sparse, components: Components) -> Sparse:
    """The point of the largest degree in each component tied to that in the largest one, by a mean weight."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    order = np.lexsort((-degrees, components.labels))
    hubs = order[np.searchsorted(components.labels[order], np.arange(components.count))]
    ends = np.concatenate([hubs[1:], np.full(hubs.size - 1, hubs[0])])
    starts = np.concatenate([np.full(hubs.size - 1, hubs[0]), hubs[1:]])
    ties = Sparse((np.full(ends.size, float(W.data.mean())), (starts, ends)), shape=W.shape)
    return Sparse(W + ties)
