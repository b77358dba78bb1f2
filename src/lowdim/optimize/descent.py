"""The optimiser "a direction and a line search"."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..embedding.objectives.protocol import Evaluation, Objective
from ..places import State
from ..records import Choice, Floats
from .directions.spectral import SpectralDirection
from .line_search import Line, LineSearch
from .protocol import Descent, Direction, Iterate, Stepper


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

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Stepper:
        """Prepare the direction at X and evaluate there."""
        search = self.search or self.direction.usual_search
        return _Running(objective, X, self.direction.start(objective, X, n_jobs), search)

    def resume(self, objective: Objective, state: State, n_jobs: int | None) -> Stepper:
        """Prepare the direction, and go on from the state of another stepper."""
        descent = self.direction.start(objective, state["X"], n_jobs)
        descent.resume(state["descent"])
        known = Evaluation(state["value"], state["gradient"])
        settings = self.search or self.direction.usual_search
        stepper = _Running(objective, state["X"], descent, settings, state["caution"], known)
        stepper.search.resume(state["search"])
        return stepper


class _Running:
    def __init__(
        self,
        objective: Objective,
        X: Floats,
        descent: Descent,
        search: LineSearch,
        caution: float = 1.0,
        known: Evaluation | None = None,
    ) -> None:
        self._objective = objective
        self._descent = descent
        self._settings = search
        self._caution = caution
        self.search = search.start(caution * descent.first_step)
        self._X = X
        self._evaluation = objective.evaluate(X) if known is None else known
        self.first = Iterate(X, self._evaluation.value, self._evaluation.gradient, 0.0, 1)

    @property
    def choices(self) -> tuple[Choice, ...]:
        return self._descent.choices

    def step(self, *, value: bool = True) -> Iterate | None:
        """The next iterate; E is always known, since the line search needs it."""
        direction = self._descent.at(self._X, self._evaluation.gradient)
        iterate, evaluations = self._along(direction)
        if iterate is not None:
            return iterate
        # What the direction has learnt may have led it astray: once more with nothing learnt.
        self._descent = self._descent.restart(self._objective, self._X)
        self.search = self._settings.start(self._caution * self._descent.first_step)
        fresh = self._descent.at(self._X, self._evaluation.gradient)
        if np.array_equal(fresh, direction):
            return None
        return self._along(fresh, evaluations)[0]

    def state(self, *, learnt: bool = True) -> State:
        return {
            "X": self._X,
            "value": self._evaluation.value,
            "gradient": self._evaluation.gradient,
            "caution": self._caution,
            "search": self.search.state(),
            "descent": self._descent.state(learnt=learnt),
        }

    def restart(self, objective: Objective, X: Floats, *, caution: float = 1.0) -> Stepper:
        descent = self._descent.restart(objective, X)
        return _Running(objective, X, descent, self._settings, self._caution * caution)

    def _along(self, direction: Floats, spent: int = 0) -> tuple[Iterate | None, int]:
        """Search along a direction and go there; and the evaluations that it took."""
        line = Line(self._objective, self._X, self._evaluation, direction)
        found = self.search.along(line) if line.origin.slope < 0.0 else None
        spent += line.evaluations
        if found is None:
            return None, spent
        self._learn(found.X, found.evaluation)
        return Iterate(found.X, found.value, found.evaluation.gradient, found.step, spent), spent

    def _learn(self, X: Floats, evaluation: Evaluation) -> None:
        self._descent.moved(X - self._X, evaluation.gradient - self._evaluation.gradient)
        self._X, self._evaluation = X, evaluation
