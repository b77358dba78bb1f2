"""The maps for new points in ONNX's operators, one function for each kind of map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..affinities.binary import FittedBinary
from ..affinities.gaussian import FittedGaussian
from ..affinities.self_tuning import FittedSelfTuning
from ..core.messages import named, setting
from ..errors import InputError
from ..maps.base import ColumnsMap, ComponentsMap, NearestMap
from ..maps.extension import ExtensionMap
from ..maps.fixed_embedding import FixedEmbeddingMap
from ..maps.geodesic import GeodesicsToLandmarks, SquaredGeodesics
from ..maps.linear import LinearMap
from ..maps.locally_linear import LocallyLinearMap
from ..maps.nystrom import NeighborAffinities, NystromMap
from ..maps.pairwise import GivenDistances, GivenValues, KernelValues, SquaredDistances
from ..maps.stress import StressMap
from ..maps.unit_rows import ConstantMap, NormalizedRowsMap, PlacedRowsMap, UnitRowsMap
from ..neighbors.index import Index
from ..neighbors.lookup import Lookup
from .onnx_distances import WAY_OUT, Nearest, distances, kernel_values, nearest
from .onnx_graph import Graph
from .onnx_unit_rows import constant_rows, normalized_rows, placed_rows, unit_rows

LEAST_RIDGE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}
"""Ridge of the local weights, as a share of the trace, below which elimination without pivots loses its digits."""

AFFINITIES = (FittedGaussian, FittedSelfTuning, FittedBinary)


def write_map(graph: Graph, map_: Any, rows: str) -> str:
    """The coordinates of rows by a map."""
    for kind, write in WRITERS.items():
        if isinstance(map_, kind):
            return write(graph, map_, rows)
    raise InputError(f"{_reason(map_)} Keep the model with lowdim.save, and load it with lowdim.load.")


def _reason(map_: Any) -> str:
    """Why a map is not written."""
    if isinstance(map_, FixedEmbeddingMap | StressMap):
        return (
            "model places new points by optimisation, step by step until they rest, and ONNX's operators hold no such "
            "search: to_onnx cannot write it."
        )
    return f"model has a map of the kind {type(map_).__name__}, which to_onnx does not write."


def _linear(graph: Graph, map_: LinearMap, rows: str) -> str:
    """C (y - mean). The mean goes first, as in `transform`: far from the origin the product alone loses digits."""
    centred = graph.add("Sub", rows, graph.constant(map_.mean))
    return graph.add("MatMul", centred, graph.constant(map_.components.T))


def _columns(graph: Graph, map_: ColumnsMap, rows: str) -> str:
    """A map of some of the columns."""
    return write_map(graph, map_.map, graph.add("Gather", rows, graph.places(map_.columns), axis=1))


def _nearest_point(graph: Graph, map_: NearestMap, rows: str) -> str:
    """The coordinates of the nearest fitted point."""
    found = _neighbors(graph, Lookup(map_.index, 1), rows)
    return _only(graph, graph.add("Gather", graph.constant(map_.embedding), found.places, axis=0))


def _components(graph: Graph, map_: ComponentsMap, rows: str) -> str:
    """Every component's map of every row, of which that of the component of the nearest fitted point is taken."""
    found = _neighbors(graph, Lookup(map_.index, 1), rows)
    owners = graph.add("Gather", graph.places(map_.labels), found.places, axis=0)
    made = [
        graph.add("Add", write_map(graph, part, rows), graph.constant(shift))
        for part, shift in zip(map_.maps, map_.shifts, strict=True)
    ]
    beside = [graph.add("Unsqueeze", each, graph.whole(1)) for each in made]
    return graph.add("GatherND", graph.add("Concat", *beside, axis=1), owners, batch_dims=1)


def _extension(graph: Graph, map_: ExtensionMap, rows: str) -> str:
    """P p - offset of the profile p: squared distances or kernel values."""
    profile = map_.profile
    if isinstance(profile, KernelValues):
        values = kernel_values(graph, rows, profile.kernel, profile.rows)
    elif isinstance(profile, GivenValues):
        values = rows
    elif isinstance(profile, SquaredDistances):
        lengths = distances(graph, rows, profile.metric, profile.rows)
        values = graph.add("Mul", lengths, lengths)
    elif isinstance(profile, GivenDistances):
        values = graph.add("Mul", rows, rows)
    else:
        assert isinstance(profile, SquaredGeodesics | GeodesicsToLandmarks)
        raise InputError(
            "model places new points by shortest paths through the graph of all fitted points, and ONNX's operators "
            "hold no such search: to_onnx cannot write it. Fit Isomap with landmarks, whose map for new points is "
            f"local weights. {WAY_OUT}"
        )
    product = graph.add("MatMul", values, graph.constant(map_.projection.T))
    return graph.add("Sub", product, graph.constant(map_.offset))


