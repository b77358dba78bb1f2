"""Distances and ranks in the data against those in the embedding: the Shepard diagram and the co-ranking matrix."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.records import Floats, Integers
from ..core.rules import Either, Nothing, Rule, Whole
from ..core.streams import make_generator
from ..data.rows import Rows
from ..metrics.distance_tables import distances_between
from ..metrics.inputs import check_embedding, check_points
from ..validation import check_parameters
from .colours import hexadecimal
from .drawing import TEXT, new_figure, quieten, require_matplotlib, write_figure
from .palette import palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RULES: dict[str, Rule] = {"sample": Whole(10), "n_ranks": Either(Nothing(), Whole(2))}
_BLOCK = 128
_CELLS = 120
_BANDS = 40
_MOST_CELLS = 200


def plot_shepard(
    X: Any,
    embedding: ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    metric: str | Callable[..., float] = "euclidean",
    sample: int = 1000,
    random_state: Any = 0,
    title: str = "",
) -> Figure:
    """Draw the distances in the embedding over those in the data (Shepard 1962).

    Each pair of the sampled points is a place; darker ones hold more pairs. The distances in the embedding are scaled
    as fits best, so that they lie on the dashed line where all are kept. The line through the pairs is their median,
    the band around it their middle half.

    Parameters
    ----------
    X
        The data (N x D), or with ``metric="precomputed"`` the distances of all points to all.
    embedding
        Coordinates of the same points (N x d).
    path
        Where to write the picture; see `lowdim.plot`.
    metric
        Distance in the data: a metric name, a function of two rows, or ``"precomputed"``.
    sample
        Points whose pairs are drawn, at most.
    random_state
        Draws the sample.
    title
        Above the picture.
    """
    require_matplotlib()
    check_parameters("plot_shepard", {"sample": sample}, _RULES)
    given, shown = _tables("plot_shepard", X, embedding, metric, sample, random_state)
    pairs = np.triu_indices(len(given), 1)
    x, y = given[pairs], shown[pairs]
    y = y * (float(x @ y) / float(y @ y))
    figure = new_figure(5.2, 4.6)
    axes = figure.add_subplot(1, 1, 1)
    limits = [[0.0, float(x.max())], [0.0, float(np.quantile(y, 0.9995))]]
    counts, across, up = np.histogram2d(x, y, bins=_CELLS, range=limits)
    drawn = axes.pcolormesh(across, up, _masked(counts).T, cmap="Greys", norm=_log(counts), rasterized=True)
    figure.colorbar(drawn, ax=axes, shrink=0.8, aspect=28, pad=0.02, label="pairs").ax.tick_params(
        labelsize=7
    )
    end = min(limits[0][1], limits[1][1])
    axes.plot([0.0, end], [0.0, end], color=TEXT, lw=1.0, ls="--")
    at, quarters = _running(x, y)
    colour = hexadecimal(palette(1))[0]
    axes.fill_between(at, quarters[0], quarters[2], color=colour, alpha=0.25, linewidth=0)
    axes.plot(at, quarters[1], color=colour, lw=1.6)
    stress = float(np.sqrt(np.square(x - y).sum() / np.square(x).sum()))
    told = f"correlation {np.corrcoef(x, y)[0, 1]:.3f}, by rank {_rank_correlation(x, y):.3f}, stress {stress:.3f}"
    axes.set_title(f"{title}\n{told}" if title else told, fontsize=8, color=TEXT)
    axes.set_xlabel("distance in the data", fontsize=8, color=TEXT)
    axes.set_ylabel("distance in the embedding, scaled", fontsize=8, color=TEXT)
    quieten(axes)
    return _written(figure, path)


def plot_coranking(
    X: Any,
    embedding: ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    metric: str | Callable[..., float] = "euclidean",
    sample: int = 1500,
    n_ranks: int | None = None,
    random_state: Any = 0,
    title: str = "",
) -> Figure:
    """Draw the co-ranking matrix of an embedding (Lee & Verleysen 2009).

    Its entry (k, l) counts the pairs whose second point is the k-th neighbour of the first in the data and the l-th in
    the embedding. All lie on the diagonal where every neighbourhood is kept. Above it are points that were torn away
    (extrusions), below it points that came too near (intrusions); colours are logarithmic.

    Parameters
    ----------
    X, embedding, path, metric, random_state, title
        As in `plot_shepard`.
    sample
        Points that are ranked among each other, at most.
    n_ranks
        Draw the first ranks only; None: all.
    """
    require_matplotlib()
    check_parameters("plot_coranking", {"sample": sample, "n_ranks": n_ranks}, _RULES)
    given, shown = _tables("plot_coranking", X, embedding, metric, sample, random_state)
    matrix = coranking(_ranks(given), _ranks(shown))
    size = min(n_ranks or len(matrix), len(matrix))
    binned, width = _binned(matrix[:size, :size])
    figure = new_figure(5.0, 4.6)
    axes = figure.add_subplot(1, 1, 1)
    end = width * len(binned) + 0.5
    drawn = axes.imshow(
        _masked(binned).T,
        cmap="Greys",
        norm=_log(binned),
        origin="lower",
        extent=(0.5, end, 0.5, end),
        interpolation="nearest",
    )
    figure.colorbar(drawn, ax=axes, shrink=0.8, aspect=28, pad=0.02, label="pairs").ax.tick_params(
        labelsize=7
    )
    axes.plot([0.5, end], [0.5, end], color=hexadecimal(palette(2))[1], lw=0.8, ls="--")
    k = min(15, len(matrix) - 1)
    kept = matrix[:k, :k].sum() / (k * len(given))
    told = f"{100 * kept:.1f} % of the {k} nearest of {len(given):,} points kept"
    axes.set_title(f"{title}\n{told}" if title else told, fontsize=8, color=TEXT)
    axes.set_xlabel("rank in the data", fontsize=8, color=TEXT)
    axes.set_ylabel("rank in the embedding", fontsize=8, color=TEXT)
    quieten(axes)
    return _written(figure, path)


def coranking(given: Integers, shown: Integers) -> Integers:
    """The co-ranking matrix of two tables of ranks (N x N, 0 on the diagonal, then 1 to N - 1)."""
    n_ranks = len(given) - 1
    others = ~np.eye(len(given), dtype=bool)
    places = (given[others] - 1) * n_ranks + shown[others] - 1
    found: Integers = np.bincount(places, minlength=n_ranks * n_ranks).reshape(n_ranks, n_ranks)
    return found


def _tables(
    owner: str, X: Any, embedding: ArrayLike, metric: Any, sample: int, random_state: Any
) -> tuple[Floats, Floats]:
    """Distances among some points in the data and in the embedding."""
    rows = check_points(owner, X, pairwise=metric == "precomputed")
    points = check_embedding(owner, embedding, rows.n_rows)
    if sample < rows.n_rows:
        chosen = np.sort(make_generator(random_state).choice(rows.n_rows, sample, replace=False))
    else:
        chosen = np.arange(rows.n_rows)
    shown = distances_between(Rows(points[chosen]), "euclidean", -1)
    return _among(distances_between(rows, metric, -1), chosen, rows.n_rows), _among(
        shown, np.arange(len(chosen)), len(chosen)
    )


def _among(distances: Any, chosen: Integers, n_points: int) -> Floats:
    """Distances of some points to each other, some rows at a time."""
    found = np.empty((len(chosen), len(chosen)))
    for start in range(0, len(chosen), _BLOCK):
        part = chosen[start : start + _BLOCK]
        table = np.empty((len(part), n_points))
        distances.fill(part, table)
        found[start : start + len(part)] = table[:, chosen]
    return found


def _ranks(table: Floats) -> Integers:
    """Rank of each point among those nearest to the point of the row: itself 0, equally near ones by their index."""
    table = table.copy()
    np.fill_diagonal(table, -1.0)
    order = np.argsort(table, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(table))[None], axis=1)
    return ranks


def _binned(matrix: Integers) -> tuple[Floats, int]:
    """The matrix in cells of so many ranks that a picture can hold them."""
    width = -(-len(matrix) // _MOST_CELLS)
    whole = -(-len(matrix) // width) * width
    padded = np.pad(matrix, (0, whole - len(matrix))).astype(np.float64)
    cells = whole // width
    return padded.reshape(cells, width, cells, width).sum(axis=(1, 3)), width


def _running(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Quartiles of y in bands of x that hold as many pairs each."""
    order = np.argsort(x)
    parts = np.array_split(order, min(_BANDS, x.size))
    return (
        np.array([np.median(x[part]) for part in parts]),
        np.array([np.quantile(y[part], [0.25, 0.5, 0.75]) for part in parts]).T,
    )


def _rank_correlation(x: Floats, y: Floats) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def _bar(figure: Any, axes: Any, drawn: Any) -> None:
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, which="both", color=TEXT, labelcolor=TEXT)
    bar.ax.set_title("pairs", fontsize=7, color=TEXT)


def _masked(counts: Floats) -> Any:
    return np.ma.masked_equal(counts, 0.0)


def _log(counts: Floats) -> Any:
    from matplotlib.colors import LogNorm

    # One pair is a light grey, not white.
    return LogNorm(0.3, max(float(counts.max()), 1.0))


def _written(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    if path is not None:
        write_figure(figure, Path(path))
    return figure
