"""From t-SNE through UMAP to Laplacian eigenmaps, along one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import validation
from ...core.messages import named, setting, value
from ...core.records import Floats, Solution, Sparse
from ...core.rules import Either, Instance, Real, Rule, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...methods.base import Embedded
from ...methods.laplacian import laplacian_problem
from ...neighbors.components import find_components
from ...neighbors.neighborhood import Neighborhood
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.negative_t_sne import NegativeTSNE
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import STUDENT, SampledLogarithm, ShiftedStudent, Similarity
from ...objectives.t_sne import TSNE
from ...optimize.schedules import Annealing
from ...solvers.eigen import solve
from ..base import Estimator, parameters
from ..embedding_driver.affinity_embedding import AFFINITY_EMBEDDING_RULES, AffinityEmbedding
from ..embedding_driver.initial_embedding import check_start
from .pair_probabilities import scaled_to_one, strength_of_field
from .umap import joined

LEAST_FIXED = 1e-6
"""Positions below this are t-SNE itself."""
LAST_LAMBDA = 2.0
"""Times the lambda at which the last coordinate collapses, where the exaggeration ends."""
LEAST_LAMBDA = 1e-6
EIGENMAPS = 2.0
"""The position of Laplacian eigenmaps."""
START_WIDTH = 1.0
FEW_POINTS, MANY_STEPS, FEW_STEPS = 10_000, 250, 120
"""Points up to which every position has the larger number of iterations."""


class Place(NamedTuple):
    """How far the normaliser is held, which is s - 1 of the kernels too, and lambda."""

    fixed: float
    lam: float


@parameters
class NeighborSpectrum(AffinityEmbedding):
    """min sum p log(1 + b + D) + lambda ((R / Z0)^b - 1) / b: t-SNE, UMAP and eigenmaps as one family.

    Neg-t-SNE (Damrich, Boehm, Hamprecht & Kobak 2023) in full batch: R = sum log(1 + b / (1 + D)) / b over all pairs,
    and the gradient has Z = R^(1 - b) Z0^b in the place of t-SNE's normaliser. At position b = 0 R is that normaliser
    and the repulsion log R: t-SNE. At b = 1 Z is the constant Z0 = N^2 / m, far larger, which is what UMAP stands for:
    the larger Z, the more does attraction count. From there on lambda falls below 1, as exaggeration in t-SNE makes
    it (Boehm, Berens & Kobak 2022), and at 2 only the springs are left: Laplacian eigenmaps of the same graph, whose
    coordinates a constraint keeps apart. Every position starts from the one after it, from eigenmaps down, which is the
    homotopy in lambda. New points are placed against the embedding of ``position`` as it stands, each alone.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    position
        Where ``embedding_`` and ``transform`` are: from 0 (t-SNE) over 1 (UMAP) to below 2 (eigenmaps themselves are
        `LaplacianEigenmaps`).
    positions
        All positions to keep in ``frames_``: a number of them, evenly from 0 to 2, or values.
    negative_sample_rate
        m, of position 1 and beyond: the larger, the more do points repel there.
    perplexity
        Effective number of neighbours of each point. None: 30, or a third of the others where there are fewer than 90.
        ``"auto"`` chooses it, by ``"auto:recall_area"`` or ``"auto:trustworthiness"``: see docs/choosing.md.
    n_neighbors
        Neighbours that carry affinities; None: three times the perplexity. ``"auto"`` chooses it
        by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see docs/choosing.md.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities: a weighted or unweighted graph).
    metric_params
        As in `LaplacianEigenmaps`.
    affinity
        ``"auto"`` (entropic, of the perplexity), `Gaussian`, `Entropic`, `Binary`, `SelfTuning` or their names
        ``"gaussian"``, ``"entropic"``, ``"binary"``, ``"self-tuning"``, or ``"precomputed"`` (as ``metric="graph"``).
    optimizer
        ``"auto"`` (momentum that settles), ``"gd"``, ``"fp"``, ``"diagh"``, ``"sd"``, ``"sd-"``, ``"cg"``, ``"lbfgs"``,
        ``"momentum"``, or a configured object of `lowdim.optimize`, at every position.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where the first position starts: ``"auto"`` and ``"spectral"`` (at eigenmaps), or coordinates.
    max_iter
        Iterations at each position at most; None: 250 up to 10,000 points, else 120 for ``"auto"``, 1000 for others.
    max_seconds
        Seconds for the optimisation at each position; None: no bound.
    tolerance
        Stop where the objective falls by less than this share of itself an iteration; None: 1e-6, or no such
        stop for a schedule.
    target_metric
        What ``y`` of ``fit`` holds: ``"categorical"`` (labels; -1, NaN or None where one is not known) or
        ``"euclidean"`` (numbers, one or several columns; NaN where one is not known).
    target_weight
        How much ``y`` counts against the data, from 0 (default: it is ignored) to 1.
    density
        How much the local radii of the data count, as in `UMAP`, at every position but eigenmaps. 0: not at all.
    density_share
        Share of a schedule's iterations, at its end, in which densities count.
    density_shift
        Added to the variance of the logarithms of the picture's radii, so that radii all but equal do not count.
    record
        Must be 0: ``frames_`` holds the positions.
    search
        Neighbour search: ``"auto"``, ``"exact"`` or ``"approximate"``.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components), at ``position``
    positions_ : array, ascending
    frames_ : list of (position, embedding), for `lowdim.plot` and `lowdim.animate`
    objective_ : float, the function above at ``position``
    n_iter_ : int, iterations at ``position``
    history_ : iterations, seconds, values, evaluations and lambda wherever the objective was computed there
    density_correlation_ : float, correlation of the logarithms of local radii in data and picture, where ``density``
        is above 0
    perplexity_, n_neighbors_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> model = lowdim.NeighborSpectrum(perplexity=15, positions=3).fit(roll.data)
    >>> model.positions_
    array([0., 1., 2.])
    """

    _: KW_ONLY
    position: float = 0.0
    positions: Any = 9
    negative_sample_rate: float = 5

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_EMBEDDING_RULES,
        "position": Real(0, closed=True),
        "positions": Either(Whole(2), Instance(list, tuple, np.ndarray)),
        "negative_sample_rate": Real(0),
    }
    _goes_on_warm: ClassVar[bool] = False
    _leading: ClassVar[tuple[str, ...]] = ("position", "positions", "perplexity")
    _surely_bounded: ClassVar[float] = np.inf
    _anneals: ClassVar[bool] = True
    _scaled = staticmethod(scaled_to_one)

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.position >= EIGENMAPS:
            raise InputError(
                f"{named('position')} must be below 2, where the family ends in Laplacian eigenmaps; got "
                f"{setting('position', self.position)}. Use LaplacianEigenmaps, or take the last of frames_."
            )
        if self.record:
            raise InputError(
                f"{named('record')} must be 0: frames_ of NeighborSpectrum holds its positions; got "
                f"{setting('record', self.record)}."
            )
        if isinstance(self.init, str) and self.init not in ("auto", "spectral"):
            raise InputError(
                f"{named('init')} of NeighborSpectrum must be 'auto', 'spectral' or coordinates: it starts at "
                f"Laplacian eigenmaps; got {value(self.init)}."
            )
        self._asked()

    def _asked(self) -> list[float]:
        """Positions from the largest to the smallest, the chosen one among them."""
        asked = self.positions
        if Whole(2).allows(asked):
            found = np.linspace(0.0, EIGENMAPS, int(asked))
        else:
            empty = not len(asked)
            block = None if empty else validation.read_array(asked, named("positions"), flat=True)
            found = np.zeros(0) if block is None else block.block(slice(None)).ravel()
            if empty or not (np.isfinite(found).all() and found.min() >= 0 and found.max() <= EIGENMAPS):
                raise InputError(
                    f"{named('positions')} must hold numbers from 0 to 2; got {value(asked)}. Give such values, or a "
                    "count."
                )
        return sorted({float(each) for each in found} | {float(self.position)}, reverse=True)

    def _embed(self, rows: Rows, run: Run, targets: NDArray[Any] | None = None) -> Embedded:
        given = check_start(self.init, rows.n_rows, self.n_components)
        hood = self._neighborhood(rows, run)
        W, fitted = run.stage("affinities", self._affinities, hood)
        radii = run.stage("radii", self._radii, W, hood) if self.density else None
        edges = W
        if targets is not None:
            W = run.stage("targets", self._heed, W, targets, hood)
        eigenmaps = run.stage("eigenmaps", self._eigenmaps, W, hood, kept=Solution)
        base = self._objective_of(hood, W, fitted if targets is None else None, run)
        X = self._begin(eigenmaps.vectors) if given is None else super()._start(given, hood, W, run)
        frames, chosen = [], None
        for position in self._asked():
            if position == EIGENMAPS:
                frames.append((position, hood.points.expand(eigenmaps.vectors)))
                continue
            place = self._place(position, float(eigenmaps.values[-1]))
            objective = self._objective_at(place, base, run)
            if radii is not None:
                objective = objective.with_density(self._density_of(objective, edges, radii, run))
            outcome = run.stage(f"position {position:g}", self._minimise, objective, X, [place.lam])
            X = outcome.X
            frames.append((position, hood.points.expand(X)))
            if position == self.position:
                chosen = (objective, outcome)
        return self._kept(hood, fitted, chosen, frames[::-1], run)

    def _eigenmaps(self, W: Sparse, hood: Neighborhood, run: Run) -> Solution:
        """Laplacian eigenmaps of the affinities: the end of the family, and its start."""
        if find_components(W).count > 1:
            W = joined(W, hood, run)
        count = min(self.n_components, W.shape[0] - 1)
        if count < self.n_components:
            raise InputError(
                f"{named('n_components')} must be at most {count} for {W.shape[0]} distinct points; got "
                f"{setting('n_components', self.n_components)}."
            )
        return solve(laplacian_problem(W, hood.points.copies, run=run), count, run=run)

    def _begin(self, vectors: Floats) -> Floats:
        """Eigenvectors as wide as the kernels."""
        centred = vectors - vectors.mean(axis=0)
        return np.ascontiguousarray(centred * (START_WIDTH / np.maximum(centred.std(axis=0), 1e-300)))

    def _place(self, position: float, eigenvalue: float) -> Place:
        """Kernels and lambda of a position.

        From position 1 on lambda falls in equal factors. In one place the pull of the edges is f'(0) = 1 / s, the push
        of a pair m K_1(0) / N^2 = m (1 - 1 / s) / N^2. With s = 2 the coordinate of an eigenvalue mu of L x = mu D x,
        whose degrees are 1 / N in the mean, collapses at lambda = mu / m.
        """
        if position <= 1.0:
            return Place(position if position > LEAST_FIXED else 0.0, 1.0)
        last = LAST_LAMBDA * eigenvalue / float(self.negative_sample_rate)
        return Place(1.0, float(np.clip(last, LEAST_LAMBDA, 1.0) ** (position - 1.0)))

    def _objective_at(self, place: Place, base: NeighborObjective, run: Run) -> NeighborObjective:
        """The objective of the same weights with the kernels and lambda of a place."""
        weights, n_points = base.attraction.weights, base.attraction.weights.shape[0]
        if place.fixed == 0.0:
            engine = self._engine_of(STUDENT, n_points, run)
            attraction = Attraction(weights, STUDENT, run, single=not engine.is_exact)
            return TSNE(attraction, engine, place.lam, base.masses)
        shift = 1.0 + place.fixed
        engine = self._engine_of(SampledLogarithm(shift), n_points, run)
        attraction = Attraction(weights, ShiftedStudent(shift), run, single=not engine.is_exact)
        negatives = float(self.negative_sample_rate)
        return NegativeTSNE(
            attraction, engine, place.lam, base.masses, negatives=negatives, fixed=place.fixed
        )

    def _kept(
        self, hood: Neighborhood, fitted: Any, chosen: Any, frames: list[tuple[float, Floats]], run: Run
    ) -> Embedded:
        objective, outcome = chosen
        map_ = run.stage("map", self._make_map, hood, fitted, objective, outcome.X)
        embedded = self._embedded(hood, objective, outcome, map_)
        positions = np.array([position for position, _ in frames])
        attributes = {**embedded.attributes, "frames_": frames, "positions_": positions}
        figures = {**embedded.figures, "position": float(self.position), "positions": positions.size}
        return replace(embedded, attributes=attributes, figures=figures)

    @property
    def _attractive_kernel(self) -> Similarity:
        return ShiftedStudent(2.0)

    @property
    def _repulsive_kernel(self) -> Similarity:
        return SampledLogarithm(2.0)

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return NegativeTSNE(attraction, engine, 1.0, masses, negatives=float(self.negative_sample_rate))

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """lambda N times the factor of a pair's push: a fitted point's pull sums to 1 / N, a new point's to 1."""
        if not isinstance(objective, NegativeTSNE):
            return strength_of_field(objective, X)
        return objective.lam * float(objective.counts.sum()) * objective.rate(X), False

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        if not self._has_own_schedule:
            return None
        return Annealing(self._steps(objective.degrees.size), exaggeration=1.0, rate=0.5, momentum=0.9)

    def _steps(self, n_points: int) -> int:
        return self.max_iter or (MANY_STEPS if n_points <= FEW_POINTS else FEW_STEPS)

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [objective.lam]

    def _planned(self, n_rows: int) -> int:
        return self._steps(n_rows) * sum(position < EIGENMAPS for position in self._asked())
