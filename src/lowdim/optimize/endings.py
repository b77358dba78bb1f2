"""What a user is told of how an optimisation ended."""

from __future__ import annotations

import numpy as np

from ..core.messages import named, setting
from ..core.run import Run
from ..errors import ConvergenceWarning, InterruptedWarning
from .measures import spread
from .outcome import History, Outcome, Stopping
from .schedules import Schedule

#: |gradient| |X| / |E| above which a line search that finds nothing lower is a failure, not the end.
_STEEP = 1e-2


def tell_of_end(outcome: Outcome, schedule: Schedule, run: Run) -> None:
    """One warning for all phases that ended early, and the last one's own."""
    last = len(outcome.phases) - 1
    early = sum(
        before.reason == "max_iterations" and not phase.stopping.is_budget
        for before, phase in zip(outcome.phases[:-1], schedule.phases, strict=False)
    )
    if early:
        run.warned(
            f"{early} of the {last} phases before the last one did not converge within max_iterations: later ones may "
            "follow another minimum. Raise max_iterations or the tolerance.",
            ConvergenceWarning,
        )
    _tell_of_last(outcome.phases[-1], schedule.phases[last].stopping, outcome.iterations, run)


def _tell_of_last(outcome: Outcome, stopping: Stopping, iterations: int, run: Run) -> None:
    if outcome.reason == "interrupted":
        run.warned(
            f"Interrupted after {iterations} iterations: the best embedding so far is kept.",
            InterruptedWarning,
        )
    elif outcome.reason == "max_iterations" and not stopping.is_budget:
        run.warned(
            f"E still falls by {_last_decrease(outcome.history):.1e} of itself an iteration after "
            f"{outcome.iterations} iterations, above {setting('tolerance', stopping.tolerance)}. Raise "
            f"{named('max_iter')} or {named('tolerance')}, or use another optimizer.",
            ConvergenceWarning,
        )
    elif outcome.reason == "not finite":
        run.warned(
            f"E or its gradient was not finite again and again after {outcome.iterations} iterations, with steps "
            f"halved {stopping.max_recoveries} times: the best embedding before is kept. Lower the learning rate, or "
            "use an optimizer with a line search.",
            ConvergenceWarning,
        )
    elif outcome.reason == "stalled" and _is_steep(outcome):
        run.warned(
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
