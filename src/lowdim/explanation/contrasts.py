"""Plain contrasts: how each feature differs between the points selected and others.

The effect size is the standardised mean difference g = J (m_1 - m_0) / s, s the pooled deviation and
J = 1 - 3 / (4 (n_1 + n_0) - 9) (Hedges 1981, eq. 6e), with the variance

    (n_1 + n_0) / (n_1 n_0) + g^2 / (2 (n_1 + n_0))

(Hedges & Olkin 1985, p. 86). The p-value is that of Welch's test (1947), which takes no deviation for equal to another,
and is adjusted for many features (Benjamini & Hochberg 1995). One point alone has no deviation of its own and is
taken for one of the others: t = (x - m_0) / (s_0 sqrt(1 + 1 / n_0)) with n_0 - 1 degrees of freedom (Crawford & Howell
1998, eq. 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.parallel import row_blocks
from ..core.records import Floats
from ..data.rows import Rows
from ..reliability.nulls import adjusted


@dataclass(frozen=True, slots=True)
class Moments:
    """Of each feature: its mean and its variance (over n - 1; 0 of a single point) among n points."""

    count: int
    mean: Floats
    variance: Floats


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Of each feature: moments on both sides, the effect size with its bounds, p-value and adjusted p-value."""

    inside: Moments
    outside: Moments
    deviation: Floats
    effect: Floats
    low: Floats
    high: Floats
    p_value: Floats
    q_value: Floats


def contrast(
    rows: Rows, inside: NDArray[np.bool_], outside: NDArray[np.bool_], confidence: float
) -> Contrasts:
    """The contrasts of all features between two sets of rows."""
    from scipy.stats import norm

    one, other = moments(rows, [inside, outside])
    n1, n0 = one.count, other.count
    freedom = n1 + n0 - 2
    pooled = np.sqrt(((n1 - 1) * one.variance + (n0 - 1) * other.variance) / max(1, freedom))
    difference = one.mean - other.mean
    # Means of equal numbers differ by their rounding, which is no difference.
    size = np.maximum(np.abs(one.mean), np.abs(other.mean))
    difference = np.where(np.abs(difference) <= 1e-12 * size, 0.0, difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        small = 1.0 - 3.0 / max(4.0 * (n1 + n0) - 9.0, 4.0)
        effect = np.where(difference == 0.0, 0.0, small * difference / pooled)
        spread = np.sqrt((n1 + n0) / (n1 * n0) + effect**2 / (2.0 * (n1 + n0)))
    p_value = welch(difference, one, other)
    reach = np.where(np.isfinite(effect), float(norm.ppf(0.5 + confidence / 2)) * spread, 0.0)
    return Contrasts(
        one,
        other,
        pooled,
        effect,
        effect - reach,
        effect + reach,
        p_value,
        adjusted(p_value),
    )


def welch(difference: Floats, one: Moments, other: Moments) -> Floats:
    """Two-sided p-values of Welch's test; 1 where two constants are equal, 0 where they differ.

    Of two single points nothing is known, and all are 1.
    """
    from scipy.stats import t

    fewer, more = sorted((one, other), key=lambda side: side.count)
    if more.count == 1:
        return np.ones_like(difference)
    parts = (fewer.variance if fewer.count > 1 else more.variance) / fewer.count, more.variance / more.count
    error = parts[0] + parts[1]
    below = parts[0] ** 2 / max(1, fewer.count - 1) + parts[1] ** 2 / (more.count - 1)
    freedom = np.where(below > 0.0, error**2 / np.where(below > 0.0, below, 1.0), 1.0)
    if fewer.count == 1:
        freedom = np.full_like(error, more.count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(difference) / np.sqrt(error)
    found = 2.0 * t.sf(statistic, freedom)
    return np.asarray(np.where(difference == 0.0, 1.0, np.where(error > 0.0, found, 0.0)))


def moments(rows: Rows, groups: list[NDArray[np.bool_]]) -> list[Moments]:
    """Means and variances of several sets of rows, in two passes over blocks of rows."""
    counts = [int(np.count_nonzero(group)) for group in groups]
    parts = list(row_blocks(rows.n_rows, rows.block_rows()))
    sums = np.zeros((len(groups), rows.n_columns))
    for part in parts:
        block = rows.block(part)
        for place, group in enumerate(groups):
            sums[place] += group[part].astype(np.float64) @ block
    means = sums / np.array(counts)[:, None]
    squares = np.zeros_like(sums)
    for part in parts:
        block = rows.block(part)
        for place, group in enumerate(groups):
            some = block[group[part]] - means[place]
            squares[place] += np.einsum("ni,ni->i", some, some)
    return [
        Moments(count, mean, total / max(1, count - 1))
        for count, mean, total in zip(counts, means, squares, strict=True)
    ]
