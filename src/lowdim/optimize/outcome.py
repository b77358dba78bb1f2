"""When an optimisation ends, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..core.records import Floats, Integers

Reason = Literal[
    "converged",
    "stalled",
    "max_iterations",
    "max_seconds",
    "stopped by callback",
    "interrupted",
    "not finite",
]
"""Why it ended. ``"stalled"``: no step lowered E any more, which at rounding level is convergence too."""
CUT: tuple[Reason, ...] = ("interrupted", "stopped by callback")
"""Ends that somebody made: another run can go on from there."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """When to stop.

    It has converged where the decrease of E per iteration is at most ``tolerance`` times |E|. That does not depend on
    the scales of X, of the weights or of lambda. It does not count while the picture grows by more than 1 % an
    iteration: near X = 0, which is stationary, E is flat however fast X grows.

    Parameters
    ----------
    tolerance
        Relative decrease of E per iteration; 0 goes on until nothing decreases.
    max_iterations
        Iterations at most.
    max_seconds
        Seconds at most; None: no bound.
    value_every
        An optimiser for which E is not free is asked for it every so many iterations, and at the last one.
    window
        Iterations over which the decrease is measured at least.
    is_budget
        ``max_iterations`` is as much as is wanted: to use it up is no reason for a warning.
    max_recoveries
        How often to go on from the best X with half the step where E or its gradient is not finite.
    """

    tolerance: float = 1e-6
    max_iterations: int = 1000
    max_seconds: float | None = None
    value_every: int = 10
    window: int = 1
    is_budget: bool = False
    max_recoveries: int = 5


Row = tuple[int, float, float, int, float]
"""Iteration, seconds, E, evaluations and lambda where E was known."""


@dataclass(frozen=True, slots=True)
class History:
    """E wherever it was known: at which iteration, after how many seconds and evaluations, at which lambda."""

    iterations: Integers
    seconds: Floats
    values: Floats
    evaluations: Integers
    lam: Floats

    @classmethod
    def of(cls, rows: Iterable[Row]) -> History:
        """From rows (iteration, seconds, value, evaluations, lambda)."""
        iterations, seconds, values, evaluations, lam = (
            np.array(list(rows), np.float64).reshape(-1, 5).T.copy()
        )
        return cls(iterations.astype(np.int64), seconds, values, evaluations.astype(np.int64), lam)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The best X, E and |gradient| there, what it took, and why it ended.

    Of a schedule of several phases, ``iterations``, ``evaluations``, ``seconds``, ``history`` and ``frames`` (iteration
    and X, where they were asked for) are those of all of them, the rest is of the last one, and ``phases`` holds each.
    """

    X: Floats
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    seconds: float
    reason: Reason
    history: History
    phases: tuple[Outcome, ...] = field(default=(), repr=False)
    frames: tuple[tuple[int, Floats], ...] = field(default=(), repr=False)

    @property
    def is_cut(self) -> bool:
        """Whether nothing should follow: somebody ended it, or nothing finite was left to go on with."""
        return self.reason in (*CUT, "not finite")

    @classmethod
    def joined(
        cls, outcomes: Sequence[Outcome], planned: int, frames: tuple[tuple[int, Floats], ...] = ()
    ) -> Outcome:
        """One outcome for all phases of ``planned`` ones: totals, and the end of the last one."""
        iterations = evaluations = 0
        seconds = 0.0
        rows: list[Row] = []
        for outcome in outcomes:
            own = outcome.history
            columns = (own.iterations, own.seconds, own.values, own.evaluations, own.lam)
            table = zip(*(column.tolist() for column in columns), strict=True)
            rows += [
                (int(i) + iterations, s + seconds, v, int(e) + evaluations, lam) for i, s, v, e, lam in table
            ]
            iterations += outcome.iterations
            evaluations += outcome.evaluations
            seconds += outcome.seconds
        is_out_of_time = len(outcomes) < planned and not outcomes[-1].is_cut
        return replace(
            outcomes[-1],
            iterations=iterations,
            evaluations=evaluations,
            seconds=seconds,
            reason="max_seconds" if is_out_of_time else outcomes[-1].reason,
            history=History.of(rows),
            phases=tuple(outcomes),
            frames=frames,
        )
