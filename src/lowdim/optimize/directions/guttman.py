"""The Guttman transform as a direction: the spectral direction of stress, whose matrix V is the same for every X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.records import Floats
from ...core.run import Run
from ..line_search import Backtracking, LineSearch
from ..protocol import Prepared
from .common import FixedMatrix


@dataclass(frozen=True, slots=True)
class Guttman:
    """p = -V^+ g / 2: a step of length 1 is the Guttman transform of SMACOF, which never raises stress.

    de Leeuw & Mair (2009), eq. 7. The objective has ``guttman``, as `Stress` does.
    """

    is_linear: ClassVar[bool] = True
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Any, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """The factor is the objective's own, which its weights alone decide."""
        return GuttmanStep(objective)


class GuttmanStep(FixedMatrix):
    """V^+ g / 2 by the factor of an objective."""

    def __init__(self, objective: Any) -> None:
        self._objective = objective

    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """What a Guttman transform subtracts from X."""
        return self._objective.guttman(gradient)  # type: ignore[no-any-return]
