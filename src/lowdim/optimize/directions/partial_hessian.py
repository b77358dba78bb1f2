"""SD-: the attractive Hessian with the diagonal blocks of L^xx, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...core.records import Choice, Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import Backtracking, LineSearch
from ..measures import inner
from ..operators.matrix import AttractiveHessian
from ..protocol import Direction, Learnt, Prepared
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
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Prepare the product with L+ and the preconditioner."""
        require_linear(self.preconditioner, "preconditioner")
        held = before if isinstance(before, InnerSolve) else None
        matrix = AttractiveHessian.of(objective, n_jobs=run.n_jobs) if held is None else held.matrix
        inside = None if held is None else held.preconditioner
        return InnerSolve(
            self, objective, matrix, self.preconditioner.prepare(objective, run, before=inside, form=form)
        )


@dataclass(frozen=True, slots=True)
class InnerSolve:
    """Learnt is the last direction, where the next inner iteration begins."""

    settings: PartialHessian
    objective: Objective
    matrix: AttractiveHessian
    preconditioner: Prepared
    first_step: float = 1.0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Those of the preconditioner."""
        return self.preconditioner.choices

    @property
    def form(self) -> str:
        """That of the preconditioner."""
        return self.preconditioner.form

    def at(self, X: Floats, gradient: Floats, learnt: Learnt = None) -> tuple[Floats, Learnt]:
        """The direction to the tolerance, from the last one or from 0."""
        curvature = self.objective.curvature(X)
        b = _centred(-gradient)

        def multiply(V: Floats) -> Floats:
            return self.matrix.apply(V) + curvature(V)

        def precondition(V: Floats) -> Floats:
            return _centred(-self.preconditioner.at(X, V)[0])

        def solve(start: Floats) -> Floats:
            return conjugate_gradients(
                multiply,
                precondition,
                b,
                start,
                tolerance=self.settings.tolerance,
                max_steps=self.settings.max_inner,
            )

        p = solve(np.zeros_like(b) if learnt is None else learnt)
        if not inner(p, gradient) < 0.0:
            # From 0 every step of conjugate gradients goes down; from elsewhere it need not.
            p = solve(np.zeros_like(b))
        return p, p

    def moved(self, learnt: Learnt, X: Floats, change: Floats, gradient_change: Floats) -> Learnt:
        """The last direction is known already."""
        return learnt


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
