"""Where an optimisation starts: principal components, the graph's own eigenvectors, noise, or coordinates given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ... import validation
from ...core.messages import DATA, named, setting, shape, value
from ...core.parallel import row_blocks
from ...core.records import Components, Floats, Sparse
from ...core.rules import Array, Either, OneOf, Rule
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...methods.laplacian import laplacian_problem
from ...neighbors.components import find_components
from ...solvers.eigen import solve
from ...spectral.linear.choose import fit_pca

INIT_RULES: Mapping[str, Rule] = {
    "init": Either(OneOf("auto", "pca", "spectral", "random"), Array()),
}
NOISE = 1e-4
"""Deviation of a random start, and of what is added to coordinates that do not vary."""
FEW_POINTS = 10_000
SMALL, MANY = 50, 200
"""Points of a component below which it has no eigenvectors of its own, and how many components at most have."""
ROUGH, ROUGHER = 1e-3, 1e-1
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
        why = "there are only affinities" if rows is None else "as good as the spectral start, and quicker"
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
        components = find_components(weights)
        if components.count == 1 or rows is None:
            found = _spectral(weights, n_components, run)
        else:
            found = _spectral_of_parts(rows, weights, components, n_components, run)
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


def _spectral_of_parts(
    rows: Rows, weights: Sparse, components: Components, n_components: int, run: Run
) -> Floats:
    """Each component by its own eigenvectors on an area as large as its share of the points, around its mean.

    Eigenvectors of the whole would say who is in which component and nothing else; to find those of the components
    tied together takes long, because as many eigenvalues as there are components crowd at 0. The means lie as their
    principal components do, so far apart that the half of them do not touch the nearest other. Small components lie
    as their points do in the principal components of all.
    """
    labels, sizes = components.labels, components.sizes
    found = _principal(rows, n_components, run)
    means = np.stack([np.bincount(labels, column, sizes.size) / sizes for column in found.T], axis=1)
    found -= means[labels]
    large = np.flatnonzero(sizes >= max(SMALL, weights.shape[0] / MANY))
    for part in large:
        members = np.flatnonzero(labels == part)
        own = _spectral(Sparse(weights[members][:, members]), found.shape[1], run.silent())
        found[members, : own.shape[1]] = own
    squares = np.bincount(labels, np.einsum("nd,nd->n", found, found), sizes.size) / sizes
    radii = np.sqrt(sizes / weights.shape[0])
    found *= (radii / np.sqrt(np.where(squares > 0, squares, 1.0)))[labels, None]
    distances, indices = cKDTree(means).query(means, k=[2])
    apart, nearest = np.ravel(distances), np.ravel(indices)
    touching = 2.0 * (radii + radii[nearest])
    is_apart = apart > 0
    scale = float(np.median(touching[is_apart] / apart[is_apart])) if is_apart.any() else 0.0
    return np.asarray(found + scale * means[labels])


def _spectral(weights: Sparse, n_components: int, run: Run) -> Floats:
    """The smallest non-trivial eigenvectors of the normalised Laplacian, each with unit deviation."""
    count = min(n_components, weights.shape[0] - 2)
    if count < 1:
        return np.zeros((weights.shape[0], 0))
    tolerance = ROUGH if weights.shape[0] <= FEW_POINTS else ROUGHER
    solution = solve(laplacian_problem(weights, run=run), count, tolerance=tolerance, run=run)
    deviation = solution.vectors.std(axis=0)
    return np.asarray(solution.vectors / np.where(deviation > 0, deviation, 1.0))
