"""Momentum with a gain for every coordinate of every point: the optimiser of van der Maaten & Hinton (2008)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from .. import kernels
from ..core.messages import named, setting
from ..core.parallel import light_rows
from ..core.places import State
from ..core.records import Choice, Floats
from ..core.run import Run
from ..errors import InputError
from ..objectives.protocol import Objective
from .directions.common import usual_rate
from .protocol import MADE
from .schedules import STEADY, Course


@dataclass(frozen=True, slots=True)
class MomentumState:
    """Where points with velocities stand.

    Parameters
    ----------
    objective, course, run
        E at the lambda that is wanted, how lambda, rate and momentum change, and workers; made again.
    X, value, gradient
        The points, E where it is known, and the gradient there.
    driving
        The gradient at the lambda of the course, which drives the next step.
    velocity, gains
        Of each coordinate of each point.
    rate, caution
        What multiplies gain times gradient, and which share of the usual rate that is.
    position
        Iteration of the course.
    step, evaluations
        Rate and cost of the last step.
    """

    objective: Objective = field(metadata=MADE)
    course: Course = field(metadata=MADE)
    run: Run = field(metadata=MADE)
    X: Floats
    value: float | None
    gradient: Floats
    driving: Floats
    velocity: Floats
    gains: Floats
    rate: float
    caution: float
    position: int = 0
    step: float = 0.0
    evaluations: int = 1

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Nothing is decided."""
        return ()


@dataclass(frozen=True, slots=True)
class Momentum:
    """v <- momentum v - rate gain g, X <- X + v, with the gains of Jacobs (1988).

    A gain grows by 0.2 where the gradient points against v, so that steps keep their way, and shrinks to 0.8 of
    itself where it does not, never below 0.01 (van der Maaten & Hinton 2008, sec. 3.4). E need not fall at every
    step, and is computed only where it is asked for, at the lambda that is wanted in the end. X is kept centred.

    Parameters
    ----------
    learning_rate
        Rate r of the form that t-SNE programs use, which take the exaggeration 1 / lambda into the attraction and
        leave the 4 of the gradient out: v changes by r gain g / (4 lambda). ``"auto"`` is lambda / (mean degree of W+),
        so that v changes by gain g / (4 mean degree) whatever the scale of the weights; for weights that sum to 1 it
        is N / exaggeration (Belkina et al. 2019; Linderman & Steinerberger 2019). It is less where the repulsion is
        stiffer than the attraction, as it can be for EE: v changes by no more than 2 gain g / (mean diagonal of the
        Hessian at the start).
    momentum
        Share of v that is kept.
    gains
        Whether gains change; else all are 1.
    max_displacement
        No point moves farther in one step. The unit is that of X, whose scale the similarities set: their width is 1.
        None: no bound.
    """

    learning_rate: float | Literal["auto"] = "auto"
    momentum: float = 0.8
    gains: bool = True
    max_displacement: float | None = 5.0

    def init(
        self,
        objective: Objective,
        X: Floats,
        run: Run,
        *,
        course: Course = STEADY,
        before: MomentumState | None = None,
        caution: float = 1.0,
        value: bool = True,
    ) -> MomentumState:
        """At rest at X. The gains of a state before stay, unless its steps were too long or a course begins anew.

        ``value`` asks for E, which nothing but a report needs.
        """
        X = np.ascontiguousarray(X)
        keeps_gains = before is not None and caution == 1.0 and course == STEADY
        gains = before.gains if before is not None and keeps_gains else np.ones_like(X)
        caution *= 1.0 if before is None else before.caution
        rate = (
            self.rate(objective, X) if course.rate is None else course.rate / float(objective.degrees.mean())
        )
        evaluation = objective.evaluate(X, value=value)
        driving = evaluation.gradient
        first = course.at(0)
        if not first.is_last:
            driving = first.of(objective).evaluate(X, value=False).gradient
        return MomentumState(
            objective=objective,
            course=course,
            run=run,
            X=X,
            value=evaluation.value,
            gradient=evaluation.gradient,
            driving=driving,
            velocity=np.zeros_like(X),
            gains=gains,
            rate=caution * rate,
            caution=caution,
        )

    def step(self, state: MomentumState, *, value: bool = True) -> MomentumState:
        """The next state, with E if it is asked for and lambda is the one that is wanted."""
        return self.evaluated(self.moved(state), value=value)

    def moved(self, state: MomentumState) -> MomentumState:
        """The first half of a step: where the points go. The gradient is still the one that drove them there."""
        setting = state.course.at(state.position)
        momentum = self.momentum if setting.momentum is None else setting.momentum
        rate = state.rate * setting.rate
        X, velocity, gains = self._advance(state, rate, momentum, setting.most)
        return replace(
            state, X=X, value=None, velocity=velocity, gains=gains, position=state.position + 1, step=rate
        )

    def evaluated(self, state: MomentumState, *, value: bool = True) -> MomentumState:
        """The second half: the gradient where the points are now, which costs nearly all of the step."""
        setting = state.course.at(state.position)
        evaluation = setting.of(state.objective).evaluate(state.X, value=value and setting.is_last)
        return replace(
            state,
            value=evaluation.value,
            gradient=evaluation.gradient,
            driving=evaluation.gradient,
            evaluations=1,
        )

    def done(self, state: MomentumState) -> bool:
        """Never: points move on."""
        return False

    def restore(
        self, objective: Objective, found: State, run: Run, *, course: Course = STEADY
    ) -> MomentumState:
        """The state that was kept."""
        return MomentumState(objective, course, run, **found)

    def rate(self, objective: Objective, X: Floats) -> float:
        """What multiplies gain times gradient, for a start at X."""
        if self.learning_rate == "auto":
            usual, stiffness = usual_rate(objective), float(objective.diagonal(X).mean())
            return usual if usual * stiffness <= 2.0 else 2.0 / stiffness
        if objective.lam == 0.0:
            raise InputError(
                f"{named('learning_rate')} counts in units of the repulsion, and lambda is 0: use "
                f"{setting('learning_rate', 'auto')}."
            )
        return self.learning_rate / (4.0 * objective.lam)

    def _advance(
        self, state: MomentumState, rate: float, momentum: float, most: float
    ) -> tuple[Floats, Floats, Floats]:
        """Places, velocities and gains after one step, in arrays of their own."""
        X, gradient = state.X, np.ascontiguousarray(state.driving)
        moved, velocity, gains = np.empty_like(X), np.empty_like(X), np.empty_like(X)
        centre = kernels.embedding.momentum.centre_of(X)
        before, out = (state.velocity, state.gains), (moved, velocity, gains)
        if self.max_displacement is not None:
            most = min(most, self.max_displacement)

        def work(rows: slice) -> None:
            kernels.embedding.momentum.advance(
                X, gradient, before, centre, rate, momentum, most, self.gains, out, rows.start, rows.stop
            )

        state.run.map(work, X.shape[0], block_rows=light_rows(X.shape[0], 10.0))
        return moved, velocity, gains
