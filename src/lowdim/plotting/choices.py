"""How a parameter was chosen: the criterion along its values, what was chosen and what the default is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .colours import hexadecimal
from .drawing import TEXT, new_figure, quieten, require_matplotlib, write_figure
from .palette import palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

END = "_curve"
_WIDE = 12.0
"""Ratio of the values from which their axis is logarithmic."""


def curves_of(model: Any) -> dict[str, Mapping[str, Any]]:
    """The curves in the report of a fitted estimator, by parameter; those without points are left out."""
    figures = getattr(getattr(model, "report_", None), "figures", {})
    found = {name.removesuffix(END): curve for name, curve in figures.items() if name.endswith(END)}
    return {name: curve for name, curve in found.items() if isinstance(curve, Mapping) and curve["values"]}


def plot_choices(model: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw how the parameters that were left open, as ``perplexity="auto"``, were chosen.

    A panel for each: the criterion at every value that was tried, a full mark at the one that was chosen and a dashed
    line at the default. Where the curve is flat, and the default was kept, the title says so.

    Parameters
    ----------
    model
        A fitted estimator.
    path
        Where to write the picture; see `lowdim.plot`.

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.PCA("auto").fit(lowdim.datasets.load("digits").data)
    >>> figure = lowdim.plotting.plot_choices(model)
    """
    require_matplotlib()
    curves = curves_of(model)
    if not curves:
        raise InputError(
            f"model: {type(model).__name__} has chosen nothing that could be drawn; fit it with a parameter left "
            "open, such as perplexity='auto'"
        )
    figure = new_figure(4.2 * len(curves) + 0.4, 2.9)
    for place, (name, curve) in enumerate(curves.items(), start=1):
        _draw(figure.add_subplot(1, len(curves), place), name, curve)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _draw(axes: Any, name: str, curve: Mapping[str, Any]) -> None:
    values, scores = curve["values"], np.asarray(curve["scores"], dtype=np.float64)
    words = any(isinstance(value, str) for value in values)
    at = np.arange(len(values)) if words else np.asarray(values, dtype=np.float64)
    colour = hexadecimal(palette(1))[0]
    axes.plot(at, scores, "o" if words else "o-", color=colour, lw=1.4, ms=4.0, mfc="none")
    if words:
        axes.set_xticks(at, values)
        axes.margins(x=0.3)
    else:
        _mark(axes, at, scores, curve, colour)
        if name != "n_components" and at.max() > _WIDE * at.min() > 0:
            axes.set_xscale("log")
            axes.set_xticks(_spaced(at), [f"{value:g}" for value in _spaced(at)])
            axes.minorticks_off()
    if curve.get("threshold") is not None:
        axes.axhline(curve["threshold"], color=TEXT, lw=0.8, ls=":")
    quieten(axes)
    axes.grid(axis="y", alpha=0.25, linewidth=0.6)
    axes.set_xlabel(curve["along"], fontsize=8, color=TEXT)
    axes.set_ylabel(curve["measured"], fontsize=8, color=TEXT)
    told = f"{name} = {curve['chosen']:g}" + (
        ", the default: nothing is clearly better" if curve["flat"] else ""
    )
    axes.set_title(told, fontsize=8, color=TEXT)


def _mark(axes: Any, at: Any, scores: Any, curve: Mapping[str, Any], colour: str) -> None:
    """The value that was chosen, and the default."""
    chosen = np.flatnonzero(at == curve["chosen"])
    axes.plot(at[chosen], scores[chosen], "o", color=colour, ms=7.0)
    if at.min() <= curve["default"] <= at.max():
        axes.axvline(curve["default"], color=TEXT, lw=0.8, ls="--")


def _spaced(at: Any) -> Any:
    """Values that have room for their numbers on a logarithmic axis."""
    kept = [at[0]]
    for value in at[1:]:
        if value >= 1.3 * kept[-1]:
            kept.append(value)
    return np.asarray(kept)
