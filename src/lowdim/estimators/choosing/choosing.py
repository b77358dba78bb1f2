"""The part of every estimator that sees to parameters which are left open, and to what a fit will cost with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ... import validation
from ...core.messages import named
from ...core.messages import value as quoted
from ...core.records import Floats, Integers, Plan, PlannedStage, needed_bytes
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import as_shards
from ...errors import InputError
from ...methods.base import Embedded
from .criteria import check_open, choose_one
from .curve import Curve
from .planned import planned_choices
from .settled import as_fitted, closed, open_parameters, with_defaults, with_values

SIZE_ALONE, LOOKED = "a guess by the size alone", "after a look at a sample of the rows"
"""What a plan knows beside the shape of the data."""
CHECKED = 1e-9
"""Seconds of looking at a number of the data, and of copying it."""


class Choosing:
    """Part of every estimator: what is left open is chosen, and then the estimator works as if it had been given."""

    _counts_itself: ClassVar[bool] = False
    """Whether ``n_neighbors`` counts the point itself."""
    _goes_on_warm: ClassVar[bool] = False
    """Whether a fit can begin from the picture of another value."""
    _usual_perplexity: ClassVar[float] = 30.0
    _spans_columns: ClassVar[bool] = False
    """Whether there can be no more components than columns."""

    @property
    def _settled(self) -> Self:
        """A fitted estimator with what its fit has chosen: all that looks at its parameters looks at this."""
        return as_fitted(self)

    @property
    def _n_components(self) -> Any:
        return closed(self, "n_components")

    @property
    def _n_neighbors(self) -> int | None:
        return closed(self, "n_neighbors")  # type: ignore[no-any-return]

    @property
    def _perplexity(self) -> float | None:
        return closed(self, "perplexity")  # type: ignore[no-any-return]

    @property
    def _fewest_neighbors(self) -> int:
        """Other points that a neighbourhood needs at least."""
        return 2

    def _usual_neighbors(self: Any, n_points: int) -> int:
        """The number of neighbours without a choice."""
        raise AssertionError(f"{type(self).__name__} has no neighbours to choose")

    def _as_tried(self, chosen: Integers | None) -> dict[str, Any]:
        """Parameters that a fit to some of the rows needs otherwise."""
        return {}

    def _widest(self, name: str, value: Any, n_points: int) -> int:
        """Neighbours that a value of a parameter asks for."""
        return int(value) if name == "n_neighbors" else 0

    def _going_on(self, X: Floats) -> Self:
        """The same estimator, beginning from a picture; one that cannot begins anew."""
        return self

    def _weakness(self, values: Floats) -> Floats:
        """Eigenvalues as positive numbers that grow with their place, of a matrix whose largest count."""
        floor = np.finfo(np.float64).eps * np.max(values, initial=0.0)
        return np.asarray(1.0 / np.maximum(values, max(floor, 1e-300)))

    def _choose(self: Any, rows: Rows, targets: NDArray[Any] | None, run: Run) -> tuple[Any, list[Curve]]:
        """The estimator with a value for all that it leaves open, and how each was found."""
        model, curves = self, []
        for name in open_parameters(self):
            curve = run.stage(f"choose {name}", choose_for(name, model, rows, targets), kept=Curve)
            sample = "" if curve.n_rows in (0, rows.n_rows) else f", on a sample of {curve.n_rows:,} rows"
            run.chosen(name, _told(curve.chosen), f"{curve.why}; by {curve.criterion}{sample}")
            model = with_values(model, {name: curve.chosen})
            curves.append(curve)
        return model, curves

    def plan(self: Any, X: Any) -> Plan:
        """What ``fit(X)`` would do, in seconds and bytes, without doing it.

        Where there are no data yet, X may be their size: ``plan((70_000, 784))``.
        """
        self._check_parameters()
        if isinstance(X, tuple) and len(X) == 2 and all(isinstance(size, int) for size in X):
            X = rows_of_size(*X)
        if (source := as_shards(X)) is not None:
            refuse_shards(self)
            return Plan(type(self).__name__, source.shape, tuple(self._plan_shards(source)))
        rows, model = validation.view_rows(X), with_defaults(self)
        by_shape = model._plan_stages(rows)
        stages, basis = by_shape, SIZE_ALONE
        if is_there(rows):
            stages = model._look(rows, by_shape)
            basis = "" if stages is by_shape else LOOKED
        stages = [*_own_copy(self, rows), *planned_choices(self, rows), *stages]
        return Plan(type(self).__name__, rows.shape, tuple(stages), basis)

    def _every_stage(self: Any, rows: Rows) -> list[PlannedStage]:
        """The stages of a fit, with those that choose."""
        return [*planned_choices(self, rows), *with_defaults(self)._plan_stages(rows)]

    def _check_memory(self: Any, rows: Rows) -> None:
        for name in open_parameters(self):
            check_open(self, name, rows)
        self._check_stages(self._every_stage(rows))

    def _check_stages(self: Any, stages: list[PlannedStage]) -> None:
        """Stop before the work where a stage would not fit into the limit, or into what is free."""
        held, stage = needed_bytes(stages, limited=self.memory_limit is not None)
        if stage is None:
            return
        note = f" ({stage.note})" if stage.note else ""
        validation.check_memory(
            int(held),
            self.memory_limit,
            what=f"The stage '{stage.name}' of {type(self).__name__}{note}",
            instead=f"Fit a random subset of the rows and transform the others, or raise {named('memory_limit')}.",
        )


def rows_of_size(n_rows: int, n_columns: int) -> NDArray[Any]:
    """Rows that take no memory."""
    if n_rows < 2 or n_columns < 1:
        raise InputError(f"X: a size needs at least 2 rows and 1 column; got {n_rows} x {n_columns}.")
    return np.broadcast_to(0.0, (n_rows, n_columns))


def _own_copy(model: Any, rows: Rows) -> list[PlannedStage]:
    """The stage ``check``, where the model takes a copy of rows that the caller could change."""
    if not model._keeps_rows or not (size := validation.copied_bytes(rows)):
        return []
    seconds = CHECKED * rows.n_rows * rows.n_columns
    return [PlannedStage("check", seconds, size, "a copy of the data", certain=True, kept=size)]


def is_there(rows: Rows) -> bool:
    """Whether there is anything to look at: rows that only stand for a size are one number, as often as wanted."""
    return not isinstance(rows.values, np.ndarray) or any(rows.values.strides)


def refuse_shards(model: Any) -> None:
    """Raise an InputError where something is left open: rows in shards are not looked at before the fit."""
    if left := open_parameters(model):
        raise InputError(
            f"{named(left[0], type(model).__name__)} must be a number for rows in shards, which are not looked at "
            f"before the fit; got {quoted(getattr(model, left[0]))}. Fit a sample of the rows with it, and give what "
            f"was chosen: {left[0]}_ of the model."
        )


def choose_for(name: str, model: Any, rows: Rows, targets: NDArray[Any] | None) -> Any:
    """The choice of a parameter as a stage."""

    def choose(run: Run) -> Curve:
        return choose_one(name, model, rows, targets, run)

    return choose


def with_choices(embedded: Embedded, curves: list[Curve]) -> Embedded:
    """What a fit leaves, with what was chosen for it."""
    if not curves:
        return embedded
    attributes = {f"{curve.parameter}_": curve.chosen for curve in curves}
    figures = {f"{curve.parameter}_curve": curve.figures() for curve in curves}
    return replace(
        embedded, attributes=attributes | dict(embedded.attributes), figures=dict(embedded.figures) | figures
    )


def _told(value: Any) -> str:
    return "the default" if value is None else f"{value:.4g}"
