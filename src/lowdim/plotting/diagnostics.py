"""What led to an embedding: the objective as it fell, the eigenvalues that were found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..records import Floats
from .colours import hexadecimal, palette
from .drawing import TEXT, new_figure, quieten, require_matplotlib, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPAN = 50.0
_FEW = 40


def plot_objective(history: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the objective against the iterations, and against the seconds.

    Parameters
    ----------
    history
        ``history_`` of a fitted neighbour embedding, or the estimator itself. Where lambda changed on the way the
        objective did too: each lambda has its own piece of the curve.
    path
        Where to write the picture; see `lowdim.plot`.
    """
    require_matplotlib()
    history = getattr(history, "history_", history)
    values = np.asarray(getattr(history, "values", ()), dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).any():
        raise InputError(
            "history: needs the objective at one iteration at least, as in history_ of a fitted TSNE, SNE, "
            f"SymmetricSNE or ElasticEmbedding; got {type(history).__name__}"
        )
    figure = new_figure(7.2, 2.9)
    lams = np.asarray(history.lam)
    colours = hexadecimal(palette(10))
    pieces = np.split(np.arange(values.size), np.flatnonzero(np.diff(lams)) + 1)
    for place, (along, label) in enumerate(
        ((history.iterations, "iterations"), (history.seconds, "seconds"))
    ):
        axes = figure.add_subplot(1, 2, place + 1)
        for number, rows in enumerate(pieces):
            name = f"λ = {lams[rows[0]]:.4g}" if len(pieces) > 1 else None
            colour = colours[number % len(colours)]
            axes.plot(
                np.asarray(along)[rows],
                values[rows],
                color=colour,
                lw=1.6,
                marker="." if rows.size < 3 else None,
                label=name,
            )
        _scale(axes, values)
        quieten(axes)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.set_xlabel(label, fontsize=8, color=TEXT)
        if place == 0:
            axes.set_ylabel("objective", fontsize=8, color=TEXT)
            if 1 < len(pieces) <= 10:
                axes.legend(fontsize=6, frameon=False, labelcolor=TEXT)
    return _written(figure, path)


def plot_eigenvalues(estimator: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the eigenvalues of a fitted estimator, and the share of the variance where it is known.

    Parameters
    ----------
    estimator
        With ``eigenvalues_`` or ``explained_variance_``; or the values themselves.
    path
        Where to write the picture; see `lowdim.plot`.
    """
    require_matplotlib()
    values, name = spectrum(estimator)
    figure = new_figure(4.6, 2.9)
    axes = figure.add_subplot(1, 1, 1)
    places = np.arange(1, values.size + 1)
    colour = hexadecimal(palette(1))[0]
    if values.size <= _FEW:
        axes.vlines(places, min(0.0, values.min()), values, color=colour, lw=1.4, alpha=0.5)
    axes.plot(places, values, "o" if values.size <= _FEW else "-", ms=4.5, color=colour)
    _scale(axes, values)
    if values.size <= 12:
        axes.set_xticks(places)
    axes.margins(x=0.08)
    quieten(axes)
    axes.grid(axis="y", alpha=0.25, linewidth=0.6)
    axes.set_xlabel("component", fontsize=8, color=TEXT)
    axes.set_ylabel(name, fontsize=8, color=TEXT)
    shares = getattr(estimator, "explained_variance_ratio_", None)
    if shares is not None:
        axes.set_title(f"{100 * float(np.sum(shares)):.1f} % of the variance", fontsize=8, color=TEXT)
    return _written(figure, path)


def spectrum(estimator: Any) -> tuple[Floats, str]:
    """Eigenvalues and what they are called."""
    for attribute, name in (("eigenvalues_", "eigenvalue"), ("explained_variance_", "variance")):
        found = getattr(estimator, attribute, None)
        if found is not None:
            return np.asarray(found, dtype=np.float64).ravel(), name
    values = np.asarray([] if hasattr(estimator, "get_params") else estimator, dtype=np.float64).ravel()
    if not values.size:
        raise InputError(
            f"estimator: {type(estimator).__name__} has no eigenvalues; fit it first, or use plot_objective for a "
            "neighbour embedding"
        )
    return values, "eigenvalue"


def _scale(axes: Any, values: Floats) -> None:
    """Logarithmic where all are positive and far apart."""
    known = values[np.isfinite(values)]
    if known.min() > 0 and known.max() > _SPAN * known.min():
        axes.set_yscale("log")


def _written(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    if path is not None:
        write_figure(figure, Path(path))
    return figure
