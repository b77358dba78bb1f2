"""scikit-learn's scalers in ONNX's operators, as steps of a pipeline before its maps."""

from __future__ import annotations

from typing import Any

from .onnx_graph import Graph


def write_scaler(graph: Graph, scaler: Any, rows: str) -> str:
    """The rows as a scaler gives them."""
    return WRITERS[type(scaler).__name__](graph, scaler, rows)


def _centred_and_divided(graph: Graph, scaler: Any, rows: str) -> str:
    """(y - centre) / scale: `StandardScaler` and `RobustScaler`, either of which may be left out."""
    centre = scaler.mean_ if hasattr(scaler, "mean_") else scaler.center_
    is_centred = getattr(scaler, "with_mean", True) and getattr(scaler, "with_centering", True)
    if is_centred and centre is not None:
        rows = graph.add("Sub", rows, graph.constant(centre))
    return rows if scaler.scale_ is None else graph.add("Div", rows, graph.constant(scaler.scale_))


def _between_two_ends(graph: Graph, scaler: Any, rows: str) -> str:
    """y * scale + min: `MinMaxScaler`."""
    scaled = graph.add("Mul", rows, graph.constant(scaler.scale_))
    moved = graph.add("Add", scaled, graph.constant(scaler.min_))
    return _clipped(graph, moved, *scaler.feature_range) if scaler.clip else moved


def _by_the_largest(graph: Graph, scaler: Any, rows: str) -> str:
    """y / scale: `MaxAbsScaler`, which can clip from scikit-learn 1.8 on."""
    scaled = graph.add("Div", rows, graph.constant(scaler.scale_))
    return _clipped(graph, scaled, -1.0, 1.0) if getattr(scaler, "clip", False) else scaled


def _to_length_one(graph: Graph, scaler: Any, rows: str) -> str:
    """y / |y|: `Normalizer`; a row of zeros stays."""
    if scaler.norm == "max":
        lengths = graph.add("ReduceMax", graph.add("Abs", rows), axes=[1], keepdims=1)
    else:
        lengths = graph.add(f"Reduce{scaler.norm.upper()}", rows, axes=[1], keepdims=1)
    is_zero = graph.add("Less", lengths, graph.constant(10 * graph.eps))
    return graph.add("Div", rows, graph.add("Where", is_zero, graph.constant(1.0), lengths))


def _clipped(graph: Graph, values: str, least: float, most: float) -> str:
    return graph.add("Clip", values, graph.constant(least), graph.constant(most))


WRITERS = {
    "StandardScaler": _centred_and_divided,
    "RobustScaler": _centred_and_divided,
    "MinMaxScaler": _between_two_ends,
    "MaxAbsScaler": _by_the_largest,
    "Normalizer": _to_length_one,
}
