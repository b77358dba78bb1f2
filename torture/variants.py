"""Every form of data, metric, dimension, optimiser and landmark solver that a user can reach, as short fits by name.

Which compiled loop runs depends on the types of what came: `torture.signatures` runs them for the table of kernels,
and ``benchmarks.cold_start`` counts what is compiled at first use in spite of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import lowdim
from lowdim.metrics import nearest_neighbor_error, neighbor_accuracy, neighbor_recall

Work = Callable[[], Any]
SIZE = 320
EMBEDDINGS = ("SNE", "SymmetricSNE", "TSNE", "ElasticEmbedding")
OPTIMIZERS = ("gd", "fp", "diagh", "sd", "sd-", "cg", "lbfgs", "momentum")
METRICS = ("cosine", "correlation", "sqeuclidean", "manhattan", "chebyshev")


def estimators() -> dict[str, Callable[..., Any]]:
    """Every estimator that takes points, and the variants of LLE."""
    few = {"max_iter": 3}
    found: dict[str, Callable[..., Any]] = {
        name: getattr(lowdim, name) for name in ("PCA", "ClassicalMDS", "KernelPCA", "Isomap")
    }
    found |= {"LaplacianEigenmaps": lowdim.LaplacianEigenmaps, "DiffusionMap": lowdim.DiffusionMap}
    found |= {
        f"LLE {variant}": partial(lowdim.LLE, variant=variant, n_neighbors=12)
        for variant in ("standard", "modified", "hessian", "ltsa")
    }
    found["SpectralClustering"] = partial(lowdim.SpectralClustering, n_clusters=3)
    return found | {name: partial(getattr(lowdim, name), **few) for name in EMBEDDINGS}


def forms() -> dict[str, Any]:
    """The same kind of points in every form that data come in."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SIZE, 3)) @ rng.normal(size=(3, 12)) + 0.3 * rng.normal(size=(SIZE, 12))
    counts = rng.poisson(0.5, size=(SIZE, 60))
    mapped = np.memmap(Path(tempfile.mkdtemp()) / "points", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    found = {
        "float64": X,
        "Fortran's order": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "bytes": np.clip(40 * X + 128, 0, 255).astype(np.uint8),
        "int16": (100 * X).astype(np.int16),
        "int64": (100 * X).astype(np.int64),
        "bool": X > 0,
        "mapped": mapped,
    }
    kinds = (np.float64, np.float32, np.int64)
    return found | {f"sparse {kind.__name__}": sparse.csr_array(counts.astype(kind)) for kind in kinds}


def _fit(make: Callable[..., Any], X: Any, new: Any = None) -> None:
    model = make().fit(X)
    new = X[:20] if new is None else new
    if new is not False:
        model.transform(new)
        if hasattr(model, "predict"):
            model.predict(new)


def _serve(make: Callable[..., Any], X: Any) -> None:
    """A model that was stored, asked for a row and for many."""
    with tempfile.TemporaryDirectory() as folder:
        model = lowdim.load(lowdim.save(make().fit(X), Path(folder) / "model.lowdim"))
    model.transform(X[:1])
    model.transform(X)


def variants() -> Iterator[tuple[str, Work]]:
    """Every variant by its name."""
    data = forms()
    X = data["float64"]
    made = estimators()
    for name, make in made.items():
        for form, rows in data.items():
            if (form, name.split()[0]) != ("bool", "LLE"):  # too many equal rows for its patches
                yield f"{name}, {form}", partial(_fit, make, rows)
    yield from _other_metrics(X, made)
    yield from _given(X, made)
    yield from _dimensions(X)
    yield from _landmarks(data)
    for form in ("float64", "float32", "bytes"):
        approximate = partial(lowdim.TSNE, search="approximate", max_iter=3)
        yield f"a stored model, {form}", partial(_serve, approximate, data[form])
    yield from _measures(data)
    yield from _large()


def _large() -> Iterator[tuple[str, Work]]:
    """What only more points, more columns or more dimensions reach."""
    rng = np.random.default_rng(2)
    wide = rng.normal(size=(8192, 5)) @ rng.normal(size=(5, 200)) + 0.01 * rng.normal(size=(8192, 200))
    words = sparse.csr_array(rng.poisson(0.02, size=(2500, 4000)).astype(np.float64))
    roll = lowdim.datasets.swiss_roll(20_000, random_state=0).data
    few: dict[str, Any] = {"max_iter": 3, "homotopy": None}
    approximate = partial(lowdim.LaplacianEigenmaps, search="approximate")
    yield "approximate, wide rows", partial(_serve, approximate, wide)
    yield "approximate, many points", partial(_fit, approximate, roll)
    yield "neighbours among sparse rows", partial(_fit, lowdim.LaplacianEigenmaps, words)
    for name in EMBEDDINGS:
        make = partial(getattr(lowdim, name), 5, repulsion="exact", **few)
        yield f"{name}, 5-d", partial(_fit, make, roll[:400])
    for optimizer in ("sd", "sd-", "fp", "diagh"):
        make = partial(lowdim.TSNE, optimizer=optimizer, **few)
        yield f"TSNE, {optimizer}, many points", partial(_fit, make, roll[:6000])
    yield "ForceAtlas2, many points", partial(_fit, partial(lowdim.ForceAtlas2, max_iter=3), roll[:6000])
    pieces = np.vstack([roll[:300], roll[300:400] + 100.0]) + 20.0
    for kind in (np.float32, np.uint8):
        yield f"pieces, {kind.__name__}", partial(_fit, lowdim.Isomap, pieces.astype(kind))
    for choose in ("farthest", "k-means"):
        make = partial(lowdim.LaplacianEigenmaps, solver=lowdim.LLL(60, choose=choose))
        yield f"landmarks by {choose}", partial(_fit, make, roll[:3000])
        yield f"landmarks by {choose}, sparse rows", partial(_fit, make, words)


def _other_metrics(X: Any, made: dict[str, Callable[..., Any]]) -> Iterator[tuple[str, Work]]:
    for name in ("ClassicalMDS", "Isomap", "LaplacianEigenmaps", "LLE standard", "TSNE"):
        for metric in METRICS:
            yield f"{name}, {metric}", partial(_fit, partial(made[name], metric=metric), X)
        yield f"{name}, a function", partial(_fit, partial(made[name], metric=_largest), X[:80], X[:5])


def _largest(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max())


def _given(X: Any, made: dict[str, Callable[..., Any]]) -> Iterator[tuple[str, Work]]:
    """Distances and graphs in the place of points."""
    table, known = cdist(X, X), kneighbors_graph(X, 60, mode="distance")
    weights = kneighbors_graph(X, 10)
    weights = sparse.csr_array(weights.maximum(weights.T))
    for name in ("ClassicalMDS", "Isomap", "LaplacianEigenmaps", "LLE standard", "TSNE"):
        given = partial(made[name], metric="precomputed")
        yield f"{name}, distances", partial(_fit, given, table)
        yield f"{name}, single distances", partial(_fit, given, table.astype(np.float32))
        if name != "ClassicalMDS":
            yield f"{name}, known distances", partial(_fit, given, known, False)
    for name in ("LaplacianEigenmaps", "SpectralClustering"):
        yield f"{name}, a graph", partial(_fit, partial(made[name], metric="graph"), weights, False)


def _dimensions(X: Any) -> Iterator[tuple[str, Work]]:
    """Lines and spaces, by every engine and optimiser."""
    for name in EMBEDDINGS:
        for n_components in (1, 2, 3):
            for repulsion in ("exact", "barnes-hut", "fft"):
                if repulsion == "fft" and n_components == 3:
                    continue
                make = partial(
                    getattr(lowdim, name), n_components, repulsion=repulsion, homotopy=None, max_iter=3
                )
                yield f"{name}, {n_components}-d, {repulsion}", partial(_fit, make, X)
            for optimizer in OPTIMIZERS:
                if optimizer == "momentum" and name != "TSNE":
                    continue
                make = partial(
                    getattr(lowdim, name), n_components, optimizer=optimizer, homotopy=None, max_iter=3
                )
                yield f"{name}, {n_components}-d, {optimizer}", partial(_fit, make, X)


def _landmarks(data: dict[str, Any]) -> Iterator[tuple[str, Work]]:
    solvers = {
        "LLL": lowdim.LLL(60),
        "LandmarkZ": lowdim.LandmarkZ(60),
        "Nystrom": lowdim.Nystrom(60),
        "VariationalNystrom": lowdim.VariationalNystrom(60),
    }
    for name in ("LaplacianEigenmaps", "LLE", "Isomap", "ClassicalMDS", "KernelPCA"):
        for way, solver in solvers.items():
            if way == "VariationalNystrom" and name not in ("LaplacianEigenmaps", "LLE"):
                continue
            for form in ("float64", "float32", "bytes", "sparse float64"):
                options: dict[str, Any] = {"solver": solver}
                if name == "ClassicalMDS":
                    options["metric"] = "manhattan" if not form.startswith("sparse") else "cosine"
                make = partial(getattr(lowdim, name), **options)
                yield f"{name} by {way}, {form}", partial(_fit, make, data[form])


def _measures(data: dict[str, Any]) -> Iterator[tuple[str, Work]]:
    rng = np.random.default_rng(1)
    E, y = rng.normal(size=(SIZE, 2)), rng.integers(3, size=SIZE)
    wide = rng.integers(256, size=(SIZE, 1100)).astype(np.uint8)
    for form, rows in {**data, "wide bytes": wide}.items():
        yield f"score, {form}", partial(lowdim.score, rows, E, y)
        yield f"neighbor_recall, {form}", partial(neighbor_recall, rows, E, 5)
        yield f"estimate_dimension, {form}", partial(lowdim.estimate_dimension, rows, n_neighbors=10)
    known = kneighbors_graph(data["float64"], 8, mode="distance")
    yield "neighbor_recall, known", partial(neighbor_recall, known, E, 5, metric="precomputed")
    for metric in METRICS:
        yield f"score, {metric}", partial(lowdim.score, data["float64"], E, metric=metric)
    yield "neighbor_accuracy", partial(neighbor_accuracy, E, y)
    yield "nearest_neighbor_error", partial(nearest_neighbor_error, E, y, E[:20], y[:20])
