"""Limited-memory BFGS, from a scaled identity or from the matrix of another direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.records import Choice, Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import LineSearch, StrongWolfe
from ..measures import inner
from ..protocol import Direction, Learnt, Prepared
from .common import require_linear, usual_rate

#: A pair (s, y) is used where s'y is above this times |s| |y|: at or below 0 the matrix would lose its sign.
_CURVED = 1e-12


@dataclass(frozen=True, slots=True)
class LimitedMemory:
    """p = -H g, H the inverse Hessian that the last steps tell of (Nocedal & Wright 2006, algorithm 7.4).

    Parameters
    ----------
    memory
        Steps that are kept; the paper has 100.
    initial
        Direction whose matrix H starts from, such as ``SpectralDirection()``; None: the identity.
    scaled
        Multiply that matrix H0 by s'y / y'H0 y of the last step (Nocedal & Wright 2006, eq. 7.20).
    """

    memory: int = 20
    initial: Direction | None = None
    scaled: bool = True
    is_linear: ClassVar[bool] = False
    usual_search: ClassVar[LineSearch] = StrongWolfe(c2=0.9)

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Prepare the matrix to start from."""
        if self.initial is None:
            return InverseHessian(self, None, usual_rate(objective))
        require_linear(self.initial, "initial")
        held = before.initial if isinstance(before, InverseHessian) else None
        return InverseHessian(self, self.initial.prepare(objective, run, before=held, form=form), 1.0)


@dataclass(frozen=True, slots=True)
class InverseHessian:
    """Learnt are the scale of the matrix to start from, and the pairs (s, y, s'y) of the last steps, oldest first."""

    settings: LimitedMemory
    initial: Prepared | None
    rate: float

    @property
    def first_step(self) -> float:
        """That of the matrix to start from."""
        return 1.0 if self.initial is None else self.initial.first_step

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Those of the matrix to start from."""
        return () if self.initial is None else self.initial.choices

    @property
    def form(self) -> str:
        """That of the matrix to start from."""
        return "" if self.initial is None else self.initial.form

    def at(self, X: Floats, gradient: Floats, learnt: Learnt = None) -> tuple[Floats, Learnt]:
        """The two-loop recursion."""
        scale, pairs = learnt = learnt or (self.rate, ())
        q = gradient.copy()
        shares = []
        for change, gradient_change, curvature in reversed(pairs):
            share = inner(change, q) / curvature
            q -= share * gradient_change
            shares.append(share)
        q = scale * self._begin(X, q)
        for (change, gradient_change, curvature), share in zip(pairs, reversed(shares), strict=True):
            q += (share - inner(gradient_change, q) / curvature) * change
        return -q, learnt

    def _begin(self, X: Floats, V: Floats) -> Floats:
        """The unscaled matrix to start from, times V."""
        return V if self.initial is None else -self.initial.at(X, V)[0]

    def moved(self, learnt: Learnt, X: Floats, change: Floats, gradient_change: Floats) -> Learnt:
        """One more pair, where its curvature is positive."""
        scale, pairs = learnt or (self.rate, ())
        curvature = inner(change, gradient_change)
        lengths = np.sqrt(inner(change, change) * inner(gradient_change, gradient_change))
        if not curvature > _CURVED * lengths:
            return scale, pairs
        pairs = (*pairs, (change, gradient_change, curvature))
        length = inner(gradient_change, self._begin(X, gradient_change)) if self.settings.scaled else 0.0
        return (
            curvature / length if length > 0.0 else scale,
            pairs[max(0, len(pairs) - self.settings.memory) :],
        )
