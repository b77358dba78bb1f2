"""What ``score`` found: values with their intervals, for people and for programs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.markup import Text, bar, box, plain_table
from ..core.records import Floats, Integers

MEASURES = {
    "trustworthiness": "points shown near are near",
    "continuity": "near points are shown near",
    "neighbor_recall": "share of the {k} nearest kept",
    "recall_area": "the same beyond chance, over all scales",
    "pearson": "linear correlation of distances",
    "spearman": "rank correlation of distances",
    "distance_correlation": "dependence of the two (Székely)",
    "residual_variance": "1 - R^2 of distances; 0 is best",
    "neighbor_accuracy": "labels told by the {k} nearest shown",
}
"""Every measure, in the order of the table, with what it says; all but those of `BEST_AT_ZERO` are best at 1."""
BEST_AT_ZERO = ("residual_variance",)


class Estimate(float):
    """A number that knows between which bounds it lies: use it as a number, read ``low`` and ``high``.

    Where all points were used nothing is estimated, and both bounds equal the value.
    """

    __slots__ = ("_high", "_low")
    _low: float
    _high: float

    def __new__(cls, value: float, low: float, high: float) -> Estimate:
        """A value and its bounds."""
        made = super().__new__(cls, value)
        made._low, made._high = float(low), float(high)
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[float, float, float], dict[str, float]]:
        return (float(self), self._low, self._high), {}

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._low

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._high

    def __repr__(self) -> str:
        return f"Estimate({float(self)!r}, low={self._low!r}, high={self._high!r})"

    def __str__(self) -> str:
        """0.953 (0.951 to 0.955)."""
        return f"{float(self):.4g}" + (
            "" if self._low == self._high else f" ({self._low:.4g} to {self._high:.4g})"
        )


@dataclass(frozen=True, slots=True)
class RecallCurve:
    """Share of each point's ``k`` nearest that are among its ``k`` nearest in the embedding (Lee & Verleysen 2009).

    ``low`` and ``high`` bound ``recall`` at each k. A random embedding reaches ``chance`` = k / (N - 1).
    """

    k: Integers
    recall: Floats
    low: Floats
    high: Floats
    chance: Floats


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of an embedding: one field for each measure, None where it was not asked for or does not apply.

    ``scores["continuity"]`` and ``scores.continuity`` are the same `Estimate`; ``print(scores)`` shows a table.
    ``n_rows`` of the ``n_points`` were looked at, each against all others;
    ``spearman`` and ``distance_correlation`` are of ``n_pairs`` pairs. Of data in shards, the points are a draw from
    ``n_all`` rows, and neighbours are those among them.
    """

    n_points: int
    n_rows: int
    n_pairs: int
    n_neighbors: int
    metric: str
    confidence: float
    trustworthiness: Estimate | None = None
    continuity: Estimate | None = None
    neighbor_recall: Estimate | None = None
    recall_area: Estimate | None = None
    pearson: Estimate | None = None
    spearman: Estimate | None = None
    distance_correlation: Estimate | None = None
    residual_variance: Estimate | None = None
    neighbor_accuracy: Estimate | None = None
    recall_curve: RecallCurve | None = None
    n_all: int = 0

    def keys(self) -> tuple[str, ...]:
        """Names of the measures that are there."""
        return tuple(name for name in MEASURES if getattr(self, name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Estimate:
        """A measure by its name."""
        if name not in self.keys():
            close = difflib.get_close_matches(str(name), self.keys(), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise KeyError(f"{name!r} was not measured; there are {', '.join(self.keys())}.{hint}")
        estimate: Estimate = getattr(self, name)
        return estimate

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        curve = self.recall_curve
        return {
            "n_points": self.n_points,
            "n_all": self.n_all or self.n_points,
            "n_rows": self.n_rows,
            "n_pairs": self.n_pairs,
            "n_neighbors": self.n_neighbors,
            "metric": self.metric,
            "confidence": self.confidence,
            "measures": {
                name: {"value": float(self[name]), "low": self[name].low, "high": self[name].high}
                for name in self
            },
            "recall_curve": None
            if curve is None
            else {name: getattr(curve, name).tolist() for name in ("k", "recall", "low", "high", "chance")},
        }

    def __str__(self) -> str:
        """A table for people."""
        looked = "all of them" if self.n_rows == self.n_points else f"{self.n_rows:,} of them sampled"
        lines = [
            f"Scores of an embedding of {self._counted}, {looked}, {self.n_neighbors} neighbours",
        ]
        ranges = [
            "" if self[name].low == self[name].high else f"{self[name].low:.4f} to {self[name].high:.4f}"
            for name in self
        ]
        title = f"{100 * self.confidence:.4g} % interval" if any(ranges) else ""
        width = max((len(text) for text in (*ranges, title)), default=0)
        lines.append(f"  {'measure':<20}  {'value':>8}  {title:<{width}}".rstrip())
        lines += [
            f"  {name:<20}  {float(self[name]):8.4f}  {bounds:<{width}}  {MEASURES[name].format(k=self.n_neighbors)}"
            for name, bounds in zip(self, ranges, strict=True)
        ]
        return "\n".join(lines)

    @property
    def _counted(self) -> str:
        drawn = f" drawn from {self.n_all:,}" if self.n_all > self.n_points else ""
        return f"{self.n_points:,} points{drawn}"

    def _repr_html_(self) -> str:
        """The same for a notebook, with each value and its interval on a line from 0 to 1."""
        looked = "all of them" if self.n_rows == self.n_points else f"{self.n_rows:,} of them sampled"
        rows: list[list[Text]] = []
        for name in self:
            found = self[name]
            bounds = "" if found.low == found.high else f"{found.low:.4f} to {found.high:.4f}"
            says = MEASURES[name].format(k=self.n_neighbors)
            rows.append([name.replace("_", " "), f"{float(found):.4f}", bounds, bar(float(found)), says])
        title = f"Scores of an embedding of {self._counted}, {looked}, {self.n_neighbors} neighbours"
        return box(
            title, plain_table(["measure", "value", f"{100 * self.confidence:.4g} % interval", "", ""], rows)
        )
