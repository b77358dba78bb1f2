"""Metric and non-metric multidimensional scaling."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from ...core.messages import setting
from ...core.records import Floats
from ...core.rules import Array, Either, Function, Instance, Nothing, Real, Rule, Truth
from ...errors import InputError
from ..base import parameters
from .stress_embedding import STRESS_RULES, StressEmbedding
from .stress_targets import given_weights


@parameters
class MDS(StressEmbedding):
    """min sum w_ij (delta_ij - |x_i - x_j|)^2: distances in the picture as near as can be to those of the data.

    Metric scaling (Kruskal 1964) keeps the distances themselves, non-metric scaling their order alone: there delta is
    replaced by the monotone function of it that suits the picture best, found anew at every step by isotonic
    regression, and the sum is over that of the squared distances. It starts from classical scaling and descends by
    L-BFGS on the Guttman transform of SMACOF (de Leeuw & Mair 2009). It is dense by nature: it holds the N x N
    distances. Past 10,000 points (5,000 non-metric) it does so of some pivots alone, and every other point is placed by
    its distances to them. New points are placed by the stress of their own row.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"``: see docs/choosing.md.
    metric
        Name of a metric, a function of two rows, or ``"precomputed"`` (X holds all distances, dense; those that are not
        known are NaN, and do not count). A truth value stands for Euclidean distances, and for ``metric_mds``.
    metric_params
        As in `LaplacianEigenmaps`.
    metric_mds
        Whether the distances count (metric scaling), or only their order (non-metric).
    weights
        What each pair counts: a number p for delta^p (-1 as `Sammon`, -2 for relative errors), or a matrix N x N of
        numbers >= 0, with which new points count their pairs alike. None: all alike.
    init
        Where to start: ``"classical_mds"``, ``"random"`` or coordinates.
    n_init
        Starts; after the first they are drawn at random, and the lowest stress is kept.
    pivots
        Number of points, drawn at random, that are embedded by all their pairs; the others are placed by their
        distances to these. None: all points up to 10,000 (5,000 non-metric), else 1000.
    max_iter
        Iterations at most, of each start.
    tolerance
        Stop where stress falls by less than this share of itself an iteration.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components), centred, on its principal axes
    stress_ : float, the sum over all pairs (of the pivots, where there are any); non-metric: ``normalized_stress_``
    normalized_stress_ : float, Kruskal's stress 1, the root of the sum over that of w d^2
    n_iter_ : int
    history_ : iterations, seconds and values, as shares of the sum of w delta^2 (non-metric: of w d^2)
    pivots_ : array of the rows that are pivots, where there are any
    n_components_ : int, what was chosen where ``n_components`` is ``"auto"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.MDS(metric="manhattan").fit_transform(roll.data).shape
    (300, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
    metric: str | Callable[..., float] | bool = "euclidean"  # type: ignore[assignment]  # ty: ignore[incompatible-attribute-override]
    metric_mds: bool = True
    weights: Any = None

    _rules: ClassVar[Mapping[str, Rule]] = {
        **STRESS_RULES,
        "metric": Either(Instance(str), Function(), Truth()),
        "metric_mds": Truth(),
        "weights": Either(Real(), Array(), Nothing()),
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.metric, bool) and self.metric and not self.metric_mds:
            raise InputError(
                f"{setting('metric', True)} asks for metric scaling, and {setting('metric_mds', False)} for "
                f"non-metric. Give one of them, or {setting('metric', 'euclidean')}."
            )

    @property
    def _distance(self) -> Any:
        return "euclidean" if isinstance(self.metric, bool) else self.metric

    @property
    def _is_ranked(self) -> bool:
        return not self.metric_mds or (isinstance(self.metric, bool) and not self.metric)

    @property
    def _power(self) -> float:
        return float(self.weights) if isinstance(self.weights, numbers.Real) else 0.0

    @property
    def _has_factor(self) -> bool:
        return bool(self._power) or (self.weights is not None and not isinstance(self.weights, numbers.Real))

    def _weights_for(self, n_rows: int) -> Floats | None:
        if self.weights is None or isinstance(self.weights, numbers.Real):
            return None
        return given_weights(self.weights, n_rows)
