"""Limited-memory BFGS, from a scaled identity or from the matrix of another direction."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...embedding.objectives.protocol import Objective
from ...places import State
from ...records import Choice, Floats
from ..line_search import LineSearch, StrongWolfe
from ..measures import inner
from ..protocol import Descent, Direction
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

    @property
    def usual_search(self) -> LineSearch:
        """Strong Wolfe from the step 1."""
        return StrongWolfe(c2=0.9)

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Prepare the matrix to start from."""
        if self.initial is None:
            return _Running(self, None, usual_rate(objective))
        require_linear(self.initial, "initial")
        return _Running(self, self.initial.start(objective, X, n_jobs), 1.0)


class _Running:
    def __init__(self, settings: LimitedMemory, initial: Descent | None, rate: float) -> None:
        self._settings = settings
        self._initial = initial
        self._rate = rate
        self._scale = rate
        self._X: Floats = np.empty((0, 0))
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=settings.memory)
        self.choices: tuple[Choice, ...] = () if initial is None else initial.choices
        self.first_step = 1.0 if initial is None else initial.first_step

    def at(self, X: Floats, gradient: Floats) -> Floats:
        self._X = X
        q = gradient.copy()
        shares = []
        for change, gradient_change, curvature in reversed(self._pairs):
            share = inner(change, q) / curvature
            q -= share * gradient_change
            shares.append(share)
        q = self._scale * self._begin(q)
        for (change, gradient_change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            q += (share - inner(gradient_change, q) / curvature) * change
        return -q

    def _begin(self, V: Floats) -> Floats:
        """The unscaled matrix to start from, times V."""
        return V if self._initial is None else -self._initial.at(self._X, V)

    def moved(self, change: Floats, gradient_change: Floats) -> None:
        curvature = inner(change, gradient_change)
        lengths = np.sqrt(inner(change, change) * inner(gradient_change, gradient_change))
        if curvature > _CURVED * lengths:
            self._pairs.append((change, gradient_change, curvature))
            length = inner(gradient_change, self._begin(gradient_change)) if self._settings.scaled else 0.0
            if length > 0.0:
                self._scale = curvature / length

    def state(self, *, learnt: bool = True) -> State:
        initial = None if self._initial is None else self._initial.state(learnt=learnt)
        return {"initial": initial} | ({"scale": self._scale, "pairs": list(self._pairs)} if learnt else {})

    def resume(self, state: State) -> None:
        if self._initial is not None:
            self._initial.resume(state["initial"])
        self._scale = state.get("scale", self._scale)
        self._pairs.extend(state.get("pairs", ()))

    def restart(self, objective: Objective, X: Floats) -> Descent:
        initial = None if self._initial is None else self._initial.restart(objective, X)
        return _Running(self._settings, initial, self._rate)
