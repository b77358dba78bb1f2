"""What an optimiser is: ``init`` makes a state, ``step`` the next one from it, ``done`` says whether there is none.

A state is a value: no later step changes it. It holds numbers and arrays, which `kept` gives, and things that can be
made again from these and the objective (factors, the objective itself), which are marked `MADE`. So to resume is to
store the state, to be interrupted is to be left with the last one, and to restart is ``init`` with what still holds of
one before.

A direction with a line search is one kind of optimiser, momentum another; the loop sees only states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol, TypeVar

from ..core.places import State
from ..core.records import Choice, Floats
from ..core.run import Run
from ..objectives.protocol import Objective
from .line_search import LineSearch
from .schedules import STEADY, Course

MADE: Mapping[str, bool] = {"made": True}
"""Metadata of the fields of a state that are made again, not kept."""
Learnt = Any
"""What a direction has learnt from its steps: None, or tuples of arrays and numbers, which can be kept as they are."""


class Standing(Protocol):
    """Where an optimiser stands: X, E (None where it was not computed), its gradient, and what the last step cost."""

    @property
    def X(self) -> Floats:
        """The points."""
        ...

    @property
    def value(self) -> float | None:
        """E, where it is known."""
        ...

    @property
    def gradient(self) -> Floats:
        """Gradient at X."""
        ...

    @property
    def step(self) -> float:
        """Length of the last step, as the optimiser counts it."""
        ...

    @property
    def evaluations(self) -> int:
        """Evaluations that the last step took."""
        ...

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What was decided on the way to the start, for the report."""
        ...


S = TypeVar("S", bound=Standing)


class Optimizer(Protocol[S]):
    """A configured optimiser: what the parameter ``optimizer`` of an estimator holds."""

    def init(
        self,
        objective: Objective,
        X: Floats,
        run: Run,
        *,
        course: Course = STEADY,
        before: S | None = None,
        caution: float = 1.0,
    ) -> S:
        """The state at X, evaluated, its value included.

        Parameters
        ----------
        objective
            E at the lambda that is wanted.
        X
            Where to start.
        run
            Workers.
        course
            How lambda, rate and momentum change from step to step.
        before
            A state at the same attractive weights, whose factors still hold.
        caution
            Below 1, steps are shorter than those of the state ``before`` by so much.
        """
        ...

    def step(self, state: S, *, value: bool = True) -> S:
        """The next state. ``value`` asks for E where it is not free."""
        ...

    def done(self, state: S) -> bool:
        """Whether no step lowers E any more."""
        ...

    def restore(self, objective: Objective, found: State, run: Run, *, course: Course = STEADY) -> S:
        """The state whose `kept` fields were ``found``, with what can be made again."""
        ...


def kept(state: Any) -> State:
    """The fields of a state that are kept."""
    return {part.name: getattr(state, part.name) for part in fields(state) if not part.metadata.get("made")}


class Direction(Protocol):
    """A configured direction."""

    @property
    def is_linear(self) -> bool:
        """Whether it is p = -B^-1 g with a symmetric positive definite B: then it may precondition others."""
        ...

    @property
    def usual_search(self) -> LineSearch:
        """The line search that suits it."""
        ...

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Make factors and the like.

        Parameters
        ----------
        objective
            E.
        run
            Workers.
        before
            What was prepared at another lambda: factors that still hold are taken from it.
        form
            The form to take where there are several; empty: the one that suits.
        """
        ...


class Prepared(Protocol):
    """A direction that is ready for an objective. It does not change: what is learnt is handed in and out."""

    @property
    def first_step(self) -> float:
        """The step to try first of all: 1 where the direction has the scale of a Newton step."""
        ...

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What was decided on the way, for the report."""
        ...

    @property
    def form(self) -> str:
        """The form that was taken, which may depend on the memory that was free; empty where there is only one."""
        ...

    def at(self, X: Floats, gradient: Floats, learnt: Learnt = None) -> tuple[Floats, Learnt]:
        """A direction of descent at X, and what is known now. None: nothing has been learnt."""
        ...

    def moved(self, learnt: Learnt, X: Floats, change: Floats, gradient_change: Floats) -> Learnt:
        """What is known after a step from X was taken."""
        ...
