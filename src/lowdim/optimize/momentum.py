"""Momentum with a gain for every coordinate of every point: the optimiser of van der Maaten & Hinton (2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import kernels
from ..embedding.objectives.protocol import Objective
from ..errors import InputError
from ..messages import named, setting
from ..parallel import map_blocks
from ..places import State
from ..records import Choice, Floats
from .directions.common import usual_rate
from .protocol import Iterate, Stepper


@dataclass(frozen=True, slots=True)
class Momentum:
    """v <- momentum v - rate gain g, X <- X + v, with the gains of Jacobs (1988).

    A gain grows by 0.2 where the gradient points against v, so that steps keep their way, and shrinks to 0.8 of
    itself where it does not, never below 0.01 (van der Maaten & Hinton 2008, sec. 3.4). E need not fall at every
    step, and is computed only where it is asked for. X is kept centred.

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

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Stepper:
        """Evaluate at X."""
        return _Running(self, objective, X, n_jobs)

    def resume(self, objective: Objective, state: State, n_jobs: int | None) -> Stepper:
        """Go on from the state of another stepper."""
        return _Running(self, objective, state["X"], n_jobs, caution=state["caution"], state=state)

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


class Moving:
    """Points with a velocity and a gain for every coordinate."""

    def __init__(
        self, X: Floats, n_jobs: int | None, gains: Floats | None = None, velocity: Floats | None = None
    ) -> None:
        self.X: Floats = np.ascontiguousarray(X)
        self.gains = np.ones_like(self.X) if gains is None else gains
        self._velocity = np.zeros_like(self.X) if velocity is None else velocity
        self._n_jobs = n_jobs
        self._is_lent = False

    def state(self) -> State:
        """Places, gains and velocities, which no later step changes."""
        self._is_lent = True
        return {"X": self.X, "gains": self.gains, "velocity": self._velocity}

    def advance(
        self, gradient: Floats, rate: float, momentum: float, limit: float | None, *, changing: bool = True
    ) -> Floats:
        """One step, into an array of its own."""
        if self._is_lent:
            self.gains, self._velocity, self._is_lent = self.gains.copy(), self._velocity.copy(), False
        X, moved = self.X, np.empty_like(self.X)
        centre = X.mean(axis=0)
        gradient = np.ascontiguousarray(gradient)
        most = np.inf if limit is None else limit

        def work(rows: slice) -> None:
            kernels.momentum.advance(
                X, gradient, self._velocity, self.gains, centre, rate, momentum, most, changing, moved,
                rows.start, rows.stop,
            )  # fmt: skip

        map_blocks(work, X.shape[0], n_jobs=self._n_jobs)
        self.X = moved
        return moved


class _Running:
    choices: tuple[Choice, ...] = ()

    def __init__(
        self,
        settings: Momentum,
        objective: Objective,
        X: Floats,
        n_jobs: int | None,
        *,
        gains: Floats | None = None,
        caution: float = 1.0,
        state: State | None = None,
    ) -> None:
        self._settings = settings
        self._objective = objective
        self._n_jobs = n_jobs
        self._caution = caution
        if state is not None:
            self._rate, self._gradient = state["rate"], state["gradient"]
            self._points = Moving(X, n_jobs, state["gains"], state["velocity"])
            self.first = Iterate(X, None, self._gradient, 0.0, 0)
            return
        self._rate = caution * settings.rate(objective, X)
        self._points = Moving(X, n_jobs, gains)
        evaluation = objective.evaluate(self._points.X)
        self._gradient = evaluation.gradient
        self.first = Iterate(self._points.X, evaluation.value, evaluation.gradient, 0.0, 1)

    def step(self, *, value: bool = True) -> Iterate | None:
        """The next iterate, and E there if it is asked for."""
        settings = self._settings
        X = self._points.advance(
            self._gradient, self._rate, settings.momentum, settings.max_displacement, changing=settings.gains
        )
        evaluation = self._objective.evaluate(X, value=value)
        self._gradient = evaluation.gradient
        return Iterate(X, evaluation.value, evaluation.gradient, self._rate, 1)

    def state(self, *, learnt: bool = True) -> State:
        own = {"gradient": self._gradient, "rate": self._rate, "caution": self._caution}
        return {**self._points.state(), **own}

    def restart(self, objective: Objective, X: Floats, *, caution: float = 1.0) -> Stepper:
        """The gains stay, unless steps were too long; the velocity does not."""
        gains = self._points.gains.copy() if caution == 1.0 else None
        return _Running(
            self._settings, objective, X, self._n_jobs, gains=gains, caution=self._caution * caution
        )
