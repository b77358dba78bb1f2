"""One map for each of several columns or genes: each in its own colours, all of the same points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .about import is_fitted
from .colours import colouring
from .drawing import add_axes, draw_points, is_dense, new_figure, require_matplotlib, write_figure
from .key import explain
from .labels import Columns, Named, column_names, named
from .static import checked_points, varying_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_WITHOUT_NAMES = 24


def plot_genes(
    embedding: Any,
    columns: Columns,
    names: Sequence[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    across: int | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    density: bool | str = "auto",
    title: str = "",
) -> Figure:
    """Draw a grid of maps of the same points, each coloured by another gene or column.

    Numbers are quantities, whole ones too; text and categories are classes. High values lie on top, limits are
    percentiles where values are skewed, and each map has a colour bar or legend of its own.

    Parameters
    ----------
    embedding
        Coordinates (N x d), a fitted estimator, or, where ``columns`` is AnnData, the name of an array of its ``obsm``.
    columns
        A mapping of names to arrays, a data frame, a table of Arrow, or AnnData, whose genes can be named too.
    names
        What to draw, in this order; None: all columns, of which there may be 24.
    path
        Where to write the picture; see `lowdim.plot`.
    across
        Maps in a row; by default about a square of them.
    colormap, point_size, density
        As in `lowdim.plot`.
    title
        Above all.
    """
    require_matplotlib()
    chosen = _chosen(columns, names)
    points = checked_points("embedding", _coordinates(embedding, columns))
    points = points[:, varying_axes(points)]
    n_across = across or int(np.ceil(np.sqrt(len(chosen))))
    down = -(-len(chosen) // n_across)
    figure = new_figure(3.3 * n_across, 2.9 * down + (0.3 if title else 0.0))
    for place, name in enumerate(chosen, start=1):
        given = named(name, columns)
        tints = colouring(given, len(points), continuous=_is_measured(given), scale=colormap)
        axes = add_axes(figure, down, n_across, place, points.shape[1])
        draw_points(axes, points, tints, point_size, dense=is_dense(density, len(points)))
        axes.set_title(name, fontsize=9)
        axes.set(xticks=[], yticks=[])
        explain(figure, [axes], tints, outside=False)
    if title:
        figure.suptitle(title)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _is_measured(given: Named) -> bool | None:
    """Numbers are measured, counts too; categories, truths and text are classes."""
    values = given.values
    return True if values is not None and given.kind == "" and values.dtype.kind in "iuf" else None


def _chosen(columns: Columns, names: Sequence[str] | None) -> list[str]:
    if isinstance(names, str):
        names = [names]
    chosen = column_names(columns) if names is None else list(names)
    if not chosen:
        raise InputError("names: at least one column or gene is needed, got none")
    if names is None and len(chosen) > _MOST_WITHOUT_NAMES:
        raise InputError(
            f"names: {len(chosen)} columns are more than a picture shows, {_MOST_WITHOUT_NAMES}; name those to draw"
        )
    return chosen


def _coordinates(embedding: Any, columns: Columns) -> Any:
    if is_fitted(embedding):
        return embedding.embedding_
    if not isinstance(embedding, str):
        return embedding
    known = getattr(columns, "obsm", {})
    if embedding not in known:
        there = ", ".join(map(str, known)) or "none"
        raise InputError(f"embedding: {embedding!r} must be an array of obsm of columns; it has {there}")
    return np.asarray(known[embedding])
