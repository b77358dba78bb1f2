"""Non-metric stress: only the order of the dissimilarities counts, and the distances choose the rest.

Kruskal (1964), "Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis": E is the square of
his stress formula 1 at the best monotone disparities. These are a projection, so that E is smooth and its gradient
that at disparities held fixed (de Leeuw 1977). Equal dissimilarities have equal disparities (his secondary approach to
ties).
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from .. import kernels
from ..core.places import State
from ..core.records import Floats, Integers
from .protocol import Evaluation
from .repulsion.layout import PAIRS
from .stress import UNIFORM, Stress


class RankStress:
    """E(X) = min_t sum w (t - d)^2 / sum w d^2 over t that rise with the dissimilarities.

    Parameters
    ----------
    base
        Stress of the dissimilarities themselves.
    """

    lam: ClassVar[float] = 1.0

    def __init__(self, base: Stress) -> None:
        self._base = base
        given = base.targets
        rows, columns = np.triu_indices(given.shape[0], 1)
        places = rows * given.shape[0] + columns
        values = given.ravel()[places]
        known = values >= 0.0
        places, values = places[known], values[known]
        order = np.argsort(values, kind="stable")
        self._order: Integers = places[order]
        self._dissimilarities: Floats = values[order]
        rises = np.flatnonzero(np.diff(self._dissimilarities) > 0.0) + 1
        self._starts = np.concatenate(([0], rises, [self._order.size]))
        self._weights = np.empty(0) if base.weights is UNIFORM else base.weights.ravel()[self._order]
        # At places without a target, and of points to themselves, nothing is ever written.
        self._targets = given.copy()

    def with_lambda(self, lam: float) -> Self:
        """Itself: there is nothing to weigh it against."""
        return self

    def held(self, share: float, cells: float = 0.0) -> Self:
        """Itself: its points are on no springs."""
        return self

    def sized(self, X: Floats, size: float) -> Floats:
        """X as it is: no size is held."""
        return X

    def state(self) -> State:
        """No evaluation depends on those before it."""
        return {}

    def resume(self, state: State) -> None:
        """Nothing to go on from."""

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """E and its gradient: that of the numerator at fixed disparities, and that of the denominator."""
        levels, ends = self._fit(X)
        kernels.embedding.isotonic.spread(levels, ends, self._order, self._targets)
        total, force = self._base.sums(X, self._targets)
        size, spreading = self._base.sums(X, self._targets, scale=0.0)
        size = size or 1.0
        E = total / size
        return Evaluation(E, (force - E * spreading) * (2 / size))

    def guttman(self, gradient: Floats) -> Floats:
        """V^+ g / 2, as of the stress of the dissimilarities themselves."""
        return self._base.guttman(gradient)

    def _fit(self, X: Floats) -> tuple[Floats, Integers]:
        """Levels of the disparities, and the places among the ordered pairs before which each ends."""
        columns, lengths = np.ascontiguousarray(X.T), np.empty(self._order.size)

        def work(rows: slice) -> None:
            kernels.embedding.isotonic.pair_lengths(columns, self._order, rows.start, rows.stop, lengths)

        self._base.run.map(work, self._order.size, block_rows=PAIRS)
        groups = self._starts.size - 1
        levels, masses, ends = np.empty(groups), np.empty(groups), np.empty(groups, np.int64)
        count = kernels.embedding.isotonic.pool(lengths, self._weights, self._starts, levels, masses, ends)
        return levels[:count].copy(), ends[:count].copy()

    def disparities(self, X: Floats, most: int) -> tuple[Floats, Floats]:
        """The disparity as a function of the dissimilarity: knots, at most so many, between which it is linear."""
        levels, ends = self._fit(X)
        first = self._dissimilarities[np.concatenate(([0], ends[:-1]))]
        knots = np.column_stack((first, self._dissimilarities[ends - 1])).ravel()
        values = np.repeat(levels, 2)
        if knots.size > most:
            picked = np.unique(np.linspace(0, knots.size - 1, most).round().astype(np.int64))
            knots, values = knots[picked], values[picked]
        return knots, values
