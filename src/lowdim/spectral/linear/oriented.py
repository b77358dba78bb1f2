"""Oriented principal components: directions of much signal and little noise (Diamantaras & Kung 1996)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.messages import setting
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from .choose import fit_pca
from .covariance import components_of, leading_eigenpairs
from .moments import Moments, moments
from .result import fix_signs
from .snapshot import centred_columns


@dataclass(frozen=True, slots=True)
class OrientedFit:
    """Directions w (rows, d x D) of largest signal-to-noise ratio w'S_u w / w'S_v w, best first.

    They satisfy w_i'S_v w_j = 1 for i = j and 0 otherwise, and w_i'S_u w_j = 0 for i != j, with S_v as regularised;
    without noise S_v = I and they are the principal components. ``ratios`` are the generalised eigenvalues.
    """

    mean: Floats
    directions: Floats
    ratios: Floats
    n_samples: int


def oriented_pca(
    signal: Rows,
    noise: Rows | None,
    n_components: int | None,
    ridge: float,
    *,
    run: Run,
) -> OrientedFit:
    """Solve S_u w = lambda (S_v + ridge tr(S_v)/D I) w for the largest lambda.

    S_u and S_v are the covariances of signal and noise, each about its own mean. Where the columns outnumber the rows
    of both, the problem is solved in the span of the centred rows, which is exact: outside it S_u w = 0.
    """
    if noise is None:
        fit = fit_pca(signal, n_components, "auto", run=run)
        return OrientedFit(fit.mean, fit.components, fit.explained_variance, fit.n_samples)
    count = min(signal.shape) if n_components is None else int(n_components)
    solve = _in_span if signal.n_rows + noise.n_rows < signal.n_columns else _in_columns
    mean, directions, ratios = solve(signal, noise, count, ridge, run)
    return OrientedFit(mean, fix_signs(directions), np.maximum(ratios, 0.0), signal.n_rows)


def _in_columns(
    signal: Rows, noise: Rows, count: int, ridge: float, run: Run
) -> tuple[Floats, Floats, Floats]:
    return _from_moments(moments(signal, run), moments(noise, run), count, ridge)


def _from_moments(
    of_signal: Moments, of_noise: Moments, count: int, ridge: float
) -> tuple[Floats, Floats, Floats]:
    ratios, vectors = _largest_ratios(
        _mirrored(of_signal.covariance), _mirrored(of_noise.covariance), count, ridge, of_signal.mean.size
    )
    return of_signal.mean, vectors.T, ratios


def oriented_from_moments(
    of_signal: Moments, of_noise: Moments | None, n_components: int, ridge: float
) -> OrientedFit:
    """The same from the moments of all rows."""
    if of_noise is None:
        fit = components_of(of_signal, n_components)
        return OrientedFit(fit.mean, fit.components, fit.explained_variance, fit.n_samples)
    mean, directions, ratios = _from_moments(of_signal, of_noise, n_components, ridge)
    return OrientedFit(mean, fix_signs(directions), np.maximum(ratios, 0.0), of_signal.count)


def _in_span(signal: Rows, noise: Rows, count: int, ridge: float, run: Run) -> tuple[Floats, Floats, Floats]:
    """The rows M = A Gamma^1/2 Q', centred, have coordinates A Gamma^1/2 in the basis Q, which is never formed."""
    n_signal, n_noise = signal.n_rows, noise.n_rows
    means = np.empty(signal.n_columns), np.empty(signal.n_columns)
    gram = np.zeros((n_signal + n_noise,) * 2)
    for columns in _joint_columns(signal, noise, *means):
        gram += columns @ columns.T
    values, vectors = leading_eigenpairs(gram, gram.shape[0])
    rank = int(np.sum(values > gram.shape[0] * np.finfo(np.float64).eps * max(values[0], 0.0)))
    values, vectors = values[:rank], vectors[:, :rank]
    coordinates = vectors * np.sqrt(values)
    of_signal, of_noise = coordinates[:n_signal], coordinates[n_signal:]
    ratios, inside = _largest_ratios(
        of_signal.T @ of_signal / max(n_signal - 1, 1),
        of_noise.T @ of_noise / max(n_noise - 1, 1),
        min(count, rank),
        ridge,
        signal.n_columns,
    )
    weights = vectors @ (inside / np.sqrt(values)[:, None])
    directions = np.hstack([weights.T @ columns for columns in _joint_columns(signal, noise, *means)])
    if count > rank:
        # Beyond the span neither signal nor noise varies: any direction orthogonal to all of it has ratio zero.
        tail = np.linalg.qr(directions.T, mode="complete").Q[:, rank:count].T
        floor = ridge * float(np.trace(of_noise.T @ of_noise)) / max(n_noise - 1, 1) / signal.n_columns
        directions = np.vstack([directions, tail / np.sqrt(floor)])
        ratios = np.concatenate([ratios, np.zeros(count - rank)])
    return means[0], directions, ratios


def _joint_columns(signal: Rows, noise: Rows, signal_mean: Floats, noise_mean: Floats) -> Iterator[Floats]:
    """Column blocks of the centred signal rows above the centred noise rows."""
    both = signal.n_rows + noise.n_rows
    upper = centred_columns(signal, signal_mean, height=both)
    lower = centred_columns(noise, noise_mean, height=both)
    for (_, of_signal), (_, of_noise) in zip(upper, lower, strict=True):
        yield np.vstack([of_signal, of_noise])


def _largest_ratios(
    of_signal: Floats, of_noise: Floats, count: int, ridge: float, n_columns: int
) -> tuple[Floats, Floats]:
    """Generalised eigenpairs through the whitening of the noise: W'S_v W = I, then W'S_u W."""
    level = float(np.trace(of_noise)) / n_columns
    values, vectors = leading_eigenpairs(of_noise, of_noise.shape[0])
    values = values + ridge * level
    if values[-1] <= values.size * np.finfo(np.float64).eps * values[0]:
        raise InputError(
            f"noise: its covariance is singular with {setting('ridge', ridge)}, so that some direction has no noise "
            "at all; set ridge above 0 (1e-3 adds a thousandth of the mean noise variance), or give noise rows "
            "that vary"
        )
    whitening = vectors / np.sqrt(values)
    ratios, rotation = leading_eigenpairs(whitening.T @ of_signal @ whitening, count)
    return ratios, whitening @ rotation


def _mirrored(lower: Floats) -> Floats:
    """The whole symmetric matrix from its lower triangle."""
    return np.tril(lower) + np.tril(lower, -1).T
