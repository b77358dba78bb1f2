"""What is stored of objects with a state of their own, and how they are made again, equal to the last bit.

Structures that follow from the points are built anew: trees and tables of links in a file could lead compiled code
astray. The forest's links would take too long; they are stored, and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..maps.fixed_embedding import FixedEmbeddingMap
from ..maps.nystrom import Affinities
from ..neighbors.all_pairs import GenericIndex, PrecomputedIndex
from ..neighbors.approximate import ApproximateIndex
from ..neighbors.centred_points import CentredPoints
from ..neighbors.euclidean import EuclideanIndex
from ..neighbors.geometry import Geometry
from ..neighbors.graph import GraphIndex
from ..neighbors.metrics import MAPPED, MappedMetric, Metric
from ..neighbors.metrics.general import GeneralMetric
from ..neighbors.projection import Projection
from ..neighbors.recall import Recall
from ..neighbors.searchers.balanced_tree import LEAF, Places, Single, leaf_bounds
from ..neighbors.searchers.base import Searcher
from ..neighbors.searchers.blocked import BlockedSearcher
from ..neighbors.searchers.descent import DescentSearcher
from ..neighbors.searchers.forest import BACK, LINKS, ForestSearcher
from ..neighbors.searchers.projected import ProjectedSearcher
from ..neighbors.searchers.sparse import SparseSearcher
from ..neighbors.searchers.tree import TreeSearcher
from ..objectives.density import FrozenDensity
from ..objectives.repulsion.barnes_hut import BarnesHutEngine, BarnesHutField
from ..objectives.repulsion.exact import ExactField
from ..objectives.repulsion.fft import FourierField
from ..objectives.repulsion.grid import Splines
from ..objectives.repulsion.protocol import FrozenField
from ..objectives.similarities import BY_NAME, Similarity
from ..store.arrays import Broken

Take = Callable[[Any], dict[str, Any]]
Known = dict[tuple[int, bool], float]


def _attributes(*names: str) -> Take:
    """Store these attributes."""
    return lambda value: {name: getattr(value, name) for name in names}


def make_metric(name: str) -> MappedMetric:
    """A metric by its name."""
    if name not in MAPPED:
        raise Broken(f"there is no metric {name!r}")
    return MAPPED[name]


def make_geometry(rows: Rows, metric: MappedMetric, run: Run) -> Geometry:
    """Points under a metric."""
    return Geometry(rows, metric, run)


def take_euclidean(index: EuclideanIndex) -> dict[str, Any]:
    """The searcher, the points, and the recall as far as it is known."""
    return {"geometry": index.geometry, "searcher": index.searcher, **_take_recall(index.recall)}


def make_euclidean(
    geometry: Geometry, searcher: Searcher, sample: Integers | None = None, known: Known | None = None
) -> EuclideanIndex:
    """The index of the points."""
    if _points_of(searcher) is not geometry.rows:
        raise Broken("an index searches among other points than its own")
    index = EuclideanIndex(geometry, searcher)
    index.recall = _make_recall(index, sample, known)
    return index


def _points_of(searcher: Any) -> Rows:
    """The points of a searcher, whatever it keeps them in."""
    if isinstance(searcher, DescentSearcher):
        return searcher.rows
    geometry = searcher.geometry if hasattr(searcher, "geometry") else searcher.centred.geometry
    rows: Rows = geometry.rows
    return rows


def _take_recall(recall: Recall | None) -> dict[str, Any]:
    return {} if recall is None else {"sample": recall.sample, "known": recall.known}


def _make_recall(index: Any, sample: Integers | None, known: Known | None) -> Recall | None:
    if sample is None:
        return None
    if sample.ndim != 1 or not ((sample >= 0) & (sample < index.n_points)).all():
        raise Broken("the sample of a search lies outside its points")
    recall = Recall(index.n_points, np.random.default_rng(0))
    recall.sample, recall.known = sample, dict(known or {})
    return recall


def take_generic(index: GenericIndex) -> dict[str, Any]:
    """Points and metric."""
    return {"rows": index.rows, "metric": index.resolved}


def make_generic(rows: Rows, metric: Metric) -> GenericIndex:
    """The index of the points."""
    return GenericIndex(rows, metric)


def take_approximate(index: ApproximateIndex) -> dict[str, Any]:
    """Points, metric, searcher and recall."""
    return {**take_generic(index), "searcher": index.searcher, **_take_recall(index.recall)}


def make_approximate(
    rows: Rows,
    metric: GeneralMetric,
    searcher: DescentSearcher,
    sample: Integers,
    known: Known,
) -> ApproximateIndex:
    """The index of the points."""
    if searcher.rows is not rows:
        raise Broken("an index searches among other points than its own")
    index = ApproximateIndex(rows, metric, searcher, np.random.default_rng(0))
    recall = _make_recall(index, sample, known)
    assert recall is not None
    index.recall = recall
    return index


def make_graph(rows: Rows, metric: str) -> GraphIndex:
    """The index of a sparse graph."""
    return GraphIndex(rows, metric)


def make_precomputed(rows: Rows) -> PrecomputedIndex:
    """The index of a table of distances."""
    return PrecomputedIndex(rows)


def make_blocked(frame: CentredPoints, run: Run) -> BlockedSearcher:
    """Points in panels."""
    return BlockedSearcher(frame, run)


def make_projected(frame: CentredPoints, projection: Projection, run: Run) -> ProjectedSearcher:
    """Projected points in panels."""
    _check_projection(frame, projection)
    return ProjectedSearcher(frame, projection, run)


def _check_projection(frame: CentredPoints, projection: Projection) -> None:
    basis = projection.basis
    if basis.ndim != 2 or basis.shape[0] != frame.n_columns or not 1 <= projection.candidates < np.inf:
        raise Broken("the directions of a search do not fit its points")
    products = basis.T.astype(np.float64) @ basis
    # What is left out is left out by bounds that hold for orthonormal directions alone; NaN fails the test too.
    if not np.abs(products - np.eye(basis.shape[1])).max(initial=0.0) < 1e-3:
        raise Broken("the directions of a search are not orthonormal")


def make_sparse(geometry: Geometry) -> SparseSearcher:
    """Sparse points."""
    if not geometry.rows.is_sparse:
        raise Broken("a search among sparse rows has dense ones")
    return SparseSearcher(geometry)


def make_tree(geometry: Geometry) -> TreeSearcher:
    """Points in a tree."""
    return TreeSearcher(geometry)


def take_forest(searcher: ForestSearcher) -> dict[str, Any]:
    """The order and the planes of the first tree, and the links, made now if they were not yet."""
    names = ("projection", "seed", "order", "normals", "thresholds")
    made = {name: getattr(searcher, name) for name in names}
    return {"frame": searcher.centred, **made, "graph": searcher.graph(Run())}


def make_forest(
    frame: CentredPoints,
    seed: int,
    order: Places,
    normals: Single,
    thresholds: Single,
    graph: Places,
    run: Run,
    projection: Projection | None = None,
) -> ForestSearcher:
    """The points in the order of the tree, and the links between them."""
    n_points = frame.geometry.rows.n_rows
    if not 0 <= seed < 2**31:
        raise Broken("the seed of a forest is no seed")
    if projection is not None:
        _check_projection(frame, projection)
    width = frame.n_columns if projection is None else projection.n_directions
    width += -width % 8
    n_leaves = leaf_bounds(n_points, LEAF, seed).size - 1
    if order.shape != (n_points,) or not np.array_equal(np.sort(order), np.arange(n_points)):
        raise Broken("a forest does not hold its points once each")
    if normals.shape != (n_leaves, width) or thresholds.shape != (n_leaves,):
        raise Broken("the planes of a forest are not those of its points")
    if graph.shape != (n_points, LINKS + BACK) or not ((graph >= -1) & (graph < n_points)).all():
        raise Broken("links of a forest lead outside its points")
    return ForestSearcher.restored(frame, projection, seed, (order, normals, thresholds, graph), run)


def make_descent(
    rows: Rows, metric: str, parameters: Mapping[str, Any], seed: int, width: int
) -> DescentSearcher:
    """A search that is built at the first query, as wide as it was."""
    if not (0 <= seed < 2**31 and 0 <= width <= max(rows.n_rows, 64)):
        raise Broken("the seed or the width of a search cannot be one")
    searcher = DescentSearcher(rows, metric, parameters, seed)
    searcher.width = width
    return searcher


def take_similarity(similarity: Similarity) -> dict[str, Any]:
    """The name, and the parameters where it has any."""
    parameters = {part.name: getattr(similarity, part.name) for part in fields(similarity)}
    return {"name": similarity.name, **({"parameters": parameters} if parameters else {})}


def make_similarity(name: str, parameters: dict[str, float] | None = None) -> Similarity:
    """A similarity by its name."""
    if name not in BY_NAME:
        raise Broken(f"there is no similarity {name!r}")
    return BY_NAME[name](**(parameters or {}))


def make_fixed_embedding(
    affinities: Affinities,
    embedding: Floats,
    field: FrozenField,
    kernel: Similarity | str,
    strength: float,
    by_logarithm: bool = False,
    density: FrozenDensity | None = None,
) -> FixedEmbeddingMap:
    """The map; its kernel was once stored by its name alone."""
    similarity = make_similarity(kernel) if isinstance(kernel, str) else kernel
    return FixedEmbeddingMap(affinities, embedding, field, similarity, strength, by_logarithm, density)


def make_exact(kernel: Similarity, columns: Floats, charges: Floats, n_jobs: int | None = None) -> ExactField:
    """The field of the points. Fields had a number of threads once."""
    return ExactField(kernel, columns, charges)


def take_barnes_hut(field: BarnesHutField) -> dict[str, Any]:
    """Places and charges in the order of the points, and what the tree is walked by."""
    order = np.argsort(field.tree.order)
    return {
        "kernel": field.kernel,
        "columns": field.tree.columns[:, order],
        "charges": field.charges[order],
        "theta": field.theta,
    }


def make_barnes_hut(
    kernel: Similarity, columns: Floats, charges: Floats, theta: float, n_jobs: int | None = None
) -> BarnesHutField:
    """The tree of the points, grown again."""
    if columns.ndim != 2 or columns.shape[0] not in (2, 3) or charges.shape != columns.shape[1:]:
        raise Broken("the charges of a field are not those of its points")
    # Boxes are cut in the middle: it must be a number too.
    if not (columns.size and np.abs(columns).max() < 1e100 and np.isfinite(charges).all() and theta >= 0):
        raise Broken("the points of a field are no places")
    return BarnesHutEngine(kernel, float(theta), Run.of(n_jobs=1)).freeze(columns.T, charges)


def take_fourier(field: FourierField) -> dict[str, Any]:
    """The potential at the nodes of the grid, where these are, and the exact field for places beyond."""
    return {
        "order": field.splines.order,
        "step": field.splines.step,
        "nodes": field.nodes,
        "origin": field.origin,
        "end": field.end,
        "exact": field.exact,
    }


def make_fourier(
    order: int,
    step: float,
    nodes: np.ndarray[Any, np.dtype[np.floating[Any]]],
    origin: Floats,
    end: Floats,
    exact: ExactField,
    n_jobs: int | None = None,
) -> FourierField:
    """The field on its grid; every place between ``origin`` and ``end`` must find its nodes."""
    if (
        order not in (4, 6, 8)
        or not step > 0
        or nodes.ndim != 2
        or nodes.dtype not in (np.float32, np.float64)
    ):
        raise Broken("a grid has no splines")
    if origin.shape != end.shape or origin.shape not in ((1,), (2,)) or not (end >= origin).all():
        raise Broken("a grid has no place")
    needed = np.floor((end - origin) * (1.0 / step)) + order
    if not (needed <= nodes.shape[: origin.size]).all() or exact.columns.shape[0] != 2:
        raise Broken("a grid is smaller than its field")
    dtype = np.float32 if nodes.dtype == np.float32 else np.float64
    return FourierField(Splines(int(order), float(step), dtype), nodes, origin, end, exact)


REBUILDERS: dict[str, tuple[Take, Callable[..., Any]]] = {
    "MappedMetric": (_attributes("name"), make_metric),
    "Geometry": (_attributes("rows", "metric"), make_geometry),
    "EuclideanIndex": (take_euclidean, make_euclidean),
    "GenericIndex": (take_generic, make_generic),
    "ApproximateIndex": (take_approximate, make_approximate),
    "GraphIndex": (_attributes("rows", "metric"), make_graph),
    "PrecomputedIndex": (_attributes("rows"), make_precomputed),
    "BlockedSearcher": (lambda searcher: {"frame": searcher.centred}, make_blocked),
    "ProjectedSearcher": (
        lambda searcher: {"frame": searcher.centred, "projection": searcher.projection},
        make_projected,
    ),
    "SparseSearcher": (_attributes("geometry"), make_sparse),
    "TreeSearcher": (_attributes("geometry"), make_tree),
    "ForestSearcher": (take_forest, make_forest),
    "DescentSearcher": (_attributes("rows", "metric", "parameters", "seed", "width"), make_descent),
    "Similarity": (take_similarity, make_similarity),
    "FixedEmbeddingMap": (
        _attributes("affinities", "embedding", "field", "kernel", "strength", "by_logarithm", "density"),
        make_fixed_embedding,
    ),
    "ExactField": (_attributes("kernel", "columns", "charges"), make_exact),
    "BarnesHutField": (take_barnes_hut, make_barnes_hut),
    "FourierField": (take_fourier, make_fourier),
}
