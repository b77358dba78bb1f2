"""The one loop: it owns phases, stopping, history, callbacks, the time budget, interruption and recovery."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.messages import named, setting
from ..core.places import State
from ..core.records import Floats
from ..core.run import Run
from ..errors import ConvergenceError, Stop
from ..objectives.protocol import Objective
from .endings import tell_of_end
from .measures import inner, spread
from .outcome import History, Outcome, Reason, Stopping
from .progress import Known, Log, Progress
from .protocol import Optimizer, Standing
from .schedules import Phase, Schedule

#: Growth of the picture per iteration above which a small decrease of E does not count as convergence.
_GROWING = 1.01
_CAUTION = 0.5
#: Root mean square of each principal coordinate below which a phase does not start; the width of the similarities is 1.
_LEAST = 1e-2


def minimise(
    objective: Objective,
    X: Floats,
    optimizer: Optimizer[Any],
    schedule: Schedule | Sequence[Phase] | Stopping | None = None,
    record: int = 0,
    run: Run | None = None,
) -> Outcome:
    """Minimise E from X, at one lambda after the other, each from the minimum before.

    An ``iteration`` event tells of each iteration: ``iteration``, ``value`` (None where E was not computed), ``step``,
    ``gradient_norm``, ``embedding``, ``lam``, and ``total`` where the number of iterations is a budget, else None;
    iterations count through all phases. A listener may raise `lowdim.errors.Stop`; that, an interrupt and the time
    budget keep the best X so far. Not to converge within ``max_iterations`` is a ConvergenceWarning unless they are a
    budget; an E that is not finite however short the steps is one too, or a ConvergenceError where no step at all was
    possible.

    A coordinate that a phase has shrunk to nothing, as every one does below its critical lambda, is stretched a little
    before the next phase: at 0 it would stay.

    Parameters
    ----------
    objective
        E, at any lambda.
    X
        Where to start; not 0, where every gradient is 0.
    optimizer
        The optimiser; its factors serve all phases.
    schedule
        The phases; a stopping rule stands for one phase at the objective's lambda, None for that with the defaults.
    record
        Keep X of every so many iterations; 0: none.
    run
        Told of iterations, choices and warnings; keeps where the loop stands. Its workers do not change the result.
    """
    if schedule is None or isinstance(schedule, Stopping):
        schedule = [Phase(objective.lam, schedule or Stopping())]
    if not isinstance(schedule, Schedule):
        schedule = Schedule(tuple(schedule))
    run = run or Run()
    outcome = _Loop(objective, X, optimizer, schedule, record, run).minimise()
    tell_of_end(outcome, schedule, run)
    return outcome


class _Loop:
    """Steps from progress to progress. Itself it changes only with the clock, and in what it knows of the last step."""

    def __init__(
        self,
        objective: Objective,
        X: Floats,
        optimizer: Optimizer[Any],
        schedule: Schedule,
        record: int,
        run: Run,
    ) -> None:
        self._objective = objective
        self._X = X
        self._optimizer = optimizer
        self._schedule = schedule
        self._record = record
        self._run = run
        self._begun = time.perf_counter()
        #: Where the loop stood last, also in the midst of a step whose listeners have not all heard of it.
        self._reached: Progress | None = None

    def minimise(self) -> Outcome:
        """Run until something ends it."""
        try:
            progress = self._run.iterate(
                "loop",
                lambda: self._begin(self._first_from(0, 0), self._X, None),
                self._step,
                self._is_done,
                pack=Progress.pack,
                unpack=self._unpacked,
                in_place=False,
            )
        except KeyboardInterrupt:
            return self._outcome(self._reached, "interrupted")
        except Stop:
            return self._outcome(self._reached, "stopped by callback")
        return self._outcome(progress, progress.reason)

    def _phase(self, progress: Progress) -> Phase:
        return self._schedule.phases[progress.phase]

    def _objective_of(self, phase: Phase) -> Objective:
        """E at the lambda of a phase, with its share of the springs."""
        objective = self._objective
        if phase.lam != objective.lam:
            objective = objective.with_lambda(phase.lam)
        if phase.hold:
            objective = objective.held(phase.hold)
        return objective.early() if phase.is_early else objective

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun

    def _most(self, progress: Progress) -> int:
        return self._schedule.most_iterations(progress.phase, progress.spent)

    def _begin(self, place: int, X: Floats, before: Progress | None) -> Progress:
        """The start of a phase."""
        phase = self._schedule.phases[place]
        state = self._optimizer.init(
            self._objective_of(phase),
            X,
            self._run,
            course=phase.course,
            before=None if before is None else before.state,
        )
        self._tell_of_choices(state)
        seconds = self._seconds()
        progress = Progress(
            place,
            state,
            self._objective.state(),
            evaluations=state.evaluations,
            seconds=seconds,
            began=0.0 if before is None else before.seconds,
            frames=Log() if before is None else before.frames,
            passed=() if before is None else (*before.passed, self._passed(before)),
        )
        norm = _norm(state)
        if not _is_finite(state, norm):
            raise ConvergenceError(
                "E or its gradient is not finite at the start. Start from smaller coordinates, and check that the "
                "weights and lambda are finite."
            )
        self._reached = self._counted(progress, norm)
        return self._reached

    def _tell_of_choices(self, state: Standing) -> None:
        for choice in state.choices:
            self._run.chosen(choice.what, choice.choice, choice.why)

    def _unpacked(self, found: State) -> Progress:
        """Take up the progress of another run."""
        phase = self._schedule.phases[found["phase"]]
        self._objective.resume(found["memory"])
        state = self._optimizer.restore(
            self._objective_of(phase), found["state"], self._run, course=phase.course
        )
        self._tell_of_choices(state)
        self._reached = Progress.unpack(found, state)
        self._begun = time.perf_counter() - self._reached.seconds
        return self._reached

    def _is_done(self, progress: Progress) -> bool:
        """Whether the last phase is over, or none should follow."""
        if progress.reason is None:
            return False
        most = self._schedule.max_seconds
        is_late = most is not None and progress.seconds >= most
        is_last = progress.phase == len(self._schedule.phases) - 1
        return is_last or is_late or progress.reason == "not finite"

    def _step(self, progress: Progress) -> Progress:
        """One iteration, or the start of the next phase."""
        if progress.reason is None:
            self._reached = self._iterated(progress)
            return self._reached
        following = self._first_from(progress.phase + 1, progress.spent + progress.iteration)
        if self._schedule.phases[following].goes_on_from(self._phase(progress)):
            return self._begin(following, progress.state.X, progress)
        before = self._judged(progress)
        assert before.best is not None
        X, size = _opened(before.best.X), self._schedule.phases[following].size
        return self._begin(following, X if size is None else self._objective.sized(X, size), before)

    def _first_from(self, place: int, spent: int) -> int:
        """The first phase from a place on that has iterations left to it."""
        while place < len(self._schedule.phases) - 1 and not self._schedule.most_iterations(place, spent):
            place += 1
        return place

    def _iterated(self, progress: Progress) -> Progress:
        """One iteration, counted, told of and judged."""
        stopping, iteration = self._phase(progress).stopping, progress.iteration + 1
        most = self._most(progress)
        due = iteration % stopping.value_every == 0 or iteration == most
        state = self._optimizer.step(progress.state, value=due)
        if self._optimizer.done(state):
            return replace(progress, reason="stalled", seconds=self._seconds())
        taken = replace(
            progress,
            iteration=iteration,
            evaluations=progress.evaluations + state.evaluations,
            seconds=self._seconds(),
            memory=self._objective.state(),
        )
        norm = _norm(state)
        if not _is_finite(state, norm):
            taken = self._recovered(taken)
        else:
            taken = self._reached = self._counted(replace(taken, state=state), norm)
            self._tell(taken, norm)
            if state.value is not None:
                taken = self._settled(taken)
        return replace(taken, reason=taken.reason or self._used_up(taken, most), seconds=self._seconds())

    def _used_up(self, progress: Progress, most: int) -> Reason | None:
        """Whether time or iterations are used up."""
        own, whole = self._phase(progress).stopping.max_seconds, self._schedule.max_seconds
        now = self._seconds()
        if (own is not None and now - progress.began >= own) or (whole is not None and now >= whole):
            return "max_seconds"
        return "max_iterations" if progress.iteration >= most else None

    def _counted(self, progress: Progress, norm: float) -> Progress:
        """Note E where it is known, whether it is the lowest, and X where it is recorded."""
        state, iteration = progress.state, progress.iteration
        through = progress.spent + iteration
        if self._record and iteration and through % self._record == 0:
            progress = replace(progress, frames=progress.frames.plus((through, state.X)))
        if state.value is None:
            return progress
        known = Known(iteration, state.X, state.value, norm, spread(state.X))
        widest = self._schedule.widest
        if widest is not None and iteration and known.extent > widest:
            raise ConvergenceError(
                f"The points moved apart to distances of {known.extent:.1e} times the width of the similarities, and "
                f"E falls on: with {setting('lam', self._phase(progress).lam)} it has no minimum. Lower "
                f"{named('lam')}, to 1 to be sure."
            )
        best = progress.best
        seconds = progress.seconds - progress.began
        row = (iteration, seconds, known.value, progress.evaluations, self._phase(progress).lam)
        return replace(
            progress,
            recent=(*progress.recent, (iteration, known.value, known.extent)),
            best=known if best is None or known.value < best.value else best,
            rows=progress.rows.plus(row),
        )

    def _tell(self, progress: Progress, norm: float) -> None:
        state, phase = progress.state, self._phase(progress)
        iteration = progress.spent + progress.iteration
        shown = "" if state.value is None else f"E {state.value:.6g}, "
        total = self._schedule.max_iterations or progress.spent + phase.stopping.max_iterations
        self._run.events.emit(
            "iteration",
            f"iteration {iteration}: {shown}gradient {norm:.2g}, step {state.step:.2g}",
            iteration=iteration,
            value=state.value,
            step=state.step,
            gradient_norm=norm,
            embedding=state.X,
            lam=phase.lam,
            total=total if phase.stopping.is_budget else None,
        )

    def _settled(self, progress: Progress) -> Progress:
        """Say so where E has stopped falling, over the window, and the picture growing."""
        stopping, recent = self._phase(progress).stopping, progress.recent
        now, value, extent = recent[-1]
        while len(recent) > 2 and recent[1][0] <= now - stopping.window:
            recent = recent[1:]
        progress = replace(progress, recent=recent)
        then, earlier, extent_then = recent[0]
        count = now - then
        if count < stopping.window or count == 0:
            return progress
        scale = max(abs(value), abs(earlier))
        # The magnitude: with momentum E may rise, and where it rises it has not converged.
        is_flat = abs(earlier - value) <= stopping.tolerance * scale * count
        is_settled = is_flat and extent <= extent_then * _GROWING**count
        return replace(progress, reason="converged") if is_settled else progress

    def _recovered(self, progress: Progress) -> Progress:
        """Back at the best X with shorter steps; over where that has been done often enough."""
        best, phase = progress.best, self._phase(progress)
        assert best is not None
        if progress.recoveries >= phase.stopping.max_recoveries:
            if best.iteration == 0:
                raise ConvergenceError(
                    "E or its gradient is not finite soon after the start, however short the steps "
                    f"({progress.recoveries} times halved). Start from smaller coordinates, lower lambda or the "
                    f"learning rate, or use {setting('repulsion', 'exact')} to see whether the approximation is the "
                    "cause."
                )
            return replace(progress, reason="not finite")
        state = self._optimizer.init(
            self._objective_of(phase),
            best.X,
            self._run,
            course=phase.course,
            before=progress.state,
            caution=_CAUTION,
        )
        return replace(
            progress,
            state=state,
            evaluations=progress.evaluations + state.evaluations,
            recoveries=progress.recoveries + 1,
            recent=((best.iteration, best.value, best.extent),),
            memory=self._objective.state(),
        )

    def _judged(self, progress: Progress) -> Progress:
        """With E where the phase ended, if it was not computed: a course on its way has none, and may be far ahead."""
        state, best = progress.state, progress.best
        if best is None or state.value is not None:
            return progress
        evaluation = self._objective_of(self._phase(progress)).evaluate(state.X)
        if evaluation.value is not None and evaluation.value < best.value:
            norm = float(np.sqrt(inner(evaluation.gradient, evaluation.gradient)))
            best = Known(progress.iteration, state.X, evaluation.value, norm, spread(state.X))
        return replace(progress, best=best, evaluations=progress.evaluations + 1)

    def _passed(self, progress: Progress) -> Outcome:
        """What became of a phase."""
        best = progress.best
        assert best is not None
        assert progress.reason is not None
        return Outcome(
            X=best.X,
            value=best.value,
            gradient_norm=best.norm,
            iterations=progress.iteration,
            evaluations=progress.evaluations,
            seconds=progress.seconds - progress.began,
            reason=progress.reason,
            history=History.of(progress.rows.all()),
        )

    def _outcome(self, progress: Progress | None, reason: Reason | None) -> Outcome:
        """What the loop leaves, ended for a reason where it stood."""
        planned = len(self._schedule.phases)
        if progress is None:
            assert reason is not None
            nothing = Outcome(self._X, np.nan, np.nan, 0, 0, self._seconds(), reason, History.of([]))
            return Outcome.joined([nothing], planned)
        judged = self._judged(replace(progress, reason=reason, seconds=self._seconds()))
        outcomes = [*judged.passed, self._passed(judged)]
        return Outcome.joined(
            outcomes, len(outcomes) + planned - judged.phase - 1, tuple(judged.frames.all())
        )


def _norm(state: Standing) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(inner(state.gradient, state.gradient)))


def _is_finite(state: Standing, norm: float) -> bool:
    return bool(np.isfinite(norm) and (state.value is None or np.isfinite(state.value)))


def _opened(X: Floats) -> Floats:
    """X with no principal coordinate smaller than the least, so that none is stuck at 0."""
    mean = X.mean(axis=0)
    U, singular, V = np.linalg.svd(X - mean, full_matrices=False)
    least = _LEAST * np.sqrt(X.shape[0])
    if (singular >= least).all():
        return X
    return np.ascontiguousarray((U * np.maximum(singular, least)) @ V + mean)
