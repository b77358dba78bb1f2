"""Fits along the values of a parameter: neighbours searched for once, pictures begun from those of the value before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.events import Events
from ...core.records import Integers
from ...core.run import Run, Store
from ...core.shared import Shared
from ...data.duplicates import find_duplicates
from ...data.rows import Rows
from ...errors import InterruptedWarning, LowdimError, LowdimWarning
from ...methods.base import Embedded
from ...neighbors.points import Points
from ..metric import metric_of
from .settled import with_values

MOST_ROWS = 2_000
"""Rows that are fitted along the values of a parameter; of more than these a sample is."""
FAILURES = (LowdimError, ArithmeticError, np.linalg.LinAlgError)
"""What one of the fits may end with, so that its value is none to choose."""
ALONE = {"record": 0, "callback": None, "verbose": 0, "checkpoint": None}
"""Parameters of a fit that is told of and kept by nobody."""


class Unheard(Events):
    """A stream for fits that are tried: what they warn of is no matter of the fit that follows."""

    def warned(self, message: str, category: type[LowdimWarning]) -> None:
        """Nothing; but who interrupts a fit means all of them."""
        if issubclass(category, InterruptedWarning):
            raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class Tried:
    """What an estimator is tried on: ``rows``, or a sample of them, and their targets.

    ``model`` leaves nothing open. ``n_points`` counts different rows; ``chosen`` are the rows of the sample, None: all.
    """

    model: Any
    rows: Rows
    targets: NDArray[Any] | None
    n_points: int
    chosen: Integers | None

    @property
    def metric(self) -> Any:
        """Metric of the data, as one value."""
        return metric_of(self.model)


def sampled(model: Any, rows: Rows, targets: NDArray[Any] | None, most: int, run: Run) -> Tried:
    """The rows, or at most so many of them, in their order; with the columns of a matrix between points."""
    pairwise = bool(model.__sklearn_tags__().input_tags.pairwise)
    chosen = None
    if rows.n_rows > most and not (pairwise and rows.is_sparse):
        drawn = run.streams.anew()["landmarks"].choice(rows.n_rows, most, replace=False)
        chosen = np.sort(drawn).astype(np.int64)
        rows = Points(rows, metric_of(model)).at(chosen) if pairwise else rows.select(chosen)
        targets = None if targets is None else targets[chosen]
    copies = 0 if pairwise else find_duplicates(rows, n_jobs=run.n_jobs).n_collapsed
    return Tried(model, rows, targets, rows.n_rows - copies, chosen)


def along(
    tried: Tried, name: str, values: Sequence[Any], look: Callable[[Embedded], float], run: Run
) -> list[float]:
    """What ``look`` says of the embedding of each value, ascending; NaN where the fit fails.

    The largest value comes first: it shows most of the whole, and the pictures of the others begin where that of the
    one above ended.
    """
    model = with_values(tried.model, ALONE | tried.model._as_tried(tried.chosen))
    widest = max((model._widest(name, value, tried.n_points) for value in values), default=0)
    shared, before, scores = Shared(min(widest, tried.n_points - 1)), None, []
    for done, value in enumerate(reversed(values), start=1):
        asked = with_values(model, {name: value})
        if before is not None:
            asked = asked._going_on(before)
        inner = Run(Unheard(), run.workers, run.streams.anew(), Store(shared=shared))
        try:
            embedded = _embedded(asked, tried, inner)
            scores.append(look(embedded))
            before = embedded.coordinates
        except FAILURES:
            scores.append(np.nan)
        run.progress(done, len(values))
    return scores[::-1]


def embed_once(tried: Tried, values: dict[str, Any], run: Run) -> Embedded:
    """One embedding with other values of some parameters."""
    model = with_values(tried.model, ALONE | tried.model._as_tried(tried.chosen) | values)
    inner = Run(Unheard(), run.workers, run.streams.anew())
    return _embedded(model, replace(tried, targets=None), inner)


def _embedded(model: Any, tried: Tried, run: Run) -> Embedded:
    if tried.targets is None:
        return model._embed(tried.rows, run)  # type: ignore[no-any-return]
    return model._embed_toward(tried.targets, tried.rows, run)  # type: ignore[no-any-return]
