"""Adam (Kingma & Ba 2015): steps by the mean of the gradient over the root of its mean square."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from ..core.places import State
from ..core.records import Choice, Floats
from ..core.run import Run
from ..objectives.protocol import Objective
from .protocol import MADE
from .schedules import STEADY, Course


@dataclass(frozen=True, slots=True)
class AdamState:
    """Where points with means of their gradients stand.

    Parameters
    ----------
    objective, course, run
        E as it is in the end, how it changes on the way, and workers; made again.
    X, value, gradient
        The points, E where it is known, and the gradient that drives the next step.
    mean, square
        Running means of the gradient and of its squares.
    caution
        Share of the usual rate.
    position
        Iteration of the course, of which the means know.
    step, evaluations
        Rate and cost of the last step.
    """

    objective: Objective = field(metadata=MADE)
    course: Course = field(metadata=MADE)
    run: Run = field(metadata=MADE)
    X: Floats
    value: float | None
    gradient: Floats
    mean: Floats
    square: Floats
    caution: float
    position: int = 0
    step: float = 0.0
    evaluations: int = 1

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Nothing is decided."""
        return ()


@dataclass(frozen=True, slots=True)
class Adam:
    """X <- X - rate m / (sqrt(v) + epsilon), m and v the unbiased means of g and g^2 (Kingma & Ba 2015, algorithm 1).

    Every coordinate moves by about the rate, whatever the scale of its gradient.

    Parameters
    ----------
    learning_rate
        The rate, in units of X.
    first, second
        Shares of the means that are kept at a step.
    epsilon
        Below this root of a mean square steps are shorter.
    """

    learning_rate: float = 1.0
    first: float = 0.9
    second: float = 0.999
    epsilon: float = 1e-7

    def init(
        self,
        objective: Objective,
        X: Floats,
        run: Run,
        *,
        course: Course = STEADY,
        before: AdamState | None = None,
        caution: float = 1.0,
    ) -> AdamState:
        """At X, with nothing known of the gradient but its value there."""
        X = np.ascontiguousarray(X)
        setting = course.at(0)
        evaluation = objective.evaluate(X)
        gradient = evaluation.gradient
        if not setting.is_last:
            gradient = setting.of(objective).evaluate(X, value=False).gradient
        return AdamState(
            objective=objective,
            course=course,
            run=run,
            X=X,
            value=evaluation.value,
            gradient=gradient,
            mean=np.zeros_like(X),
            square=np.zeros_like(X),
            caution=caution * (1.0 if before is None else before.caution),
        )

    def step(self, state: AdamState, *, value: bool = True) -> AdamState:
        """The next state, with E if it is asked for and E is what it is in the end."""
        count, g = state.position + 1, state.gradient
        setting = state.course.at(state.position)
        mean = state.mean + (1.0 - self.first) * (g - state.mean)
        square = state.square + (1.0 - self.second) * (g * g - state.square)
        rate = self.learning_rate * state.caution * setting.rate
        unbiased = rate * sqrt(1.0 - self.second**count) / (1.0 - self.first**count)
        X = state.X - unbiased * mean / (np.sqrt(square) + self.epsilon)
        following = state.course.at(count)
        evaluation = following.of(state.objective).evaluate(X, value=value and following.is_last)
        return replace(
            state,
            X=X,
            value=evaluation.value,
            gradient=evaluation.gradient,
            mean=mean,
            square=square,
            position=count,
            step=rate,
            evaluations=1,
        )

    def done(self, state: AdamState) -> bool:
        """Never: points move on."""
        return False

    def restore(self, objective: Objective, found: State, run: Run, *, course: Course = STEADY) -> AdamState:
        """The state that was kept."""
        return AdamState(objective, course, run, **found)
