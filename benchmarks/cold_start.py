"""What the first use costs: imports, the first fit with and without compiled kernels, and a warm fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

from numba.core.dispatcher import Dispatcher

import lowdim
from lowdim.kernels.compiling import SWITCH
from torture.variants import variants

from .data import Labelled, mnist
from .harness import environment, run, table

TITLE = "Cold start, 2,000 points"
load = mnist

MAKERS: dict[str, Any] = {
    "PCA": partial(lowdim.PCA, 2),
    "ClassicalMDS, cosine": partial(lowdim.ClassicalMDS, 2, metric="cosine"),
    "KernelPCA": partial(lowdim.KernelPCA, 2, kernel="rbf", gamma=1e-6),
    "Isomap": partial(lowdim.Isomap, 2),
    "LLE": partial(lowdim.LLE, 2),
    "LLE, modified": partial(lowdim.LLE, 2, variant="modified"),
    "LLE, LTSA": partial(lowdim.LLE, 2, variant="ltsa"),
    "LaplacianEigenmaps": partial(lowdim.LaplacianEigenmaps, 2),
    "LaplacianEigenmaps, LLL": partial(lowdim.LaplacianEigenmaps, 2, solver=lowdim.LLL(200)),
    "SpectralClustering": partial(lowdim.SpectralClustering, 10),
    "TSNE": partial(lowdim.TSNE, 2),
    "TSNE, 3-d": partial(lowdim.TSNE, 3, max_iter=20),
    "SymmetricSNE": partial(lowdim.SymmetricSNE, 2, max_iter=20),
    "ElasticEmbedding": partial(lowdim.ElasticEmbedding, 2, max_iter=20),
}
CONTESTANTS: dict[str, Any] = {
    name: (lambda data, make=make: make().fit(data.X)) for name, make in MAKERS.items()
}
EVERY = "every variant"
"""All that a user can reach, one after another: only what is compiled counts."""


def _every_variant(data: Labelled) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, work in variants():
            work()


CONTESTANTS[EVERY] = _every_variant


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """The kernels that were compiled in this process."""
    compiled = []
    for name, module in list(sys.modules.items()):
        for kernel in vars(module).values() if name.startswith("lowdim.kernels.") else ():
            if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == name:
                compiled += [kernel.py_func.__name__] * sum(kernel.stats.cache_misses.values())
    return {"compiled": sorted(compiled)}


def import_seconds(statement: str, repeats: int = 5) -> float:
    """Median seconds of an import in a new process, over an empty one's."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    times = [
        float(subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    ]
    return median(times)


def report(quick: bool) -> str:
    """Imports, then first fits."""
    mnist(2000)
    statements = [
        "import numpy",
        "import lowdim",
        "from lowdim import Isomap",
        "from sklearn.manifold import Isomap",
    ]
    imports = table(["statement", "seconds"], [[f"`{s}`", f"{import_seconds(s):.2f}"] for s in statements])
    rows = []
    for name in MAKERS:
        with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, {SWITCH: "0"}):
            nothing = run("cold_start", name, 2000, repeats=0, cache=cache)
            kept = run("cold_start", name, 2000, repeats=0, cache=cache)
        with tempfile.TemporaryDirectory() as cache:
            shipped = run("cold_start", name, 2000, repeats=3, cache=cache)
        seconds = (nothing.first, kept.first, shipped.first, shipped.seconds)
        rows.append([name, *(f"{value:.2f}" for value in seconds), str(len(shipped.figures["compiled"]))])
    header = [
        "first fit of a process, seconds",
        "nothing compiled",
        "kept",
        "with the package",
        "warm",
        "kernels that it compiled",
    ]
    return f"\n{imports}\n\n{table(header, rows)}\n\n{_reached()}"


def _reached() -> str:
    """What is compiled at first use in spite of the table, over all variants."""
    with tempfile.TemporaryDirectory() as cache:
        compiled = run("cold_start", EVERY, 2000, repeats=0, cache=cache).figures["compiled"]
    count = sum(1 for _ in variants())
    return (
        f"Kernels compiled in {count} variants of data, metric, solver and optimiser: {compiled or 'none'}."
    )
