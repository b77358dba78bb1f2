"""The driver of the estimators that minimise stress: distances, start, descent, map; by pivots for many points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ... import validation
from ...core.records import Floats, Integers, PlannedStage
from ...core.rules import Array, Either, Nothing, OneOf, Real, Rule, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...maps.base import ColumnsMap, Map
from ...maps.pairwise import GivenDistances, SquaredDistances
from ...maps.stress import StressMap
from ...methods import costs as method_costs
from ...methods.base import Embedded
from ...neighbors.metrics import bind_metric, resolve_metric
from ...neighbors.points import Points
from ...objectives.protocol import Objective
from ...objectives.rank_stress import RankStress
from ...objectives.stress import Stress
from ...optimize.descent import DirectedDescent
from ...optimize.directions.guttman import Guttman
from ...optimize.directions.limited_memory import LimitedMemory
from ...optimize.loop import minimise
from ...optimize.outcome import Outcome, Stopping
from ..base import COMMON_RULES, Estimator, parameters
from ..choosing.words import components_rule
from ..embedding_driver.initial_embedding import check_start
from ..graphs import METRIC_RULES
from .stress_start import classical_start, random_start, sized
from .stress_targets import check_tied, power_weights, targets_of

STRESS_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    **METRIC_RULES,
    "n_components": components_rule(),
    "init": Either(OneOf("classical_mds", "random"), Array()),
    "n_init": Whole(1),
    "pivots": Either(Whole(2), Nothing()),
    "max_iter": Whole(1),
    "tolerance": Real(0, closed=True),
}
MOST_POINTS = 10_000
"""Points up to which all pairs are compared where that was left open."""
MOST_RANKED = 5_000
"""The same where the pairs are put in order too."""
USUAL_PIVOTS = 1000
WINDOW = 5
"""Iterations over which stress must fall by less than the tolerance each: L-BFGS has a short step now and then."""
MOST_KNOTS = 4096
"""Knots that are kept of the disparities as a function of the dissimilarities."""
USUAL_ITERATIONS = 80
PAIR = 2.4e-9
"""Seconds of a pair at an iteration, and where the pairs are put in order; of a term of the factor of V."""
RANKED_PAIR = 1.2e-8
FACTOR_TERM = 3e-11


@dataclass(frozen=True, slots=True)
class Fitted:
    """Points that were fitted by all their pairs, and what that was: the ``unit`` is that of the weights."""

    X: Floats
    stress: Stress
    outcome: Outcome
    unit: float
    knots: Floats | None = None
    levels: Floats | None = None


@parameters
class StressEmbedding(Estimator):
    """Base of metric and non-metric scaling and of Sammon's mapping."""

    n_components: int | str = 2
    _: KW_ONLY
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    init: Any = "classical_mds"
    n_init: int = 1
    pivots: int | None = None
    max_iter: int = 300
    tolerance: float = 1e-6

    _rules: ClassVar[Mapping[str, Rule]] = STRESS_RULES
    _instead: ClassVar[Mapping[str, str]] = {
        "dissimilarity_matrix_": ". The distances are not kept; with metric='precomputed' they are X.",
    }

    @property
    @abstractmethod
    def _power(self) -> float:
        """The weight of a dissimilarity is this power of it."""

    @property
    def _is_ranked(self) -> bool:
        """Whether only the order of the dissimilarities counts."""
        return False

    @property
    def _distance(self) -> Any:
        """The metric, as a name or a function."""
        return self.metric

    def _weights_for(self, n_rows: int) -> Floats | None:
        """Weights of all pairs that were given."""
        return None

    @property
    def _is_pairwise(self) -> bool:
        return isinstance(self._distance, str) and self._distance == "precomputed"

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if not self._is_pairwise:
            return super()._check_input(X, reset=reset)
        return validation.check_dissimilarities(self, X, reset=reset)

    def _n_pivots(self, n_rows: int) -> int | None:
        """Pivots that are used; None: all pairs are compared."""
        if self.pivots is not None:
            return self.pivots if self.pivots < n_rows else None
        return USUAL_PIVOTS if n_rows > (MOST_RANKED if self._is_ranked else MOST_POINTS) else None

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        metric = bind_metric(self._distance, self.metric_params)
        start = check_start(self.init, rows.n_rows, self._n_components)
        weights = self._weights_for(rows.n_rows)
        if (count := self._n_pivots(rows.n_rows)) is None:
            fitted = self._fit_all(rows, metric, start, weights, run)
            return self._embedded(fitted, fitted.X, self._map(rows, metric, fitted), {})
        if self.pivots is None:
            run.chosen("pivots", str(count), f"all pairs of {rows.n_rows} points are too many")
        pivots = run.stage("pivots", _choose, rows.n_rows, count, kept=np.ndarray)
        few = Points(rows, metric).at(pivots)
        fitted = self._fit_all(
            few,
            metric,
            None if start is None else start[pivots],
            None if weights is None else weights[np.ix_(pivots, pivots)],
            run,
            are_pivots=True,
        )
        map_: Map = self._map(few, metric, fitted)
        if self._is_pairwise:
            map_ = ColumnsMap(map_, pivots)
        X = run.stage("place", _place, rows, map_, kept=np.ndarray)
        return self._embedded(fitted, X, map_, {"pivots_": pivots})

    def _fit_all(
        self,
        rows: Rows,
        metric: Any,
        start: Floats | None,
        weights: Floats | None,
        run: Run,
        *,
        are_pivots: bool = False,
    ) -> Fitted:
        """Minimise the stress of all pairs of some rows, from every start; the lowest is kept."""
        targets, unit = run.stage("distances", targets_of, rows, metric), 1.0
        if weights is None and self._power:
            weights, unit = power_weights(targets, self._power, run)
        check_tied(targets, weights, are_pivots=are_pivots)
        stress = Stress(targets, weights, run)
        if not stress.total > 0.0:
            validation.check_distinct(1, rows.n_rows)
        objective = RankStress(stress) if self._is_ranked else stress
        starts = [start] if start is not None else []
        if start is None and self.init == "classical_mds":
            starts = [run.stage("start", classical_start, targets, self._n_components)]
        while len(starts) < self.n_init:
            starts.append(random_start(targets, self._n_components, run))
        outcomes: list[Outcome] = []
        for place, X in enumerate(starts):
            name = "optimise" if place == 0 else f"optimise {place + 1}"
            outcomes.append(run.stage(name, self._minimise, objective, sized(X, stress)))
            if outcomes[-1].is_cut:
                break
        best = min(outcomes, key=lambda outcome: outcome.value)
        return self._finished(stress, objective, best, unit)

    def _minimise(self, objective: Stress | RankStress, X: Floats, run: Run) -> Outcome:
        """L-BFGS on the Guttman transform, which is the spectral direction of stress."""
        optimizer = DirectedDescent(LimitedMemory(initial=Guttman()))
        stopping = Stopping(self.tolerance, self.max_iter, window=WINDOW)
        # Of an objective the loop and these directions ask for E, its gradient and ``guttman`` alone.
        return minimise(cast(Objective, objective), X, optimizer, stopping, run=run)

    def _finished(
        self, stress: Stress, objective: Stress | RankStress, outcome: Outcome, unit: float
    ) -> Fitted:
        """Centred, on principal axes; of ranks, whose stress has no scale, on the scale of the dissimilarities."""
        X = _on_principal_axes(outcome.X)
        if not isinstance(objective, RankStress):
            return Fitted(X, stress, outcome, unit)
        size = stress.sums(X, scale=0.0)[0]
        X = X * np.sqrt(stress.total / size) if size > 0.0 and stress.total > 0.0 else X
        return Fitted(X, stress, outcome, unit, *objective.disparities(X, MOST_KNOTS))

    def _map(self, rows: Rows, metric: Any, fitted: Fitted) -> StressMap:
        profile = (
            GivenDistances()
            if self._is_pairwise
            else SquaredDistances(resolve_metric(metric, rows=rows), rows)
        )
        return StressMap(profile, fitted.X, self._power, fitted.knots, fitted.levels)

    def _embedded(self, fitted: Fitted, X: Floats, map_: Map, more: Mapping[str, Any]) -> Embedded:
        outcome, stress = fitted.outcome, fitted.stress
        raw = outcome.value * stress.total * fitted.unit
        if self._is_ranked:
            normalized = raw = float(np.sqrt(outcome.value))
        else:
            lengths = stress.sums(fitted.X, scale=0.0)[0]
            normalized = float(np.sqrt(outcome.value * stress.total / lengths)) if lengths > 0.0 else 0.0
        attributes = {
            "stress_": self._told(raw, outcome.value),
            "normalized_stress_": normalized,
            "n_iter_": outcome.iterations,
            "history_": outcome.history,
            **more,
        }
        figures = {
            "stress": attributes["stress_"],
            "normalized_stress": normalized,
            "iterations": outcome.iterations,
            "evaluations": outcome.evaluations,
            "stopped": outcome.reason,
            "gradient_norm": outcome.gradient_norm,
        }
        if missing := int(np.sum(stress.targets < 0.0)):
            figures["missing_pairs"] = missing // 2
        return Embedded(X, map_, attributes=attributes, figures=figures)

    def _told(self, raw: float, share: float) -> float:
        """The stress that is told: of all pairs, or as a share of the squared distances."""
        return raw

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        count = self._n_pivots(rows.n_rows)
        n_fitted = rows.n_rows if count is None else count
        pairs = method_costs.pairwise("distances", n_fitted, rows.n_columns)
        seconds = USUAL_ITERATIONS * self.n_init * PAIR * n_fitted**2
        held = 8 * n_fitted**2
        if self._is_ranked:
            seconds += USUAL_ITERATIONS * self.n_init * RANKED_PAIR * n_fitted**2
            held += 32 * n_fitted**2
        if self._has_factor:
            seconds += FACTOR_TERM * n_fitted**3
            held += 16 * n_fitted**2
        note = method_costs.square(n_fitted) + ("" if count is None else " of the pivots")
        stages = [pairs, PlannedStage("optimise", seconds, held, note)]
        if count is not None:
            placing = rows.n_rows * count * (rows.n_columns * method_costs.PAIR * 4 + 1.2e-7)
            stages.append(PlannedStage("place", placing, 1 << 27, "a block of rows at a time"))
        return stages

    @property
    def _has_factor(self) -> bool:
        """Whether the weights of pairs differ."""
        return bool(self._power)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise
        tags.input_tags.allow_nan = self._is_pairwise
        return tags


def _choose(n_rows: int, count: int, run: Run) -> Integers:
    """Pivots at random, in the order of the rows."""
    return np.sort(run.random("landmarks").choice(n_rows, count, replace=False)).astype(np.int64)


def _place(rows: Rows, map_: Map, run: Run) -> Floats:
    return map_.transform(rows, run.silent())


def _on_principal_axes(X: Floats) -> Floats:
    """Centred and turned so that coordinates are uncorrelated, the widest first, signs by their largest entries."""
    centred = X - X.mean(axis=0)
    turned = centred @ np.linalg.svd(centred.T @ centred)[0]
    largest = turned[np.abs(turned).argmax(axis=0), np.arange(X.shape[1])]
    return np.ascontiguousarray(turned * np.where(largest < 0.0, -1.0, 1.0))
