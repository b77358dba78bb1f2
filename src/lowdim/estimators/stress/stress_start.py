"""Where stress is minimised from: classical scaling of the same distances, on the scale that suits them, or noise."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from ...core.run import Run
from ...methods.gram import distance_problem, scaled
from ...objectives.stress import Stress
from ...solvers.eigen import solve

NOISE = 1e-3
"""Deviation, as a share of the widest coordinate, of what is added to one that does not vary: at 0 it would stay."""
ROUGH = 1e-4
"""Residual to which the eigenvectors of a start are computed."""


def classical_start(targets: Floats, n_components: int, run: Run) -> Floats:
    """Classical scaling (Torgerson 1952); what is missing of the squared distances is filled in by its row and column.

    A coordinate without a positive eigenvalue starts as a little noise.
    """
    squared = np.square(targets)
    missing = targets < 0.0
    if missing.any():
        known = ~missing
        means = (squared * known).sum(axis=1) / known.sum(axis=1)
        squared[missing] = ((means[:, None] + means) / 2)[missing]
    count = min(n_components, targets.shape[0] - 1)
    X = np.zeros((targets.shape[0], n_components))
    if squared.any():
        solution = solve(distance_problem(squared, run=run), count, tolerance=ROUGH, run=run)
        X[:, :count] = scaled(solution.vectors, solution.values)
    deviations = X.std(axis=0)
    widest = float(deviations.max(initial=0.0)) or float(targets.max(initial=0.0))
    flat = deviations <= 1e-9 * widest
    X[:, flat] = NOISE * widest * run.random("solve").standard_normal((X.shape[0], int(flat.sum())))
    return X


def random_start(targets: Floats, n_components: int, run: Run) -> Floats:
    """Noise whose distances are those that are wanted, in the mean."""
    X = run.random("solve").standard_normal((targets.shape[0], n_components))
    known = targets[targets >= 0.0]
    return X * float(np.sqrt(np.square(known).mean() / (2 * n_components)))


def sized(X: Floats, stress: Stress) -> Floats:
    """X on the scale that lowers stress most: times sum w t d / sum w d^2."""
    gaps, lengths = stress.sums(X)[0], stress.sums(X, scale=0.0)[0]
    products = (stress.total + lengths - gaps) / 2
    return X * (products / lengths) if lengths > 0.0 and products > 0.0 else X
