"""What a service waits for: the size of a model, loading it, its first row in a new process, and a row when warm.

Models are fitted once and kept beside the results. Imports are set aside: the process that measures has loaded every
module that an earlier one ended with, and Numba's tables of types. Loading the compiled kernels counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import lowdim

from .data import mnist
from .harness import RESULTS, environment, table

TITLE = "Service: models of 70,000 digits, one row at a time"
PACKAGES = ("lowdim", "numba", "scipy", "sklearn", "numpy", "llvmlite")
ROWS = 50

MODELS: dict[str, tuple[int, Any]] = {
    "PCA(50)": (784, partial(lowdim.PCA, 50)),
    "LLE, by landmarks": (50, partial(lowdim.LLE, n_neighbors=12)),
    "LaplacianEigenmaps": (50, partial(lowdim.LaplacianEigenmaps, n_neighbors=10)),
    "LaplacianEigenmaps, LLL": (
        50,
        partial(lowdim.LaplacianEigenmaps, n_neighbors=10, solver=lowdim.LLL(1000, n_neighbors=5)),
    ),
    "Isomap, 1000 landmarks": (50, partial(lowdim.Isomap, n_neighbors=10, landmarks=1000)),
    "TSNE": (50, partial(lowdim.TSNE, max_iter=50)),
    "TSNE, 784 columns": (784, partial(lowdim.TSNE, max_iter=50)),
}
"""Columns of the data, and the estimator. A short t-SNE serves as a long one does."""


def digits(n_columns: int, size: int) -> np.ndarray:
    """MNIST as pixels, or by PCA to 50 columns."""
    return mnist(size).X if n_columns == 50 else lowdim.datasets.load("mnist").data[:size]


def stored(name: str, size: int) -> Path:
    """The file of a model, fitted if there is none yet; as the program writes it, without what is not needed."""
    path = RESULTS / f"service-{size}-{list(MODELS).index(name)}.lowdim"
    if not path.exists():
        n_columns, make = MODELS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lowdim.save(make().fit(digits(n_columns, size)), path, embedding=False)
    return path


def serve(path: Path, listing: Path, n_columns: int) -> dict[str, float]:
    """Seconds of loading, of the first row and of the others, the modules of an earlier run loaded before."""
    new = digits(n_columns, ROWS) + np.random.default_rng(0).normal(size=(ROWS, n_columns))
    if listing.exists():
        for name in json.loads(listing.read_text()):
            with suppress(ImportError):
                import_module(name)
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    began = time.perf_counter()
    model = lowdim.load(path)
    loaded = time.perf_counter()
    model.transform(new[:1])
    first = time.perf_counter()
    times = []
    for row in range(1, ROWS):
        start = time.perf_counter()
        model.transform(new[row : row + 1])
        times.append(time.perf_counter() - start)
    listing.write_text(json.dumps([name for name in sys.modules if name.split(".")[0] in PACKAGES]))
    return {"load": loaded - began, "first": first - loaded, "row": median(times)}


def report(quick: bool) -> str:
    """Every model in new processes, the quickest of three after one that fills the caches."""
    size = 2000 if quick else 70_000
    rows = []
    for name, (n_columns, _) in MODELS.items():
        path = stored(name, size)
        listing = path.with_suffix(".modules")
        command = [sys.executable, "-m", "benchmarks.service", str(path), str(listing), str(n_columns)]
        runs = []
        for _ in range(4):
            answer = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
            runs.append(json.loads(answer.stdout))
        best = min(runs[1:], key=lambda run: run["load"] + run["first"])
        rows.append(
            [
                name,
                f"{path.stat().st_size / 1e6:.1f}",
                f"{best['load']:.3f}",
                f"{best['first']:.3f}",
                f"{best['load'] + best['first']:.2f}",
                f"{1000 * min(run['row'] for run in runs[1:]):.1f}",
            ]
        )
    header = ["", "MB", "load, s", "first row, s", "both, s", "a row when warm, ms"]
    return f"\nN = {size:,}\n\n{table(header, rows)}"


if __name__ == "__main__":
    print(json.dumps(serve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))))
