"""Where one fit serves several values of ``n_components``.

The eigenvectors of a problem that does not depend on d do not either: the first columns of a wide fit are the narrow
fit, as far as the solver tells eigenvectors apart. A residual r leaves the space of the first d an angle of about
r / gap, gap the distance between eigenvalues d and d + 1 (Davis & Kahan 1970), so a cut is taken only where the gap is
a million times what the solvers leave. Scores do not see how the coordinates are turned within that space.
"""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from ..core.rules import Whole
from ..data.rows import Rows
from ..estimators.base import Estimator
from ..estimators.choosing.settled import open_parameters
from ..estimators.linear.classical_mds import ClassicalMDS
from ..estimators.linear.kernel_pca import KernelPCA
from ..estimators.spectral.diffusion_map import DiffusionMap
from ..estimators.spectral.isomap import Isomap
from ..estimators.spectral.laplacian_eigenmaps import LaplacianEigenmaps
from ..estimators.spectral.lle import LLE

SHARP = 1e-6
"""Largest angle, in radians, between the space that is cut out and that of a fit of its own."""
TOLERANCE = 1e-8
"""Residual at which iterative solvers stop, relative to the largest eigenvalue that was asked for."""
ROUNDING = 1e-15
"""Residual that a dense solver leaves, relative to |A|."""


def may_nest(estimator: Estimator, rows: Rows) -> bool:
    """Whether the parameters, and what ``auto`` makes of them on these rows, allow to cut one fit from another.

    Not where the problem itself depends on d (modified LLE, Hessian LLE, LTSA; K_Z of landmarks by default; polishing;
    small components embedded apart; what is left open), nor for linear methods, whose solvers choose their accuracy
    by d.
    """
    if open_parameters(estimator):
        return False
    if not isinstance(estimator, LaplacianEigenmaps | DiffusionMap | LLE | Isomap | KernelPCA | ClassicalMDS):
        return False
    if isinstance(estimator, ClassicalMDS) and estimator._is_pca:
        return False
    if not Whole(1).allows(estimator.n_components) or getattr(estimator, "variant", "standard") != "standard":
        return False
    if getattr(estimator, "on_disconnected", "") == "per_component":
        return False
    solver = estimator._solver_for(rows, estimator._method())[0]
    return solver.is_nested


def is_sharp(fitted: Estimator, n_components: int) -> bool:
    """Whether the space of the first coordinates of a fit is known well enough to stand for a fit of its own."""
    values: Floats = np.asarray(getattr(fitted, "eigenvalues_", ()))
    if not 0 < n_components < values.size:
        return n_components == values.size > 0
    gap = abs(values[n_components] - values[n_components - 1])
    return bool(_residual(fitted, values) <= SHARP * gap)


def _residual(fitted: Estimator, values: Floats) -> float:
    """What the solver may have left: the residual it stops at, or one that was measured if that is larger."""
    norm, figures = _norm(fitted, values), fitted.report_.figures
    if hasattr(fitted, "certificate_") or figures.get("eigensolver") == "dense":
        return ROUNDING * norm
    measured = float(np.max(figures["residuals"], initial=ROUNDING))
    return max(TOLERANCE * float(np.abs(values).max()), measured * norm)


def _norm(fitted: Estimator, values: Floats) -> float:
    """|A| in the norm of B, from above: 2 for a Laplacian, a generous guess for (I - W)'(I - W), else lambda_1."""
    if isinstance(fitted, LaplacianEigenmaps | DiffusionMap):
        return 2.0
    return 100.0 if isinstance(fitted, LLE) else float(np.abs(values).max())
