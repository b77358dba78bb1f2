"""Whether the parts of a model fit each other: what compiled code will trust is checked before it is ever called.

``check_object`` looks at the fields of one object before it is made, ``check_model`` at the whole. They know classes by
their names in files; what is reached through a field has been checked when it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Broken

Fields = Mapping[str, Any]
LARGEST = 1e70
"""Numbers of points are smaller, so that their squares and products are numbers too."""


def check_object(name: str, fields: Fields) -> None:
    """Raise ``Broken`` where the fields of an object cannot belong together."""
    if name in CHECKS and not CHECKS[name](fields):
        raise Broken(f"the parts of {name} do not fit each other")


def check_model(model: Any) -> None:
    """Raise ``Broken`` where a fitted estimator and its map cannot belong together."""
    name, map_ = type(model).__name__, model.map_
    shape = model.embedding_.shape if hasattr(model, "embedding_") else model.embedding_shape_
    width, wanted = getattr(model, "n_features_in_", None), inputs_of(map_)
    if len(shape) != 2 or min(shape) < 1 or outputs_of(map_) not in (None, shape[1]):
        raise Broken(f"the map of {name} gives another number of coordinates than its embedding has")
    if wanted is not None and width != wanted:
        raise Broken(f"the map of {name} takes {wanted} columns, and it was fitted on {width}")
    if reach_of(map_) > (width or 0):
        raise Broken(f"the map of {name} takes columns that there are not")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and names.shape != (width,):
        raise Broken(f"{name} has another number of columns than of their names")
    if name in WHOLE and not WHOLE[name](model, shape):
        raise Broken(f"the attributes of {name} do not fit each other")


def inputs_of(value: Any) -> int | None:
    """Columns that a map, or part of one, takes; None where it takes any."""
    found = INPUTS.get(type(value).__name__)
    return None if found is None else found(value)


def outputs_of(value: Any) -> int | None:
    """Coordinates that a map gives; None where it gives none."""
    found = OUTPUTS.get(type(value).__name__)
    return None if found is None else found(value)


def reach_of(value: Any) -> int:
    """Columns that must be there at least for a map that picks some of them."""
    if hasattr(value, "inner"):
        return reach_of(value.inner)
    return int(value.columns.max(initial=-1)) + 1 if type(value).__name__ == "ColumnsMap" else 0


def is_finite(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite and of a size that can be reckoned with, looked at some rows at a time."""
    if values.dtype.kind != "f":
        return values.dtype.kind in "iub"
    if values.size == 0:
        return True
    largest = min(LARGEST, float(np.finfo(values.dtype).max))
    # NaN is the largest and the smallest of what it is among, and compares with nothing.
    return bool(-largest <= values.min() and values.max() <= largest)


def _is_rows(f: Fields) -> bool:
    values = f["values"]
    held = values if isinstance(values, np.ndarray) else values.data
    return values.ndim == 2 and min(values.shape) >= 1 and is_finite(held)


def _is_frame(f: Fields) -> bool:
    is_centre = f["centre"].shape == (f["geometry"].rows.n_columns + 1,) and is_finite(f["centre"])
    return is_centre and 0 < f["unit"] < np.inf and f["reach"] >= 0


def _is_lookup(f: Fields) -> bool:
    radius = f.get("radius")
    return 1 <= f["n_neighbors"] <= f["index"].n_points and (radius is None or radius >= 0)


def _has_points(f: Fields) -> bool:
    """An embedding of as many points as are searched."""
    index = f["index"] if "index" in f else f["lookup"].index
    return bool(f["embedding"].ndim == 2 and f["embedding"].shape[0] == index.n_points)


def _is_extension(f: Fields) -> bool:
    projection, profile = f["projection"], f["profile"]
    width = WIDTHS.get(type(profile).__name__, lambda _: None)(profile)
    return (
        projection.ndim == 2
        and f["offset"].shape == projection.shape[:1]
        and width in (None, projection.shape[1])
    )


