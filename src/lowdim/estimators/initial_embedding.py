"""Where an optimisation starts: principal components, the graph's own eigenvectors, noise, or coordinates given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import validation
from ..core.messages import DATA, named, setting, shape, value
from ..core.parallel import row_blocks
from ..core.records import Floats, Sparse
from ..core.rules import Array, Either, OneOf, Rule
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..methods.laplacian import laplacian_problem
from ..solvers.eigen import solve
from ..spectral.linear.choose import fit_pca

INIT_RULES: Mapping[str, Rule] = {
    "init": Either(OneOf("auto", "pca", "spectral", "random"), Array()),
}
NOISE = 1e-4
"""Deviation of a random start, and of what is added to coordinates that do not vary."""
FEW_POINTS = 10_000
ROUGH, ROUGHER = 1e-3, 3e-2
"""Residual, over the eigenvalues, to which the eigenvectors of a start are computed: of few points, and of more."""


def check_start(init: Any, n_rows: int, n_components: int) -> Floats | None:
    """Coordinates that the user gave, checked; None where ``init`` is a name."""
    if isinstance(init, str):
        return None
    given = validation.check_block(init, named("init"), at_least=1, flat=True)
    if given.shape != (n_rows, n_components):
        raise InputError(
            f"{named('init')} must have a row for each row of {DATA} and {named('n_components')} columns, "
            f"{shape((n_rows, n_components))}; got {shape(given.shape)}. Leave it to {setting('init', 'auto')}, or "
            "give as many."
        )
    return np.array(given.block(slice(None)))


def find_start(
    name: str,
    rows: Rows | None,
    weights: Sparse,
    n_components: int,
    run: Run,
) -> Floats:
    """Coordinates with unit deviation in their widest direction, or noise.

    Parameters
    ----------
    name
        ``"pca"``, ``"spectral"``, ``"random"`` or ``"auto"``.
    rows
        The points; None where there are only affinities.
    weights
        Symmetric affinities of the points.
    n_components
        Coordinates.
    run
        Told what ``auto`` chose; draws the noise.
    """
    n_points, rng = weights.shape[0], run.random("solve")
    if name == "auto":
        name = "spectral" if rows is None else "pca"
        why = (
            "there are only affinities"
            if rows is None
            else "as good as the spectral one here, and sooner there"
        )
        run.chosen("init", name, why)
    if name == "random":
        return NOISE * rng.standard_normal((n_points, n_components))
    if name == "pca":
        if rows is None:
            raise InputError(
                f"{setting('init', 'pca')} needs points; {DATA} holds distances or affinities. Use "
                f"{setting('init', 'spectral')} or {value('random')}."
            )
        found = _principal(rows, n_components, run)
    else:
        found = _spectral(weights, n_components, run)
    found -= found.mean(axis=0)
    widest = float(found.std(axis=0).max(initial=0.0))
    X = NOISE * rng.standard_normal((n_points, n_components))
    X[:, : found.shape[1]] += found / (widest if widest > 0 else 1.0)
    return X


def _principal(rows: Rows, n_components: int, run: Run) -> Floats:
    count = min(n_components, *rows.shape)
    fit = fit_pca(rows, count, "auto", run=run.silent())
    projected = np.empty((rows.n_rows, count))
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        projected[part] = (rows.block(part) - fit.mean) @ fit.components.T
    return projected


def _spectral(weights: Sparse, n_components: int, run: Run) -> Floats:
    """The smallest non-trivial eigenvectors of the normalised Laplacian, each with unit deviation."""
    count = min(n_components, weights.shape[0] - 2)
    if count < 1:
        return np.zeros((weights.shape[0], 0))
    tolerance = ROUGH if weights.shape[0] <= FEW_POINTS else ROUGHER
    solution = solve(laplacian_problem(weights, run=run), count, tolerance=tolerance, run=run)
    deviation = solution.vectors.std(axis=0)
    return np.asarray(solution.vectors / np.where(deviation > 0, deviation, 1.0))
