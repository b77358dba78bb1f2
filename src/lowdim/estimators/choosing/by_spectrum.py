"""The number of components by eigenvalues: those above noise, those that the rows speak for, those before a gap."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from ...core.parallel import row_blocks
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from ...spectral.linear.choose import fit_pca
from ...spectral.linear.dimension import log_evidences
from .curve import Curve, nothing_to_choose
from .trials import MOST_ROWS, Tried, embed_once, sampled

MOST_COLUMNS = 2_000
"""Columns up to which the covariance of all rows is taken; of more it is that of a sample."""
MOST_SHOWN = 50
"""Singular values that a curve has beside those that count."""
MOST_COMPONENTS = 12
"""Components among which a gap is looked for."""
CLEAR = 1.5
"""Ratio of two eigenvalues from which the gap between them is one."""


def looked_at(model: Any, rows: Rows, run: Run) -> Rows:
    """The rows whose spectrum is taken."""
    if rows.n_columns <= MOST_COLUMNS:
        return rows
    return sampled(model, rows, None, MOST_ROWS, run).rows


def choose_by_threshold(name: str, criterion: str, model: Any, rows: Rows, run: Run) -> Curve:
    """Singular values above omega(beta) times their median (Gavish & Donoho 2014, sect. III.E).

    That is the threshold below which, of a matrix of low rank in white noise of unknown size, a singular value adds
    more noise than signal. Columns that do not vary are left out.
    """
    some, default = looked_at(model, rows, run), int(model.n_components)
    fit = fit_pca(some, None, "auto", run.silent())
    singular = fit.singular_values
    n_columns = int(np.count_nonzero(_varies(some)))
    n_rows = some.n_rows - 1
    side = min(n_rows, n_columns)
    if side < 2:
        why = f"{some.n_rows} rows and {n_columns} columns that vary leave nothing to choose from"
        return nothing_to_choose(name, criterion, min(default, *rows.shape), why, some.n_rows)
    values = np.zeros(side)
    values[: min(side, singular.size)] = singular[:side]
    threshold = _hard_threshold(side / max(n_rows, n_columns)) * float(np.median(values))
    count = int(np.sum(values > threshold))
    shown = min(side, max(2 * count, MOST_SHOWN))
    why, chosen = f"singular values above {threshold:.4g}, {_factor(values, threshold)}", count
    if not count:
        chosen = min(default, *rows.shape)
        why = f"the default: no singular value is above {threshold:.4g}, so that all may be noise"
    places = [*range(1, shown + 1)]
    return Curve(
        name,
        criterion,
        places,
        values[:shown].tolist(),
        chosen,
        why,
        default,
        count == 0,
        threshold=threshold,
        measured="singular value",
        n_rows=some.n_rows,
    )


def choose_by_likelihood(name: str, criterion: str, model: Any, rows: Rows, run: Run) -> Curve:
    """The number of components with the largest evidence of probabilistic PCA (Minka 2000, eq. 77)."""
    some, default = looked_at(model, rows, run), int(model.n_components)
    variances = fit_pca(some, None, "auto", run.silent()).explained_variance
    evidence = log_evidences(variances, some.n_rows)
    if not np.isfinite(evidence).any():
        why = f"{rows.n_columns} columns leave nothing to choose from"
        return nothing_to_choose(name, criterion, min(default, *rows.shape), why, some.n_rows)
    chosen = 1 + int(np.argmax(evidence))
    why = f"the largest evidence of 1 to {len(evidence)} components"
    shown = min(len(evidence), max(2 * chosen, MOST_SHOWN))
    return Curve(
        name,
        criterion,
        [*range(1, shown + 1)],
        evidence[:shown],
        chosen,
        why,
        default,
        less_is_better=False,
        measured="logarithm of the evidence",
        n_rows=some.n_rows,
    )


def choose_by_gap(name: str, criterion: str, tried: Tried, run: Run) -> Curve:
    """The components before the largest ratio of one eigenvalue to the next.

    Of Gram matrices the ratio of the d-th to the next (Ahn & Horenstein 2013, eq. 3); of Laplacians, whose smallest
    eigenvalues count, that of the next to the d-th: the eigengap (von Luxburg 2007, sect. 8.3), in shares so that the
    overtones of one coordinate, which grow as squares, are no gap.
    """
    model, rows = tried.model, tried.rows
    default, width = int(model.n_components or 2), _width(tried)
    if width < 3:
        why = f"{tried.n_points} different points leave nothing to choose from"
        return nothing_to_choose(name, criterion, default, why, rows.n_rows)
    embedded = embed_once(tried, {name: width}, run)
    found = embedded.attributes.get("eigenvalues_") if embedded.solution is None else embedded.solution.values
    if found is None:
        why = "the default: the embedding has no eigenvalues of its own"
        return nothing_to_choose(name, criterion, default, why, rows.n_rows)
    sizes = model._weakness(np.asarray(found, dtype=np.float64))
    ratios = sizes[1:] / sizes[:-1]
    best = int(np.argmax(ratios))
    is_flat = bool(ratios[best] < CLEAR)
    chosen, why = (
        best + 1,
        f"eigenvalues {best + 1} and {best + 2} are apart by {_times(float(ratios[best]))}",
    )
    if is_flat:
        chosen = min(default, width)
        why = f"the default: no eigenvalue is {CLEAR:g} times that beside it, so that there is no gap"
    return Curve(
        name,
        criterion,
        [*range(1, ratios.size + 1)],
        ratios.tolist(),
        chosen,
        why,
        default,
        is_flat,
        False,
        threshold=CLEAR,
        measured="ratio of eigenvalues",
        n_rows=rows.n_rows,
    )


def _width(tried: Tried) -> int:
    """Components that are looked at: no more than there can be."""
    most = min(MOST_COMPONENTS, tried.n_points - 2)
    pairwise = tried.model.__sklearn_tags__().input_tags.pairwise
    return most if pairwise or not tried.model._spans_columns else min(most, tried.rows.n_columns)


def _varies(rows: Rows) -> Any:
    """Of each column, whether its entries differ."""
    first = rows.block(slice(0, 1))[0]
    found = np.zeros(rows.n_columns, dtype=bool)
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        found |= (rows.block(part) != first).any(axis=0)
    return found


def _hard_threshold(beta: float) -> float:
    """omega(beta) = lambda*(beta) / sqrt(mu_beta) (Gavish & Donoho 2014, eq. 4 and 11), beta the ratio of the sides."""
    root = np.sqrt(beta * beta + 14.0 * beta + 1.0)
    best = np.sqrt(2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + root))
    return float(best / np.sqrt(_median_of_noise(beta)))


def _median_of_noise(beta: float) -> float:
    """The median of the Marchenko-Pastur distribution: that of the squared singular values of noise."""
    low, high = (1.0 - np.sqrt(beta)) ** 2, (1.0 + np.sqrt(beta)) ** 2

    def share(angle: float) -> float:
        # t = low + (high - low) sin^2(angle) takes the roots at both ends out of the integral.
        def density(phi: float) -> float:
            t = low + (high - low) * np.sin(phi) ** 2
            return float(((high - low) * np.sin(2.0 * phi)) ** 2 / (4.0 * np.pi * beta * max(t, 1e-300)))

        return float(quad(density, 0.0, angle)[0])

    angle = brentq(lambda angle: share(angle) - 0.5, 1e-9, np.pi / 2)
    return float(low + (high - low) * np.sin(angle) ** 2)


def _factor(values: Floats, threshold: float) -> str:
    middle = float(np.median(values))
    return f"{threshold / middle:.3g} times their median" if middle > 0 else "the rest being zero"


def _times(ratio: float) -> str:
    return f"a factor of {ratio:.3g}" if ratio < 1e6 else "more than a factor of a million"
