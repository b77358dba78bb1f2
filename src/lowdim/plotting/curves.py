"""Scores over parameters: curves with bands of spread, and heat maps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats
from ..errors import InputError
from .drawing import new_figure, require_matplotlib, write_figure
from .palette import palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCALE = "viridis"
_LOGARITHMIC = 20.0
_MOST_TICKS = 12
_MOST_NUMBERS = 150
_MOST_LINES = 30
_MOST_ACROSS = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its name, and at each place the mean, its spread (NaN: unknown) and whether the point failed.

    A mean that is NaN leaves a gap; a failed point leaves a cross on the lower edge too.
    """

    name: str
    means: Floats
    spreads: Floats
    failed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Panel:
    """The lines of one score. The best point of all is marked by a star."""

    score: str
    lines: tuple[Line, ...]
    less_is_better: bool


@dataclass(frozen=True, slots=True)
class Surface:
    """One score over two parameters (rows x columns); NaN where there is none."""

    score: str
    means: Floats
    less_is_better: bool


def plot_curves(
    places: Sequence[Any],
    panels: Sequence[Panel],
    *,
    label: str,
    ordered: bool = False,
    title: str = "",
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw scores over one parameter, a panel for each score.

    Parameters
    ----------
    places
        Values of the parameter; numbers have a scale, logarithmic where they span more than a factor of 20, and words
        stand apart.
    panels
        The lines of each score, all over the same places.
    label
        Name of the parameter.
    ordered
        Whether the lines are in an order, as those of a second number are: then their colours are too.
    title
        Above the picture.
    path
        Where to write the picture: .png, .pdf, .svg or another format of Matplotlib. It is written whole or not at all.
    """
    require_matplotlib()
    if not panels or not all(panel.lines for panel in panels):
        raise InputError("panels: at least one panel with a line is needed, got none")
    down, across = _layout(len(panels))
    figure = new_figure(4.6 * across + 0.4, 3.6 * down)
    at, is_number = _positions(places)
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, place)
        colours = _line_colours(len(panel.lines), ordered)
        for number, line in enumerate(panel.lines):
            _draw_line(axes, at, line, colours[number], joined=is_number)
        _mark_best(axes, at, panel)
        if is_number and np.min(at) > 0 and np.max(at) > _LOGARITHMIC * np.min(at):
            axes.set_xscale("log")
        if len(places) <= _MOST_TICKS:
            axes.set_xticks(at, [_text(value) for value in places])
            axes.minorticks_off()
        axes.set(xlabel=label, ylabel=_worded(panel.score, panel.less_is_better))
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.25, linewidth=0.6)
    _name_lines(figure, panels[0], ordered)
    return _finished(figure, title, path)


def plot_heat_map(
    columns: Sequence[Any],
    rows: Sequence[Any],
    surfaces: Sequence[Surface],
    *,
    labels: tuple[str, str],
    title: str = "",
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw scores over two parameters, a panel for each score; the best cell has a frame, a failed one a cross.

    Parameters
    ----------
    columns, rows
        Values of the parameters across and upwards, evenly spaced whatever they are.
    surfaces
        Each score as an array of rows x columns.
    labels
        Names of the parameters across and upwards.
    title, path
        As in ``plot_curves``.
    """
    require_matplotlib()
    if not surfaces:
        raise InputError("surfaces: at least one is needed, got none")
    width, height = np.clip(1.4 + 0.52 * len(columns), 3.4, 9.0), np.clip(1.0 + 0.42 * len(rows), 2.6, 8.0)
    down, across = _layout(len(surfaces))
    figure = new_figure(float(width) * across + 0.4, float(height) * down)
    for place, surface in enumerate(surfaces, start=1):
        axes = figure.add_subplot(down, across, place)
        _draw_surface(figure, axes, surface)
        _even_ticks(axes.set_xticks, columns)
        _even_ticks(axes.set_yticks, rows)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.set_title(_worded(surface.score, surface.less_is_better), fontsize=9)
        axes.tick_params(labelsize=7, length=0)
    return _finished(figure, title, path)


def _layout(count: int) -> tuple[int, int]:
    """Panels downwards and across."""
    across = min(count, _MOST_ACROSS if count != 4 else 2)
    return -(-count // across), across


def _positions(places: Sequence[Any]) -> tuple[Floats, bool]:
    """Where values stand on an axis: numbers at themselves, others evenly."""
    is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in places)
    return np.asarray(places if is_number else np.arange(len(places)), dtype=np.float64), is_number


def _line_colours(count: int, ordered: bool) -> Floats:
    from matplotlib import colormaps

    if ordered and count > 2:
        scaled: Floats = colormaps[_SCALE](np.linspace(0.0, 0.88, count))[:, :3]
        return scaled
    return palette(count)


def _draw_line(axes: Any, at: Floats, line: Line, colour: Floats, *, joined: bool) -> None:
    """Points joined by a line in a band of their spread; those of words, which nothing lies between, apart."""
    style = {"color": colour, "linewidth": 1.4, "markersize": 3.5, "marker": "o"}
    axes.plot(at, line.means, label=line.name, linestyle="-" if joined else "", **style)
    known = np.isfinite(line.spreads)
    if known.any():
        spreads = np.where(known, line.spreads, 0.0)
        low, high = line.means - spreads, line.means + spreads
        if joined:
            axes.fill_between(at, low, high, color=colour, alpha=0.16, linewidth=0)
        else:
            axes.vlines(at, low, high, color=colour, alpha=0.5, linewidth=1.4)
    if line.failed.any():
        edge = axes.get_xaxis_transform()
        axes.plot(
            at[line.failed],
            np.full(line.failed.sum(), 0.02),
            "x",
            color=colour,
            transform=edge,
            clip_on=False,
        )


def _mark_best(axes: Any, at: Floats, panel: Panel) -> None:
    means = np.stack([line.means for line in panel.lines])
    if not np.isfinite(means).any():
        return
    best = np.nanargmin(means) if panel.less_is_better else np.nanargmax(means)
    row, column = np.unravel_index(best, means.shape)
    star = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": "black", "zorder": 5}
    axes.plot(at[column], means[row, column], "*", **star)


def _name_lines(figure: Any, panel: Panel, ordered: bool) -> None:
    """A legend beside the picture; of very many lines only some are named."""
    if len(panel.lines) == 1:
        return
    handles, names = figure.axes[0].get_legend_handles_labels()
    step = -(-len(handles) // _MOST_LINES)
    longest = max(map(len, names))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width + 0.5 + 0.065 * longest, max(height, 0.16 * len(handles[::step]) + 0.3))
    figure.legend(handles[::step], names[::step], loc="outside right center", fontsize=7, frameon=False)


def _draw_surface(figure: Any, axes: Any, surface: Surface) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    means = np.ma.masked_invalid(surface.means)
    scale = colormaps[f"{_SCALE}_r" if surface.less_is_better else _SCALE].with_extremes(bad="0.88")
    image = axes.imshow(means, cmap=scale, aspect="auto", origin="lower", interpolation="nearest")
    figure.colorbar(image, ax=axes, shrink=0.9).ax.tick_params(labelsize=7)
    for row, column in np.argwhere(means.mask if np.ma.is_masked(means) else np.zeros((0, 2))):
        axes.plot(column, row, "x", color="0.45", markersize=5)
    if means.count() == 0:
        return
    if means.size <= _MOST_NUMBERS:
        _write_numbers(axes, means, image)
    best = means.argmin() if surface.less_is_better else means.argmax()
    row, column = np.unravel_index(int(best), means.shape)
    axes.add_patch(
        Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=1.8, zorder=3)
    )


def _write_numbers(axes: Any, means: Any, image: Any) -> None:
    """The number in each cell, dark on light and light on dark."""
    for (row, column), value in np.ndenumerate(means.filled(np.nan)):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
            axes.text(
                column,
                row,
                f"{value:.3g}",
                ha="center",
                va="center",
                fontsize=6,
                color="0.1" if dark else "0.97",
            )


def _even_ticks(set_ticks: Any, values: Sequence[Any]) -> None:
    step = -(-len(values) // _MOST_TICKS)
    set_ticks(range(0, len(values), step), [_text(value) for value in values[::step]])


def _worded(score: str, less_is_better: bool) -> str:
    return f"{score.replace('_', ' ')} ({'less' if less_is_better else 'more'} is better)"


def _text(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else text[:23] + "…"


def _finished(figure: Figure, title: str, path: str | os.PathLike[str] | None) -> Figure:
    if title:
        figure.suptitle(title)
    if path is not None:
        write_figure(figure, Path(path))
    return figure
