"""One adjoint solve: how a place in the picture hangs on everything that moves points.

At a minimum dX = -H^-1 d(grad E), by the implicit function theorem. A linear function e.X of the picture therefore
changes by -v.d(grad E) with H v = e: one solve, whatever the number of features. H is symmetric; E does not
change where all points shift or turn together, so that these directions are left out on both sides.

Preconditioned conjugate gradients, the spectral direction as the preconditioner. A picture that is not at rest has no
minimum's Hessian: where p'H p <= 0 is met, the same is solved with mu 4 L+ added, L+ the Laplacian of the attraction:
neighbours are tied to each other a little more than they are. mu is raised until no such p is met.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.records import Floats
from ..core.run import Run
from ..objectives.base import NeighborObjective
from ..optimize.directions.spectral import SpectralDirection
from ..optimize.operators.matrix import AttractiveHessian

LADDER = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Values of mu that are tried."""
RESTLESS, RESTLESS_START = 1e-6, 3
"""Gradient over that of the attraction alone above which a picture is not at rest, and the place in the ladder where
its solve begins: below it negative curvature was met in every such picture that was looked at."""
MOST_STEPS = 2_000

Apply = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Adjoint:
    """v with (H + mu 4 L+) v = e, how it was found, and how far the picture is from rest."""

    v: Floats
    damping: float
    steps: int
    residual: float
    restlessness: float


def solve_adjoint(
    objective: NeighborObjective, X: Floats, e: Floats, tolerance: float, run: Run
) -> Adjoint | None:
    """The solution to a relative residual; None where even the strongest damping leaves a negative curvature."""
    multiply = objective.hessian(X)
    matrix = AttractiveHessian.of(objective, n_jobs=run.n_jobs)
    # Two levels: a factor of so many neighbours fills in and takes longer than all else.
    form = "auto" if X.shape[0] <= 1000 else "two-level"
    direction = SpectralDirection(form=form, smoothing=1).prepare(objective, run.silent())  # type: ignore[arg-type]
    project = outside_motions(X)
    restlessness = rest_of(objective, X)
    first = RESTLESS_START if restlessness > RESTLESS else 0
    for mu in LADDER[first:]:

        def apply(V: Floats, mu: float = mu) -> Floats:
            return project(multiply(V) + mu * matrix.apply(V) if mu else multiply(V))

        found = conjugate_gradients(
            apply, lambda V: project(-direction.at(X, V)[0]), project(e), tolerance, MOST_STEPS
        )
        if found is not None:
            v, steps, residual = found
            return Adjoint(v, mu, steps, residual, restlessness)
    return None


def rest_of(objective: NeighborObjective, X: Floats) -> float:
    """|grad E| over |4 D+ X|, the size of what pulls the points."""
    pull = 4.0 * objective.degrees[:, None] * (X - X.mean(axis=0))
    return float(np.linalg.norm(objective.evaluate(X, value=False).gradient) / np.linalg.norm(pull))


def outside_motions(X: Floats) -> Apply:
    """V -> V without its shifts and turns of the whole picture."""
    n_points, d = X.shape
    centred = X - X.mean(axis=0)
    turns = []
    for i in range(d):
        for j in range(i + 1, d):
            turn = np.zeros((n_points, d))
            turn[:, i], turn[:, j] = -centred[:, j], centred[:, i]
            turns.append(turn.ravel())
    basis = np.linalg.qr(np.array(turns).T)[0] if turns else np.zeros((n_points * d, 0))

    def project(V: Floats) -> Floats:
        V = V - V.mean(axis=0)
        flat = V.ravel()
        return np.asarray((flat - basis @ (basis.T @ flat)).reshape(V.shape))

    return project


def conjugate_gradients(
    multiply: Apply, precondition: Apply, b: Floats, tolerance: float, most: int
) -> tuple[Floats, int, float] | None:
    """x with A x = b, the steps and the relative residual; None where A is not positive along a step."""
    x, r = np.zeros_like(b), b.copy()
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return x, 0, 0.0
    z = precondition(r)
    p, rho = z, float(np.sum(r * z))
    best, least, at = x, 1.0, 0
    for step in range(1, most + 1):
        image = multiply(p)
        energy = float(np.sum(p * image))
        if not energy > 0.0 or not rho > 0.0:
            return None
        x = x + (rho / energy) * p
        r = r - (rho / energy) * image
        residual = float(np.linalg.norm(r)) / size
        if residual < least:
            best, least, at = x, residual, step
        if residual <= tolerance:
            break
        z = precondition(r)
        before, rho = rho, float(np.sum(r * z))
        p = z + (rho / before) * p
    return best, at, least
