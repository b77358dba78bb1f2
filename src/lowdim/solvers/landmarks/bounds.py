"""How far the spectrum of a problem reaches: filters must know it, and must not guess too low."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...core.run import Run
from ...spectral.operators import Laplacian
from ..eigen.common import Standard

_STEPS = 12


def upper_bound(standard: Standard, sign: float, run: Run) -> float:
    """A bound above the largest eigenvalue of ``sign`` S, within some per cent of it.

    After some steps of Lanczos from a random start, the largest Ritz value plus the norm of the remainder is one (Zhou
    & Li 2011, "Bounding the spectrum of large Hermitian matrices"). For Laplacians 2 max d_i / b_i is another.
    """
    q = run.random("solve").standard_normal((standard.size, 1))
    q /= np.linalg.norm(q)
    basis, diagonal, off_diagonal = [q], [], [0.0]
    for _ in range(min(_STEPS, standard.size)):
        image = sign * standard.raw(basis[-1])
        diagonal.append(float((basis[-1].T @ image)[0, 0]))
        for _ in range(2):
            for vector in basis:
                image -= vector * (vector.T @ image)
        off_diagonal.append(float(np.linalg.norm(image)))
        if off_diagonal[-1] <= 1e-14 * max(map(abs, diagonal)):
            break
        basis.append(image / off_diagonal[-1])
    top = linalg.eigvalsh_tridiagonal(np.array(diagonal), np.array(off_diagonal[1:-1])).max()
    bound = float(top) + off_diagonal[-1]
    operator = standard.problem.operator
    if sign > 0 and isinstance(operator, Laplacian) and operator.slack is None and standard.root is None:
        ratio = operator.degrees if standard.scale is None else operator.degrees * standard.scale**2
        bound = min(bound, 2.0 * float(ratio.max(initial=0.0)))
    return bound
