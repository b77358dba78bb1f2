"""How well given vectors solve the whole problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.records import Floats, Problem
from ...core.run import Run
from ...spectral.operators import GramRows
from ..eigen.common import norm_bound, standard_form, standardise


def residuals_of(
    problem: Problem, X: Floats, values: Floats | None = None, *, run: Run, roughly: bool = False
) -> Floats:
    """|A x - lambda B x| / (|A| |x|) in the norm that makes B the identity: what `Solution.residuals` holds, for any X.

    Parameters
    ----------
    problem
        The whole problem.
    X
        Vectors of any length, N x d; their parts along the trivial solutions do not count.
    values
        Their lambda; None: the Rayleigh quotients, which make the residuals smallest.
    run
        Draws for the estimate of |A|. A Gram matrix whose rows are computed afresh at every product is spared it: there
        the largest Rayleigh quotient stands for |A|, which at the large end it is.
    roughly
        A Laplacian is spared the estimate too: its bound is |A| to a factor of 2 from above, and takes no products.
    """
    # One product with all columns at once: where rows are computed at every product it is all the cost.
    lazy = isinstance(problem.operator, GramRows)
    standard = standard_form(problem)
    if not lazy:
        bound = norm_bound(standard) if roughly else None
        standard = standardise(problem, run=run) if bound is None else replace(standard, norm=bound)
    Y = standard.project(standard.images(X))
    lengths = np.linalg.norm(Y, axis=0)
    Y = Y / np.where(lengths > 0, lengths, 1.0)
    image = standard.apply(Y)
    quotients = np.einsum("ij,ij->j", Y, image)
    norm = float(np.linalg.norm(image, axis=0).max(initial=0.0)) if lazy else standard.norm
    difference = image - Y * (quotients if values is None else values)
    return np.asarray(np.linalg.norm(difference, axis=0) / (norm or 1.0))
