"""Pictures of embeddings by Matplotlib's object interface: no window, no backend, no global state."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..core.records import Floats
from ..errors import InputError
from ..metrics.score_results import Scores
from ..reliability.record import Trust
from ..validation import read_array
from .about import is_fitted, page_quality
from .belief import beside, check_trust, draw_ellipses, without_doubtful
from .colours import colouring
from .drawing import (
    add_axes,
    draw_points,
    draw_thumbnails,
    is_dense,
    new_figure,
    require_matplotlib,
    write_figure,
)
from .frames import as_pictures
from .key import MOST_BESIDE, explain
from .labels import Columns, Labels, Named, named, table_of
from .names import write_names
from .page import Content, Page, write_page
from .thumbnails import Images

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDE = 5.0
_LARGE_SIDE = 7.5
_DRAWN = 3
"""Dimensions of a picture."""
_MOST = 1e30
"""Size of coordinates whose squares float64 holds, and which single precision holds on a page."""
_VISIBLE = 1e-3
"""Spread along an axis, as a share of the widest: below it is less than a pixel of a picture with equal scales."""
_THIN = 0.05
"""The same: below, a cloud is a sliver, and a map of its other axes shows more."""


def plot(
    embedding: Any,
    labels: Labels = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    ax: Axes | None = None,
    continuous: bool | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    legend: bool = True,
    names: bool | str = "auto",
    images: ArrayLike | None = None,
    density: bool | str = "auto",
    columns: Columns = None,
    ids: ArrayLike | None = None,
    trust: Trust | None = None,
    ellipses: bool = False,
    X: Any = None,
    scores: Scores | None = None,
) -> Figure | Page:
    """Draw an embedding of one, two or three dimensions, coloured by labels.

    Parameters
    ----------
    embedding
        Coordinates, N x d; a single column is drawn as a strip. Of several columns those that do not vary are left out.
        Several of the same points, by name or as ``frames_`` of an estimator, are drawn side by side; a page moves the
        points between them by a slider, and shows two of them beside each other. A fitted estimator: its coordinates,
        and on a page its method, parameters and figures.
    labels
        One for each point, or the name of one of ``columns`` or of a gene where these are AnnData: classes (names,
        whole numbers, categories in their own order) get colours that differ and a legend, quantities a colour bar;
        what is missing is grey.
    path
        Where to write the picture: .png, .pdf, .svg or another format of Matplotlib, or .html for an interactive page:
        one file, which works offline. It is written whole or not at all; a picture that is there is replaced.
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
    names
        Write the names of classes on a map of two dimensions instead of a legend, at the median of each class, those of
        the 300 largest at most: True, False, or ``"auto"``, for more than 20 classes.
    images
        An image of each point: N x h x w, N x h x w x 3, or N x D with a square D. Some are put on a map of two
        dimensions where they do not cover each other; the page shows the one under the pointer.
    density
        Shade the points by how many there are in each pixel, in their colours: True, False, or ``"auto"``, past
        100,000 points. Of three dimensions the points are made transparent instead.
    columns
        Further columns for the page, by name: shown under the pointer, searched, and coloured by. A mapping, a data
        frame of pandas or polars, a table of Arrow, or AnnData, whose ``obs`` they are.
    ids
        Names of the points, for the page.
    trust
        What `lowdim.trust` found of these points: those that are not to be believed are grey, ``labels`` may name one
        of its columns, and the page has them all.
    ellipses
        Draw what the map makes of small balls of one size, by ``trust``, on a picture of two dimensions.
    X
        The data, for a page: the scores of the embedding are measured and told on it, and each point has its
        faithfulness, the share of its 15 nearest that are shown nearest, to be coloured by.
    scores
        What `lowdim.score` found, where it is known already, for a page.

    Returns
    -------
    matplotlib.figure.Figure or lowdim.plotting.Page
        The figure, for further work on it, or the page; a notebook shows either.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits")
    >>> X = lowdim.PCA(2).fit_transform(digits.data)
    >>> figure = lowdim.plot(X, digits.labels, title="Digits")
    >>> figure.axes[0].get_title()
    'Digits'
    """
    require_matplotlib()
    wants_page = path is not None and Path(path).suffix.lower() in (".html", ".htm")
    model, embedding = _of_model(embedding, wants_page=wants_page)
    several = as_pictures(embedding)
    words: dict[str, Any] = {"title": title, "continuous": continuous, "colormap": colormap}
    look: dict[str, Any] = {"point_size": point_size, "legend": legend, "density": density}
    if several is not None and not wants_page:
        _check_side_by_side(ax, images)
        return plot_gallery(several, labels, path=path, **words, **look)
    frames = {} if several is None else _of_one_width(same_points(several))
    points = next(iter(frames.values())) if frames else checked_points("embedding", embedding)
    shown = tuple(range(points.shape[1])) if ax is not None else varying_axes(points)
    if frames:
        shown = tuple(sorted({axis for frame in frames.values() for axis in varying_axes(frame)}))
    check_trust(trust, points.shape[0])
    given = named(labels, beside(labels, columns, trust))
    if given.values is None and getattr(model, "labels_", None) is not None:
        given = Named(np.asarray(model.labels_), "cluster")
    pictures = None if images is None else Images.of(images, points.shape[0])
    if path is not None and wants_page:
        told = page_quality(X, points, given.values, model, scores)
        every = table_of(columns) | table_of(trust) | told.columns
        content = Content.of(points[:, shown], given, columns=every, ids=ids, **words)
        moving = tuple((title, frame[:, shown]) for title, frame in frames.items())
        return write_page(path, replace(content, frames=moving, about=told.about), pictures)
    figure = picture(
        points[:, shown], given, ax=ax, names=names, images=pictures, trust=trust, **words, **look
    )
    if ellipses:
        draw_ellipses(figure.axes[0] if ax is None else ax, points[:, shown], trust)
    if len(shown) < points.shape[1]:
        name_axes(figure.axes[0], shown)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _of_model(given: Any, *, wants_page: bool) -> tuple[Any, Any]:
    """A fitted estimator and what is drawn of it, or nothing and what was given."""
    if not is_fitted(given):
        return None, given
    if wants_page and hasattr(given, "positions_"):
        return given, given.frames_
    coordinates = np.asarray(given.embedding_)
    if coordinates.ndim == 2 and coordinates.shape[1] > _DRAWN:
        coordinates = coordinates[:, varying_axes(coordinates, 2)]
    return given, coordinates


def _check_side_by_side(ax: Any, images: Any) -> None:
    """Say what several embeddings in one picture cannot have."""
    for name, is_given in (("ax", ax is not None), ("images", images is not None)):
        if is_given:
            raise InputError(
                f"Several embeddings are drawn side by side as a picture; {name} shows one alone. Give one of them, or "
                "leave it out."
            )


def same_points(embeddings: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Several embeddings of the same points that can be drawn."""
    if not embeddings:
        raise InputError("embeddings: at least one is needed, got none")
    pictures = {name: checked_points(name, value) for name, value in embeddings.items()}
    counts = {points.shape[0] for points in pictures.values()}
    if len(counts) > 1:
        raise InputError(f"embeddings: all must show the same points, got {sorted(counts)} of them")
    return pictures


