"""LargeVis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from math import ceil
from typing import Any, ClassVar

import numpy as np

from ...affinities import FittedAffinity, weigh
from ...affinities.binary import Binary
from ...affinities.entropic import NEIGHBORS_PER_PERPLEXITY, Entropic
from ...core.records import Floats, Sparse
from ...core.rules import Real, Rule
from ...core.run import Run
from ...data.rows import Rows
from ...neighbors.neighborhood import Neighborhood
from ...objectives import umap
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import STUDENT, OffsetLogarithm, Similarity
from ...optimize.schedules import Annealing
from ..base import Estimator, parameters
from ..choosing.words import perplexity_rule
from ..embedding_driver.affinity_embedding import FEWEST_NEIGHBORS
from ..embedding_driver.embedding_parameters import COMMON_EMBEDDING_RULES
from ..embedding_driver.neighbor_embedding import NeighborEmbedding
from ..graphs import check_points

USUAL_PERPLEXITY = 50.0
NOISE_POWER = 0.75
"""A point is drawn with a probability that goes as this power of its degree (Tang et al. 2016, sec. 3.2)."""
USUAL_ITERATIONS = 400


@parameters
class LargeVis(NeighborEmbedding):
    """min sum p log(1 + D) + gamma m sum_i d_i sum_k n_k log((1 + D_ik) / (0.1 + D_ik)) / 0.9: LargeVis in full batch.

    LargeVis (Tang et al. 2016) with the step that its sampled optimiser takes in expectation, over all edges and all
    pairs. p are t-SNE's affinities of the data, d_i the sums of their rows, and n_k ~ d_k^(3/4), of sum 1, how often a
    point is drawn against others. Its optimiser moves both points of a pair, so that the step is the gradient of the
    function above. New points are placed against the embedding as it stands, each alone.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    perplexity
        Effective number of neighbours of each point. None: 50, or a third of the neighbours of the point that has the
        fewest. ``"auto"`` chooses it, by ``"auto:recall_area"`` or ``"auto:trustworthiness"``: see docs/choosing.md.
    n_neighbors
        Neighbours that carry affinities; None: three times the perplexity, or all others where there are fewer.
        ``"auto"`` chooses them by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see
        docs/choosing.md.
    gamma
        Weight of a pair that was drawn against one that is an edge.
    negative_samples
        m, points that the sampled optimiser would draw against the start of each edge.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities p: a weighted or unweighted graph).
    metric_params
        As in `LaplacianEigenmaps`.
    optimizer
        ``"auto"`` (momentum on a schedule), ``"gd"``, ``"fp"``, ``"diagh"``, ``"sd"``, ``"sd-"``, ``"cg"``,
        ``"lbfgs"``, ``"momentum"``, or a configured object of `lowdim.optimize`.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where to start: ``"auto"``, ``"pca"``, ``"spectral"`` (Laplacian eigenmaps of the same affinities),
        ``"random"``, or coordinates.
    max_iter
        Iterations at most; None: 400 for the own schedule, 1000 for others.
    max_seconds
        Seconds for the optimisation; the best embedding so far is kept. None: no bound.
    tolerance
        Stop where the objective falls by less than this share of itself an iteration; None: 1e-6, or no such
        stop for a schedule.
    record
        Keep the embedding of every so many iterations in ``frames_``; 0: none.
    target_metric
        What ``y`` of ``fit`` holds: ``"categorical"`` (labels; -1, NaN or None where one is not known) or
        ``"euclidean"`` (numbers, one or several columns; NaN where one is not known).
    target_weight
        How much ``y`` counts against the data, from 0 to 1.
    density
        How much the local radii of the data count, as in `UMAP`; 0: not at all.
    density_share
        Share of a schedule's iterations, at its end, in which densities count.
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
    n_iter_ : int
    history_ : iterations, seconds, values, evaluations and lambda wherever the objective was computed
    frames_ : list of (iteration, embedding), where ``record`` asked for them
    perplexity_, n_neighbors_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.LargeVis(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    _: KW_ONLY
    perplexity: float | str | None = None
    gamma: float = 7.0
    negative_samples: float = 5

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_EMBEDDING_RULES,
        "perplexity": perplexity_rule(),
        "gamma": Real(0),
        "negative_samples": Real(0),
    }
    _leading: ClassVar[tuple[str, ...]] = ("perplexity", "n_neighbors", "gamma")
    _surely_bounded: ClassVar[float] = np.inf
    _pushes_alike: ClassVar[bool] = False
    _usual_perplexity: ClassVar[float] = USUAL_PERPLEXITY
    _anneals: ClassVar[bool] = True

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="affinities", reset=reset)

    @property
    def _attractive_kernel(self) -> Similarity:
        return STUDENT

    @property
    def _repulsive_kernel(self) -> Similarity:
        return OffsetLogarithm()

    def _wanted_neighbors(self, n_rows: int) -> int:
        if self._n_neighbors is not None:
            return self._n_neighbors
        return ceil(min(NEIGHBORS_PER_PERPLEXITY * self._known_perplexity, max(1, n_rows - 1)))

    @property
    def _known_perplexity(self) -> float:
        """The perplexity whose affinities the neighbours carry."""
        return self._perplexity or self._usual_perplexity

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """t-SNE's affinities, or the graph that was given."""
        if hood.points.metric == "graph":
            return weigh(hood.neighbors, None, run)
        if self._perplexity is not None:
            return weigh(hood.neighbors, Entropic(float(self._perplexity)), run)
        fewest = int(hood.neighbors.counts.min())
        if fewest < FEWEST_NEIGHBORS:
            run.chosen("affinity", "Binary", f"{hood.n_points} points are too few for a perplexity")
            return weigh(hood.neighbors, Binary(), run)
        perplexity = min(USUAL_PERPLEXITY, fewest / NEIGHBORS_PER_PERPLEXITY)
        why = "the default" if perplexity == USUAL_PERPLEXITY else f"a third of {fewest} neighbours"
        run.chosen("perplexity", f"{perplexity:.4g}", why)
        return weigh(hood.neighbors, Entropic(perplexity), run)

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [float(self.gamma)]

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        if not self._has_own_schedule:
            return None
        annealing = usual_annealing(self.max_iter)
        run.chosen(
            "optimizer", f"annealed momentum, {annealing.iterations} iterations", "the lowest measured"
        )
        return annealing

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        degrees = np.asarray(attraction.weights.sum(axis=1), dtype=np.float64).ravel()
        rows = np.ones_like(degrees) if masses is None else masses
        return umap.UMAP(
            attraction,
            engine,
            float(self.gamma),
            masses,
            # Both points of a pair that was drawn move, where UMAP moves one.
            negatives=2.0 * float(self.negative_samples),
            noise=rows * (degrees / rows) ** NOISE_POWER,
        )

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """gamma m / sum n: the rest of a fitted point over d_i, by which a new point's pull sums to 1."""
        assert isinstance(objective, umap.UMAP)
        return objective.lam * objective.rate, False

    def _planned(self, n_rows: int) -> int:
        if isinstance(self.optimizer, Annealing):
            return self.max_iter or self.optimizer.iterations
        return usual_annealing(self.max_iter).iterations


def usual_annealing(max_iter: int | None) -> Annealing:
    """The schedule that was measured to end the lowest."""
    return Annealing(max_iter or USUAL_ITERATIONS, exaggeration=12.0, rate=0.1, momentum=0.9)
