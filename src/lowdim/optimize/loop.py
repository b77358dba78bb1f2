"""The one loop: it owns stopping, history, callbacks, the time budget, interruption and recovery."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..embedding.objectives.protocol import Objective
from ..errors import ConvergenceError, ConvergenceWarning, InterruptedWarning, Stop
from ..events import Events
from ..messages import setting
from ..places import State
from ..records import Floats
from .measures import inner, spread
from .outcome import CUT, History, Outcome, Reason, Stopping
from .protocol import Iterate, Optimizer, Stepper

#: Growth of the picture per iteration above which a small decrease of E does not count as convergence.
_GROWING = 1.01
#: |gradient| |X| / |E| above which a line search that finds nothing lower is a failure, not the end.
_STEEP = 1e-2
_CAUTION = 0.5


def minimise(
    objective: Objective,
    X: Floats,
    optimizer: Optimizer,
    stopping: Stopping | None = None,
    *,
    events: Events | None = None,
    n_jobs: int | None = None,
) -> Outcome:
    """Minimise E from X.

    An ``iteration`` event tells of each iteration: ``iteration``, ``value`` (None where E was not computed), ``step``,
    ``gradient_norm``, ``embedding``, ``lam``, and ``total`` where the number of iterations is a budget, else None. A
    listener may raise `lowdim.errors.Stop`; that, an interrupt and the
    time budget keep the best X so far. Not to converge within ``max_iterations`` is a ConvergenceWarning unless they
    are a budget; an E that is not finite however short the steps is one too, or a ConvergenceError where no step at
    all was possible.

    Parameters
    ----------
    objective
        E, at its lambda.
    X
        Where to start; not 0, where every gradient is 0.
    optimizer
        The optimiser.
    stopping
        When to stop; None: the defaults.
    events
        Told of iterations, choices and warnings.
    n_jobs
        Threads; the result does not depend on them.
    """
    stopping, events = stopping or Stopping(), events or Events()
    outcome = Loop(objective, X, stopping, events).run(lambda: optimizer.start(objective, X, n_jobs))
    tell(outcome, stopping, events)
    return outcome


@dataclass(frozen=True, slots=True)
class _Known:
    """An X at which E is known."""

    iteration: int
    X: Floats
    value: float
    norm: float
    extent: float


class Beside(Protocol):
    """What listens to the iterations and is kept with the state of the optimiser."""

    def state(self) -> State:
        """What it has so far."""
        ...

    def resume(self, state: State) -> None:
        """Go on from a state."""
        ...


class Loop:
    """One run of an optimiser at one lambda.

    Parameters
    ----------
    objective, X, stopping, events
        As in `minimise`.
    before
        Iterations of the phases before, for the events.
    beside
        Kept with the state of the optimiser where that is kept.
    """

    def __init__(
        self,
        objective: Objective,
        X: Floats,
        stopping: Stopping,
        events: Events,
        before: int = 0,
        beside: Beside | None = None,
    ) -> None:
        self._objective = objective
        self._X = X
        self._stopping = stopping
        self._events = events
        self._before = before
        self._begun = time.perf_counter()
        self._iteration = 0
        self._evaluations = 0
        self._recoveries = 0
        self._best: _Known | None = None
        self._latest: tuple[Floats, float | None] | None = None
        self._recent: list[tuple[int, float, float]] = []
        self._rows: list[tuple[int, float, float, int, float]] = []
        self._beside = beside
        self._place = events.keeper.inside("loop")
        self._noted: Callable[[], State] | None = None
        #: The optimiser as it stands, to be started again at another lambda.
        self.stepper: Stepper | None = None

    def run(self, begin: Callable[[], Stepper], resume: Callable[[State], Stepper] | None = None) -> Outcome:
        """Run until something ends it, from the start or, by ``resume``, from where another run was cut."""
        try:
            found = None if resume is None else self._place.find()
            if resume is None or found is None:
                self._open(begin())
            else:
                self._go_on(found, resume(found["stepper"]))
            reason = self._iterate()
        except KeyboardInterrupt:
            reason = "interrupted"
        except Stop:
            reason = "stopped by callback"
        if reason in CUT:
            self._place.mark_unfinished()
            if self._noted is not None:
                self._place.save_progress(self._noted, now=True)
        self._judge_latest()
        best = self._best
        return Outcome(
            X=self._X if best is None else best.X,
            value=np.nan if best is None else best.value,
            gradient_norm=np.nan if best is None else best.norm,
            iterations=self._iteration,
            evaluations=self._evaluations,
            seconds=time.perf_counter() - self._begun,
            reason=reason,
            history=History.of(self._rows),
        )

    def _open(self, stepper: Stepper) -> None:
        """Take the optimiser at its start."""
        self._adopt(stepper)
        if not self._take(stepper.first):
            raise ConvergenceError(
                "E or its gradient is not finite at the start. Start from smaller coordinates, and check that the "
                "weights and lambda are finite."
            )

    def _adopt(self, stepper: Stepper) -> None:
        self.stepper = stepper
        for choice in stepper.choices:
            self._events.chosen(choice.what, choice.choice, choice.why)

    def _note(self) -> None:
        """Keep in mind where the run stands between two steps: within one an interrupt finds nothing whole."""
        if self._place.is_active and self.stepper is not None:
            best, count = self._best, len(self._rows)
            state = {
                "iteration": self._iteration,
                "evaluations": self._evaluations,
                "recoveries": self._recoveries,
                "seconds": self._seconds(),
                "best": None
                if best is None
                else (best.iteration, best.X, best.value, best.norm, best.extent),
                "latest": self._latest,
                "recent": list(self._recent),
                "stepper": self.stepper.state(),
                "objective": self._objective.state(),
                "beside": None if self._beside is None else self._beside.state(),
            }
            # Rows are only ever added, so that they are written out when it comes to that.
            self._noted = lambda: state | {"rows": np.array(self._rows[:count], np.float64).reshape(-1, 5)}
            self._place.save_progress(self._noted)

    def _go_on(self, state: State, stepper: Stepper) -> None:
        """Take up the state of another run."""
        self._adopt(stepper)
        self._objective.resume(state["objective"])
        if self._beside is not None:
            self._beside.resume(state["beside"])
        self._iteration, self._evaluations = state["iteration"], state["evaluations"]
        self._recoveries, self._begun = state["recoveries"], time.perf_counter() - state["seconds"]
        self._best = None if state["best"] is None else _Known(*state["best"])
        self._latest, self._recent = state["latest"], state["recent"]
        self._rows = [(int(i), s, value, int(e), lam) for i, s, value, e, lam in state["rows"].tolist()]

    def _iterate(self) -> Reason:
        stopping = self._stopping
        while self.stepper is not None and self._iteration < stopping.max_iterations:
            self._iteration += 1
            due = self._iteration % stopping.value_every == 0 or self._iteration == stopping.max_iterations
            iterate = self.stepper.step(value=due)
            if iterate is None:
                self._iteration -= 1
                return "stalled"
            if not self._take(iterate):
                if not self._recover():
                    return "not finite"
            elif iterate.value is not None and self._has_settled():
                return "converged"
            if stopping.max_seconds is not None and self._seconds() >= stopping.max_seconds:
                return "max_seconds"
            self._note()
        return "max_iterations"

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun

    def _take(self, iterate: Iterate) -> bool:
        """Count an iterate, keep it where it is the best, and tell of it; False where it is not finite."""
        self._evaluations += iterate.evaluations
        with np.errstate(over="ignore", invalid="ignore"):
            norm = float(np.sqrt(inner(iterate.gradient, iterate.gradient)))
        value = iterate.value
        if not np.isfinite(norm) or not (value is None or np.isfinite(value)):
            return False
        if value is not None:
            known = _Known(self._iteration, iterate.X, value, norm, spread(iterate.X))
            self._recent.append((known.iteration, value, known.extent))
            if self._best is None or value < self._best.value:
                self._best = known
            row = (self._iteration, self._seconds(), value, self._evaluations, self._objective.lam)
            self._rows.append(row)
        self._latest = iterate.X, value
        if self._iteration:
            self._tell(iterate, norm)
        return True

    def _judge_latest(self) -> None:
        """Compute E where the run was cut, if it was not: a schedule on its way has none, and may be far ahead."""
        best = self._best
        X, value = self._latest or (self._X, None)
        if self._latest is None or best is None or value is not None:
            return
        evaluation = self._objective.evaluate(X)
        self._evaluations += 1
        if evaluation.value is not None and evaluation.value < best.value:
            norm = float(np.sqrt(inner(evaluation.gradient, evaluation.gradient)))
            self._best = _Known(self._iteration, X, evaluation.value, norm, spread(X))

    def _tell(self, iterate: Iterate, norm: float) -> None:
        iteration = self._before + self._iteration
        shown = "" if iterate.value is None else f"E {iterate.value:.6g}, "
        self._events.emit(
            "iteration",
            f"iteration {iteration}: {shown}gradient {norm:.2g}, step {iterate.step:.2g}",
            iteration=iteration,
            value=iterate.value,
            step=iterate.step,
            gradient_norm=norm,
            embedding=iterate.X,
            lam=self._objective.lam,
            total=self._before + self._stopping.max_iterations if self._stopping.is_budget else None,
        )

    def _has_settled(self) -> bool:
        """Whether E has stopped falling, over the window, and the picture growing."""
        now, value, extent = self._recent[-1]
        while len(self._recent) > 2 and self._recent[1][0] <= now - self._stopping.window:
            self._recent.pop(0)
        then, earlier, extent_then = self._recent[0]
        count = now - then
        if count < self._stopping.window or count == 0:
            return False
        scale = max(abs(value), abs(earlier))
        # The magnitude: with momentum E may rise, and where it rises it has not converged.
        is_flat = abs(earlier - value) <= self._stopping.tolerance * scale * count
        return is_flat and extent <= extent_then * _GROWING**count

    def _recover(self) -> bool:
        """Go back to the best X with shorter steps; False where that has been done often enough."""
        best, stepper = self._best, self.stepper
        if best is None or stepper is None:
            return False
        if self._recoveries >= self._stopping.max_recoveries:
            if best.iteration == 0:
                raise ConvergenceError(
                    "E or its gradient is not finite soon after the start, however short the steps "
                    f"({self._recoveries} times halved). Start from smaller coordinates, lower lambda or the "
                    f"learning rate, or use {setting('repulsion', 'exact')} to see whether the approximation is the "
                    "cause."
                )
            return False
        self._recoveries += 1
        self.stepper = stepper.restart(self._objective, best.X, caution=_CAUTION)
        self._evaluations += self.stepper.first.evaluations
        self._recent = [(best.iteration, best.value, best.extent)]
        return True


def tell(outcome: Outcome, stopping: Stopping, events: Events) -> None:
    """Warn of an end that the user should know of."""
    if outcome.reason == "interrupted":
        events.warned(
            f"Interrupted after {outcome.iterations} iterations: the best embedding so far is kept.",
            InterruptedWarning,
        )
    elif outcome.reason == "max_iterations" and not stopping.is_budget:
        events.warned(
            f"E still falls by {_last_decrease(outcome.history):.1e} of itself an iteration after "
            f"{outcome.iterations} iterations, above {setting('tolerance', stopping.tolerance)}. Raise "
            "max_iterations or the tolerance, or use another optimizer.",
            ConvergenceWarning,
        )
    elif outcome.reason == "not finite":
        events.warned(
            f"E or its gradient was not finite again and again after {outcome.iterations} iterations, with steps "
            f"halved {stopping.max_recoveries} times: the best embedding before is kept. Lower the learning rate, or "
            "use an optimizer with a line search.",
            ConvergenceWarning,
        )
    elif outcome.reason == "stalled" and _is_steep(outcome):
        events.warned(
            f"No step lowers E after {outcome.iterations} iterations although its gradient is not small: E and its "
            f"gradient do not agree. Make the repulsion more accurate, or use {setting('optimizer', 'momentum')}.",
            ConvergenceWarning,
        )


def _last_decrease(history: History) -> float:
    """Relative decrease of E per iteration at the end."""
    if history.values.size < 2:
        return np.nan
    count = max(1, int(history.iterations[-1] - history.iterations[-2]))
    then, now = history.values[-2], history.values[-1]
    return float((then - now) / (count * max(abs(then), abs(now), np.finfo(float).tiny)))


def _is_steep(outcome: Outcome) -> bool:
    """Whether E should fall: where it is 0 throughout, as of two points, its gradient is rounding."""
    size = spread(outcome.X) * np.sqrt(outcome.X.shape[0])
    return bool(outcome.gradient_norm * size > max(_STEEP * abs(outcome.value), 1e-10))
