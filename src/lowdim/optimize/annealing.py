"""Momentum on a schedule: lambda rises to its value, the points glide with long memory, then settle.

What t-SNE's usual schedule does in 750 steps this does in some 270: a shorter early exaggeration that is lowered step
by step, steps four times as long and a momentum of 0.95 while the picture unfolds, and at the end steps and momentum
that fall, so that points come to rest among their neighbours. docs/experience.md has what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..embedding.objectives.protocol import Objective
from ..places import State
from ..records import Choice, Floats
from .momentum import Moving
from .protocol import Iterate, Stepper


@dataclass(frozen=True, slots=True)
class Annealing:
    """v <- momentum v - rate gain g, X <- X + v, where lambda, rate and momentum follow a schedule.

    For 3/8 of the iterations lambda is its value over ``exaggeration``; in the next 1/8 it rises to that value in equal
    steps of its logarithm, with a momentum of 0.8 in both. Then it stays, with ``momentum``. In the last 2/9 the rate
    falls to a tenth and the momentum to 0.5, both evenly.

    Parameters
    ----------
    iterations
        Length of the schedule; steps beyond it are like its last.
    exaggeration
        How much stronger the attraction is at the start than at the end.
    rate
        v changes by rate gain g / (mean degree of W+).
    momentum
        Share of v that is kept while the picture unfolds.
    max_displacement
        No point moves farther in one step; the width of the similarities is 1.
    """

    iterations: int = 270
    exaggeration: float = 12.0
    rate: float = 1.0
    momentum: float = 0.95
    max_displacement: float = 5.0

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Stepper:
        """Evaluate at X."""
        return _Running(self, objective, X, n_jobs)

    def resume(self, objective: Objective, state: State, n_jobs: int | None) -> Stepper:
        """Go on from the state of another stepper."""
        return _Running(self, objective, state["X"], n_jobs, state["caution"], state)

    def at(self, iteration: int) -> tuple[float, float, float]:
        """Share of lambda, of the rate, and the momentum at an iteration, the first being 0."""
        hold, rise, settle = (
            3 * self.iterations // 8,
            max(1, self.iterations // 8),
            2 * self.iterations // 9,
        )
        if iteration < hold + rise:
            risen = max(0, iteration - hold) / max(1, rise - 1)
            return float(self.exaggeration ** (risen - 1.0)), 1.0, min(0.8, self.momentum)
        if iteration < self.iterations - settle:
            return 1.0, 1.0, self.momentum
        done = min(1.0, (iteration - self.iterations + settle) / max(1, settle - 1))
        return 1.0, 1.0 - 0.9 * done, self.momentum + (min(0.5, self.momentum) - self.momentum) * done


class _Running:
    choices: tuple[Choice, ...] = ()

    def __init__(
        self,
        settings: Annealing,
        objective: Objective,
        X: Floats,
        n_jobs: int | None,
        caution: float = 1.0,
        state: State | None = None,
    ) -> None:
        self._settings = settings
        self._objective = objective
        self._n_jobs = n_jobs
        self._caution = caution
        self._rate = caution * settings.rate / float(objective.degrees.mean())
        if state is not None:
            self._points = Moving(X, n_jobs, state["gains"], state["velocity"])
            self._iteration, self._gradient = state["iteration"], state["gradient"]
            self.first = Iterate(X, None, self._gradient, 0.0, 0)
            return
        self._points = Moving(X, n_jobs)
        self._iteration = 0
        share, _, _ = settings.at(0)
        evaluation = objective.evaluate(self._points.X)
        self.first = Iterate(self._points.X, evaluation.value, evaluation.gradient, 0.0, 1)
        self._gradient = evaluation.gradient
        if share != 1.0:
            self._gradient = self._evaluate(share, value=False)[1]

    def step(self, *, value: bool = True) -> Iterate | None:
        """The next iterate; E only at the lambda that is wanted in the end."""
        settings = self._settings
        _, slower, momentum = settings.at(self._iteration)
        rate = self._rate * slower
        X = self._points.advance(self._gradient, rate, momentum, settings.max_displacement)
        self._iteration += 1
        share = settings.at(self._iteration)[0]
        energy, self._gradient = self._evaluate(share, value=value and share == 1.0)
        return Iterate(X, energy, self._gradient, rate, 1)

    def state(self, *, learnt: bool = True) -> State:
        own = {"gradient": self._gradient, "iteration": self._iteration, "caution": self._caution}
        return {**self._points.state(), **own}

    def restart(self, objective: Objective, X: Floats, *, caution: float = 1.0) -> Stepper:
        """From the start of the schedule."""
        return _Running(self._settings, objective, X, self._n_jobs, self._caution * caution)

    def _evaluate(self, share: float, *, value: bool) -> tuple[float | None, Floats]:
        objective = self._objective
        if share != 1.0:
            objective = objective.with_lambda(share * objective.lam)
        evaluation = objective.evaluate(self._points.X, value=value)
        return evaluation.value, np.ascontiguousarray(evaluation.gradient)
