"""Maps and labels of spectral clustering in ONNX's operators: points on the unit sphere, and the nearest centre."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from ..maps.unit_rows import NormalizedRowsMap, PlacedRowsMap
from .onnx_graph import Graph


def unit_rows(graph: Graph, values: str) -> str:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = _lengths(graph, values)
    is_zero = graph.add("Equal", lengths, graph.constant(0.0))
    return graph.add("Div", values, graph.add("Where", is_zero, graph.constant(1.0), lengths))


def normalized_rows(graph: Graph, map_: NormalizedRowsMap, values: str) -> str:
    """Rows (constant, x) scaled to length 1."""
    ones = _column_of_ones(graph, values)
    whole = graph.add("Concat", graph.add("Mul", ones, graph.constant(map_.constant)), values, axis=1)
    return graph.add("Div", whole, _lengths(graph, whole))


def placed_rows(graph: Graph, map_: PlacedRowsMap, values: str) -> str:
    """The first coordinates scaled to length 1, in their columns: a product with rows of the unit matrix."""
    taken = graph.add("Slice", values, graph.whole(0), graph.whole(map_.columns.size), graph.whole(1))
    scaled = graph.add("Div", taken, _lengths(graph, taken))
    return graph.add("MatMul", scaled, graph.constant(np.eye(map_.width)[map_.columns]))


def constant_rows(graph: Graph, rows: str) -> str:
    """A 1 for each row."""
    return _column_of_ones(graph, rows)


def nearest_centers(graph: Graph, points: str, centers: Floats) -> str:
    """The place of the nearest centre of each point, the first of those that are as near."""
    stacked = graph.add("Unsqueeze", points, graph.whole(1))
    gaps = graph.add("Sub", stacked, graph.constant(centers[None]))
    squares = graph.add("ReduceSum", graph.add("Mul", gaps, gaps), graph.whole(2), keepdims=0)
    return graph.add("ArgMin", squares, axis=1, keepdims=0)


def _lengths(graph: Graph, values: str) -> str:
    return graph.add("ReduceL2", values, axes=[1], keepdims=1)


def _column_of_ones(graph: Graph, values: str) -> str:
    first = graph.add("Slice", graph.add("Shape", values), graph.whole(0), graph.whole(1))
    return graph.add("Expand", graph.constant([[1.0]]), graph.add("Concat", first, graph.whole(1), axis=0))
