"""The spectral direction: B = 4 L+ + mu I, the same for every X, factored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ...core.messages import named, setting
from ...core.records import Choice, Floats, Sparse
from ...core.run import Run
from ...errors import InputError
from ...objectives.protocol import Objective
from ..line_search import Backtracking, LineSearch
from ..operators.coarse import coarse_space
from ..operators.exact import Budget, ExactSolve, TooDear
from ..operators.floating import Floating
from ..operators.matrix import AttractiveHessian
from ..operators.two_level import TwoLevelSolve
from ..protocol import Prepared
from .common import FixedMatrix


@dataclass(frozen=True, slots=True, eq=False)
class SpectralDirection:
    """p = -(4 L+ + mu I)^-1 g, centred (Vladymyrov & Carreira-Perpinan 2012, "SD").

    L+ is the Laplacian of the attractive weights at X = 0. Parts of the graph without a tie to the rest move against
    each other at the pace of the fixed-point direction.

    Parameters
    ----------
    kappa
        Off the diagonal keep the edges that are among so many strongest of either end; the diagonal stays whole.
    form
        ``"exact"`` factors B, whatever that takes in time. ``"two-level"`` puts a symmetric positive definite matrix
        in the place of B^-1: its diagonal's inverse and a coarse space. ``"auto"`` is exact where the factor, whose
        fill is found out first, is cheap.
    coarse
        Z (N x L), sparse, for two levels: for example the landmark weights of LLL. None: groups of points, smoothed.
    n_coarse
        Groups where ``coarse`` is None.
    smoothing
        0: the diagonal and the coarse solve are added. More: the degree of the smoothing before and after the coarse
        solve, for 2 products with L+ each.
    memory_limit
        Bytes that the factor may take.
    """

    kappa: int | None = None
    form: Literal["auto", "exact", "two-level"] = "auto"
    coarse: Sparse | None = None
    n_coarse: int = 1000
    smoothing: int = 0
    memory_limit: int | None = None
    is_linear: ClassVar[bool] = True
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Factor B, or prepare what stands for it; at another lambda it is the same."""
        if isinstance(before, SpectralSolve):
            return before
        matrix = AttractiveHessian.of(objective, kappa=self.kappa, n_jobs=run.n_jobs)
        settings = self if not form else replace(self, form="exact" if form == "exact" else "two-level")
        solve, why = settings.factored(matrix, run.n_jobs)
        return SpectralSolve(Floating(matrix), solve, why)

    def factored(
        self, matrix: AttractiveHessian, n_jobs: int | None
    ) -> tuple[ExactSolve | TwoLevelSolve, str]:
        """What stands for the inverse of B, and why."""
        why = "as asked"
        if self.form != "two-level":
            budget = Budget(memory=self.memory_limit)
            if self.form == "exact":
                budget = Budget(float("inf"), self.memory_limit)
            try:
                return ExactSolve(matrix, budget), f"{matrix.size} points"
            except TooDear as reason:
                if self.form == "exact":
                    raise InputError(
                        f"{setting('form', 'exact')} of the spectral direction cannot be had: {reason}. Use "
                        f"{setting('form', 'two-level')} or {setting('kappa', 7)}, or raise {named('memory_limit')}."
                    ) from reason
                why = str(reason)
        Z = self.coarse
        if Z is None:
            smooth = 1 if matrix.size > self.n_coarse else 0
            Z = coarse_space(matrix.laplacian, self.n_coarse, smooth, n_jobs=n_jobs)
        elif Z.shape[0] != matrix.size:
            raise InputError(
                f"coarse must have one row for each of the {matrix.size} points; got {Z.shape[0]}."
            )
        return TwoLevelSolve(matrix, Z, self.smoothing, n_jobs), why


class SpectralSolve(FixedMatrix):
    """B^-1 by a factor or by what stands for it, and the parts of the graph that float."""

    def __init__(self, floating: Floating, solve: ExactSolve | TwoLevelSolve, why: str) -> None:
        self._floating = floating
        self._solve = solve
        self.form = "exact" if isinstance(solve, ExactSolve) else "two-level"
        self.choices = (Choice("spectral direction", solve.description, why),)

    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """B^-1 g, centred."""
        return self._floating.solve(self._solve, gradient)