def _locally_linear(graph: Graph, map_: LocallyLinearMap, rows: str) -> str:
    """Weights of sum 1 that rebuild a row from its nearest points, applied to their coordinates (Saul & Roweis 2003).

    (G + reg tr(G) I) w = 1, by elimination for all rows at once; a row that equals a point takes its coordinates.
    """
    _require_euclidean(map_.lookup.index)
    reg, least, k = map_.reg, LEAST_RIDGE[graph.kind], map_.lookup.n_neighbors
    if reg < least:
        raise InputError(
            f"{named('reg')} of a map by local weights must be at least {least:g} for an ONNX file of {graph.kind}; "
            f"got {reg:g}. Fit with a larger one. {WAY_OUT}"
        )
    found = _neighbors(graph, map_.lookup, rows)
    assert found.differences is not None
    gram = graph.add("MatMul", found.differences, graph.swapped(found.differences))
    trace = graph.sum(graph.add("Mul", found.differences, found.differences), 1, 2)
    ridge = graph.add("Mul", trace, graph.constant(reg * np.eye(k)))
    weights = _solve_for_ones(graph, graph.add("Add", gram, ridge), k)
    weights = graph.add("Div", weights, graph.sum(weights, 1))
    near = graph.add("Gather", graph.constant(map_.embedding), found.places, axis=0)
    placed = _only(graph, graph.add("MatMul", graph.swapped(weights), near))
    return _snapped(graph, found, near, placed)


def _solve_for_ones(graph: Graph, matrices: str, k: int) -> str:
    """w of A w = 1 for a stack of positive definite matrices A (b x k x k), by Gauss and Jordan without pivots.

    The step of row j leaves 1 at (j, j) and 0 in the rest of column j. The last column begins as ones, and ends as w.
    """
    ones = graph.add("Expand", graph.constant(1.0), graph.add("Shape", _part(graph, matrices, 2, 0, 1)))
    table = graph.add("Concat", matrices, ones, axis=2)
    for j in range(k):
        row, column = _part(graph, table, 1, j, j + 1), _part(graph, table, 2, j, j + 1)
        scaled = graph.add("Div", row, _part(graph, row, 2, j, j + 1))
        others = graph.add("Mul", column, graph.constant(np.arange(k)[None, :, None] != j))
        own = graph.add("Mul", graph.constant(np.arange(k)[None, :, None] == j), scaled)
        kept = graph.add("Mul", table, graph.constant(np.arange(k)[None, :, None] != j))
        table = graph.add("Add", graph.add("Sub", kept, graph.add("Mul", others, scaled)), own)
    return _part(graph, table, 2, k, k + 1)


def _nystrom(graph: Graph, map_: NystromMap, rows: str) -> str:
    """The mean of the fitted neighbours by their affinities, over 1 - lambda (Bengio et al. 2004, sec. 3).

    A row without any affinity, which `transform` refuses, comes out as NaN.
    """
    source = map_.affinities
    if not isinstance(source, NeighborAffinities) or not isinstance(source.affinity, AFFINITIES):
        kind = type(source.affinity if isinstance(source, NeighborAffinities) else source).__name__
        raise InputError(
            f"{named('affinity')} of the model must be Gaussian, SelfTuning or Binary, whose weights of a new point "
            "ONNX's operators hold; "
            f"got {kind.removeprefix('Fitted')}. Fit with one of these, or with solver=LLL(...), whose map is local "
            f"weights. {WAY_OUT}"
        )
    found = _neighbors(graph, source.lookup, rows)
    weights = _affinity(graph, source.affinity, found, source.lookup.n_neighbors)
    if source.weights is not None:
        counts = graph.add("Gather", graph.constant(source.weights), found.places, axis=0)
        weights = graph.add("Mul", weights, counts)
    near = graph.add("Gather", graph.constant(map_.embedding), found.places, axis=0)
    totals = graph.sum(weights, 1)
    mean = graph.add(
        "MatMul", graph.add("Unsqueeze", graph.add("Div", weights, totals), graph.whole(1)), near
    )
    return _snapped(graph, found, near, graph.add("Div", _only(graph, mean), graph.constant(map_.shrinkage)))


