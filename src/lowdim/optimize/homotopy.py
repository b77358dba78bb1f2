"""The homotopy in lambda: phases that each start where the one before ended.

E(X; lambda) has one minimum, X = 0, below the critical lambda, and is followed from there, or from few and strong
attractions, to the lambda that is wanted (Carreira-Perpinan 2010). Early exaggeration is the same idea: to
multiply the attraction by a factor is to divide lambda by it, E being E+ + lambda E-.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..embedding.objectives.protocol import Objective
from ..errors import ConvergenceWarning, InputError
from ..events import Events
from ..keeping import once
from ..places import State
from ..records import Floats
from .loop import Beside, Loop, tell
from .outcome import CUT, History, Outcome, Stopping
from .protocol import Optimizer, Stepper

#: Root mean square of each principal coordinate below which a phase does not start; the width of the similarities is 1.
_LEAST = 1e-2


@dataclass(frozen=True, slots=True)
class Phase:
    """A lambda, the optimiser for it, and when to go on."""

    lam: float
    optimizer: Optimizer
    stopping: Stopping = field(default_factory=Stopping)

    @classmethod
    def exaggerated(
        cls, exaggeration: float, optimizer: Optimizer, stopping: Stopping | None = None
    ) -> Phase:
        """The phase whose attraction is ``exaggeration`` times as strong as at lambda = 1."""
        return cls(1.0 / exaggeration, optimizer, stopping or Stopping())


def log_path(
    low: float, high: float, count: int, optimizer: Optimizer, stopping: Stopping | None = None
) -> tuple[Phase, ...]:
    """``count`` phases with lambda from ``low`` to ``high`` in equal steps of its logarithm."""
    if not (0.0 < low < np.inf and 0.0 < high < np.inf and count >= 1):
        raise InputError(
            f"A path of lambda needs 0 < low, high < inf and at least one phase; got low={low}, high={high}, "
            f"count={count}."
        )
    return tuple(
        Phase(float(lam), optimizer, stopping or Stopping()) for lam in np.geomspace(low, high, count)
    )


def follow(
    objective: Objective,
    X: Floats,
    phases: Sequence[Phase],
    *,
    max_seconds: float | None = None,
    events: Events | None = None,
    n_jobs: int | None = None,
    beside: Beside | None = None,
) -> Outcome:
    """Minimise E at one lambda after the other, each from the minimum before.

    Phases in a row with one and the same optimiser share its factors. A coordinate that a phase has shrunk to nothing,
    as every one does below its critical lambda, is stretched a little before the next phase: at 0 it would stay.

    Parameters
    ----------
    objective
        E, at any lambda.
    X
        Where to start.
    phases
        The path; the last phase is the one that counts.
    max_seconds
        Seconds for the whole path.
    events
        Told of iterations, choices and warnings; iterations count through the whole path.
    n_jobs
        Threads.
    beside
        Kept with the state of the optimiser, where that is kept for a run that goes on.
    """
    events = events or Events()
    if not phases:
        raise InputError("A path of lambda needs at least one phase; got none.")
    deadline = np.inf if max_seconds is None else time.perf_counter() + max_seconds
    outcomes: list[Outcome] = []
    stage: _Stage | None = None
    for place, phase in enumerate(phases):
        if outcomes:
            X = _opened(X)
        shared = stage if stage is not None and phase.optimizer is stage.phase.optimizer else None
        stage = _Stage(objective.with_lambda(phase.lam), X, phase, shared, events, n_jobs, beside)
        before = sum(outcome.iterations for outcome in outcomes)
        outcomes.append(stage.run(place, before, deadline))
        X, deadline = outcomes[-1].X, deadline - stage.earlier
        if outcomes[-1].is_cut or time.perf_counter() >= deadline:
            break
    _tell(outcomes, phases, events)
    return _joined(outcomes, len(phases))


@dataclass(frozen=True, slots=True)
class _Passed:
    """A phase that is over: its outcome by fields, and what the next one goes on from."""

    outcome: dict[str, Any]
    stepper: State
    objective: State
    beside: State


@dataclass(slots=True)
class _Stage:
    """A phase under way: it starts from the factors of the one ``before`` where these still hold."""

    objective: Objective
    X: Floats
    phase: Phase
    before: _Stage | None
    events: Events
    n_jobs: int | None
    beside: Beside | None
    loop: Loop | None = None
    passed: _Passed | None = None
    earlier: float = 0.0
    """Seconds that it took in a run before this one."""

    def run(self, place: int, iterations: int, deadline: float) -> Outcome:
        """Run it, or take what a run before this one has kept of it."""

        def work() -> _Passed:
            loop = self.loop = Loop(
                self.objective,
                self.X,
                _within(self.phase.stopping, deadline),
                self.events,
                iterations,
                self.beside,
            )
            return self._over(loop.run(self._begin, self._resumed))

        whole = once(
            self.events,
            "phase",
            work,
            key=place,
            kind=_Passed,
            is_whole=lambda passed: passed.outcome["reason"] not in CUT,
        )
        outcome = Outcome(**whole.outcome)
        self.before, self.passed = None, whole
        if self.loop is None:
            self.earlier = outcome.seconds
            self.objective.resume(whole.objective)
            if self.beside is not None:
                self.beside.resume(whole.beside)
        return outcome

    def stepper(self) -> Stepper:
        """The optimiser as the phase left it."""
        if self.loop is not None and self.loop.stepper is not None:
            return self.loop.stepper
        assert self.passed is not None
        return self._resumed(self.passed.stepper)

    def _begin(self) -> Stepper:
        if self.before is None:
            return self.phase.optimizer.start(self.objective, self.X, self.n_jobs)
        return self.before.stepper().restart(self.objective, self.X)

    def _resumed(self, state: State) -> Stepper:
        return self.phase.optimizer.resume(self.objective, state, self.n_jobs)

    def _over(self, outcome: Outcome) -> _Passed:
        fields_of = {part.name: getattr(outcome, part.name) for part in fields(outcome)}
        stepper = None if self.loop is None else self.loop.stepper
        if stepper is None or not self.events.keeper.is_active:
            return _Passed(fields_of, {}, {}, {})
        beside = {} if self.beside is None else self.beside.state()
        return _Passed(fields_of, stepper.state(learnt=False), self.objective.state(), beside)


def _opened(X: Floats) -> Floats:
    """X with no principal coordinate smaller than the least, so that none is stuck at 0."""
    mean = X.mean(axis=0)
    U, singular, V = np.linalg.svd(X - mean, full_matrices=False)
    least = _LEAST * np.sqrt(X.shape[0])
    if (singular >= least).all():
        return X
    return np.ascontiguousarray((U * np.maximum(singular, least)) @ V + mean)


def _within(stopping: Stopping, deadline: float) -> Stopping:
    """The same with no more seconds than are left."""
    if deadline == np.inf:
        return stopping
    left = max(0.0, deadline - time.perf_counter())
    own = np.inf if stopping.max_seconds is None else stopping.max_seconds
    return replace(stopping, max_seconds=min(left, own))


def _tell(outcomes: Sequence[Outcome], phases: Sequence[Phase], events: Events) -> None:
    """One warning for all phases that ended early, and the last one's own."""
    last = len(outcomes) - 1
    early = sum(
        outcome.reason == "max_iterations" and not phase.stopping.is_budget
        for outcome, phase in zip(outcomes[:-1], phases, strict=False)
    )
    if early:
        events.warned(
            f"{early} of the {last} phases before the last one did not converge within max_iterations: later ones may "
            "follow another minimum. Raise max_iterations or the tolerance.",
            ConvergenceWarning,
        )
    tell(outcomes[-1], phases[last].stopping, events)


def _joined(outcomes: Sequence[Outcome], planned: int) -> Outcome:
    """One outcome for all phases: totals, and the end of the last one."""
    iterations = evaluations = 0
    seconds = 0.0
    rows: list[tuple[int, float, float, int, float]] = []
    for outcome in outcomes:
        own = outcome.history
        table = zip(own.iterations, own.seconds, own.values, own.evaluations, own.lam, strict=True)
        rows += [
            (int(i) + iterations, s + seconds, v, int(e) + evaluations, lam) for i, s, v, e, lam in table
        ]
        iterations += outcome.iterations
        evaluations += outcome.evaluations
        seconds += outcome.seconds
    out_of_time = len(outcomes) < planned and not outcomes[-1].is_cut
    return replace(
        outcomes[-1],
        iterations=iterations,
        evaluations=evaluations,
        seconds=seconds,
        reason="max_seconds" if out_of_time else outcomes[-1].reason,
        history=History.of(rows),
        phases=tuple(outcomes),
    )
