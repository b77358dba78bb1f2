"""Schedules: lambda, rate and momentum of every iteration, phase by phase.

To multiply the attraction by a factor is to divide lambda by it, E being E+ + lambda E-. So the homotopy in lambda,
early exaggeration and annealing are one thing, a schedule:

- The homotopy (Carreira-Perpinan 2010) is a *path* of phases. E(X; lambda) has one minimum, X = 0, below the critical
  lambda, and is followed from there, or from few and strong attractions, to the lambda that is wanted; each phase ends
  at a minimum and the next one starts there.
- Early exaggeration (van der Maaten & Hinton 2008) and annealing change lambda *within* a phase, from step to step, and
  points keep their velocity: the phase has a *course*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple, Protocol, cast

from ..errors import InputError
from ..objectives.protocol import Objective, Parted
from .outcome import Stopping


class Setting(NamedTuple):
    """Share of the phase's lambda, share of the rate, and the momentum (None: the optimiser's own).

    ``most`` is how far a point may move at most, where that is less than the optimiser allows.
    ``parts`` are weights of the parts of an attraction that has several; none: those of the objective itself.
    ``hold`` is the share of the springs to earlier places, ``cells`` that of the springs of cells.
    """

    share: float
    rate: float
    momentum: float | None
    most: float = inf
    parts: tuple[float, ...] = ()
    hold: float = 0.0
    cells: float = 0.0

    @property
    def is_last(self) -> bool:
        """Whether E is what it is in the end."""
        return self.share == 1.0 and not self.parts and self.hold == 0.0 and self.cells == 0.0

    def of(self, objective: Objective) -> Objective:
        """E as it is here: at this lambda, with these weights of its parts and this share of the springs."""
        if self.share != 1.0:
            objective = objective.with_lambda(self.share * objective.lam)
        if self.parts:
            objective = cast("Parted", objective).with_parts(self.parts)
        return objective.held(self.hold, self.cells) if self.hold or self.cells else objective


class Course(Protocol):
    """How lambda, rate and momentum change within a phase."""

    @property
    def rate(self) -> float | None:
        """v changes by rate gain g / (mean degree of W+); None: by the optimiser's own rate."""
        ...

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being 0."""
        ...


@dataclass(frozen=True, slots=True)
class Steady:
    """Nothing changes: lambda, rate and momentum are those of the phase and of the optimiser."""

    rate: None = None

    def at(self, iteration: int) -> Setting:
        """The same for every iteration."""
        return Setting(1.0, 1.0, None)


STEADY = Steady()


@dataclass(frozen=True, slots=True)
class Annealing:
    """Momentum on a course: lambda rises to its value, the points glide with long memory, then settle.

    For 3/8 of the iterations lambda is its value over ``exaggeration``; in the next 1/8 it rises to that value in equal
    steps of its logarithm, with ``early_momentum`` in both. Then it stays, with ``momentum``. In the last 2/9 the rate
    falls to a tenth and the momentum to 0.5, both evenly, so that points come to rest among their neighbours.

    What t-SNE's usual schedule does in 750 steps this does in some 270: a shorter exaggeration that is lowered step by
    step, steps four times as long and a momentum of 0.95 while the picture unfolds. docs/experience.md has what was
    measured.

    Parameters
    ----------
    iterations
        Length of the course; steps beyond it are like its last.
    exaggeration
        How much stronger the attraction is at the start than at the end.
    rate
        v changes by rate gain g / (mean degree of W+).
    momentum
        Share of v that is kept while the picture unfolds.
    max_displacement
        No point moves farther in one step; the width of the similarities is 1.
    early_momentum
        Share of v that is kept until lambda has its value; never more than ``momentum``.
    """

    iterations: int = 270
    exaggeration: float = 12.0
    rate: float = 1.0
    momentum: float = 0.95
    max_displacement: float = 5.0
    early_momentum: float = 0.8

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being 0."""
        hold, rise, settle = (
            3 * self.iterations // 8,
            max(1, self.iterations // 8),
            2 * self.iterations // 9,
        )
        if iteration < hold + rise:
            risen = max(0, iteration - hold) / max(1, rise - 1)
            momentum = min(self.early_momentum, self.momentum)
            return Setting(float(self.exaggeration ** (risen - 1.0)), 1.0, momentum)
        if iteration < self.iterations - settle:
            return Setting(1.0, 1.0, self.momentum)
        done = min(1.0, (iteration - self.iterations + settle) / max(1, settle - 1))
        momentum = self.momentum + (min(0.5, self.momentum) - self.momentum) * done
        return Setting(1.0, 1.0 - 0.9 * done, momentum)


@dataclass(frozen=True, slots=True)
class Later:
    """A course from its iteration ``first`` on, in which no point moves farther than ``most`` in a step."""

    course: Course
    first: int
    most: float = inf

    @property
    def rate(self) -> float | None:
        """That of the course."""
        return self.course.rate

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being that of the course's iteration ``first``."""
        return self.course.at(self.first + iteration)._replace(most=self.most)


@dataclass(frozen=True, slots=True)
class Unfolding:
    """Momentum from a picture that was drawn small: it unfolds again, with points on springs to where they were.

    For a ninth of the iterations lambda is its value over ``exaggeration``, in the next ninth it rises to that value in
    equal steps of its logarithm. The groups are laid out already: what takes a fit half of its iterations is done in
    so few, if points keep less of their velocity in them. Springs are softer once lambda has its value: attraction
    fades with the distance and springs do not, so that in a picture that has unfolded softer ones hold as much. From
    there on the centres of small cells are held too, which leaves points free to order themselves within.

    Parameters
    ----------
    iterations
        Length of the course; steps beyond it are like its last.
    exaggeration, rate, momentum, early_momentum
        As for `Annealing`.
    early, late
        Shares of the springs while lambda is below its value, and from there on.
    cells
        Share of the springs of cells from there on.
    """

    iterations: int = 52
    exaggeration: float = 12.0
    rate: float = 1.0
    momentum: float = 0.95
    early_momentum: float = 0.5
    early: float = 0.07
    late: float = 0.01
    cells: float = 0.3

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being 0."""
        hold = rise = max(1, self.iterations // 9)
        if iteration >= hold + rise:
            return Setting(1.0, 1.0, self.momentum, hold=self.late, cells=self.cells)
        risen = max(0, iteration - hold) / max(1, rise - 1)
        share = float(self.exaggeration ** (risen - 1.0))
        if share >= 1.0:
            return Setting(1.0, 1.0, self.early_momentum, hold=self.late, cells=self.cells)
        return Setting(share, 1.0, self.early_momentum, hold=self.early)


@dataclass(frozen=True, slots=True)
class PairPhases:
    """The three phases of PaCMAP (Wang et al. 2021, sec. 4.3): weights (w_NB, w_MN) of near and mid-near pairs.

    For 2/9 of the iterations w_NB is 2 and w_MN falls evenly from 1000 to 3, so that mid-near pairs lay out the picture
    at large; for the next 2/9 both are 3; then mid-near pairs do not count any more, and w_NB is 1.

    Parameters
    ----------
    iterations
        Length of the course.
    """

    iterations: int = 450
    rate: None = None

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being 0."""
        first = 2 * self.iterations // 9
        if iteration < first:
            return Setting(1.0, 1.0, None, parts=(2.0, 1000.0 + (3.0 - 1000.0) * iteration / first))
        return Setting(1.0, 1.0, None, parts=(3.0, 3.0) if iteration < 2 * first else ())


@dataclass(frozen=True, slots=True)
class Release:
    """Momentum from a picture that there is: points are held where they were, let go step by step, then settle.

    E + rho S with springs S to the old places, rho -> 0 (see `lowdim.objectives.springs.Springs`). For ``held`` of the
    iterations rho is its first value, so that new points find their places among old ones that stay; up to ``let_go``
    it falls in equal steps of its logarithm to a hundredth, and is 0 from there on. The centres of small cells are held
    for longer, so that points order themselves anew while their groups stay. In the last ``settle`` of the iterations
    rate and momentum fall as those of `Annealing` do.

    Parameters
    ----------
    iterations
        Length of the course; steps beyond it are like its last.
    rate, momentum
        As for `Annealing`.
    held, let_go, cells_held, settle
        Shares of the iterations.
    hold, cells
        Shares of the springs to begin with, and of those of cells.
    """

    iterations: int
    rate: float = 0.5
    momentum: float = 0.8
    held: float = 0.2
    let_go: float = 0.4
    hold: float = 0.2
    cells: float = 0.15
    cells_held: float = 0.9
    settle: float = 2 / 9

    def at(self, iteration: int) -> Setting:
        """The setting of an iteration, the first being 0."""
        hold, free = round(self.held * self.iterations), round(self.let_go * self.iterations)
        fallen = max(0, iteration - hold) / max(1, free - hold)
        settle = max(1, round(self.settle * self.iterations))
        done = min(1.0, max(0, iteration - self.iterations + settle) / max(1, settle - 1))
        momentum = self.momentum + (min(0.5, self.momentum) - self.momentum) * done
        return Setting(
            1.0,
            1.0 - 0.9 * done,
            momentum,
            hold=self.hold * 0.01**fallen if iteration < free else 0.0,
            cells=self.cells if iteration < round(self.cells_held * self.iterations) else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Phase:
    """A lambda, when to go on to the next one, and what changes on the way.

    ``is_early``: terms of E that count only late are left out. ``hold``: share of the springs to earlier places.
    ``size``: it starts with the picture drawn to that share of the size that springs hold; None: as it is.
    """

    lam: float
    stopping: Stopping = field(default_factory=Stopping)
    course: Course = STEADY
    is_early: bool = False
    hold: float = 0.0
    size: float | None = None

    def goes_on_from(self, before: Phase) -> bool:
        """Whether this is the rest of a course that the phase before has begun.

        It starts from where points stand then: E may well be higher than it was at the start while steps are long, and
        what was lowest so far is none of this course's doing.
        """
        course = self.course
        is_rest = isinstance(course, Later) and course.first > 0 and course.course == before.course
        return is_rest and self.lam == before.lam


@dataclass(frozen=True, slots=True)
class Schedule:
    """Phases that each start where the one before ended; the last one is the one that counts.

    Parameters
    ----------
    phases
        The phases.
    max_iterations
        Iterations of all phases together; None: no bound but those of the phases.
    max_seconds
        Seconds of all phases together; None: no bound.
    widest
        Root mean square distance of the points from their mean that no minimum has, for an E that may have none; None:
        E is known to have one.
    """

    phases: tuple[Phase, ...]
    max_iterations: int | None = None
    max_seconds: float | None = None
    widest: float | None = None

    def __post_init__(self) -> None:
        """Refuse a schedule without phases."""
        if not self.phases:
            raise InputError("A schedule needs at least one phase; got none.")

    @classmethod
    def path(
        cls,
        lambdas: Iterable[float],
        stopping: Stopping | None = None,
        *,
        max_iterations: int | None = None,
        max_seconds: float | None = None,
    ) -> Schedule:
        """The homotopy: a phase for each lambda, all with one stopping rule."""
        rule = stopping or Stopping()
        phases = tuple(Phase(float(lam), rule) for lam in lambdas)
        if not all(0.0 < phase.lam < float("inf") for phase in phases):
            raise InputError(
                f"A path needs finite values of lambda > 0; got {[phase.lam for phase in phases]}. Leave out others."
            )
        return cls(phases, max_iterations, max_seconds)

    def with_late_terms(self, share: float, most: float | None) -> Schedule:
        """The same, with terms of E that count late: in the last ``share`` of an annealed last phase.

        Where nothing changes on the way they have a phase of their own, after the one that ends without them. ``most``
        is how far a point may move in a step there; None: as the optimiser says.
        """
        *before, last = (replace(phase, is_early=True) for phase in self.phases)
        if last.course == STEADY:
            course = STEADY if most is None else Later(STEADY, 0, most)
            return replace(self, phases=(*before, last, replace(last, course=course, is_early=False)))
        total = last.stopping.max_iterations
        late = max(1, round(share * total))
        parts = (
            replace(last, stopping=replace(last.stopping, max_iterations=total - late)),
            Phase(
                last.lam,
                replace(last.stopping, max_iterations=late),
                Later(last.course, total - late, inf if most is None else most),
            ),
        )
        return replace(self, phases=(*before, *(parts if late < total else parts[1:])))

    def most_iterations(self, phase: int, spent: int) -> int:
        """Iterations that a phase may take after ``spent`` ones: of those left in all, its share by its own most.

        What a phase does not use is left for those after it, so that the last one, which counts, gets the most. With
        fewer iterations than phases the first ones get none.
        """
        own = self.phases[phase].stopping.max_iterations
        if self.max_iterations is None:
            return own
        wanted = sum(later.stopping.max_iterations for later in self.phases[phase:])
        return min(own, max(0, self.max_iterations - spent) * own // wanted)