def _is_stress(f: Fields) -> bool:
    """Places of as many points as a profile has values for, and disparities at knots that rise."""
    places, profile, knots, levels = f["places"], f["profile"], f.get("knots"), f.get("levels")
    width = WIDTHS.get(type(profile).__name__, lambda _: None)(profile)
    if not (places.ndim == 2 and width in (None, places.shape[0]) and is_finite(places)):
        return False
    if knots is None or levels is None:
        return knots is levels
    is_curve = knots.ndim == 1 and knots.shape == levels.shape and knots.size > 0
    return bool(is_curve and is_finite(knots) and is_finite(levels) and (np.diff(knots) >= 0).all())


def _is_metric_of(metric: Any, n_columns: int) -> bool:
    """A metric that is known, with parameters of the right size."""
    if type(metric).__name__ != "GeneralMetric":
        return True
    return all(np.shape(value) in ((), (n_columns,) * np.ndim(value)) for value in metric.parameters.values())


def _is_general(f: Fields) -> bool:
    """A metric that is known, with parameters that it has, of the form that they must have."""
    from ..neighbors.metrics.general import NAMES, general_metric

    name, parameters = f["function"], f["parameters"]
    return (
        name in NAMES
        and all(
            type(value) is float or (isinstance(value, np.ndarray) and value.dtype == np.float64)
            for value in parameters.values()
        )
        and bool(general_metric(name, parameters).name)
    )


def _has_graph(f: Fields) -> bool:
    """A graph over the points that are searched, of lengths that paths can have."""
    graph, size = f["graph"], f["lookup"].index.n_points
    landmarks = f.get("landmarks")
    return (
        graph.shape == (size, size)
        and is_finite(graph.data)
        and bool((graph.data >= 0).all())
        and (landmarks is None or _are_within(landmarks, size))
    )


def _are_within(places: NDArray[Any], size: int) -> bool:
    return places.ndim == 1 and bool(((places >= 0) & (places < size)).all())


def _are_affinities(f: Fields) -> bool:
    size, weights = f["lookup"].index.n_points, f.get("weights")
    scales = getattr(f["affinity"], "scales", None)
    return all(part is None or part.shape == (size,) for part in (weights, scales))


def _is_tied(f: Fields) -> bool:
    """An embedding of the points that affinities tie new ones to."""
    lookup, embedding = getattr(f["affinities"], "lookup", None), f["embedding"]
    weights = getattr(f["affinities"], "weights", None)
    return (
        embedding.ndim == 2
        and (lookup is None or lookup.index.n_points == embedding.shape[0])
        and (weights is None or weights.shape == embedding.shape[:1])
    )


def _is_fixed(f: Fields) -> bool:
    if not _is_tied(f):
        return False
    n_points, d = f["embedding"].shape
    field: Any = getattr(f["field"], "field", f["field"])  # gravity holds a field of its own
    held = {"BarnesHutField": "tree", "FourierField": "exact"}.get(type(field).__name__)
    columns = (field if held is None else getattr(field, held)).columns
    on_grid = held != "exact" or field.origin.size == d
    return columns.shape == (max(2, d), n_points) and on_grid


def _is_columns(f: Fields) -> bool:
    columns = f["columns"]
    return columns.ndim == 1 and bool((columns >= 0).all()) and inputs_of(f["map"]) in (None, columns.size)


def _are_components(f: Fields) -> bool:
    index, labels, maps, members, shifts = (f[k] for k in ("index", "labels", "maps", "members", "shifts"))
    if not (labels.shape == (index.n_points,) and _are_within(labels, len(maps)) and shifts.ndim == 2):
        return False
    widths = [part.size if f["pairwise"] else inputs_of(index) for part in members]
    return (
        len(maps) == len(members) == len(shifts)
        and all(_are_within(part, index.n_points) for part in members)
        and all(
            inputs_of(part) in (None, width) and reach_of(part) <= (width or 0)
            for part, width in zip(maps, widths, strict=True)
        )
        and all(outputs_of(part) in (None, shifts.shape[1]) for part in maps)
    )


def _is_placed(f: Fields) -> bool:
    """Distinct columns, no more than the inner map gives."""
    columns, given = f["columns"], outputs_of(f["inner"])
    is_within = _are_within(columns, f["width"]) and np.unique(columns).size == columns.size > 0
    return bool(is_within and (given is None or columns.size <= given))


