"""Choosing a solver by size and structure, and the ladder to climb when one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from ...errors import ConvergenceError, ConvergenceWarning, InputError
from ...events import Events
from ...records import Attempt, Floats, Problem, Solution
from ..operators import CenteredGram, Explicit, Laplacian
from . import dense, lanczos, lobpcg, shift_invert
from .common import Settings, Solver, SolverFailure, Standard, Trial, finish, standardise

Name = Literal["auto", "dense", "lanczos", "shift-invert", "lobpcg"]
SOLVERS: dict[str, Solver] = {
    "dense": dense.solve,
    "lanczos": lanczos.solve,
    "shift-invert": shift_invert.solve,
    "lobpcg": lobpcg.solve,
}
_DENSE_SIZE = 400
_DENSE_LIMIT = 12_000
_LOOSE = 1e-3


def solve(
    problem: Problem,
    n_components: int,
    *,
    solver: Name = "auto",
    tolerance: float = 1e-8,
    rng: np.random.Generator | None = None,
    events: Events | None = None,
    start: Floats | None = None,
) -> Solution:
    """Solve min (or max) tr X'AX s.t. X'BX = I off the trivial solutions.

    Parameters
    ----------
    problem
        A, B and the trivial solutions.
    n_components
        Eigenpairs wanted, from the wanted end.
    solver
        ``"auto"`` climbs a ladder; a name stands for that solver alone.
    tolerance
        Largest |A x - lambda B x|, in the norm of B^-1, relative to the largest wanted |lambda|. A solution past it comes with a
        ConvergenceWarning; past a thousandth it is a ConvergenceError.
    rng
        Source of starting vectors; the same generator gives the same solution.
    events
        Stream for choices, progress and warnings.
    start
        Vectors to start from (N x m), as a landmark method gives them.
    """
    events = events or Events()
    rng = rng or np.random.default_rng(0)
    if solver not in get_args(Name):
        raise InputError(f"solver must be one of {', '.join(get_args(Name))}, got {solver!r}")
    standard = standardise(problem, rng)
    if not 1 <= n_components <= standard.room:
        raise InputError(
            f"n_components must be between 1 and {standard.room} (the {standard.size} points less the "
            f"{standard.basis.shape[1]} trivial solutions), got {n_components}"
        )
    settings = Settings(n_components, tolerance, rng, events, start)
    rungs = _ladder(standard, settings) if solver == "auto" else iter([(solver, "as asked", SOLVERS[solver])])
    return _climb(standard, settings, rungs, record=solver == "auto")


Rung = tuple[str, str, Solver]


def _climb(standard: Standard, settings: Settings, rungs: Iterator[Rung], *, record: bool) -> Solution:
    attempts: list[Attempt] = []
    best: Solution | None = None
    for name, why, run in rungs:
        if record:
            settings.events.chosen("solver", name, why)
        try:
            trial, outcome = run(standard, settings), ""
        except SolverFailure as failure:
            outcome = str(failure)
            if failure.trial is None:
                attempts.append(Attempt(name, why, outcome))
                continue
            trial = failure.trial
        solution = finish(standard, trial, name, settings.n_components)
        worst, bound = _worst(standard, solution), standard.bound(solution.values, settings.tolerance)
        passed = worst <= bound
        attempts.append(Attempt(name, why, outcome or f"residual {solution.residuals.max():.1e} |A|"))
        if best is None or passed or worst < _worst(standard, best):
            best = solution
        if passed:
            break
    return _judge(standard, settings, best, tuple(attempts))


def _judge(standard: Standard, settings: Settings, best: Solution | None, attempts: tuple[Attempt, ...]) -> Solution:
    """The best solution with its history, warned about or refused where its residual is above the tolerance."""
    story = "; ".join(f"{a.solver}: {a.outcome}" for a in attempts)
    advice = "Try more neighbours (a better connected graph), another solver, or a larger tolerance."
    if best is None:
        raise ConvergenceError(f"No solver found the eigenvectors ({story}). {advice}")
    solution = Solution(best.values, best.vectors, best.residuals, best.solver, best.iterations, attempts)
    worst = _worst(standard, solution)
    if worst > standard.bound(solution.values, settings.tolerance):
        message = f"eigenvectors have residuals up to {worst / (standard.norm or 1.0):.1e} |A| ({story}). {advice}"
        if worst > standard.bound(solution.values, _LOOSE):
            raise ConvergenceError(f"The {message}")
        settings.events.warned(f"The {message}", ConvergenceWarning)
    return solution


def _worst(standard: Standard, solution: Solution) -> float:
    return float(solution.residuals.max()) * (standard.norm or 1.0)


def _ladder(standard: Standard, settings: Settings) -> Iterator[Rung]:
    """Solvers in the order to try, by size and structure.

    Small problems, or many components of few points: dense. Largest end: lanczos, dense. Laplacians: lanczos with a bounded effort,
    then shift-invert, lobpcg, dense. Other matrices at the small end: shift-invert if sparse, else dense; then lobpcg.
    """
    size, k = standard.size, settings.n_components
    operator = standard.problem.operator
    if size <= _DENSE_SIZE or 4 * k + 40 > standard.room:
        yield "dense", f"{size} points, {k} components", dense.solve
        return
    if standard.problem.end == "largest":
        yield "lanczos", "the wanted end lies apart", lanczos.solve
    elif isinstance(operator, Laplacian):
        budget = 40 * k + 1500
        yield "lanczos", "products are cheap and need no factor", partial(lanczos.solve, max_products=budget)
        yield "shift-invert", "the gaps are too small for products alone", shift_invert.solve
        yield "lobpcg", "the factor failed", lobpcg.solve
    elif not (isinstance(operator, CenteredGram) or (isinstance(operator, Explicit) and not sparse.issparse(operator.matrix))):
        yield "shift-invert", "the smallest eigenvalues of a sparse matrix crowd at zero", shift_invert.solve
        yield "lobpcg", "the factor failed", lobpcg.solve
    if size <= _DENSE_LIMIT:
        yield "dense", "nothing else is left", dense.solve
