"""What ``estimate_dimension`` found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..score_results import Estimate

APART = 1.25
"""Estimates of which the largest is more than so many times the smallest disagree."""


@dataclass(frozen=True, slots=True)
class DimensionEstimate:
    """Estimates of the intrinsic dimension, one for each method, and the whole number nearest to their median.

    ``estimate["mle"]`` is a number with ``low`` and ``high``. ``n_rows`` of the ``n_points`` different points were
    looked at, each with its ``n_neighbors`` nearest; ``n_collapsed`` copies were left out. ``notes`` say what could
    not be done.
    """

    estimates: Mapping[str, Estimate]
    n_points: int
    n_rows: int
    n_neighbors: int
    n_collapsed: int
    confidence: float
    notes: tuple[str, ...] = field(default=())

    @property
    def value(self) -> float:
        """Median of the estimates."""
        return float(np.median([float(estimate) for estimate in self.estimates.values()]))

    @property
    def dimension(self) -> int:
        """The median as a whole number, at least 1."""
        return max(1, round(self.value))

    @property
    def agree(self) -> bool:
        """Whether the estimates tell the same story: within a quarter of each other, or rounding to one number."""
        low, high = min(self.estimates.values()), max(self.estimates.values())
        return high <= APART * low or round(low) == round(high)

    def __getitem__(self, method: str) -> Estimate:
        """The estimate of a method."""
        if method not in self.estimates:
            raise KeyError(f"{method!r} gave no estimate; there are {', '.join(self.estimates)}.")
        return self.estimates[method]

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        return {
            "dimension": self.dimension,
            "value": self.value,
            "agree": self.agree,
            "estimates": {
                name: {"value": float(found), "low": found.low, "high": found.high}
                for name, found in self.estimates.items()
            },
            "n_points": self.n_points,
            "n_rows": self.n_rows,
            "n_neighbors": self.n_neighbors,
            "n_collapsed": self.n_collapsed,
            "confidence": self.confidence,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """A table for people."""
        looked = "all of them" if self.n_rows == self.n_points else f"{self.n_rows:,} of them sampled"
        copies = f" ({self.n_collapsed:,} copies left out)" if self.n_collapsed else ""
        head = f"Intrinsic dimension about {self.dimension}: {self.n_points:,} points{copies}, {looked}"
        lines = [
            f"{head}, {self.n_neighbors} neighbours",
            f"  {'method':<10}  {'value':>7}  {100 * self.confidence:.4g} % interval",
        ]
        lines += [
            f"  {name:<10}  {float(found):7.2f}  {found.low:.2f} to {found.high:.2f}"
            for name, found in self.estimates.items()
        ]
        if not self.agree:
            lines.append(
                "  The methods disagree, so the dimension may depend on the scale: two-nn sees the smallest, where\n"
                "  noise counts as dimensions; a larger n_neighbors shows a larger one."
            )
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])
