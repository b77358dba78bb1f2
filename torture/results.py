"""Results before and after a change: every method x solver, and every estimator x form of data, array by array.

``python -m torture.results record FILE`` before, ``python -m torture.results compare FILE`` after: it prints what
has other bits, and by how much of the array's extent. Bits are those of one machine and one set of libraries.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

import lowdim

from .catalogue import Arrays, Points, methods
from .determinism import distance

SIZE, ITERATIONS, FEW = 600, 30, 240
FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "float64": lambda X, folder: X,
    "float32": lambda X, folder: X.astype(np.float32),
    "bytes": lambda X, folder: X.astype(np.uint8),
    "sparse": lambda X, folder: sparse.csr_array(X),
    "columns first": lambda X, folder: np.asfortranarray(X),
    "copies of rows": lambda X, folder: np.concatenate((X, X[:40])),
    "memory map": lambda X, folder: _mapped(X, folder / "rows.npy"),
    "two pieces": lambda X, folder: np.concatenate((X[:120], X[120:] + 500.0)),
}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "PCA": lowdim.PCA,
    "OrientedPCA": lowdim.OrientedPCA,
    "ClassicalMDS": lambda: lowdim.ClassicalMDS(metric="manhattan"),
    "MDS": lambda: lowdim.MDS(max_iter=ITERATIONS),
    "Sammon": lambda: lowdim.Sammon(max_iter=ITERATIONS),
    "KernelPCA": lambda: lowdim.KernelPCA(kernel="rbf", gamma=1e-3),
    "Isomap": lowdim.Isomap,
    "Isomap landmarks": lambda: lowdim.Isomap(landmarks=40),
    "LLE": lowdim.LLE,
    "LLE ltsa": lambda: lowdim.LLE(variant="ltsa"),
    "LaplacianEigenmaps": lowdim.LaplacianEigenmaps,
    "LaplacianEigenmaps lll": lambda: lowdim.LaplacianEigenmaps(solver=lowdim.LLL(40)),
    "DiffusionMap": lowdim.DiffusionMap,
    "SpectralClustering": lambda: lowdim.SpectralClustering(3),
    "TSNE": lambda: lowdim.TSNE(max_iter=ITERATIONS),
    "SNE": lambda: lowdim.SNE(max_iter=ITERATIONS),
    "SymmetricSNE": lambda: lowdim.SymmetricSNE(max_iter=ITERATIONS),
    "ElasticEmbedding": lambda: lowdim.ElasticEmbedding(max_iter=ITERATIONS),
    "UMAP": lambda: lowdim.UMAP(max_iter=ITERATIONS),
    "NeighborSpectrum": lambda: lowdim.NeighborSpectrum(positions=3, max_iter=ITERATIONS),
    "LargeVis": lambda: lowdim.LargeVis(max_iter=ITERATIONS),
    "PaCMAP": lambda: lowdim.PaCMAP(max_iter=ITERATIONS),
    "ForceAtlas2": lambda: lowdim.ForceAtlas2(max_iter=ITERATIONS),
}
MATRICES = (
    "Isomap",
    "LLE",
    "LaplacianEigenmaps",
    "DiffusionMap",
    "SpectralClustering",
    "TSNE",
    "ElasticEmbedding",
    "UMAP",
    "LargeVis",
    "ForceAtlas2",
)


def _mapped(X: Any, path: Path) -> Any:
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def _on_matrix(name: str, metric: str) -> Any:
    return ESTIMATORS[name]().set_params(metric=metric)


def fitted(make: Callable[[], Any], X: Any, new: Any) -> Arrays:
    """What a fit leaves and where it puts new points, or the name of its error."""
    try:
        model = make().fit(X)
        return {"embedding": model.embedding_, "new": model.transform(new)}
    except lowdim.errors.LowdimError as error:
        return {"error": np.array([type(error).__name__])}


def forms(X: Any, folder: Path) -> Iterator[tuple[str, Arrays]]:
    """Every estimator on every form of some points, and on the distances and the graph between them."""
    for name, make in ESTIMATORS.items():
        for form, of in FORMS.items():
            yield f"{name}, {form}", fitted(make, of(X, folder), X[:9])
    D = cdist(X, X)
    graph = sparse.csr_array(np.where(np.partition(D, 12, axis=1)[:, [12]] > D, D, 0.0))
    graph = graph.maximum(graph.T)
    for name in MATRICES:
        for metric, matrix in (("precomputed", D), ("precomputed", graph), ("graph", graph)):
            way = f"{metric}, {'sparse' if sparse.issparse(matrix) else 'dense'}"
            make = partial(_on_matrix, name, metric)
            yield f"{name}, {way}", fitted(make, matrix, matrix[:9])


def collect() -> Iterator[tuple[str, Arrays]]:
    """Every result by name."""
    points = Points.draw(SIZE)
    for name, method in methods(ITERATIONS).items():
        try:
            yield name, method(points, 2)
        except lowdim.errors.LowdimError as error:
            yield name, {"error": np.array([type(error).__name__])}
    digits = lowdim.datasets.load("digits").data[:FEW]
    with tempfile.TemporaryDirectory() as folder:
        yield from forms(np.asarray(digits, dtype=np.float64), Path(folder))


def main(action: str, path: str) -> int:
    """Record, or compare with what was recorded; 1 where something differs."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings(action="ignore"):
        for name, arrays in collect():
            found |= {f"{name}|{array}": np.asarray(values) for array, values in arrays.items()}
            print(".", end="", flush=True)
    print()
    if action == "record":
        np.savez(path, **found)
        return 0
    different = 0
    with np.load(path) as before:
        for name in sorted(set(before.files) | set(found)):
            if name not in found or name not in before.files:
                print(f"{name}: only {'before' if name in before.files else 'now'}")
                different += 1
            elif before[name].tobytes() != found[name].tobytes():
                same = before[name].dtype.kind in "fiu" and found[name].dtype.kind in "fiu"
                apart = f"{distance(before[name], found[name]):.1e}" if same else "otherwise"
                print(f"{name}: differs by {apart}")
                different += 1
    print(f"{different} of {len(found)} arrays differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
