"""The diagonal of the Hessian: B = 4 D+ + 8 lambda D^xx, kept positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import Backtracking, LineSearch
from ..protocol import Prepared
from .common import FixedMatrix, positive_degrees


@dataclass(frozen=True, slots=True)
class DiagonalHessian:
    """p = -B^-1 g, B the diagonal of the partial Hessian at X (Vladymyrov & Carreira-Perpinan 2012, "DiagH").

    Parameters
    ----------
    least
        No entry of B is below this share of 4 D+. D^xx is positive but for t-SNE, where half of 4 D+ is left at least;
        an approximate repulsion may take more.
    """

    least: float = 0.1
    is_linear: ClassVar[bool] = True
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Nothing to prepare but the bound."""
        return DiagonalAt(objective, self.least * 4.0 * positive_degrees(objective)[:, None])


class DiagonalAt(FixedMatrix):
    """B of the diagonal at each X, no entry below its bound."""

    def __init__(self, objective: Objective, least: Floats) -> None:
        self._objective = objective
        self._least = least
        self._at: Floats | None = None
        self._diagonal = least

    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """g over the diagonal at X."""
        # One diagonal serves all that is asked at one X, as by conjugate gradients that it preconditions.
        if self._at is not X:
            self._at, self._diagonal = X, np.maximum(self._objective.diagonal(X), self._least)
        return gradient / self._diagonal
