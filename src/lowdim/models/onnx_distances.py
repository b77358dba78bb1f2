"""Distances and kernel values between new rows and the points of a map, and the nearest points, in ONNX's operators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..core.messages import setting
from ..core.records import Floats
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors.all_pairs import GenericIndex
from ..neighbors.euclidean import EuclideanIndex
from ..neighbors.index import Index
from ..neighbors.metrics import MappedMetric, Metric
from ..spectral.kernel_functions import Kernel
from .onnx_graph import Graph

SPARE = 8
"""Points beyond the k nearest by products of which the true distances are taken: rounding mistakes the order of few."""
WAY_OUT = "Or keep the model with lowdim.save, and load it with lowdim.load."
"""What serves every map."""
PLAIN = ("euclidean", "sqeuclidean")
"""Metrics whose rows are compared as they are; those of the others are brought to length 1."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Names of the k nearest points of each row, nearest first: their places (b x k), and their distances (b x k).

    ``differences`` (b x k x D) are those points less the row, where they were needed.
    """

    places: str
    distances: str
    differences: str | None


def metric_of(index: Index) -> Metric:
    """The metric of an index of points."""
    if isinstance(index, EuclideanIndex):
        return index.geometry.metric
    assert isinstance(index, GenericIndex)
    return index.resolved


def centre_of(points: Floats) -> Floats:
    """The point nearest to the mean of all.

    Products about it lose no digits to a common offset, and whole numbers stay whole, so that ties stay ties.
    """
    mean = points.mean(axis=0)
    return np.asarray(points[np.argmin(np.square(points - mean).sum(axis=1))])


def squared_distances(graph: Graph, rows: str, points: Floats, stored: str) -> tuple[str, str]:
    """|y - z|^2 = |y|^2 + |z|^2 - 2 y'z about a point in the midst, at least 0: b x L numbers and no more.

    ``stored`` are the points in the file, which holds them once. The second is |y|^2 + |z|^2, to judge rounding by.
    """
    centre = graph.constant(centre_of(points))
    moved, centred = graph.add("Sub", rows, centre), graph.add("Sub", stored, centre)
    own = graph.sum(graph.add("Mul", moved, moved), 1)
    others = graph.add("Transpose", graph.sum(graph.add("Mul", centred, centred), 1), perm=[1, 0])
    sums = graph.add("Add", own, others)
    doubled = graph.add("Mul", moved, graph.constant(-2.0))
    across = graph.add("MatMul", doubled, graph.add("Transpose", centred, perm=[1, 0]))
    return graph.add("Max", graph.add("Add", sums, across), graph.constant(0.0)), sums


def distances(graph: Graph, rows: str, metric: Metric, points: Rows) -> str:
    """Distances of every row to every point."""
    if not isinstance(metric, MappedMetric):
        return graph.for_each_row(rows, partial(_one_row, metric=metric, points=dense(points)))
    values = dense(points)
    mapped, _ = map_rows(graph, rows, metric, values.shape[1])
    vectors = map_points(metric, values)
    squared, _ = squared_distances(graph, mapped, vectors, graph.constant(vectors))
    return from_squared(graph, squared, metric)


def nearest(graph: Graph, rows: str, index: Index, k: int) -> Nearest:
    """The k nearest points of each row, ties by their places, as the search of the fit has them."""
    metric, points = metric_of(index), dense(index.rows)
    if not isinstance(metric, MappedMetric):
        every = distances(graph, rows, metric, index.rows)
        found, places = _smallest(graph, every, k)
        return Nearest(places, found, None)
    mapped, rounding = map_rows(graph, rows, metric, points.shape[1])
    vectors = map_points(metric, points)
    stored, some = graph.constant(vectors), min(k + SPARE, points.shape[0])
    _, candidates = _smallest(graph, squared_distances(graph, mapped, vectors, stored)[0], some)
    candidates, _ = _smallest(graph, candidates, some)
    # By differences, as the fit has them: a point that equals one of the fitted ones must be at distance 0.
    near = graph.add("Gather", stored, candidates, axis=0)
    differences = graph.add("Sub", near, graph.add("Unsqueeze", mapped, graph.whole(1)))
    squares = graph.sum(graph.add("Mul", differences, differences), 2)
    squared = graph.add("Squeeze", squares, graph.whole(2))
    if rounding is not None:
        is_some = graph.add("Greater", squared, graph.add("Mul", rounding, rounding))
        squared = graph.add("Where", is_some, squared, graph.constant(0.0))
    smallest, order = _smallest(graph, squared, k)
    picked = graph.add("GatherElements", candidates, order, axis=1)
    differences = graph.add(
        "GatherND", differences, graph.add("Unsqueeze", order, graph.whole(2)), batch_dims=1
    )
    return Nearest(picked, from_squared(graph, smallest, metric), differences)


def map_rows(graph: Graph, rows: str, metric: MappedMetric, n_columns: int) -> tuple[str, str | None]:
    """The vectors whose Euclidean distance the metric grows with, and how far rounding may move them.

    Rows that were scaled to length 1 may differ by that much from the point that they equal; others never do.
    """
    if metric.name in PLAIN:
        return rows, None
    one, nothing = graph.constant(1.0), graph.constant(0.0)
    size, floor = one, nothing
    if metric.name == "correlation":
        largest = graph.add("ReduceMax", graph.add("Abs", rows), axes=[1], keepdims=1)
        # The mean of a constant row is rounded: what is left of the row is noise of this size, not a direction.
        floor = graph.add("Mul", largest, graph.constant(8 * graph.eps * n_columns**0.5))
        rows = graph.add("Sub", rows, graph.add("ReduceMean", rows, axes=[1], keepdims=1))
    length = graph.add("Sqrt", graph.sum(graph.add("Mul", rows, rows), 1))
    has_direction = graph.add("Greater", length, floor)
    divisor = graph.add("Where", has_direction, length, one)
    if metric.name == "correlation":
        size = graph.add("Div", largest, divisor)
    unit = graph.add("Where", has_direction, graph.add("Div", rows, divisor), nothing)
    # A row without a direction is at a right angle to all others, by a direction of its own.
    vectors = graph.add("Concat", unit, graph.add("Where", has_direction, nothing, one), axis=1)
    return vectors, graph.add("Mul", size, graph.constant((n_columns + 8) * graph.eps))


def map_points(metric: MappedMetric, points: Floats) -> Floats:
    """The same of the points."""
    if metric.name in PLAIN:
        return points
    terms = metric.terms(points)
    return np.column_stack(((points - terms[:, :1]) * terms[:, 1:2], terms[:, 2]))


def from_squared(graph: Graph, squared: str, metric: MappedMetric) -> str:
    """The metric from the squared Euclidean distances of the vectors."""
    if metric.name == "euclidean":
        return graph.add("Sqrt", squared)
    return graph.add("Mul", squared, graph.constant(0.5)) if metric.name not in PLAIN else squared


def kernel_values(graph: Graph, rows: str, function: Kernel, points: Rows) -> str:
    """Kernel values of every row with every point: the table of `Kernel`."""
    values = dense(points)
    if callable(function.name):
        raise InputError(
            f"kernel is a function of Python, which no ONNX file holds. Use a named one. {WAY_OUT}"
        )
    gamma = 1.0 / values.shape[1] if function.gamma is None else function.gamma
    if function.name == "rbf":
        squared = _squares_or_nothing(graph, rows, values)
        return graph.add("Exp", graph.add("Mul", squared, graph.constant(-gamma)))
    if function.name == "laplacian":
        lengths = graph.for_each_row(rows, partial(_city_block, points=values))
        return graph.add("Exp", graph.add("Mul", lengths, graph.constant(-gamma)))
    if function.origin is not None:
        rows, values = graph.add("Sub", rows, graph.constant(function.origin)), values - function.origin
    if function.name == "cosine":
        norms = np.sqrt(np.square(values).sum(axis=1, keepdims=True))
        values = values / np.where(norms > 0, norms, 1.0)
        own = graph.add("Sqrt", graph.sum(graph.add("Mul", rows, rows), 1))
        is_some = graph.add("Greater", own, graph.constant(0.0))
        rows = graph.add("Div", rows, graph.add("Where", is_some, own, graph.constant(1.0)))
    if function.name in ("linear", "cosine"):
        return graph.add("MatMul", rows, graph.constant(values.T))
    # The scale goes into the points: a runtime may join a product and its scale, and keep that in single precision.
    product = graph.add("MatMul", rows, graph.constant(gamma * values.T))
    inner = graph.add("Add", product, graph.constant(function.coef0))
    if function.name == "poly":
        return graph.add("Pow", inner, graph.constant(function.degree))
    return graph.add("Tanh", inner)


def dense(points: Rows) -> Floats:
    """The points as one array."""
    return np.asarray(points.block(slice(0, points.n_rows)))


def _squares_or_nothing(graph: Graph, rows: str, points: Floats) -> str:
    """Squared distances, 0 where they are nothing but rounding: a narrow kernel would take that for a distance."""
    squared, sums = squared_distances(graph, rows, points, graph.constant(points))
    rounding = graph.add("Mul", sums, graph.constant((points.shape[1] + 4) * graph.eps))
    is_some = graph.add("Greater", squared, rounding)
    return graph.add("Where", is_some, squared, graph.constant(0.0))


def _smallest(graph: Graph, values: str, k: int) -> tuple[str, str]:
    """The k smallest of each row in rising order, and their places; of equal ones the first."""
    found = graph.add_all("TopK", values, graph.whole(k), count=2, axis=1, largest=0, sorted=1)
    return found[0], found[1]


def _one_row(graph: Graph, row: str, *, metric: Metric, points: Floats) -> str:
    """Distances of one row to every point under a metric without a Euclidean form."""
    name, parameters = getattr(metric, "function", metric.name), getattr(metric, "parameters", None)
    if parameters or name not in ("cityblock", "chebyshev"):
        raise InputError(
            f"{setting('metric', metric.name)}: to_onnx writes 'euclidean', 'sqeuclidean', 'cosine', 'correlation', "
            f"'cityblock' and 'chebyshev', without parameters. Use one of these. {WAY_OUT}"
        )
    if name == "cityblock":
        return _city_block(graph, row, points=points)
    sizes = graph.add("Abs", graph.add("Sub", graph.constant(points), row))
    return graph.add("ReduceMax", sizes, axes=[1], keepdims=0)


def _city_block(graph: Graph, row: str, *, points: Floats) -> str:
    sizes = graph.add("Abs", graph.add("Sub", graph.constant(points), row))
    return graph.add("ReduceSum", sizes, graph.whole(1), keepdims=0)
