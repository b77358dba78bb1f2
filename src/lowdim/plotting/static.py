"""Static pictures of embeddings by Matplotlib's object interface: no window, no backend, no global state."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, MissingExtraError
from ..persistence.atomic import writing
from ..records import Floats
from .colours import Colouring, colouring

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDE = 5.0
_LEGEND_ROWS = 25


def plot(
    embedding: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    ax: Axes | None = None,
    continuous: bool | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    legend: bool = True,
) -> Figure:
    """Draw an embedding of one, two or three dimensions, coloured by labels.

    Parameters
    ----------
    embedding
        Coordinates, N x d; a single column is drawn as a strip.
    labels
        One for each point: classes (names, whole numbers) get distinct colours and a legend, quantities a colour bar.
    path
        Where to write the picture: .png, .pdf, .svg or another format of Matplotlib. It is written whole or not at all.
    title
        Above the picture.
    ax
        Axes to draw on, of a figure of one's own; for three dimensions they need ``projection="3d"``.
    continuous
        Treat the labels as a quantity (True) or as classes (False); by default their values decide.
    colormap
        Matplotlib colour map for a quantity.
    point_size
        Area of a point in square points; by default it falls with the number of points.
    legend
        Whether to explain the colours.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, for further work on it.
    """
    require_matplotlib()
    points = _points("embedding", embedding)
    tints = colouring(_labels(labels), points.shape[0], continuous=continuous, scale=colormap)
    own = ax is None
    figure: Any = new_figure(_SIDE + 0.4, _SIDE) if ax is None else ax.figure
    target = _add_axes(figure, 1, 1, 1, points.shape[1]) if ax is None else ax
    _draw(target, points, tints, point_size)
    target.set_title(title)
    if legend:
        _explain(figure, [target], tints, outside=own)
    if path is not None:
        write_figure(figure, Path(path))
    return cast("Figure", figure)


def plot_gallery(
    embeddings: Mapping[str, ArrayLike],
    labels: ArrayLike | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    columns: int | None = None,
    continuous: bool | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    legend: bool = True,
) -> Figure:
    """Draw several embeddings of the same points side by side, under one key of colours.

    Parameters
    ----------
    embeddings
        Title of each picture and its coordinates.
    columns
        Pictures in a row; by default about a square of them.

    The other parameters are those of ``plot``.
    """
    require_matplotlib()
    if not embeddings:
        raise InputError("embeddings: at least one is needed, got none")
    pictures = {name: _points(name, value) for name, value in embeddings.items()}
    counts = {points.shape[0] for points in pictures.values()}
    if len(counts) > 1:
        raise InputError(f"embeddings: all must show the same points, got {sorted(counts)} of them")
    tints = colouring(_labels(labels), counts.pop(), continuous=continuous, scale=colormap)
    across = columns or int(np.ceil(np.sqrt(len(pictures))))
    down = -(-len(pictures) // across)
    figure = new_figure(3.0 * across + 0.4, 3.2 * down)
    every = []
    for place, (name, points) in enumerate(pictures.items(), start=1):
        axes = _add_axes(figure, down, across, place, points.shape[1])
        _draw(axes, points, tints, point_size)
        axes.set_title(name)
        every.append(axes)
    if title:
        figure.suptitle(title)
    if legend:
        _explain(figure, every, tints, outside=True)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _points(name: str, value: ArrayLike) -> Floats:
    points = np.asarray(value, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3 or points.shape[0] == 0:
        raise InputError(
            f"{name}: a picture needs N x 1, 2 or 3 coordinates, got shape {points.shape}; "
            f"choose columns, as in embedding[:, :2]"
        )
    return points


def _labels(labels: ArrayLike | None) -> NDArray[Any] | None:
    return None if labels is None else np.asarray(labels)


def require_matplotlib() -> None:
    """Say what to install where pictures cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need Matplotlib: pip install 'lowdim[plot]'")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _add_axes(figure: Figure, down: int, across: int, place: int, n_dimensions: int) -> Any:
    return figure.add_subplot(down, across, place, projection="3d" if n_dimensions == 3 else None)


def _draw(axes: Any, points: Floats, tints: Colouring, point_size: float | None) -> None:
    """Scatter the points in a mixed but fixed order, so that no class hides the others."""
    size = point_size or float(np.clip(12000.0 / points.shape[0], 0.5, 14.0))
    coordinates = points if points.shape[1] > 1 else np.column_stack([points, _strip(points.shape[0])])
    order = np.random.default_rng(0).permutation(points.shape[0])
    axes.scatter(*coordinates[order].T, s=size, c=tints.colours[order], linewidths=0, rasterized=True)
    axes.tick_params(labelsize=7)
    axes.locator_params(nbins=5)
    if points.shape[1] == 1:
        axes.set(ylim=(-2.0, 3.0), yticks=[])
        return
    axes.set_aspect("equal", adjustable="datalim" if points.shape[1] == 2 else "box")


def _strip(count: int) -> Floats:
    """Heights in (0, 1) that spread the points of a line: multiples of the golden ratio."""
    heights: Floats = np.arange(count) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0
    return heights


def _explain(figure: Any, axes: list[Any], tints: Colouring, *, outside: bool) -> None:
    """A colour bar for a quantity, a legend for classes, in as many columns as they need."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    if tints.limits is not None:
        scale = ScalarMappable(Normalize(*tints.limits), tints.scale)
        figure.colorbar(scale, ax=axes, shrink=0.8).ax.tick_params(labelsize=7)
    if not tints.classes:
        return
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=colour, label=name)
        for name, colour in tints.classes
    ]
    columns = -(-len(handles) // _LEGEND_ROWS)
    style: dict[str, Any] = {
        "handles": handles,
        "ncols": columns,
        "fontsize": 7 if columns < 3 else 6,
        "frameon": False,
        "handletextpad": 0.1,
        "columnspacing": 0.6,
    }
    if outside:
        longest = max(len(name) for name, _ in tints.classes)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + columns * (0.25 + 0.06 * longest), height)
        figure.legend(loc="outside right center", **style)
    else:
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **style)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure by the suffix of its name, whole or not at all."""
    kinds = figure.canvas.get_supported_filetypes()
    kind = path.suffix.lower().lstrip(".")
    if kind not in kinds:
        raise InputError(f"path: {path.name!r} must end in one of .{', .'.join(sorted(kinds))}")
    with writing(path) as temporary:
        figure.savefig(temporary, format=kind)
