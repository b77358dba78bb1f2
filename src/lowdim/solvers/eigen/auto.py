"""Choosing a solver by size and structure, and the ladder to climb when one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...core.messages import named
from ...core.records import Attempt, Floats, Problem, Solution
from ...core.run import Run
from ...errors import ConvergenceError, ConvergenceWarning, InputError
from ...spectral.operators import CenteredGram, Laplacian, Normal
from . import dense, lanczos, lobpcg, shift_invert
from .common import (
    Settings,
    Solver,
    SolverFailure,
    Standard,
    Trial,
    estimated_norm,
    finish,
    is_dense,
    measured,
    standardise,
)
from .forecast import TRIAL, foresee, look_into, most_products
from .null_space import null_space

SOLVERS: dict[str, Solver] = {
    "dense": dense.solve,
    "lanczos": lanczos.solve,
    "shift-invert": shift_invert.solve,
    "lobpcg": lobpcg.solve,
}
_LADDER = ("auto", "exact")
#: Points up to which the dense solver is taken at once; of a Laplacian, whose gaps Lanczos and the factor are sure of,
#: fewer.
_DENSE_SIZE, _DENSE_LAPLACIAN = 400, 250
_DENSE_LIMIT = 6000
#: Residuals relative to the wanted eigenvalues: below the first the dear last rungs are not worth their
#: price, above the second the vectors are not usable.
_GOOD = 1e-6
_USABLE = 1e-3
#: Residual relative to |A| that rounding alone may leave to a solver that has converged by its own measure.
_ROUNDING = 1e-12
_RESOLUTION = 1e-14
#: Points up to which a dense solver is tried at once for distances, whose largest eigenvalues Lanczos finds in a dozen
#: passes: LAPACK's threads wait for each other longer than these take.
_DENSE_GRAM = 100


def solve(
    problem: Problem,
    n_components: int,
    solver: str = "auto",
    *,
    tolerance: float = 1e-08,
    start: Floats | None = None,
    run: Run,
) -> Solution:
    """Solve min (or max) tr X'AX s.t. X'BX = I off the trivial solutions.

    Parameters
    ----------
    problem
        A, B and the trivial solutions.
    n_components
        Eigenpairs wanted, from the wanted end.
    solver
        ``"auto"`` and ``"exact"`` climb the ladder; a name stands for that solver alone.
    tolerance
        Largest |A x - lambda B x|, in the norm of B^-1, relative to the largest wanted |lambda|. A solution
        past it comes with a ConvergenceWarning; past 1e-3 it is a ConvergenceError.
    run
        Told of choices, progress and warnings; its random numbers start the solver, and a sparse factor may take no
        more bytes than its workers are allowed (None: a good half of the machine's memory).
    start
        Vectors to start from (N x m), as a landmark method gives them.
    """
    if solver not in (*_LADDER, *SOLVERS):
        raise InputError(f"solver must be one of {', '.join((*_LADDER, *SOLVERS))}; got {solver!r}.")
    return _solve(problem, solver, Settings(n_components, tolerance, run, start))


@dataclass(frozen=True, slots=True)
class _Rung:
    """A solver to try, and why; a ``dear`` one is skipped where a cheaper one came close."""

    name: str
    why: str
    run: Solver
    dear: bool = False


_Rungs = Callable[[Standard, Settings], Iterator[_Rung]]


def _solve(problem: Problem, solver: str, settings: Settings) -> Solution:
    is_rough = settings.tolerance >= lanczos.ROUGH
    by_lanczos = solver in (*_LADDER, "lanczos")
    standard = standardise(problem, settings.run, roughly=is_rough, in_passing=by_lanczos)
    n_components = settings.n_components
    if not 1 <= n_components <= standard.room:
        raise InputError(
            f"{named('n_components')} must be between 1 and {standard.room} (the {standard.size} points less the "
            f"{standard.basis.shape[1]} trivial solutions), got {n_components}"
        )
    rungs = _ladder if solver in _LADDER else partial(_asked, solver)
    known = null_space(standard, settings)
    if known is None:
        return _climb(standard, settings, rungs(standard, settings))
    return _beside(known, standard, settings, rungs)


def _beside(known: Floats, standard: Standard, settings: Settings, rungs: _Rungs) -> Solution:
    """A null space that is known, and what else is wanted beside it."""
    why = "points that lean on nobody outside their groups give it away"
    settings.run.chosen("solver", "null space", why)
    found = measured(standard, known, standard.apply(known), "null space", 1)
    found = replace(
        found, attempts=(Attempt("null space", why, f"residual {found.residuals.max():.1e} |A|"),)
    )
    rest = replace(settings, n_components=settings.n_components - known.shape[1])
    if not rest.n_components:
        return found
    deflated = replace(standard, basis=np.hstack((standard.basis, known)))
    other = _climb(deflated, rest, rungs(deflated, rest))
    return Solution(
        np.concatenate((found.values, other.values)),
        np.hstack((found.vectors, other.vectors)),
        np.concatenate((found.residuals, other.residuals)),
        other.solver,
        other.iterations,
        found.attempts + other.attempts,
    )


def _asked(solver: str, standard: Standard, settings: Settings) -> Iterator[_Rung]:
    """The solver that was asked for by name; of so few points that it has no room, the dense one."""
    yield _Rung(solver, "as asked", SOLVERS[solver])
    if solver != "dense" and _is_small(standard, settings):
        yield _Rung("dense", f"{standard.size} points are too few for {solver}", dense.solve)


def _is_small(standard: Standard, settings: Settings) -> bool:
    """Whether there is little beside the wanted vectors: iterations have no room there, and LAPACK is as quick."""
    operator = standard.problem.operator
    if isinstance(operator, CenteredGram) and standard.problem.end == "largest":
        few = _DENSE_GRAM
    else:
        few = _DENSE_LAPLACIAN if isinstance(operator, Laplacian) else _DENSE_SIZE
    return standard.size <= few or 4 * settings.n_components + 40 > standard.room


def _ladder(standard: Standard, settings: Settings) -> Iterator[_Rung]:
    """Solvers in the order to try, by size, structure and what they would cost.

    Few points, or many components of them: dense. Largest end: lanczos, then dense. Sparse matrices: lanczos or
    shift-invert, whichever is foreseen to take less, then the other, lobpcg, dense. The last ones only where nothing
    before came close, and dense only where it can end.
    """
    size, k = standard.size, settings.n_components
    problem = standard.problem
    if _is_small(standard, settings):
        yield _Rung("dense", f"{k} components of {size} points", dense.solve)
        return
    if problem.end == "largest":
        yield _Rung("lanczos", "the wanted end lies apart", lanczos.solve)
    elif is_dense(problem.operator):
        yield _Rung("lanczos", "a dense matrix has no sparse factor", lanczos.solve)
    else:
        yield from _by_cost(standard, settings)
    if size <= _DENSE_LIMIT:
        yield _Rung("dense", "nothing else is left", dense.solve, dear=True)


def _by_cost(standard: Standard, settings: Settings) -> Iterator[_Rung]:
    """Lanczos and shift-invert of a sparse matrix, the one that is foreseen to take less before the other.

    Lanczos may take as long as the factor would, and gives up after a third of that where it sees no end; with LLE and
    its kin, whose gaps nothing foretells, after a trial.
    """
    forecast, operator = foresee(standard, settings), standard.problem.operator
    bounded = partial(lanczos.solve, give_up=True)
    k = settings.n_components

    def reconsider() -> int:
        """Products that are worth their price, once the factor was only guessed and they have become many."""
        nonlocal forecast
        if forecast.symbolic is None:
            forecast = look_into(forecast, standard, settings)
        return forecast.budget(k)

    if forecast.prefers_factor:
        inverted = partial(shift_invert.solve, symbolic=forecast.symbolic)
        yield _Rung("shift-invert", "the factor is cheap, and the gaps are small", inverted)
        last = partial(
            lanczos.solve if isinstance(operator, Normal) else bounded, max_products=most_products(k)
        )
        yield _Rung("lanczos", "the factor did not do", last)
    else:
        trial = 0 if isinstance(operator, Laplacian) else TRIAL
        first = partial(bounded, max_products=forecast.budget(k), trial=trial, reconsider=reconsider)
        yield _Rung("lanczos", "products are cheap and need no factor", first)
        inverted = partial(shift_invert.solve, symbolic=forecast.symbolic)
        yield _Rung("shift-invert", "the smallest eigenvalues crowd at zero", inverted)
    yield _Rung("lobpcg", "the factor did not do", lobpcg.solve, dear=True)


def _climb(standard: Standard, settings: Settings, rungs: Iterator[_Rung]) -> Solution:
    """Try one rung after another until a solution passes; each starts from the best so far."""
    attempts: list[Attempt] = []
    best: Solution | None = None
    for rung in rungs:
        if not standard.norm and rung.name != "lanczos":
            standard = replace(standard, norm=estimated_norm(standard, settings.run))
        if rung.dear and best is not None and _worst(standard, best) <= standard.bound(best.values, _GOOD):
            continue
        settings.run.chosen("solver", rung.name, rung.why)
        trial, outcome = _attempt(rung, standard, settings)
        if trial is None:
            attempts.append(Attempt(rung.name, rung.why, outcome))
            continue
        standard = replace(standard, norm=trial.norm or standard.norm)
        solution = finish(standard, trial, rung.name, settings.n_components)
        attempts.append(
            Attempt(rung.name, rung.why, outcome or f"residual {solution.residuals.max():.1e} |A|")
        )
        floor = _RESOLUTION if outcome else _ROUNDING
        if _worst(standard, solution) <= standard.bound(solution.values, settings.tolerance, floor):
            return replace(solution, attempts=tuple(attempts))
        if best is None or _worst(standard, solution) < _worst(standard, best):
            best = solution
            settings = replace(settings, start=best.vectors)
    return _judge(standard, settings, best, tuple(attempts))


def _attempt(rung: _Rung, standard: Standard, settings: Settings) -> tuple[Trial | None, str]:
    """What a rung found, and what it says of its failure if it failed."""
    try:
        return rung.run(standard, settings), ""
    except SolverFailure as failure:
        return failure.trial, str(failure)


def _judge(
    standard: Standard, settings: Settings, best: Solution | None, attempts: tuple[Attempt, ...]
) -> Solution:
    """The best of solutions that did not pass: warned about if it is usable, else refused."""
    story = "; ".join(f"{attempt.solver}: {attempt.outcome}" for attempt in attempts)
    advice = "Try more neighbours (a better connected graph), fewer components or another solver."
    if best is None:
        raise ConvergenceError(f"No solver found the eigenvectors ({story}). {advice}")
    message = f"The eigenvectors have residuals up to {best.residuals.max():.1e} |A| ({story}). {advice}"
    if _worst(standard, best) > standard.bound(best.values, _USABLE):
        raise ConvergenceError(message)
    settings.run.warned(message, ConvergenceWarning)
    return replace(best, attempts=attempts)


def _worst(standard: Standard, solution: Solution) -> float:
    """Largest residual, no longer relative to |S|; one that is not a number is the worst of all."""
    worst = float(solution.residuals.max()) * (standard.norm or 1.0)
    return worst if np.isfinite(worst) else np.inf