def _is_sketch(f: Fields) -> bool:
    mean, basis, singular = f["mean"], f["basis"], f["singular"]
    is_basis = mean.ndim == singular.ndim == 1 and basis.shape == (singular.size, mean.size)
    return bool(is_basis and f["capacity"] > 0)


def _is_kernel(f: Fields) -> bool:
    from ..spectral.kernel_functions import KERNELS

    return f["name"] in KERNELS and f.get("gamma") is not None


def _is_preimage(f: Fields) -> bool:
    coordinates, weights = f["coordinates"], f["weights"]
    is_pair = coordinates.ndim == weights.ndim == 2 and len(coordinates) == len(weights) > 0
    return bool(is_pair and is_finite(coordinates) and is_finite(weights))


def _is_kernel_pca(model: Any, shape: tuple[int, int]) -> bool:
    back = getattr(model, "preimage_", None)
    return back is None or (
        back.coordinates.shape[1] == shape[1] and back.weights.shape[1] == model.n_features_in_
    )


def _is_pca(model: Any, shape: tuple[int, int]) -> bool:
    sketch, width = getattr(model, "sketch_", None), model.n_features_in_
    return (
        model.components_.shape == (shape[1], width)
        and model.mean_.shape == (width,)
        and model.explained_variance_.shape == (shape[1],)
        and model.n_components_ == shape[1]
        and (sketch is None or sketch.mean.shape == (width,))
    )


def _is_clustering(model: Any, shape: tuple[int, int]) -> bool:
    centers = model.cluster_centers_
    return (
        model.labels_.shape == shape[:1]
        and centers.ndim == 2
        and centers.shape[1] == shape[1]
        and len(centers) > 0
    )


def _inputs_of_lookup(value: Any) -> int | None:
    return inputs_of(value.lookup.index)


def _inputs_of_affinities(value: Any) -> int | None:
    lookup = getattr(value.affinities, "lookup", None)
    return int(value.embedding.shape[0]) if lookup is None else inputs_of(lookup.index)


def _inputs_of_profile(value: Any) -> int | None:
    profile = value.profile
    if hasattr(profile, "lookup"):
        return _inputs_of_lookup(profile)
    return profile.rows.n_columns if hasattr(profile, "rows") else int(value.projection.shape[1])


def _is_density(f: Fields) -> bool:
    """Numbers that are finite, of which what is divided by or logarithms are taken of is above 0."""
    above = ("stiffness", "deviation", "floor", "data_deviation")
    return bool(np.isfinite(list(f.values())).all() and all(f[name] > 0 for name in above))


def _can_grow(model: Any, shape: tuple[int, int]) -> bool:
    """Where several rows are one point: a point of the map for every row, and no point without one."""
    group = getattr(model, "point_of_row_", None)
    if group is None:
        return True
    places = getattr(model.map_, "embedding", None)
    if places is None or group.shape != shape[:1] or group.size <= places.shape[0]:
        return False
    return bool(np.array_equal(np.unique(group), np.arange(places.shape[0])))


