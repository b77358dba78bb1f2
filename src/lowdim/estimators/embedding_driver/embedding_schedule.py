"""How a neighbour embedding is minimised: by which optimiser, along which values of lambda, for how long."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np

from ... import validation
from ...core.messages import named, setting, value
from ...core.run import Run
from ...errors import DataWarning, InputError
from ...objectives.base import NeighborObjective
from ...optimize.descent import DirectedDescent
from ...optimize.directions import LimitedMemory, SpectralDirection
from ...optimize.line_search import StrongWolfe
from ...optimize.momentum import Momentum
from ...optimize.named import named_optimizer
from ...optimize.outcome import Stopping
from ...optimize.protocol import Optimizer
from ...optimize.schedules import Annealing, Phase, Release, Schedule, Unfolding

FEW_POINTS = 10_000
"""Points up to which t-SNE's schedule is longer and gentler."""
MOST_ITERATIONS = 1000
"""Iterations of a descent at one lambda, at most, where nobody says."""
USUAL_TOLERANCE = 1e-6
USUAL_STEPS = 10
"""Steps of lambda where ``homotopy`` is left to ``auto`` and there is no annealing."""
ROUNDING = 1e-9
"""Relative difference of two values of lambda below which they are the same."""
ITERATIONS_OF_STEP = 25
"""Iterations that a step of lambda takes, as a rule: with fewer the path is not followed, and leads nowhere."""

LATE_STEP = 0.1
"""Widths of the kernel that a point moves at most in a step with densities: their pull on points that lie close to each
other is strong and short, and longer steps would scatter them."""
RELEASE = 0.14
"""Share of the iterations of a fit that a picture takes which only grows."""
UNFOLD, SETTLE = 2.9, 1.8
"""Iterations in which a picture that grows is unfolded again, and those after that, over the root of a fit's: more in
gentler steps, but its groups are laid out already."""
FEWEST_UNFOLDED = 40
"""Iterations of unfolding below which it is left out: the picture would not get far."""
DRAWN = 0.97
"""Share of the old size at which a picture that was unfolded goes on: it grows by some per cent as it settles."""
WIDER = 0.2
"""Power of the number of points by which a picture of many grows: with less it is cramped, with more it moves more."""
SOFT = 0.005
"""Share of the springs after unfolding: they have chosen the places by then."""
FIRM = 0.2
"""Share of the springs of cells then."""
GOING_ON = 0.25
"""Share of the iterations of a fit that a picture takes which begins from that of nearly the same affinities."""
HOLDS = (1.0, 0.1)
"""Shares of the springs that a picture which only grows is minimised with, before it is without."""


