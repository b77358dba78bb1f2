"""What the first use costs: imports, the first fit with and without compiled kernels, and a warm fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

import lowdim
from lowdim.kernels.compiling import SWITCH

from .data import Labelled, mnist
from .harness import environment, run, table

TITLE = "Cold start, 2,000 points"
load = mnist

MAKERS: dict[str, Any] = {
    "PCA": partial(lowdim.PCA, 2),
    "Isomap": partial(lowdim.Isomap, 2),
    "LLE": partial(lowdim.LLE, 2),
    "LaplacianEigenmaps": partial(lowdim.LaplacianEigenmaps, 2),
    "TSNE": partial(lowdim.TSNE, 2),
}
CONTESTANTS = {name: (lambda data, make=make: make().fit(data.X)) for name, make in MAKERS.items()}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Nothing to judge."""
    return {}


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
        rows.append([name, *(f"{value:.2f}" for value in seconds)])
    header = ["first fit of a process, seconds", "nothing compiled", "kept", "with the package", "warm"]
    return f"\n{imports}\n\n{table(header, rows)}"
