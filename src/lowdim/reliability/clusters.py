"""Which distances between clusters agree with those in the data: a table of pairs of labels, with intervals.

Of a sample of n points of one cluster and m of another all n m distances are taken, in the data (D) and in the picture
(E). What is compared is the ratio of their means, over that of all pairs of clusters, since a picture has no unit of
its own. By the delta method the logarithm of a ratio of means varies as the mean of h = E / mean(E) - D / mean(D), a
two-sample U-statistic: its variance is that of the row means of h over n plus that of its column means over m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.messages import named
from ..core.records import Floats, Integers
from ..errors import InputError
from ..metrics.distance_tables import Distances

SAMPLE = 200
"""Points of each cluster."""
MOST_CLUSTERS = 200
TOLERANCE = 1.25
"""A ratio within this factor agrees."""
Agreement = Literal["agrees", "shown too near", "shown too far", "undecided"]


@dataclass(frozen=True, slots=True)
class ClusterPair:
    """Two labels, the mean distance of their points in the data and in the picture, and the ratio of the two.

    ``ratio`` is that of this pair over the geometric mean of all pairs: 1 where the picture is to scale; ``low`` and
    ``high`` bound it.
    """

    first: str
    second: str
    data: float
    picture: float
    ratio: float
    low: float
    high: float

    @property
    def agreement(self) -> Agreement:
        """Whether the picture is to scale here, within a factor of 1.25; undecided where the interval is too wide."""
        if self.low >= 1 / TOLERANCE and self.high <= TOLERANCE:
            return "agrees"
        if self.high < 1 / TOLERANCE:
            return "shown too near"
        return "shown too far" if self.low > TOLERANCE else "undecided"


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """Every pair of labels, and the rank correlation of their distances in the data and in the picture."""

    pairs: tuple[ClusterPair, ...]
    rank_correlation: float

    def __iter__(self) -> Iterator[ClusterPair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def count(self, agreement: Agreement) -> int:
        """Pairs of which this is found."""
        return sum(pair.agreement == agreement for pair in self.pairs)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        names = ("first", "second", "data", "picture", "ratio", "low", "high", "agreement")
        return {
            "rank_correlation": self.rank_correlation,
            "pairs": [{name: getattr(pair, name) for name in names} for pair in self.pairs],
        }

    def __str__(self) -> str:
        """A table for people, those farthest from scale first."""
        order = sorted(self.pairs, key=lambda pair: -abs(np.log(pair.ratio)))
        width = max(len(f"{pair.first} – {pair.second}") for pair in self.pairs)
        lines = [f"  {'clusters':<{width}}  ratio  interval        picture"]
        for pair in order:
            name, bounds = f"{pair.first} – {pair.second}", f"{pair.low:.2f} to {pair.high:.2f}"
            lines.append(f"  {name:<{width}}  {pair.ratio:5.2f}  {bounds:<14}  {pair.agreement}")
        return "\n".join(lines)


def between_clusters(
    labels: NDArray[Any],
    codes: Integers,
    measured: Callable[[Integers], tuple[Distances, Distances]],
    quantile: float,
    rng: np.random.Generator,
) -> ClusterTable:
    """The table of all pairs of labels; ``quantile`` standard errors are on each side of a ratio's logarithm.

    ``measured(points)`` gives the distances between some points in the data and in the picture.
    """
    n_clusters = int(codes.max()) + 1
    if not 2 <= n_clusters <= MOST_CLUSTERS:
        raise InputError(
            f"{named('labels', 'trust')} must hold 2 to {MOST_CLUSTERS} different labels; got {n_clusters}. Give "
            "classes or clusters, or leave it out."
        )
    mixed = rng.permutation(codes.size)
    members = [mixed[codes[mixed] == code][:SAMPLE] for code in range(n_clusters)]
    names = [str(labels[some[0]]) for some in members]
    ends = np.cumsum([some.size for some in members])
    places = [np.arange(end - some.size, end) for some, end in zip(members, ends.tolist(), strict=True)]
    kinds, found = measured(np.concatenate(members)), []
    for first in range(n_clusters - 1):
        given, shown = (_table(kind, places[first], int(ends[-1])) for kind in kinds)
        for second in range(first + 1, n_clusters):
            D, E = given[:, places[second]], shown[:, places[second]]
            found.append((names[first], names[second], float(D.mean()), float(E.mean()), _error(D, E)))
    return _compared(found, quantile)


def _table(distances: Distances, points: Integers, n_points: int) -> Floats:
    table = np.empty((points.size, n_points))
    distances.fill(points, table)
    return table


def _error(D: Floats, E: Floats) -> float:
    """Standard error of log(mean(E) / mean(D))."""
    if not (D.mean() > 0 and E.mean() > 0):
        return np.inf
    h = E / E.mean() - D / D.mean()
    return float(np.sqrt(sum(_variance(h.mean(axis=1 - side)) / h.shape[side] for side in (0, 1))))


def _variance(means: Floats) -> float:
    """Of one point alone nothing is known."""
    return float(means.var(ddof=1)) if means.size > 1 else np.inf


def _compared(found: list[tuple[str, str, float, float, float]], quantile: float) -> ClusterTable:
    from scipy.stats import rankdata

    data, picture = np.array([pair[2] for pair in found]), np.array([pair[3] for pair in found])
    with np.errstate(divide="ignore"):
        logs = np.log(picture) - np.log(data)
    known = np.isfinite(logs)
    logs -= logs[known].mean() if known.any() else 0.0
    pairs = []
    for (first, second, given, shown, error), log in zip(found, logs.tolist(), strict=True):
        # An exponent beyond this is no interval that anybody reads.
        half = min(quantile * error, 50.0)
        bounds = (float(np.exp(log - half)), float(np.exp(log + half)))
        pairs.append(ClusterPair(first, second, given, shown, float(np.exp(log)), *bounds))
    ranks = np.array([rankdata(data), rankdata(picture)])
    varied = len(pairs) > 2 and bool((ranks.std(axis=1) > 0).all())
    return ClusterTable(tuple(pairs), float(np.corrcoef(ranks)[0, 1]) if varied else float("nan"))