CHECKS: dict[str, Callable[[Fields], bool]] = {
    "Rows": _is_rows,
    "Frame": _is_frame,
    "Lookup": _is_lookup,
    "GeneralMetric": _is_general,
    "GenericIndex": lambda f: _is_metric_of(f["metric"], f["rows"].n_columns),
    "ApproximateIndex": lambda f: _is_metric_of(f["metric"], f["rows"].n_columns),
    "SquaredDistances": lambda f: _is_metric_of(f["metric"], f["rows"].n_columns),
    "PrecomputedIndex": lambda f: not f["rows"].is_sparse and f["rows"].n_rows == f["rows"].n_columns,
    "GraphIndex": lambda f: f["rows"].is_sparse and f["rows"].n_rows == f["rows"].n_columns,
    "Kernel": _is_kernel,
    "Preimage": _is_preimage,
    "KernelValues": lambda f: (
        f["kernel"].origin is None or f["kernel"].origin.shape == (f["rows"].n_columns,)
    ),
    "Sketch": _is_sketch,
    "History": lambda f: len({part.shape for part in f.values()}) == 1,
    "ExactField": lambda f: f["columns"].ndim == 2 and f["charges"].shape == f["columns"].shape[1:],
    "LinearMap": lambda f: f["mean"].ndim == 1 and f["components"].shape[1:] == f["mean"].shape,
    "LocallyLinearMap": _has_points,
    "NearestMap": _has_points,
    "ExtensionMap": _is_extension,
    "StressMap": _is_stress,
    "SquaredGeodesics": _has_graph,
    "GeodesicsToLandmarks": _has_graph,
    "NeighborAffinities": _are_affinities,
    "NystromMap": lambda f: _is_tied(f) and f["eigenvalues"].shape == f["embedding"].shape[1:],
    "FixedEmbeddingMap": _is_fixed,
    "FrozenDensity": _is_density,
    "ColumnsMap": _is_columns,
    "ComponentsMap": _are_components,
    "PlacedRowsMap": _is_placed,
}
"""Whether the fields of a class fit each other."""

WHOLE: dict[str, Callable[[Any, tuple[int, int]], bool]] = {
    "PCA": _is_pca,
    "KernelPCA": _is_kernel_pca,
    "SpectralClustering": _is_clustering,
    **dict.fromkeys(("SNE", "SymmetricSNE", "TSNE", "ElasticEmbedding", "UMAP"), _can_grow),
}
"""Whether the attributes of an estimator that its methods use fit its embedding."""

INPUTS: dict[str, Callable[[Any], int | None]] = {
    "EuclideanIndex": lambda index: index.rows.n_columns,
    "GenericIndex": lambda index: index.rows.n_columns,
    "ApproximateIndex": lambda index: index.rows.n_columns,
    "PrecomputedIndex": lambda index: index.n_points,
    "GraphIndex": lambda index: index.n_points,
    "LinearMap": lambda map_: map_.mean.size,
    "LocallyLinearMap": _inputs_of_lookup,
    "ExtensionMap": _inputs_of_profile,
    "StressMap": lambda map_: (
        map_.profile.rows.n_columns if hasattr(map_.profile, "rows") else map_.places.shape[0]
    ),
    "NystromMap": _inputs_of_affinities,
    "FixedEmbeddingMap": _inputs_of_affinities,
    "NearestMap": lambda map_: inputs_of(map_.index),
    "ComponentsMap": lambda map_: inputs_of(map_.index),
    "UnitRowsMap": lambda map_: inputs_of(map_.inner),
    "NormalizedRowsMap": lambda map_: inputs_of(map_.inner),
    "PlacedRowsMap": lambda map_: inputs_of(map_.inner),
}

OUTPUTS: dict[str, Callable[[Any], int | None]] = {
    "LinearMap": lambda map_: len(map_.components),
    "LocallyLinearMap": lambda map_: map_.embedding.shape[1],
    "ExtensionMap": lambda map_: map_.offset.size,
    "StressMap": lambda map_: map_.places.shape[1],
    "NystromMap": lambda map_: map_.embedding.shape[1],
    "FixedEmbeddingMap": lambda map_: map_.embedding.shape[1],
    "NearestMap": lambda map_: map_.embedding.shape[1],
    "ComponentsMap": lambda map_: map_.shifts.shape[1],
    "ColumnsMap": lambda map_: outputs_of(map_.map),
    "UnitRowsMap": lambda map_: outputs_of(map_.inner),
    "NormalizedRowsMap": lambda map_: (outputs_of(map_.inner) or 0) + 1,
    "ConstantMap": lambda map_: 1,
    "PlacedRowsMap": lambda map_: map_.width,
}

WIDTHS: dict[str, Callable[[Any], int]] = {
    "KernelValues": lambda profile: profile.rows.n_rows,
    "SquaredDistances": lambda profile: profile.rows.n_rows,
    "SquaredGeodesics": lambda profile: profile.graph.shape[0],
    "GeodesicsToLandmarks": lambda profile: profile.landmarks.size,
}
"""Values that a profile gives for each new point."""
