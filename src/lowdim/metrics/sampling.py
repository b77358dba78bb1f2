"""Rows drawn at random, and how far what they say may be from what all rows would say.

Rows are drawn without replacement, so that every variance carries the finite population factor 1 - M / N (Cochran 1977,
chapter 2): with all rows drawn nothing is estimated, and every interval has no width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.messages import named, setting
from ..core.records import Floats, Integers
from ..errors import InputError
from .score_results import Estimate

ALL_ROWS = 5_000
"""Up to so many points all rows are used, unless the user says otherwise."""


def sample_size(owner: str, sample: int | str, n_points: int, *, auto: int) -> int:
    """Rows that ``sample`` stands for: a number, "all", or "auto": all up to ALL_ROWS, above that ``auto``."""
    if isinstance(sample, str):
        return n_points if sample == "all" or n_points <= ALL_ROWS else auto
    if sample > n_points:
        raise InputError(
            f"{named('sample', owner)} must be at most the number of points, {n_points}; got {sample}. Use "
            f"{setting('sample', 'all')}."
        )
    return int(sample)


@dataclass(frozen=True, slots=True)
class Sample:
    """``rows`` of the N points in random order, and the confidence of the intervals."""

    rows: Integers
    n_points: int
    confidence: float

    @staticmethod
    def draw(n_points: int, size: int, confidence: float, rng: np.random.Generator) -> Sample:
        """``size`` rows without replacement."""
        return Sample(rng.permutation(n_points)[:size], n_points, float(confidence))

    @property
    def size(self) -> int:
        """M."""
        return self.rows.size

    def first(self, count: int) -> Sample:
        """A smaller sample: the first rows of this one."""
        return Sample(self.rows[:count], self.n_points, self.confidence)

    @property
    def left_out(self) -> float:
        """1 - M / N, the finite population factor."""
        return 1.0 - self.size / self.n_points

    @property
    def quantile(self) -> float:
        """Standard errors on each side of an interval: Student's t with M - 1 degrees of freedom."""
        from scipy.special import stdtrit

        below: Any = 0.5 + self.confidence / 2
        return float(stdtrit(self.size - 1, below))

    def error(self, values: Floats) -> Floats:
        """Half width of the interval of the mean of each column."""
        variance = values.var(axis=0, ddof=1) * self.left_out / self.size
        return np.asarray(self.quantile * np.sqrt(variance))

    def mean(self, values: Floats, lowest: float = 0.0, highest: float = 1.0) -> Estimate:
        """Mean of a value that each row has, between bounds that it cannot leave."""
        # Rounding, too, may not leave the bounds.
        value, half = min(highest, max(lowest, float(values.mean()))), float(self.error(values))
        return Estimate(value, max(lowest, value - half), min(highest, value + half))

    def share(self, hits: Floats) -> Estimate:
        """Share of rows that hit, 0 or 1 each: the score interval (Wilson 1927), which has a width even at 0 and 1."""
        share, weight = float(hits.mean()), self.quantile**2 * self.left_out / self.size
        centre = (share + weight / 2) / (1 + weight)
        half = np.sqrt(weight * share * (1 - share) + weight**2 / 4) / (1 + weight)
        return Estimate(share, min(share, centre - half), max(share, centre + half))

    def smooth(self, values: Floats, function: Callable[[Floats], Floats]) -> tuple[float, float]:
        """A function of the column means, and its standard error by the jackknife (Efron & Stein 1981)."""
        total = values.sum(axis=0)
        without = function((total - values) / (self.size - 1))
        spread = (self.size - 1) / self.size * np.square(without - without.mean()).sum()
        return float(function(total / self.size)), float(np.sqrt(spread * self.left_out))

    def pair_error(self, of_points: Floats) -> float:
        """Standard error of a mean over pairs of drawn points, from the means over the pairs of each point."""
        return 2 * float(np.std(of_points, ddof=1) * np.sqrt(self.left_out / self.size))

    def correlation(self, value: float, error: float) -> Estimate:
        """A correlation with its standard error: an interval on Fisher's scale, artanh, which cannot leave -1 to 1."""
        value = min(1.0, max(-1.0, value))
        room = 1.0 - value * value
        if error == 0.0 or room == 0.0:
            return Estimate(value, value, value)
        centre, half = np.arctanh(value), self.quantile * error / room
        return Estimate(value, np.tanh(centre - half), np.tanh(centre + half))