def _of_one_width(frames: dict[str, Floats]) -> dict[str, Floats]:
    """Embeddings between which points can move."""
    widths = sorted({frame.shape[1] for frame in frames.values()})
    if len(widths) > 1:
        raise InputError(
            f"embeddings: a page moves points between embeddings of as many dimensions each; got {widths}. Leave "
            "some out, or write a picture (.png)."
        )
    return frames


def picture(
    points: Floats,
    labels: Named,
    *,
    ax: Axes | None = None,
    title: str = "",
    continuous: bool | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    legend: bool = True,
    images: Images | None = None,
    density: bool | str = "auto",
    names: bool | str = "auto",
    trust: Trust | None = None,
) -> Figure:
    """The figure of ``plot``, of checked points."""
    tints = colouring(labels, points.shape[0], continuous=continuous, scale=colormap)
    if trust is not None:
        tints = without_doubtful(tints, trust)
    n_dimensions = points.shape[1]
    dense = is_dense(density, points.shape[0])
    named = n_dimensions == 2 and _are_named(names, len(tints.classes))
    side = _LARGE_SIDE if named or images is not None else _SIDE
    figure: Any = new_figure(side + 0.4, side if n_dimensions > 1 else side / 2) if ax is None else ax.figure
    target = add_axes(figure, 1, 1, 1, n_dimensions) if ax is None else ax
    draw_points(target, points, tints, point_size, dense=dense)
    target.set_title(title)
    if legend and not named:
        explain(figure, [target], tints, labels.name, outside=ax is None)
    if images is not None and n_dimensions == 2:
        draw_thumbnails(target, points, tints, images)
    if legend and named:
        figure.draw_without_rendering()
        unnamed = write_names(target, points, tints)
        if unnamed:
            known = sum(not look.is_missing for look in tints.classes)
            target.set_xlabel(f"{unnamed:,} of {known:,} names found no room", fontsize=7)
    return cast("Figure", figure)


