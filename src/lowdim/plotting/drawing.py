"""Figures without windows, points on axes, and files that are written whole."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic import writing
from ..core.records import Floats, Integers
from ..errors import InputError, MissingExtraError
from .colours import Colouring, hexadecimal
from .palette import SHAPES
from .shading import shade
from .thumbnails import Images, spread_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 100_000
_VECTORS = 5_000
_DRAWINGS = ("svg", "svgz", "pdf", "ps", "eps")
LINE = "#c9ced6"
"""Of frames and ticks."""
TEXT = "#4a5361"
"""Of everything that explains; a page puts its own colour in its place."""


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


def add_axes(figure: Figure, down: int, across: int, place: int, n_dimensions: int) -> Any:
    """Axes at a place of a grid, of the kind that the points need."""
    return figure.add_subplot(down, across, place, projection="3d" if n_dimensions == 3 else None)


def quieten(axes: Any) -> None:
    """Light frame and small figures: the points are what matters."""
    axes.tick_params(labelsize=7, length=2.5, color=LINE, labelcolor=TEXT)
    for spine in axes.spines.values():
        spine.set_color(LINE)


def is_dense(density: bool | str, n_points: int) -> bool:
    """Whether to shade; by default past 100,000 points."""
    if density == "auto":
        return n_points > MANY
    if isinstance(density, bool):
        return density
    raise InputError(f"density: must be True, False or 'auto', got {density!r}")


def draw_points(
    axes: Any, points: Floats, tints: Colouring, point_size: float | None, *, dense: bool
) -> None:
    """Scatter the points in a mixed but fixed order, so that no class hides the others, or shade them."""
    count, n_dimensions = points.shape
    coordinates = points if n_dimensions > 1 else np.column_stack([points, strip(count)])
    quieten(axes)
    axes.locator_params(nbins=5)
    if dense and n_dimensions < 3:
        _shade(axes, coordinates, tints, flat=n_dimensions == 1)
    else:
        size = point_size or float(np.clip(12000.0 / count, 0.35, 14.0))
        style = {
            "s": size,
            "linewidths": 0,
            "alpha": 0.5 if dense else None,
            # Vectors stay sharp and can be edited, but a viewer crawls over very many of them.
            "rasterized": count > _VECTORS,
        }
        _scatter(axes, coordinates, tints, style)
    if n_dimensions == 1:
        axes.set(ylim=(-1.0, 2.0), yticks=[])
    else:
        axes.set_aspect("equal", adjustable="datalim" if n_dimensions == 2 else "box")


def drawing_order(tints: Colouring) -> Integers:
    """Mixed, so that no class hides the others, and always the same; what is missing lies below all that is known.

    Of a quantity high values lie on top: a few high ones among very many low ones would not be seen else.
    """
    order = np.random.default_rng(0).permutation(len(tints.colours))
    if tints.values is not None:
        order = order[np.argsort(tints.values[order], kind="stable")]
    if tints.missing is None:
        return order
    is_missing = tints.missing[order]
    return np.concatenate([order[is_missing], order[~is_missing]])


def _scatter(axes: Any, coordinates: Floats, tints: Colouring, style: dict[str, Any]) -> None:
    """The points in their colours and shapes."""
    order, shapes = drawing_order(tints), tints.shapes
    if shapes is None:
        axes.scatter(*coordinates[order].T, c=tints.colours[order], **style)
    elif coordinates.shape[1] == 3:
        # In space Matplotlib sorts points by depth, but not their paths: each shape is a scatter of its own.
        for shape in np.unique(shapes):
            rows = order[shapes[order] == shape]
            axes.scatter(*coordinates[rows].T, c=tints.colours[rows], marker=SHAPES[shape], **style)
    else:
        paths = np.empty(len(SHAPES), dtype=object)
        paths[:] = [_marker_path(shape) for shape in SHAPES]
        drawn = axes.scatter(*coordinates[order].T, c=tints.colours[order], **style)
        drawn.set_paths(paths[shapes[order]].tolist())


def _marker_path(shape: str) -> Any:
    from matplotlib.markers import MarkerStyle

    marker = MarkerStyle(shape)
    return marker.get_path().transformed(marker.get_transform())


def _shade(axes: Any, coordinates: Floats, tints: Colouring, *, flat: bool) -> None:
    box = axes.get_window_extent()
    width, height = max(64, int(box.width)), max(64, int(box.height))
    if flat:
        # A strip has no scale upwards: its raster is stretched, not kept square.
        low, high = coordinates[:, 0].min(), coordinates[:, 0].max()
        coordinates = np.column_stack(
            [coordinates[:, 0], coordinates[:, 1] * (high - low) * height / width / 3.0]
        )
        raster = shade(coordinates, tints, width, height)
        left, right, bottom, top = raster.extent
        upwards = float(coordinates[:, 1].max()) or 1.0
        extent = (left, right, bottom / upwards, top / upwards)
    else:
        raster = shade(coordinates, tints, width, height)
        extent = raster.extent
    axes.imshow(raster.pixels, extent=extent, origin="lower", interpolation="antialiased", aspect="auto")
    if not flat:
        axes.margins(0.02)


def strip(count: int) -> Floats:
    """Heights in (0, 1) that spread the points of a line: multiples of the golden ratio."""
    heights: Floats = np.arange(count) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0
    return heights


def draw_thumbnails(axes: Any, points: Floats, tints: Colouring, images: Images) -> int:
    """Put some of the images on the map where they do not cover each other; how many there were."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    axes.figure.draw_without_rendering()
    frame = axes.get_window_extent()
    side = 0.038 * frame.width
    places = axes.transData.transform(points)
    rows = spread_out(places, 1.12 * side, most=250)
    small = images.thumbnails(rows, 48)
    ink = images.is_ink()
    enlarge = side / max(small.shape[1:3]) * 72.0 / axes.figure.dpi
    for row, pixels in zip(rows, small, strict=True):
        colour = tints.colours[row]
        picture = _inked(pixels, colour) if ink else pixels
        box = OffsetImage(picture, zoom=enlarge, cmap="gray", interpolation="antialiased", clim=(0, 255))
        edge: dict[str, Any] = {"linewidth": 0.8}
        if ink:
            edge |= {
                "facecolor": (1.0, 1.0, 1.0, 0.8),
                "edgecolor": (0.0, 0.0, 0.0, 0.0),
                "boxstyle": "round,pad=0.06",
            }
        else:
            edge |= {"edgecolor": hexadecimal(colour[None])[0], "boxstyle": "square,pad=0.06"}
        at = points[row, 0], points[row, 1]
        axes.add_artist(AnnotationBbox(box, at, frameon=True, pad=0.0, bboxprops=edge, zorder=4))
    return len(rows)


def _inked(pixels: Any, colour: Floats) -> Floats:
    """Strokes in the colour of their class, darkened, on nothing."""
    darker = np.broadcast_to(colour * 0.72, (*pixels.shape, 3))
    return np.dstack([darker, pixels / 255.0])


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure by the suffix of its name, whole or not at all."""
    kinds = figure.canvas.get_supported_filetypes()
    kind = path.suffix.lower().lstrip(".")
    if kind not in kinds:
        raise InputError(f"path: {path.name!r} must end in one of .{', .'.join(sorted([*kinds, 'html']))}")
    # In memory first: where a disk is full, Matplotlib's writers stumble over themselves and hide the reason.
    drawn = io.BytesIO()
    # Rasterised points inside vector formats are looked at closely and printed.
    figure.savefig(drawn, format=kind, dpi=300 if kind in _DRAWINGS else "figure")
    with writing(path) as temporary:
        # Not its buffer: the traceback of a write that fails would keep it, and to collect that ends Python 3.12.1.
        temporary.write_bytes(drawn.getvalue())
