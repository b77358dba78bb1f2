"""How each method's seconds grow with the number of points: MNIST by PCA to 50."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import lowdim

from .data import Labelled, mnist
from .harness import run, table

TITLE = "Growth with N"
load = mnist

MAKERS: dict[str, Any] = {
    "PCA": partial(lowdim.PCA, 2),
    "LaplacianEigenmaps, exact search": partial(lowdim.LaplacianEigenmaps, 2, search="exact"),
    "LaplacianEigenmaps, approximate search": partial(lowdim.LaplacianEigenmaps, 2, search="approximate"),
    "SpectralClustering": partial(lowdim.SpectralClustering, 10),
    "LLE": partial(lowdim.LLE, 2),
    "LLE, modified": partial(lowdim.LLE, 2, variant="modified"),
    "Isomap": partial(lowdim.Isomap, 2),
    "ClassicalMDS (cosine)": partial(lowdim.ClassicalMDS, 2, metric="cosine"),
    "KernelPCA (rbf)": partial(lowdim.KernelPCA, 2, kernel="rbf", gamma=1e-6),
}
LIMITS = {
    "LLE": 20_000,
    "LLE, modified": 10_000,
    "Isomap": 20_000,
    "ClassicalMDS (cosine)": 10_000,
    "KernelPCA (rbf)": 20_000,
}
SIZES = (1000, 2000, 5000, 10_000, 20_000, 70_000)


def contestant(name: str) -> Any:
    """Fit and bring back the stages."""
    return lambda data: MAKERS[name]().fit(data.X).report_


CONTESTANTS = {name: contestant(name) for name in MAKERS}


def judge(data: Labelled, report_: Any) -> dict[str, Any]:
    """Seconds of each stage."""
    return {"stages": {stage.name: stage.seconds for stage in report_.stages}}


def report(quick: bool) -> str:
    """Warm seconds by size, and the exponent of the last three sizes."""
    sizes = (1000, 2000, 5000) if quick else SIZES
    rows = []
    for name in MAKERS:
        done = [size for size in sizes if size <= LIMITS.get(name, sizes[-1])]
        runs = [run("scaling", name, size, repeats=1) for size in done]
        seconds = [one.seconds for one in runs]
        tail = slice(-3, None)
        exponent = np.polyfit(np.log(done[tail]), np.log(seconds[tail]), 1)[0]
        cells = [one.failure or f"{one.seconds:.2f}" for one in runs]
        rows.append([name, *cells, *[""] * (len(sizes) - len(done)), f"{exponent:.2f}"])
    header = ["seconds at N =", *(f"{size:,}" for size in sizes), "exponent"]
    return "\n" + table(header, rows)
