"""What ``explain`` found: one row a feature, and in one sentence what tells the selection apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.markup import Text, box, joined, plain_table, tag
from ..core.messages import named
from ..core.records import Floats
from ..core.rules import OneOf, Whole
from ..errors import InputError
from ..validation import check_parameters

COLUMNS = {
    "mean": "mean of the points selected",
    "mean_against": "mean of the others",
    "effect": "their difference in deviations (Hedges' g)",
    "low": "lower bound of the effect",
    "high": "upper bound of the effect",
    "p_value": "chance of such a difference without one",
    "q_value": "the same among many features: false discovery rate",
    "shift": "how far the selection moves away where the feature is one deviation more in it",
    "share": "part of the distance that the difference gives, to first order",
    "stretch": "per cent farther away where the feature counts 1 % more",
}
"""Every column, in the order of the table, with what it says."""
SORTED = ("effect", "shift", "share", "stretch")
SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Which features put some points here and not there, one row a feature; ``print`` shows the first ten.

    ``found["effect"]`` and ``found.effect`` are the same array, in the order of ``names``.

    Attributes
    ----------
    method
        The estimator.
    names
        Names of the features.
    n_points, n_selected, n_against
        Points in all, selected, and compared with.
    level
        False discovery rate below which a feature counts as different; intervals are those of 1 - level.
    mean, mean_against, deviation
        Means of both sides, and the pooled deviation.
    effect, low, high
        Standardised mean difference (Hedges 1981) with its bounds.
    p_value, q_value
        Of Welch's test, and adjusted for many features (Benjamini & Hochberg 1995). Where points were selected by
        where the picture shows them, these are of the order of things, not of a test: the picture knows the features.
    distance, direction
        Of the two centres in the picture: how far, and which way from the others to the selection.
    shift
        By how much the distance grows where the feature is one deviation more in all selected rows, to first order;
        None where that is not known.
    stretch
        d log distance / d log scale of the feature; of neighbour embeddings alone.
    gradient
        d distance / d data, a row for each different point, where it was asked for.
    damping, steps, residual
        Of the adjoint solve; None where there was none. A damping of 0.1 ties neighbours by 10 % more.
    notes
        What could not be had, and what is to be kept in mind.
    """

    method: str
    names: tuple[str, ...]
    n_points: int
    n_selected: int
    n_against: int
    level: float
    mean: Floats
    mean_against: Floats
    deviation: Floats
    effect: Floats
    low: Floats
    high: Floats
    p_value: Floats
    q_value: Floats
    distance: float
    direction: Floats
    shift: Floats | None = None
    stretch: Floats | None = None
    gradient: Floats | None = None
    damping: float | None = None
    steps: int | None = None
    residual: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def share(self) -> Floats | None:
        """Share of the distance that the difference of a feature gives, to first order; linear maps' sum to 1."""
        if self.shift is None or self.distance == 0.0:
            return None
        difference = self.mean - self.mean_against
        by_unit = np.divide(
            self.shift, self.deviation, out=np.zeros(self.shift.size), where=self.deviation > 0.0
        )
        return np.asarray(by_unit * difference / self.distance)

    @property
    def different(self) -> NDArray[np.bool_]:
        """Features whose adjusted p-value is below the level."""
        return self.q_value <= self.level

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that there are, one value a feature each."""
        return [name for name in COLUMNS if getattr(self, name) is not None]

    def __getitem__(self, name: str) -> Floats:
        """A column by its name."""
        if name not in self.column_names:
            raise KeyError(f"{name!r} is no column that was found; there are {', '.join(self.column_names)}.")
        column: Floats = getattr(self, name)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def __len__(self) -> int:
        return len(self.names)

    def keys(self) -> list[str]:
        """Names of the columns, so that ``dict(found)`` has them all."""
        return self.column_names

    def order(self, by: str = "effect") -> NDArray[np.int64]:
        """Places of the features, the one that tells most first.

        Parameters
        ----------
        by
            The column whose size decides: ``"effect"``, ``"shift"``, ``"share"`` or ``"stretch"``.
        """
        check_parameters("explain", {"by": by}, {"by": OneOf(*SORTED)})
        values = getattr(self, by)
        if values is None:
            raise InputError(
                f"{named('by', 'explain')} must be a column that was found; got {by!r}, and of this {self.method} "
                f"there are {', '.join(name for name in SORTED if getattr(self, name) is not None)}."
            )
        return np.argsort(-np.abs(values), kind="stable")

    def table(self, n_features: int = SHOWN, by: str = "effect") -> str:
        """The features that tell most as text, a line each; see `order`."""
        check_parameters("table", {"n_features": n_features}, {"n_features": Whole(1)})
        rows = self._lines(self.order(by)[:n_features])
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        return "\n".join(
            "  "
            + "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            )
            for row in rows
        )

    def _lines(self, places: NDArray[np.int64]) -> list[list[str]]:
        """A heading, then the cells of some features."""
        further = [name for name in ("shift", "share", "stretch") if getattr(self, name) is not None]
        lines = [["feature", "effect", "interval", "adjusted p", "selected", "others", *further]]
        for place in places.tolist():
            bounds = f"{self.low[place]:.2f} to {self.high[place]:.2f}"
            cells = [self.names[place], f"{self.effect[place]:+.2f}", bounds, f"{self.q_value[place]:.2g}"]
            cells += [f"{self.mean[place]:.4g}", f"{self.mean_against[place]:.4g}"]
            lines.append(cells + [f"{getattr(self, name)[place]:+.3g}" for name in further])
        return lines

    def to_frame(self) -> Any:
        """All columns as a data frame of pandas, a row for each feature, in the order of the data."""
        import pandas as pd

        frame = pd.DataFrame({name: self[name] for name in self})
        frame.insert(0, "feature", list(self.names))
        return frame

    def as_dict(self) -> dict[str, Any]:
        """Everything but the gradient, in types that JSON knows."""

        def plain(values: Floats) -> list[float | None]:
            return [value if np.isfinite(value) else None for value in np.asarray(values).tolist()]

        return {
            "method": self.method,
            "n_points": self.n_points,
            "n_selected": self.n_selected,
            "n_against": self.n_against,
            "level": self.level,
            "summary": self.summary(),
            "distance": self.distance,
            "direction": self.direction.tolist(),
            "adjoint": None
            if self.damping is None
            else {"damping": self.damping, "steps": self.steps, "residual": self.residual},
            "features": list(self.names),
            "columns": {name: plain(self[name]) for name in self},
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """In one sentence what tells the selection apart."""
        count = int(np.count_nonzero(self.different))
        first = (
            f"{self.n_selected:,} of {self.n_points:,} points against {self.n_against:,}: {count:,} of "
            f"{len(self.names):,} features differ (false discovery rate {100 * self.level:g} %)"
        )
        if count:
            told = [place for place in self.order() if self.different[place]][:3]
            words = ", ".join(f"{self.names[place]} ({self.effect[place]:+.2f})" for place in told)
            first += f", most of all {words}"
        if self.shift is not None and np.any(self.shift):
            most = int(np.argmax(np.abs(self.shift)))
            way = "away" if self.shift[most] > 0 else "nearer"
            first += f"; more of {self.names[most]} in them moves them {way} most"
        return first + "."

    def __str__(self) -> str:
        """The sentence, the first features, and what is to be kept in mind."""
        return "\n".join([self.summary(), "", self.table(), *(f"  {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"<Explanation of {self.n_selected:,} points by {len(self.names):,} features>"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        head, *rows = self._lines(self.order()[:SHOWN])
        cells: list[list[Text]] = [list(row) for row in rows]
        notes = joined(*(tag("p", note) for note in self.notes))
        return box(self.summary(), plain_table(list(head), cells), notes)
