"""What explains the colours of a picture: a legend beside it, names on it, or a colour bar."""

from __future__ import annotations

from typing import Any

from .colours import Colouring, short_name

MOST_BESIDE = 20
_LEGEND_ROWS = 25


def explain(figure: Any, axes: list[Any], tints: Colouring, name: str = "", *, outside: bool) -> None:
    """A colour bar for a quantity, a legend for classes, in as many columns as they need, under their ``name``."""
    if tints.limits is not None:
        _bar(figure, axes, tints, tints.limits, name)
    if tints.classes:
        _legend(figure, axes, tints, name, outside=outside)


def _bar(figure: Any, axes: list[Any], tints: Colouring, limits: tuple[float, float], name: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(*limits), tints.scale)
    bar = figure.colorbar(scale, ax=axes, shrink=0.8, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=2.5)
    bar.ax.set_title(short_name(name), fontsize=7)


def _legend(figure: Any, axes: list[Any], tints: Colouring, name: str, *, outside: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=colour, label=name)
        for name, colour in tints.classes
    ]
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
        longest = max(*(len(each) for each, _ in tints.classes), len(short_name(name)) // columns)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + columns * (0.25 + 0.06 * longest), height)
        figure.legend(loc="outside right center", **style)
    else:
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **style)