def usual_steps(max_iter: int | None) -> int | None:
    """Steps of lambda that so many iterations are enough for; None: they are too few for a path."""
    steps = USUAL_STEPS if max_iter is None else min(USUAL_STEPS, max_iter // ITERATIONS_OF_STEP)
    return steps if steps > 1 else None


def usual_iterations(n_points: int) -> int:
    """Length of t-SNE's annealing."""
    return 750 if n_points <= FEW_POINTS else 270


def usual_annealing(n_points: int, max_iter: int | None) -> Annealing:
    """The annealing that was measured to be the quickest, or as long as is asked for."""
    iterations = max_iter or usual_iterations(n_points)
    return Annealing(iterations, rate=0.5, momentum=0.9) if n_points <= FEW_POINTS else Annealing(iterations)


def choose_optimizer(
    optimizer: Any, objective: NeighborObjective, run: Run
) -> tuple[Optimizer[Any], Annealing | None]:
    """The optimiser asked for, and the annealing that it follows; ``auto`` is L-BFGS on the spectral direction."""
    if isinstance(optimizer, Annealing):
        return Momentum(max_displacement=optimizer.max_displacement), optimizer
    if not isinstance(optimizer, str):
        return optimizer, None
    if optimizer != "auto":
        return named_optimizer(optimizer), None
    run.chosen("optimizer", "L-BFGS on the spectral direction", "the quickest measured")
    noise = 0.0 if objective.engine.is_exact else 1e-6
    return DirectedDescent(LimitedMemory(initial=SpectralDirection()), StrongWolfe(noise=noise)), None


def going_on(annealing: Annealing) -> Annealing:
    """The annealing of a picture that begins from another: without exaggeration, which lays it out, and shorter."""
    steps = max(1, round(GOING_ON * annealing.iterations))
    return replace(annealing, iterations=steps, exaggeration=1.0)


def make_schedule(
    lambdas: list[float],
    annealing: Annealing | None,
    *,
    tolerance: float | None,
    max_iter: int | None,
    max_seconds: float | None,
) -> Schedule:
    """A phase for each lambda, annealed or until it has converged."""
    if annealing is None:
        stopping = _until_converged(tolerance, max_iter)
        return Schedule.path(lambdas, stopping, max_iterations=max_iter, max_seconds=max_seconds)
    stopping = Stopping(
        tolerance=0.0 if tolerance is None else tolerance,
        max_iterations=annealing.iterations if max_iter is None else max(1, max_iter // len(lambdas)),
        is_budget=True,
        window=3,
    )
    phases = tuple(Phase(lam, stopping, annealing) for lam in lambdas)
    return Schedule(phases, max_iter, max_seconds)


def make_release(
    lam: float,
    annealing: Annealing | None,
    *,
    tolerance: float | None,
    max_iter: int | None,
    max_seconds: float | None,
) -> Schedule:
    """From a picture that there is: points are held and let go, within an annealed phase or from phase to phase."""
    if annealing is None:
        stopping = _until_converged(tolerance, max_iter)
        phases = tuple(Phase(lam, stopping, hold=hold) for hold in (*HOLDS, 0.0))
        return Schedule(phases, max_iter, max_seconds)
    course = Release(max(1, round(RELEASE * annealing.iterations)), annealing.rate)
    stopping = Stopping(
        tolerance=0.0 if tolerance is None else tolerance,
        max_iterations=course.iterations,
        is_budget=True,
        window=3,
    )
    return Schedule((Phase(lam, stopping, course),), None, max_seconds)


def make_unfolding(
    lam: float,
    annealing: Annealing | None,
    size: float,
    *,
    tolerance: float | None,
    max_seconds: float | None,
) -> Schedule | None:
    """From a picture that there is, drawn small: unfolded on springs, then let go; None where that is too short.

    An exaggeration again and points in one heap are what carries each to its own; the springs lay out the groups where
    they were, so that most points come back to their places. The picture is drawn to a ``size``, that of the old one
    being 1, before it is let go.
    """
    root = 0.0 if annealing is None else np.sqrt(annealing.iterations)
    if annealing is None or round(UNFOLD * root) < FEWEST_UNFOLDED:
        return None
    again = Unfolding(round(UNFOLD * root), annealing.exaggeration, annealing.rate, annealing.momentum)
    course = Release(
        round(SETTLE * root), annealing.rate, hold=SOFT, cells=FIRM, cells_held=0.7, settle=1 / 3
    )

    def stopping(iterations: int) -> Stopping:
        return Stopping(
            tolerance=0.0 if tolerance is None else tolerance,
            max_iterations=iterations,
            is_budget=True,
            window=3,
        )

    phases = (
        Phase(lam, stopping(again.iterations), again),
        Phase(lam, stopping(course.iterations), course, size=DRAWN * size),
    )
    return Schedule(phases, None, max_seconds)


def path_of_lambda(homotopy: Any, lam: float, critical: float | None, run: Run) -> list[float]:
    """The values of lambda to minimise at, one after the other.

    Parameters
    ----------
    homotopy
        Steps in equal factors from the critical lambda, values of lambda, or None.
    lam
        The last value.
    critical
        The critical lambda, where ``homotopy`` is a number of steps.
    run
        Told of the path.
    """
    if homotopy is None:
        return [lam]
    if isinstance(homotopy, numbers.Integral):
        assert critical is not None
        if critical > (1 + ROUNDING) * lam:
            run.warned(
                f"{setting('lam', lam)} is below the critical lambda {critical:.3g}, where all points in one place are "
                f"the minimum. Raise {named('lam')}.",
                DataWarning,
            )
        if critical >= (1 - ROUNDING) * lam:
            return [lam]
        low = max(critical, 1e-8 * lam)
        run.chosen("homotopy", f"{homotopy} steps from lambda = {low:.3g}", "the critical lambda")
        return [float(value) for value in np.geomspace(low, lam, int(homotopy))]
    steps = np.zeros(0)
    if len(homotopy):
        steps = validation.read_array(homotopy, named("homotopy"), flat=True).block(slice(None)).ravel()
    if not (steps.size and np.isfinite(steps).all() and (steps > 0).all()):
        raise InputError(
            f"{named('homotopy')} must hold finite values of lambda > 0; got {value(homotopy)}. Give such "
            "values, or a count."
        )
    return [*(float(value) for value in steps), *([] if steps[-1] == lam else [lam])]


def _until_converged(tolerance: float | None, max_iter: int | None) -> Stopping:
    return Stopping(
        tolerance=USUAL_TOLERANCE if tolerance is None else tolerance,
        max_iterations=max_iter or MOST_ITERATIONS,
        is_budget=max_iter is not None,
        window=3,
    )
