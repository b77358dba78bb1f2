"""SD-: the attractive Hessian with the diagonal blocks of L^xx, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...embedding.objectives.protocol import Objective
from ...places import State
from ...records import Choice, Floats
from ..line_search import Backtracking, LineSearch
from ..measures import inner
from ..operators.matrix import AttractiveHessian
from ..protocol import Descent, Direction
from .common import require_linear
from .diagonal_hessian import DiagonalHessian


@dataclass(frozen=True, slots=True)
class PartialHessian:
    """p = -(4 L+ + 8 L^xx_ii)^-1 g, coordinate by coordinate (Vladymyrov & Carreira-Perpinan 2012, "SD-").

    L^xx comes from its positive semidefinite parts, so that p goes down however early the inner iteration stops. It
    begins at the last p where that is better than 0.

    Parameters
    ----------
    tolerance
        Residual of the inner iteration relative to the gradient, in each coordinate.
    max_inner
        Inner steps, of one product with L+ and one with L^xx each.
    preconditioner
        Direction whose matrix preconditions the inner iteration.
    """

    tolerance: float = 0.1
    max_inner: int = 50
    preconditioner: Direction = field(default_factory=DiagonalHessian)
    is_linear: ClassVar[bool] = False

    @property
    def usual_search(self) -> LineSearch:
        """Backtracking."""
        return Backtracking()

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Prepare the product with L+ and the preconditioner."""
        require_linear(self.preconditioner, "preconditioner")
        matrix = AttractiveHessian.of(objective, n_jobs=n_jobs)
        return _Running(self, objective, matrix, self.preconditioner.start(objective, X, n_jobs))


class _Running:
    first_step = 1.0

    def __init__(
        self, settings: PartialHessian, objective: Objective, matrix: AttractiveHessian, precondition: Descent
    ) -> None:
        self._settings = settings
        self._objective = objective
        self._matrix = matrix
        self._precondition = precondition
        self._last: Floats | None = None
        self.choices: tuple[Choice, ...] = precondition.choices

    def at(self, X: Floats, gradient: Floats) -> Floats:
        curvature = self._objective.curvature(X)
        b = _centred(-gradient)

        def multiply(V: Floats) -> Floats:
            return self._matrix.apply(V) + curvature(V)

        def precondition(V: Floats) -> Floats:
            return _centred(-self._precondition.at(X, V))

        start = np.zeros_like(b) if self._last is None else self._last
        p = conjugate_gradients(
            multiply,
            precondition,
            b,
            start,
            tolerance=self._settings.tolerance,
            max_steps=self._settings.max_inner,
        )
        if not inner(p, gradient) < 0.0:
            # From 0 every step of conjugate gradients goes down; from elsewhere it need not.
            p = conjugate_gradients(
                multiply,
                precondition,
                b,
                np.zeros_like(b),
                tolerance=self._settings.tolerance,
                max_steps=self._settings.max_inner,
            )
        self._last = p
        return p

    def moved(self, change: Floats, gradient_change: Floats) -> None:
        """The last direction is kept already."""

    def state(self, *, learnt: bool = True) -> State:
        own = {"last": self._last} if learnt else {}
        return {"preconditioner": self._precondition.state(learnt=learnt)} | own

    def resume(self, state: State) -> None:
        self._precondition.resume(state["preconditioner"])
        self._last = state.get("last")

    def restart(self, objective: Objective, X: Floats) -> Descent:
        return _Running(self._settings, objective, self._matrix, self._precondition.restart(objective, X))


def conjugate_gradients(
    multiply: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    b: Floats,
    start: Floats,
    *,
    tolerance: float,
    max_steps: int,
) -> Floats:
    """Solve A x = b for each column alone, all columns at once, until |b - A x| <= tolerance |b| in each.

    A column that is solved, or along which A turns out not to be positive, stays where it is. A start that is worse
    than 0 in a column is given up there.
    """
    norms = np.linalg.norm(b, axis=0)
    x = start.copy()
    r = b - multiply(x) if start.any() else b.copy()
    worse = np.linalg.norm(r, axis=0) > norms
    x[:, worse], r[:, worse] = 0.0, b[:, worse]
    z = precondition(r)
    p = z.copy()
    rho = np.einsum("nd,nd->d", r, z)
    active = np.linalg.norm(r, axis=0) > tolerance * norms
    for _ in range(max_steps):
        if not active.any():
            break
        image = multiply(p)
        energy = np.einsum("nd,nd->d", p, image)
        active &= (energy > 0.0) & (rho > 0.0)
        steps = np.divide(rho, energy, out=np.zeros_like(rho), where=active)
        x += steps * p
        r -= steps * image
        active &= np.linalg.norm(r, axis=0) > tolerance * norms
        z = precondition(r)
        rho_before, rho = rho, np.einsum("nd,nd->d", r, z)
        p = z + np.divide(rho, rho_before, out=np.zeros_like(rho), where=active) * p
    return x


def _centred(V: Floats) -> Floats:
    return np.asarray(V - V.mean(axis=0))