def _are_named(names: bool | str, n_classes: int) -> bool:
    """Whether names stand on the map; by default those of more classes than a legend has room for."""
    if names == "auto":
        return n_classes > MOST_BESIDE
    if isinstance(names, bool):
        return names and n_classes > 0
    raise InputError(f"names: must be True, False or 'auto', got {names!r}")


def plot_gallery(
    embeddings: Mapping[str, ArrayLike],
    labels: Labels = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
    columns: int | None = None,
    continuous: bool | None = None,
    colormap: str | None = None,
    point_size: float | None = None,
    legend: bool = True,
    density: bool | str = "auto",
) -> Figure:
    """Draw several embeddings of the same points side by side, under one key of colours.

    Parameters
    ----------
    embeddings
        Title of each picture and its coordinates.
    columns
        Pictures in a row; by default about a square of them.

    The other parameters are those of ``plot``.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> maps = {"PCA": lowdim.PCA(2).fit_transform(roll.data), "Isomap": lowdim.Isomap(2).fit_transform(roll.data)}
    >>> figure = lowdim.plotting.plot_gallery(maps, roll.parameters[:, 0])
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['PCA', 'Isomap']
    """
    require_matplotlib()
    pictures = same_points(embeddings)
    count = len(next(iter(pictures.values())))
    given = named(labels)
    tints = colouring(given, count, continuous=continuous, scale=colormap)
    across = columns or int(np.ceil(np.sqrt(len(pictures))))
    down = -(-len(pictures) // across)
    figure = new_figure(3.0 * across + 0.4, 3.2 * down)
    every = []
    for place, (name, points) in enumerate(pictures.items(), start=1):
        shown = varying_axes(points)
        axes = add_axes(figure, down, across, place, len(shown))
        draw_points(axes, points[:, shown], tints, point_size, dense=is_dense(density, count))
        if len(shown) < points.shape[1]:
            name_axes(axes, shown)
        axes.set_title(name)
        every.append(axes)
    if title:
        figure.suptitle(title)
    if legend:
        explain(figure, every, tints, given.name, outside=True)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _drawable(name: str, value: Any) -> str:
    """What to give in place of something with many columns; AnnData is told by what it has."""
    if not hasattr(value, "obsm"):
        return f"Embed it first, as lowdim.TSNE().fit_transform does, or choose columns: {name}[:, :2]."
    keys = [key for key in value.obsm if key.startswith("X_") and value.obsm[key].shape[1] <= 3]
    if not keys:
        return "Embed its cells first, as lowdim.scanpy.tsne does, and give obsm['X_tsne']."
    return f"Give one of its embeddings: obsm[{keys[-1]!r}]."


def checked_points(name: str, value: ArrayLike) -> Floats:
    """Coordinates that can be drawn: N x 1, 2 or 3, finite and of a size that pages hold, in single precision."""
    points = read_array(value, name, flat=True).block(slice(None))
    if points.shape[1] > 3:
        raise InputError(
            f"{name} must have 1, 2 or 3 columns to be drawn; got shape {points.shape}. {_drawable(name, value)}"
        )
    bad = np.flatnonzero(~(np.abs(points) <= _MOST).all(axis=1))
    if bad.size:
        raise InputError(
            f"{name} must hold finite coordinates of at most {_MOST:g} to be drawn; {bad.size} rows have others, the "
            f"first is row {bad[0]}. Leave them out, or rescale {name}."
        )
    return points


def varying_axes(points: Floats, most: int | None = None) -> tuple[int, ...]:
    """The first axes, at most so many, along which points differ at the scale of the picture; all if none is wider.

    The first axis of a spectral clustering is all but constant: drawn, it would make a sliver of the map. Of the two
    widest axes one is left out only where nothing of it could be seen.
    """
    widths = points.std(axis=0)
    widest = np.argsort(-widths, kind="stable")[:2]
    shown = widths >= _THIN * widths.max()
    shown[widest] = widths[widest] >= _VISIBLE * widths.max()
    return tuple(np.flatnonzero(shown)[:most].tolist())


def name_axes(axes: Any, shown: tuple[int, ...]) -> None:
    """Say which coordinates a picture shows, where they are not simply the first ones."""
    for place, write in zip(shown, (axes.set_xlabel, axes.set_ylabel), strict=False):
        write(f"coordinate {place + 1}", fontsize=7)
