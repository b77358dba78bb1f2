"""What led to an embedding: the objective as it fell, the eigenvalues that were found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.records import Floats, Integers
from ..errors import InputError
from .colours import hexadecimal
from .drawing import TEXT, new_figure, quieten, require_matplotlib, write_figure
from .palette import palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPAN = 50.0
_FEW = 40
_MOST_LINES = 10
_MOST_RUNS = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The objective of one run, in pieces of one lambda each."""

    name: str
    values: Floats
    lams: Floats
    along: tuple[Floats, Floats]

    def pieces(self) -> list[Integers]:
        """Iterations of each lambda; where it changed the objective did too."""
        return np.split(np.arange(self.values.size), np.flatnonzero(np.diff(self.lams)) + 1)


def plot_objective(history: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the objective against the iterations, and against the seconds.

    Parameters
    ----------
    history
        ``history_`` of a fitted neighbour embedding, or the estimator itself; of several runs a mapping from names to
        these, or a sequence of them, which are drawn over each other. Where lambda changed on the way the objective did
        too: each lambda has its own piece of the curve.
    path
        Where to write the picture; see `lowdim.plot`.

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.TSNE(max_iter=100).fit(lowdim.datasets.load("digits").data[:200])
    >>> figure = lowdim.plotting.plot_objective(model.history_)
    """
    require_matplotlib()
    runs = _runs(history)
    figure = new_figure(7.2, 2.9)
    whole = np.concatenate([run.values for run in runs])
    for place, label in enumerate(("iterations", "seconds")):
        axes = figure.add_subplot(1, 2, place + 1)
        lines = _draw_runs(axes, runs, place)
        _scale(axes, whole)
        quieten(axes)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.set_xlabel(label, fontsize=8, color=TEXT)
        if place == 0:
            axes.set_ylabel("objective", fontsize=8, color=TEXT)
            if 1 < lines <= (_MOST_LINES if len(runs) == 1 else _MOST_RUNS):
                axes.legend(fontsize=6, frameon=False, labelcolor=TEXT)
    return _written(figure, path)


def _draw_runs(axes: Any, runs: list[_Run], place: int) -> int:
    """Lines of all runs over iterations (0) or seconds (1); of one run each lambda is named, of several each run."""
    number = 0
    colours = hexadecimal(palette(len(runs) if len(runs) > 1 else len(runs[0].pieces())))
    for run in runs:
        pieces = run.pieces()
        for piece, rows in enumerate(pieces):
            alone = len(runs) == 1
            lam = f"λ = {run.lams[rows[0]]:.4g}" if len(pieces) > 1 else None
            axes.plot(
                run.along[place][rows],
                run.values[rows],
                color=colours[number],
                lw=1.6,
                marker="." if rows.size < 3 else None,
                label=lam if alone else run.name if piece == 0 else None,
            )
            number += alone
        number += len(runs) > 1
    return number


def _runs(history: Any) -> list[_Run]:
    """One run or several, checked."""
    if isinstance(history, Mapping):
        found = [_run(str(name), one) for name, one in history.items()]
    elif isinstance(history, list | tuple):
        found = [_run(f"run {place}", one) for place, one in enumerate(history, start=1)]
    else:
        found = [_run("", history)]
    if not found:
        raise InputError("history: at least one run is needed, got none")
    return found


def _run(name: str, history: Any) -> _Run:
    history = getattr(history, "history_", history)
    values = np.asarray(getattr(history, "values", ()), dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).any():
        raise InputError(
            "history: needs the objective at one iteration at least, as in history_ of a fitted TSNE, SNE, "
            f"SymmetricSNE or ElasticEmbedding; got {type(history).__name__}"
            + (f" for {name!r}" if name else "")
        )
    along = (np.asarray(history.iterations, np.float64), np.asarray(history.seconds, np.float64))
    return _Run(name, values, np.asarray(history.lam, np.float64), along)


def plot_eigenvalues(estimator: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the eigenvalues of a fitted estimator, and the share of the variance where it is known.

    Parameters
    ----------
    estimator
        With ``eigenvalues_`` or ``explained_variance_``; or the values themselves.
    path
        Where to write the picture; see `lowdim.plot`.

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.Isomap(5).fit(lowdim.datasets.swiss_roll(300, random_state=0).data)
    >>> figure = lowdim.plotting.plot_eigenvalues(model)
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
