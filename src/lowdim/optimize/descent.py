"""The optimiser "a direction and a line search"."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..core.places import State
from ..core.records import Choice, Floats
from ..core.run import Run
from ..errors import InputError
from ..objectives.protocol import Evaluation, Objective
from .directions.spectral import SpectralDirection
from .line_search import Line, LineSearch, Pace
from .protocol import MADE, Direction, Learnt, Prepared
from .schedules import STEADY, Course


@dataclass(frozen=True, slots=True)
class DescentState:
    """Where a descent stands: what the next direction and the next line search depend on.

    Parameters
    ----------
    objective, prepared
        E and the direction that is ready for it; made again.
    X, value, gradient
        The points, E and its gradient there.
    pace
        What the last line search leaves to the next.
    learnt
        What the direction has learnt.
    form
        Form of the direction, so that the same is made again.
    caution
        Share of the usual first step.
    step, evaluations
        Length and cost of the last step.
    is_stalled
        Whether no step lowers E any more.
    """

    objective: Objective = field(metadata=MADE)
    prepared: Prepared = field(metadata=MADE)
    X: Floats
    value: float | None
    gradient: Floats
    pace: Pace
    learnt: Learnt
    form: str
    caution: float
    step: float = 0.0
    evaluations: int = 1
    is_stalled: bool = False

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What was decided on the way to the start."""
        return self.prepared.choices


@dataclass(frozen=True, slots=True)
class DirectedDescent:
    """X <- X + a p: p from a direction, a from a line search. E falls at every step.

    Parameters
    ----------
    direction
        Where to go.
    search
        How far; None takes the search that suits the direction.
    """

    direction: Direction = field(default_factory=SpectralDirection)
    search: LineSearch | None = None

    def init(
        self,
        objective: Objective,
        X: Floats,
        run: Run,
        *,
        course: Course = STEADY,
        before: DescentState | None = None,
        caution: float = 1.0,
    ) -> DescentState:
        """Prepare the direction and evaluate at X."""
        if course != STEADY:
            raise InputError(
                "A course of lambda, rate and momentum needs the optimizer Momentum; got "
                f"{type(self.direction).__name__} with a line search. Use a path of lambda instead."
            )
        held = None if before is None else before.prepared
        prepared = self.direction.prepare(objective, run, before=held)
        caution *= 1.0 if before is None else before.caution
        evaluation = objective.evaluate(X)
        pace = (caution * prepared.first_step, None)
        return DescentState(
            objective, prepared, X, evaluation.value, evaluation.gradient, pace, None, prepared.form, caution
        )

    def step(self, state: DescentState, *, value: bool = True) -> DescentState:
        """The next state; E is always known, since the line search needs it."""
        direction, learnt = state.prepared.at(state.X, state.gradient, state.learnt)
        following, evaluations = self._along(state, direction, learnt, state.pace)
        if following is not None:
            return following
        # What the direction has learnt may have led it astray: once more with nothing learnt.
        pace = (state.caution * state.prepared.first_step, None)
        fresh, learnt = state.prepared.at(state.X, state.gradient)
        if not np.array_equal(fresh, direction):
            following, _ = self._along(state, fresh, learnt, pace, evaluations)
        return replace(state, is_stalled=True) if following is None else following

    def done(self, state: DescentState) -> bool:
        """Whether no step lowers E any more."""
        return state.is_stalled

    def restore(
        self, objective: Objective, found: State, run: Run, *, course: Course = STEADY
    ) -> DescentState:
        """The state that was kept, with the direction prepared again in the form that it had."""
        return DescentState(objective, self.direction.prepare(objective, run, form=found["form"]), **found)

    def _along(
        self, state: DescentState, direction: Floats, learnt: Learnt, pace: Pace, spent: int = 0
    ) -> tuple[DescentState | None, int]:
        """Search along a direction and go there; and the evaluations that it took."""
        line = Line(state.objective, state.X, Evaluation(state.value, state.gradient), direction)
        search = self.search or self.direction.usual_search
        found, pace = search.along(line, pace) if line.origin.slope < 0.0 else (None, pace)
        spent += line.evaluations
        if found is None:
            return None, spent
        gradient = found.evaluation.gradient
        learnt = state.prepared.moved(learnt, state.X, found.X - state.X, gradient - state.gradient)
        following = replace(
            state,
            X=found.X,
            value=found.value,
            gradient=gradient,
            pace=pace,
            learnt=learnt,
            step=found.step,
            evaluations=spent,
        )
        return following, spent
