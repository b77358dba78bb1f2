"""The table of the kernels that Python calls, and of the types that it calls them with: ``make kernels`` writes it.

A second table holds those of ``lowdim demo`` alone, which ``make demo`` compiles.

Every method of the catalogue, every variant of `variants`, and every estimator as it comes on rows of several types and
widths, is run once in this process; each first call of a kernel from Python is written down. What kernels call among
themselves is part of them.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy import sparse

import lowdim
from lowdim.cli import main as program
from lowdim.kernels.building import DEMO_TABLE, TABLE, worded
from lowdim.metrics import products

from .catalogue import Points, methods
from .variants import variants

Table = dict[str, dict[str, list[Any]]]
HOME = "lowdim.kernels."
ESTIMATORS = ("PCA", "ClassicalMDS", "KernelPCA", "Isomap", "LLE", "LaplacianEigenmaps", "TSNE", "UMAP")
KINDS = ("float64", "float32", "uint8")
WIDTHS = (3, 200)


@contextmanager
def recorded() -> Iterator[Table]:
    """A table that fills while the block runs; what the process has called before is not in it."""
    found: Table = defaultdict(lambda: defaultdict(list))
    original: Callable[..., Any] = Dispatcher._compile_for_args

    def compile_for_args(kernel: Any, *arguments: Any, **named: Any) -> Any:
        before = set(kernel.overloads)
        entry = original(kernel, *arguments, **named)
        module, name = kernel.py_func.__module__, kernel.py_func.__name__
        for types in kernel.overloads:
            if types not in before and module.startswith(HOME):
                found[module.removeprefix(HOME)][name].append([worded(kind) for kind in types])
        return entry

    Dispatcher._compile_for_args = compile_for_args
    try:
        yield found
    finally:
        Dispatcher._compile_for_args = original


def as_text(table: Table) -> str:
    """The table as it stands in its file: a line for each signature."""
    modules = []
    for module in sorted(table):
        kernels = []
        for name in sorted(table[module]):
            # Two threads may have called it first.
            lines = ",\n   ".join(sorted(set(map(json.dumps, table[module][name]))))
            kernels.append(f'  "{name}": [\n   {lines}\n  ]')
        modules.append(f' "{module}": {{\n' + ",\n".join(kernels) + "\n }")
    return "{\n" + ",\n".join(modules) + "\n}\n"


def run() -> None:
    """Call every kernel that fits, searches, scores and maps call on data of ordinary kinds."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        # Three iterations converge nowhere.
        warnings.simplefilter("ignore")
        points = Points.draw(1300)
        for method in methods(3).values():
            method(points, 2)
        for kind in KINDS:
            for width in WIDTHS:
                _fit_all(rng.integers(200, size=(1300, width)).astype(kind))
        _fit_all(sparse.csr_array(rng.random((1300, 200)) * (rng.random((1300, 200)) < 0.1)))
        _fit_graphs(lowdim.datasets.swiss_roll(6000, random_state=0).data)
        _fit_graphs(rng.normal(size=(6000, 2)) @ rng.normal(size=(2, 60)) + rng.normal(size=(6000, 60)))
        _fit_large(rng.normal(size=(20_000, 2)) @ rng.normal(size=(2, 100)) + rng.normal(size=(20_000, 100)))
        _descend(points.X)
        _trust(points.X)
        _score(rng.normal(size=(6000, 130)))
        for _, work in variants():
            work()


def _fit_all(X: Any) -> None:
    """Every estimator as it comes, in the plane and in space, and new points."""
    for name in ESTIMATORS:
        for n_components in (2, 3):
            quick: dict[str, Any] = {"max_iter": 3} if name in ("TSNE", "UMAP") else {}
            model = getattr(lowdim, name)(n_components, **quick).fit(X)
            model.transform(X[:20])


def _fit_graphs(X: Any) -> None:
    """Graphs that are too large for dense eigenproblems: Lanczos, sparse factors, the exact search by products."""
    kinds = (
        lowdim.LaplacianEigenmaps,
        lowdim.LLE,
        lowdim.SpectralClustering,
        partial(lowdim.TSNE, max_iter=3),
        partial(lowdim.UMAP, max_iter=3),
    )
    for kind in kinds:
        kind().fit(X)
    for dense in (lowdim.TSNE, lowdim.UMAP, lowdim.SNE):
        dense(density=1.0, max_iter=3).fit(X[:2000]).transform(X[2000:2010])
    lowdim.LLE(2, solver="shift-invert", metric="manhattan").fit(X[:2000])
    lowdim.LaplacianEigenmaps(2, solver="shift-invert").fit(X[:2000])
    lowdim.sweep(
        lowdim.LaplacianEigenmaps(2), {"bandwidth": [1.0, 2.0]}, X[:2000], score=lambda fitted, *_: 0.0
    )


def _fit_large(X: Any) -> None:
    """Searches in projections and in a forest, and products on several threads."""
    lowdim.LaplacianEigenmaps(2, solver="lanczos").fit(X)
    lowdim.LaplacianEigenmaps(2, solver="lanczos", search="approximate").fit(X)


def _descend(X: Any) -> None:
    """Every partial Hessian with every engine."""
    for kind in (lowdim.TSNE, lowdim.ElasticEmbedding):
        for repulsion in ("exact", "barnes-hut"):
            for optimizer in ("fp", "diagh", "sd", "sd-"):
                kind(n_components=2, repulsion=repulsion, optimizer=optimizer, homotopy=None, max_iter=3).fit(
                    X
                )


def _trust(X: Any) -> None:
    """Ranks and curvatures of the points of pictures."""
    for kind in (lowdim.TSNE, lowdim.UMAP, lowdim.ElasticEmbedding):
        for n_components in (2, 3):
            model = kind(n_components=n_components, max_iter=3).fit(X)
            lowdim.trust(X, model.embedding_, model)


def _score(X: Any) -> None:
    """Distances by rounded products, and of rows that are too large to be held in single precision too."""
    for rows in (X, X.astype(np.float32)):
        lowdim.score(rows, X[:, :2], sample=40)
    with mock.patch.object(products, "MOST_BYTES", 0):
        lowdim.score(X, X[:, :2], sample=40)


def main() -> None:
    """Write both tables: the demo first, as a kernel is written down when it is first called."""
    with recorded() as table:
        with recorded() as of_demo, tempfile.TemporaryDirectory() as folder:
            program(["demo", folder])
        run()
    TABLE.write_text(as_text(table), encoding="utf-8")
    DEMO_TABLE.write_text(as_text(of_demo), encoding="utf-8")


if __name__ == "__main__":
    main()