def _affinity(graph: Graph, affinity: Any, found: Nearest, k: int) -> str:
    """Affinities (b x k) of rows to their nearest points, the largest of a row 1."""
    lengths, nothing = found.distances, graph.constant(0.0)
    if isinstance(affinity, FittedBinary):
        return graph.add("Add", graph.add("Mul", lengths, nothing), graph.constant(1.0))
    if isinstance(affinity, FittedGaussian):
        ratio = graph.add("Div", lengths, graph.constant(affinity.sigma))
        exponents = graph.add("Mul", ratio, ratio)
    else:
        scales = graph.add("Gather", graph.constant(affinity.scales), found.places, axis=0)
        own = graph.add("Div", lengths, _own_scale(graph, affinity, lengths, k))
        exponents = graph.add("Mul", own, graph.add("Div", lengths, scales))
    smallest = graph.add("ReduceMin", exponents, axes=[1], keepdims=1)
    weights = graph.add("Exp", graph.add("Sub", smallest, exponents))
    threshold = getattr(affinity, "threshold", None)
    if threshold is None:
        return weights
    beyond = graph.add("Greater", lengths, graph.constant(threshold))
    return graph.add("Where", beyond, nothing, weights)


def _own_scale(graph: Graph, affinity: FittedSelfTuning, lengths: str, k: int) -> str:
    """The distance of each row to its k-th neighbour, itself not counted, or to its first above 0: `local_scales`."""
    from onnx import TensorProto

    is_copy = graph.add("Equal", lengths, graph.constant(0.0))
    copies = graph.add("Cast", is_copy, to=int(TensorProto.INT64))
    first = graph.add("Slice", copies, graph.whole(0), graph.whole(1), graph.whole(1))
    place = graph.add("Add", first, graph.whole(affinity.k - 1))
    place = graph.add("Max", place, graph.sum(copies, 1))
    scale = graph.add("GatherElements", lengths, graph.add("Min", place, graph.whole(k - 1)), axis=1)
    return graph.add(
        "Where", graph.add("Equal", scale, graph.constant(0.0)), graph.constant(affinity.spare), scale
    )


def _neighbors(graph: Graph, lookup: Lookup, rows: str) -> Nearest:
    """The fitted neighbours of rows, of which every row has as many."""
    if lookup.radius is not None:
        raise InputError(
            f"{setting('radius', lookup.radius)}: to_onnx writes maps in which every point has as many neighbours. Fit "
            f"with {named('n_neighbors')}. {WAY_OUT}"
        )
    _require_points(lookup.index)
    return nearest(graph, rows, lookup.index, lookup.n_neighbors)


def _require_points(index: Index) -> None:
    if index.metric in ("precomputed", "graph"):
        raise InputError(
            f"model must have been fitted to points, for to_onnx; got {setting('metric', index.metric)}. {WAY_OUT}"
        )


def _require_euclidean(index: Index) -> None:
    """Local weights of another metric may need eigenvalues of each local matrix, which no operator gives."""
    _require_points(index)
    if index.metric != "euclidean":
        raise InputError(
            f"{setting('metric', index.metric)}: to_onnx writes maps by local weights for 'euclidean' alone, since "
            f"others may need the eigenvalues of every local matrix. Use it, on rows scaled to suit. {WAY_OUT}"
        )


def _part(graph: Graph, values: str, axis: int, start: int, stop: int) -> str:
    """A slice along one axis."""
    return graph.add("Slice", values, graph.whole(start), graph.whole(stop), graph.whole(axis))


def _only(graph: Graph, stack: str) -> str:
    """b x d of b x 1 x d."""
    return graph.add("Squeeze", stack, graph.whole(1))


def _snapped(graph: Graph, found: Nearest, near: str, placed: str) -> str:
    """What is placed, but a row at distance 0 from a point takes that point's coordinates exactly."""
    first = _part(graph, found.distances, 1, 0, 1)
    return graph.add(
        "Where",
        graph.add("Equal", first, graph.constant(0.0)),
        _only(graph, _part(graph, near, 1, 0, 1)),
        placed,
    )


WRITERS: dict[type, Callable[[Graph, Any, str], str]] = {
    LinearMap: _linear,
    LocallyLinearMap: _locally_linear,
    NystromMap: _nystrom,
    ExtensionMap: _extension,
    ColumnsMap: _columns,
    ComponentsMap: _components,
    NearestMap: _nearest_point,
    UnitRowsMap: lambda graph, map_, rows: unit_rows(graph, write_map(graph, map_.inner, rows)),
    NormalizedRowsMap: lambda graph, map_, rows: normalized_rows(
        graph, map_, write_map(graph, map_.inner, rows)
    ),
    PlacedRowsMap: lambda graph, map_, rows: placed_rows(graph, map_, write_map(graph, map_.inner, rows)),
    ConstantMap: lambda graph, _, rows: constant_rows(graph, rows),
}
"""The function that writes each kind of map."""
