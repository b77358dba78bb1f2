"""What explains the colours of a picture: a legend beside it, names on it, or a colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np

from .colours import Colouring, Look, Spread, scale_of, short_name
from .palette import SHAPES

MOST_BESIDE = 20
_LEGEND_ROWS = 25
_MOST_ENTRIES = 200
"""Of a legend: more take longer to read than to look up."""


def explain(figure: Any, axes: list[Any], tints: Colouring, name: str = "", *, outside: bool) -> None:
    """A colour bar for a quantity, a legend for classes, in as many columns as they need, under their ``name``."""
    if tints.spread is not None:
        _bar(figure, axes, tints, tints.spread, name)
    if tints.classes:
        _legend(figure, axes, tints, name, outside=outside)


def _bar(figure: Any, axes: list[Any], tints: Colouring, spread: Spread, name: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    low, high = spread.low, spread.high if spread.high > spread.low else spread.low + 1.0
    scale = ScalarMappable((LogNorm if spread.log else Normalize)(low, high), scale_of(tints))
    bar = figure.colorbar(scale, ax=axes, shrink=0.8, aspect=28, pad=0.02, extend=_beyond(tints, spread))
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=2.5)
    bar.ax.set_title(short_name(name), fontsize=7)


def _beyond(tints: Colouring, spread: Spread) -> Any:
    """At which ends of the bar there are values beyond it."""
    values = np.zeros(0) if tints.values is None else tints.values[np.isfinite(tints.values)]
    below, above = bool((values < spread.low).any()), bool((values > spread.high).any())
    return "both" if below and above else "min" if below else "max" if above else "neither"


def _legend(figure: Any, axes: list[Any], tints: Colouring, name: str, *, outside: bool) -> None:
    from matplotlib.lines import Line2D

    shown, left = _entries(tints)
    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=SHAPES[look.shape],
            markersize=4,
            color=look.colour,
            label=short_name(look.name),
        )
        for look in shown
    ]
    if left:
        handles.append(Line2D([], [], linestyle="", label=f"and {left:,} more"))
    columns = -(-len(handles) // _LEGEND_ROWS)
    style: dict[str, Any] = {
        "handles": handles,
        "title": short_name(name) or None,
        "title_fontsize": 7,
        "ncols": columns,
        "fontsize": 7 if columns < 3 else 6,
        "frameon": False,
        "handletextpad": 0.1,
        "columnspacing": 0.6,
    }
    if outside:
        longest = max(*(len(str(handle.get_label())) for handle in handles), len(short_name(name)) // columns)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + columns * (0.25 + 0.06 * longest), height)
        figure.legend(loc="outside right center", **style)
    else:
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **style)


def _entries(tints: Colouring) -> tuple[list[Look], int]:
    """The classes of the legend, the largest where there are very many, and how many are left out."""
    if len(tints.classes) <= _MOST_ENTRIES or tints.codes is None:
        return list(tints.classes), 0
    counts = np.bincount(tints.codes, minlength=len(tints.classes))
    largest = np.sort(np.argsort(-counts, kind="stable")[:_MOST_ENTRIES])
    return [tints.classes[place] for place in largest], len(tints.classes) - _MOST_ENTRIES
