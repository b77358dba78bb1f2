"""How far to go along a direction: backtracking with growth, and the strong Wolfe conditions.

What one search leaves to the next, its pace, is a value: it is handed in and out. A value or a gradient that is not
finite counts as "too far". The evaluation at the accepted point is handed on: nothing is evaluated twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ..core.records import Floats
from ..objectives.protocol import Evaluation, Objective
from .measures import inner, largest_displacement, spread

#: Step, relative to the coordinates, below which X + step p is X but for rounding.
_SMALLEST = 1e-14
#: Parts of a bracket that an interpolated step keeps away from its ends, and what it must shrink to in two rounds.
_MARGIN = 0.1
_SHRINK = 0.66
#: Least and largest extrapolation, in units of the last stretch (More & Thuente 1994, sec. 4).
_EXTEND = (1.1, 4.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """A point X + step p of a line: E there (infinite where it is not finite) and its slope along p."""

    step: float
    value: float
    slope: float
    X: Floats
    evaluation: Evaluation


class Line:
    """E along X + step p, and a count of its evaluations.

    Parameters
    ----------
    objective
        What to evaluate.
    X
        Where the line begins.
    evaluation
        E (its value known) and its gradient at X.
    direction
        p.
    """

    def __init__(self, objective: Objective, X: Floats, evaluation: Evaluation, direction: Floats) -> None:
        self.objective = objective
        self.direction = direction
        value = np.inf if evaluation.value is None else evaluation.value
        self.origin = Trial(0.0, value, inner(evaluation.gradient, direction), X, evaluation)
        self.evaluations = 0

    def at(self, step: float) -> Trial:
        """Evaluate one point of the line."""
        self.evaluations += 1
        with np.errstate(over="ignore", invalid="ignore"):
            X = self.origin.X + step * self.direction
            evaluation = self.objective.evaluate(X)
            slope = inner(evaluation.gradient, self.direction)
        value = evaluation.value
        if value is None or not (np.isfinite(value) and np.isfinite(slope)):
            return Trial(step, np.inf, np.nan, X, evaluation)
        return Trial(step, value, slope, X, evaluation)

    def limit(self, reach: float | None) -> float:
        """Largest step that moves no point by more than ``reach`` times the spread of X."""
        longest = largest_displacement(self.direction)
        extent = spread(self.origin.X)
        if reach is None or longest == 0.0 or extent == 0.0:
            return np.inf
        return reach * extent / longest

    def is_low(self, trial: Trial, c: float, noise: float) -> bool:
        """E(a) <= E(0) + c a E'(0) (Armijo); where that drowns in the ``noise`` of E, the same said by the slopes.

        The latter is E'(a) <= (2 c - 1) E'(0), which on a parabola is the former (Hager & Zhang 2005, sec. 4).
        """
        origin = self.origin
        if trial.value <= origin.value + c * trial.step * origin.slope:
            return True
        is_even = noise > 0.0 and trial.value <= origin.value + noise * abs(origin.value)
        return is_even and trial.slope <= (2.0 * c - 1.0) * origin.slope

    def is_void(self, step: float) -> bool:
        """Whether so small a step changes nothing but roundings."""
        size = float(np.abs(self.origin.X).max(initial=0.0))
        return step * float(np.abs(self.direction).max(initial=0.0)) <= _SMALLEST * size


Pace = tuple[float, float | None]
"""The step to try first, and the change of E that the last step promised to first order (None: it does not count)."""


class LineSearch(Protocol):
    """A configured line search."""

    def along(self, line: Line, pace: Pace) -> tuple[Trial | None, Pace]:
        """A point of the line where E is low enough, None where none was found; and the pace of the next search."""
        ...


@dataclass(frozen=True, slots=True)
class Backtracking:
    """E(X + a p) <= E(X) + c a g'p (Armijo): from the last accepted step, down by ``rho`` until it holds.

    The step may grow again: where the slope at the accepted point says that the minimum of the line lies beyond it, the
    next search begins at that minimum, as a parabola through both slopes puts it, but at most ``growth`` times as far.

    Parameters
    ----------
    c
        Share of the decrease that the slope promises.
    rho
        A step that is refused shrinks at least by this.
    growth
        Most that the first step of a search may be of the last accepted one; 1 never grows.
    interpolate
        Shrink to the minimum of a parabola through E, its slope and the refused E, where that is less than ``rho``
        times the step, but no more than tenfold. Without it the step shrinks by ``rho``, as in the paper.
    reach
        No step moves a point by more than this times the spread of X.
    noise
        Error of E relative to itself, such as that of an approximate repulsion. Within it slopes decide, and E may rise
        by as much.
    max_evaluations
        Evaluations until the search gives up.
    """

    c: float = 0.1
    rho: float = 0.8
    growth: float = 2.0
    interpolate: bool = True
    reach: float | None = None
    noise: float = 0.0
    max_evaluations: int = 60

    def along(self, line: Line, pace: Pace) -> tuple[Trial | None, Pace]:
        """A point of the line where E is low enough, and the pace of the next search."""
        step = min(pace[0], line.limit(self.reach))
        for tried in range(self.max_evaluations):
            if line.is_void(step):
                return None, pace
            trial = line.at(step)
            if line.is_low(trial, self.c, self.noise):
                return trial, (step if tried else self._grown(line.origin, trial), None)
            step = self._shrunk(line.origin, trial)
        return None, pace

    def _shrunk(self, origin: Trial, trial: Trial) -> float:
        step, rho = trial.step, self.rho
        if not self.interpolate or not np.isfinite(trial.value):
            return rho * step
        lowest = _lowest_of_parabola(origin, trial)
        return float(np.clip(lowest, min(0.1, rho) * step, rho * step))

    def _grown(self, origin: Trial, trial: Trial) -> float:
        """The minimum of the line by the secant of its slopes, where it lies beyond the accepted step."""
        bend = trial.slope - origin.slope
        farthest = self.growth * trial.step
        if bend <= 0.0:
            return farthest
        return float(np.clip(-origin.slope * trial.step / bend, trial.step, farthest))


def _lowest_of_parabola(origin: Trial, trial: Trial) -> float:
    """Where the parabola with E and its slope at the origin and E at the trial is lowest."""
    excess = trial.value - origin.value - origin.slope * trial.step
    return -origin.slope * (trial.step * trial.step) / (2.0 * excess)


@dataclass(frozen=True, slots=True)
class StrongWolfe:
    """E(a) <= E(0) + c1 a E'(0) and |E'(a)| <= c2 |E'(0)|, by bracketing and safeguarded cubic interpolation.

    Nocedal & Wright 2006, algorithms 3.5 and 3.6. Where the evaluations or the reach are used up, the lowest point
    that passes the first condition is taken.

    Parameters
    ----------
    c1
        Share of the decrease that the slope promises.
    c2
        Share of the slope that may be left: 0.9 for L-BFGS, 0.1 to 0.4 for conjugate gradients.
    first
        ``"one"`` tries the step 1 first, which is right for L-BFGS; ``"scaled"`` the step that promises the first-order
        change of the last one (Nocedal & Wright 2006, sec. 3.5), for directions that have no scale.
    reach
        No step moves a point by more than this times the spread of X.
    noise
        Error of E relative to itself, such as that of an approximate repulsion. Within it slopes decide, and E may rise
        by as much.
    max_evaluations
        Evaluations until the search gives up.
    """

    c1: float = 1e-4
    c2: float = 0.9
    first: Literal["one", "scaled"] = "one"
    reach: float | None = None
    noise: float = 0.0
    max_evaluations: int = 25

    def along(self, line: Line, pace: Pace) -> tuple[Trial | None, Pace]:
        """A point of the line where E is low enough, and the pace of the next search."""
        step, promise = pace
        if promise is not None and line.origin.slope < 0.0:
            step = promise / line.origin.slope
        limit = line.limit(self.reach)
        if line.is_void(min(step, limit)):
            return None, pace
        found = self._bracket(line, min(step, limit), limit)
        if found is None:
            return None, pace
        if self.first == "scaled":
            return found, (pace[0], found.step * line.origin.slope)
        return found, (1.0, promise)

    def _is_low(self, line: Line, trial: Trial, before: Trial) -> bool:
        """Whether a trial passes the first condition, and is lower than the one before."""
        slack = self.noise * abs(line.origin.value)
        is_lower = before.step == 0.0 or trial.value < before.value + slack
        return is_lower and line.is_low(trial, self.c1, self.noise)

    def _is_flat(self, line: Line, trial: Trial) -> bool:
        return abs(trial.slope) <= -self.c2 * line.origin.slope

    def _bracket(self, line: Line, step: float, limit: float) -> Trial | None:
        """Go outwards until a step passes, or a stretch of the line is known to hold one that does."""
        before = line.origin
        while line.evaluations < self.max_evaluations:
            trial = line.at(step)
            if not self._is_low(line, trial, before):
                return self._zoom(line, before, trial)
            if self._is_flat(line, trial):
                return trial
            if trial.slope >= 0.0:
                return self._zoom(line, trial, before)
            if trial.step >= limit:
                return trial
            least, most = (trial.step + factor * (trial.step - before.step) for factor in _EXTEND)
            lowest = _lowest_of_cubic(before, trial)
            step = min(limit, float(np.clip(lowest, least, most)) if lowest > trial.step else most)
            before = trial
        return before if before.step > 0.0 else None

    def _zoom(self, line: Line, low: Trial, high: Trial) -> Trial | None:
        """Shrink a bracket; ``low`` always passes the first condition, or is the origin."""
        widths = [abs(high.step - low.step)] * 2
        while line.evaluations < self.max_evaluations:
            width = high.step - low.step
            if line.is_void(abs(width)):
                break
            slow = abs(width) > _SHRINK * widths[-2]
            step = low.step + (0.5 if slow else self._share(low, high)) * width
            widths.append(abs(width))
            trial = line.at(step)
            if not self._is_low(line, trial, low):
                high = trial
                continue
            if self._is_flat(line, trial):
                return trial
            if trial.slope * width >= 0.0:
                high = low
            low = trial
        return low if low.step > 0.0 else None

    @staticmethod
    def _share(low: Trial, high: Trial) -> float:
        """Where in the bracket to go next, as a share of its width."""
        if not np.isfinite(high.value):
            return 0.5
        share = (_lowest_of_cubic(low, high) - low.step) / (high.step - low.step)
        return float(np.clip(share, _MARGIN, 1.0 - _MARGIN)) if np.isfinite(share) else 0.5


def _lowest_of_cubic(a: Trial, b: Trial) -> float:
    """Where the cubic with the values and slopes of two trials is lowest (Nocedal & Wright 2006, eq. 3.59)."""
    width = b.step - a.step
    mean = a.slope + b.slope - 3.0 * (b.value - a.value) / width
    # As a product: the square of a number too large is infinite then, and no error.
    square = mean * mean - a.slope * b.slope
    if not square >= 0.0:
        return np.nan
    root = float(np.copysign(np.sqrt(square), width))
    bottom = b.slope - a.slope + 2.0 * root
    return b.step - width * (b.slope + root - mean) / bottom if bottom else np.nan
