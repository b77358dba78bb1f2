"""From a neighbour embedding to Laplacian eigenmaps, along one number: t-SNE's way leads through UMAP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from functools import partial
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import validation
from ...affinities import FittedAffinity
from ...core.messages import named, setting, value
from ...core.records import Floats, Solution, Sparse
from ...core.rules import Either, Instance, Nothing, OneOf, Real, Rule, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...methods.base import Embedded
from ...methods.laplacian import laplacian_problem
from ...neighbors.components import find_components
from ...neighbors.neighborhood import Neighborhood
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import Similarity
from ...optimize.schedules import Annealing
from ...solvers.eigen import solve
from ..base import Estimator, parameters
from ..embedding_driver.affinity_embedding import AFFINITY_EMBEDDING_RULES, AffinityEmbedding
from ..embedding_driver.embedding_schedule import ITERATIONS_OF_STEP
from ..embedding_driver.initial_embedding import check_start
from ..embedding_driver.perplexity_embedding import USUAL_DESCENT
from .spectrum_families import EIGENMAPS, OWN, SAMPLED, Family, family_of
from .umap import joined

LONGEST_STEP = 0.25
"""Positions that a descent goes at once: the picture of a larger lambda is found only on the way to it."""
START_WIDTH = 1.0
FEW_POINTS, MANY_STEPS, FEW_STEPS = 10_000, 250, 120
"""Points up to which every position has the larger number of iterations."""


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

    With another ``objective``, SNE, symmetric SNE or the elastic embedding, the position is lambda alone: it falls in
    equal factors from ``lam`` at position 0, which is that embedding itself, to twice the value at which the last
    coordinate would collapse, where the springs lay out the picture and 2 has their eigenmaps.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    position
        Where ``embedding_`` and ``transform`` are: from 0 (the objective itself, t-SNE as a rule, whose 1 is UMAP) to
        below 2 (eigenmaps themselves are `LaplacianEigenmaps`).
    positions
        All positions to keep in ``frames_``: a number of them, evenly from 0 to 2, or values.
    objective
        Where the family begins: ``"t-sne"``, ``"sne"``, ``"symmetric-sne"`` or ``"elastic-embedding"``.
    lam
        Weight of the repulsion at position 0 of an objective other than t-SNE; None: its usual one, 1, or 100 for the
        elastic embedding.
    negative_sample_rate
        m of t-SNE's family, of position 1 and beyond: the larger, the more do points repel there.
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
        ``"auto"`` (for t-SNE momentum that settles, else L-BFGS on the spectral direction), ``"gd"``, ``"fp"``,
        ``"diagh"``, ``"sd"``, ``"sd-"``, ``"cg"``, ``"lbfgs"``, ``"momentum"``, or a configured object of
        `lowdim.optimize`, at every position.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where the first position starts: ``"auto"`` and ``"spectral"`` (at eigenmaps), or coordinates.
    max_iter
        Iterations at each position at most; None: 250 up to 10,000 points, else 120 for t-SNE's ``"auto"``, 1000 for
        others, at each lambda on the way from the position before.
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
    objective_ : float, the objective at ``position``
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
    objective: str = SAMPLED
    lam: float | None = None
    negative_sample_rate: float = 5

    _rules: ClassVar[Mapping[str, Rule]] = {
        **AFFINITY_EMBEDDING_RULES,
        "position": Real(0, closed=True),
        "positions": Either(Whole(2), Instance(list, tuple, np.ndarray)),
        "objective": OneOf(SAMPLED, *OWN),
        "lam": Either(Real(0), Nothing()),
        "negative_sample_rate": Real(0),
    }
    _goes_on_warm: ClassVar[bool] = False
    _leading: ClassVar[tuple[str, ...]] = ("position", "positions", "perplexity")
    _anneals: ClassVar[bool] = True

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.position >= EIGENMAPS:
            raise InputError(
                f"{named('position')} must be below 2, where the family ends in Laplacian eigenmaps; got "
                f"{setting('position', self.position)}. Use LaplacianEigenmaps, or take the last of frames_."
            )
        if self.lam is not None and self.objective == SAMPLED:
            others = ", ".join(value(name) for name in OWN)
            raise InputError(
                f"{named('lam')} belongs to {named('objective')} {others}: the family of {value(SAMPLED)} begins at 1; "
                f"got {setting('lam', self.lam)}. Leave it out, or choose one of these."
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
        self._check_minimum(base, [base.lam])
        X = self._begin(eigenmaps.vectors) if given is None else super()._start(given, hood, W, run)
        at = partial(
            self._family.at,
            base=base,
            eigenvalue=float(eigenmaps.values[-1]),
            engine_of=partial(self._engine_of, n_points=hood.n_points, run=run),
        )
        frames, chosen, asked = [], None, self._asked()
        # Coordinates that were given start at the first position at once, not on the way to it.
        before = EIGENMAPS if given is None else max(each for each in asked if each < EIGENMAPS)
        for position in asked:
            if position == EIGENMAPS:
                frames.append((position, hood.points.expand(eigenmaps.vectors)))
                continue
            objective = at(position)
            if radii is not None:
                objective = objective.with_density(self._density_of(objective, edges, radii, run))
            way = [at(float(each)).lam for each in self._steps_to(position, before)[:-1]]
            lambdas = [*way, objective.lam]
            outcome = run.stage(f"position {position:g}", self._minimise, objective, X, lambdas)
            X, before = outcome.X, position
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

    def _steps_to(self, position: float, before: float) -> NDArray[np.float64]:
        """Positions from one, without it, to the next: several where a descent goes far."""
        steps = max(1, ceil((before - position) / LONGEST_STEP - 1e-9))
        if self.max_iter is not None:
            steps = min(steps, max(1, self.max_iter // ITERATIONS_OF_STEP))
        if self._is_annealed or self.objective == SAMPLED:
            steps = 1
        return np.linspace(before, position, steps + 1)[1:]

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
    def _family(self) -> Family:
        lam = None if self.lam is None else float(self.lam)
        return family_of(self.objective, lam, float(self.negative_sample_rate))

    @property
    def _has_own_schedule(self) -> bool:
        return super()._has_own_schedule and self.objective == SAMPLED

    @property
    def _attractive_kernel(self) -> Similarity:
        return self._family.attractive

    @property
    def _repulsive_kernel(self) -> Similarity:
        return self._family.repulsive

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return self._family.scaled(W, copies, fitted)

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return self._family.made(attraction, engine, masses, hood)

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        return self._family.strength(objective, X)

    def _largest_lambda(self, objective: NeighborObjective) -> float:
        return self._family.largest_lambda(objective)

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        if not self._has_own_schedule:
            return None
        return Annealing(self._steps(objective.degrees.size), exaggeration=1.0, rate=0.5, momentum=0.9)

    def _steps(self, n_points: int) -> int:
        return self.max_iter or (MANY_STEPS if n_points <= FEW_POINTS else FEW_STEPS)

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        return [objective.lam]

    def _planned(self, n_rows: int) -> int:
        asked = self._asked()
        if self._has_own_schedule or isinstance(self.optimizer, Annealing):
            return self._steps(n_rows) * sum(position < EIGENMAPS for position in asked)
        gaps = zip(asked, [EIGENMAPS, *asked], strict=False)
        usual = [USUAL_DESCENT * self._steps_to(*gap).size for gap in gaps if gap[0] < EIGENMAPS]
        return sum(min(each, self.max_iter or each) for each in usual)
