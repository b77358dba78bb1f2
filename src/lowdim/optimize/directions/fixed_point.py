"""The fixed-point direction: B = 4 D+, the degrees of the attractive weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.records import Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import Backtracking, LineSearch
from ..protocol import Prepared
from .common import FixedMatrix, positive_degrees


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """p = -(4 D+)^-1 g (Carreira-Perpinan 2010; "FP" of Vladymyrov & Carreira-Perpinan 2012)."""

    is_linear: ClassVar[bool] = True
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Keep the diagonal."""
        return Diagonal(4.0 * positive_degrees(objective)[:, None])


class Diagonal(FixedMatrix):
    """B of one diagonal, whatever X."""

    def __init__(self, diagonal: Floats) -> None:
        self._diagonal = diagonal

    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """g over the diagonal."""
        return gradient / self._diagonal
