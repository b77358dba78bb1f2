"""What an optimiser is: a configuration that starts a stepper, and a stepper that makes one iterate after another.

A direction with a line search is one kind of optimiser, momentum another; the loop sees only iterates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..embedding.objectives.protocol import Objective
from ..places import State
from ..records import Choice, Floats
from .line_search import LineSearch


@dataclass(frozen=True, slots=True)
class Iterate:
    """Where a step led: X, E there (None where it was not computed), its gradient, and what the step cost.

    No later step changes the arrays of an iterate.
    """

    X: Floats
    value: float | None
    gradient: Floats
    step: float
    evaluations: int


class Stepper(Protocol):
    """A running optimiser at one objective."""

    @property
    def first(self) -> Iterate:
        """Where it started, evaluated, its value included."""
        ...

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What was decided on the way to the start, for the report."""
        ...

    def step(self, *, value: bool = True) -> Iterate | None:
        """The next iterate; None where no step lowers E any more. ``value`` asks for E where it is not free."""
        ...

    def state(self, *, learnt: bool = True) -> State:
        """What the next step depends on: the same values whatever is done later.

        Without what was ``learnt`` on the way it is enough for a restart.
        """
        ...

    def restart(self, objective: Objective, X: Floats, *, caution: float = 1.0) -> Stepper:
        """The same optimiser at another X, or at another lambda, with the factors and the like that still hold.

        ``objective`` has the attractive weights of the first one. Below 1, ``caution`` makes the
        steps shorter than they were by so much.
        """
        ...


class Optimizer(Protocol):
    """A configured optimiser: what the parameter ``optimizer`` of an estimator holds."""

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Stepper:
        """Prepare at X: factors, first gradient."""
        ...

    def resume(self, objective: Objective, state: State, n_jobs: int | None) -> Stepper:
        """A stepper that goes on from the state of another."""
        ...


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

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Prepare once: factors and the like."""
        ...


class Descent(Protocol):
    """A running direction."""

    @property
    def first_step(self) -> float:
        """The step to try first of all: 1 where the direction has the scale of a Newton step."""
        ...

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What was decided on the way to the start, for the report."""
        ...

    def at(self, X: Floats, gradient: Floats) -> Floats:
        """A direction of descent at X."""
        ...

    def moved(self, change: Floats, gradient_change: Floats) -> None:
        """Learn from a step that was taken."""
        ...

    def state(self, *, learnt: bool = True) -> State:
        """What the next direction depends on, or, but for what was ``learnt``, that of a restart."""
        ...

    def resume(self, state: State) -> None:
        """Go on from the state of another."""
        ...

    def restart(self, objective: Objective, X: Floats) -> Descent:
        """The same direction with nothing learnt, also at another lambda, with the factors that still hold."""
        ...
