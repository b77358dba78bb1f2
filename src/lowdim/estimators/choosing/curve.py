"""What was tried, what a criterion says of it, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Curve:
    """A criterion along the values of a parameter, and the value that follows from it.

    Parameters
    ----------
    parameter, criterion
        Their names.
    values, scores
        The values that were tried, ascending, and the criterion at each; NaN where there is none, since the fit failed.
    chosen
        What follows; None: the default, since there was nothing to choose from.
    why
        The reason, as the end of a sentence.
    default
        The value that the fit would have without a choice.
    is_flat
        Whether the criterion does not tell the best value from the default, which is then kept.
    less_is_better
        Whether the smallest score is the best; None: the scores are looked at in another way.
    threshold
        The score above which values count, where there is such a one.
    along, measured
        What the values are, where they are not those of the parameter, and what the scores are.
    n_rows
        Rows that were looked at; of more than these it is a sample.
    """

    parameter: str
    criterion: str
    values: list[Any]
    scores: list[float]
    chosen: Any
    why: str
    default: Any
    is_flat: bool = False
    less_is_better: bool | None = None
    threshold: float | None = None
    along: str = ""
    measured: str = ""
    n_rows: int = 0

    def figures(self) -> dict[str, Any]:
        """The curve as a report keeps it: plain values by name."""
        known: dict[str, Any] = {
            "criterion": self.criterion,
            "along": self.along or self.parameter,
            "measured": self.measured or self.criterion,
            "values": list(self.values),
            "scores": [float(score) for score in self.scores],
            "chosen": self.chosen,
            "default": self.default,
            "flat": self.is_flat,
            "less_is_better": self.less_is_better,
            "threshold": self.threshold,
            "rows": self.n_rows,
        }
        return {name: value for name, value in known.items() if value is not None}


def nothing_to_choose(parameter: str, criterion: str, default: Any, why: str, n_rows: int = 0) -> Curve:
    """The default, where there are no two values to compare."""
    return Curve(parameter, criterion, [], [], default, why, default, is_flat=True, n_rows=n_rows)


def best_of(
    parameter: str,
    criterion: str,
    values: Sequence[Any],
    scores: Sequence[float],
    default: Any,
    *,
    less_is_better: bool,
    resolution: float,
    named: str,
    n_rows: int,
) -> Curve:
    """The value with the best score, or the default where that is no worse by more than the ``resolution``.

    ``named`` is the criterion in words.
    """
    known = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(known).any():
        return nothing_to_choose(
            parameter, criterion, default, "no fit of the values tried came through", n_rows
        )
    best = int(np.nanargmin(known) if less_is_better else np.nanargmax(known))
    chosen, is_flat = values[best], False
    why = f"the {'least' if less_is_better else 'largest'} {named} of {len(values)} values, {_span(values)}"
    at_default = float(known[list(values).index(default)]) if default in values else np.nan
    gain = abs(float(known[best]) - at_default)
    if np.ptp(known[np.isfinite(known)]) <= resolution and np.isfinite(at_default):
        chosen, is_flat = default, True
        why = f"the default: the curve of the {named} is flat, {_span(values)} differ by less than {resolution:.2g}"
    elif gain <= resolution and chosen != default:
        chosen, is_flat = default, True
        why = (
            f"the default: the best value, {values[best]:g}, is better by {gain:.2g} only in {named}, less than the "
            f"{resolution:.2g} that would count"
        )
    elif best in (0, len(values) - 1):
        why += "; the best is at the end of what was tried"
    return Curve(
        parameter,
        criterion,
        list(values),
        [float(score) for score in known],
        chosen,
        why,
        default,
        is_flat,
        less_is_better,
        measured=named,
        n_rows=n_rows,
    )


def _span(values: Sequence[Any]) -> str:
    return f"{values[0]:g} to {values[-1]:g}"
