"""Runs for the killing: small fits of every kind that keeps a checkpoint, and what must be equal of two results."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.core import run as running
from lowdim.errors import CheckpointWarning
from lowdim.selection import Sweep
from lowdim.store import budget, checkpoint, container

RUNS: dict[str, Callable[[Any], Any]] = {
    "t-SNE": lambda path: fit(lowdim.TSNE(max_iter=60, record=20, repulsion="fft", checkpoint=path)),
    "t-SNE, momentum": lambda path: fit(
        lowdim.TSNE(max_iter=15, optimizer="momentum", homotopy=[0.1, 0.5], checkpoint=path)
    ),
    "elastic embedding": lambda path: fit(lowdim.ElasticEmbedding(max_iter=4, homotopy=5, checkpoint=path)),
    "symmetric SNE": lambda path: fit(lowdim.SymmetricSNE(max_iter=15, optimizer="sd", checkpoint=path)),
    "UMAP": lambda path: fit(lowdim.UMAP(max_iter=40, record=20, repulsion="fft", checkpoint=path)),
    "densities": lambda path: fit(lowdim.UMAP(max_iter=20, density=2.0, checkpoint=path)),
    "spectrum": lambda path: fit(lowdim.NeighborSpectrum(positions=3, max_iter=10, checkpoint=path)),
    "PaCMAP": lambda path: fit(lowdim.PaCMAP(max_iter=40, record=20, repulsion="fft", checkpoint=path)),
    "Isomap": lambda path: fit(lowdim.Isomap(checkpoint=path)),
    "landmark Isomap": lambda path: fit(lowdim.Isomap(landmarks=60, checkpoint=path)),
    "Isomap by LLL": lambda path: fit(lowdim.Isomap(solver=lowdim.LLL(50), checkpoint=path)),
    "LLE": lambda path: fit(lowdim.LLE(checkpoint=path)),
    "Laplacian eigenmaps by LLL": lambda path: fit(
        lowdim.LaplacianEigenmaps(solver=lowdim.LLL(60, polish=3), checkpoint=path)
    ),
    "approximate search": lambda path: fit(lowdim.LaplacianEigenmaps(search="approximate", checkpoint=path)),
    "spectral clustering": lambda path: fit(lowdim.SpectralClustering(3, checkpoint=path)),
    "classical MDS": lambda path: fit(lowdim.ClassicalMDS(metric="manhattan", checkpoint=path)),
    "sweep": lambda path: sweep(
        lowdim.LaplacianEigenmaps(), {"n_components": [1, 2], "n_neighbors": [5, 9]}, path
    ),
    "sweep of embeddings": lambda path: sweep(lowdim.TSNE(max_iter=15), {"perplexity": [5.0, 12.0]}, path),
}
"""By name: from a folder, or None, to the values of the result."""
POINTS: dict[str, tuple[Any, str]] = {
    "half of a file": (container, "_digest_of_data"),
    "sync": (os, "fsync"),
    "rename": (os, "replace"),
    "removal": (os, "unlink"),
    "state": (checkpoint.CheckpointPlace, "save_progress"),
}
"""Where to kill: in the midst of writing a file, and before or after a call of the system."""
SPARED = ("seconds", "took", "stages")


def data() -> np.ndarray:
    """Two clouds with some rows twice."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(240, 6)), rng.normal(size=(160, 6)) + 4]).round(2)
    X[5], X[300] = X[6], X[301]
    return X


def fit(estimator: Any) -> dict[str, Any]:
    """Everything that a fit leaves."""
    return fitted_values(estimator.fit(data()), data()[:20])


def fitted_values(found: Any, few: np.ndarray) -> dict[str, Any]:
    """Everything that a fit has left, and where it puts points near some of its own."""
    report = found.report_
    values = {
        name: value
        for name, value in vars(found).items()
        if name.endswith("_") and name not in ("map_", "report_")
    }
    values["transform"] = found.transform(few + 0.01)
    return values | {"figures": report.figures, "choices": report.choices, "warnings": report.warnings}


def sweep(estimator: Any, grid: dict[str, Any], path: Any) -> dict[str, Any]:
    """Everything that a sweep leaves but its seconds."""
    return sweep_values(lowdim.sweep(estimator, grid, data(), np.arange(400) < 240, seeds=2, checkpoint=path))


def sweep_values(found: Sweep) -> dict[str, Any]:
    """Everything that a sweep has left but its seconds."""
    runs = [(run.point, run.seed, run.figures, run.warnings, run.status) for run in found.runs]
    return {"runs": runs, "best": found.best, "complete": found.complete}


def flattened(value: Any, path: str = "") -> dict[str, Any]:
    """Arrays, numbers and texts by where they stand; times are left out."""
    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if hasattr(value, "tocsr"):
        value = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        parts = [flattened(part, f"{path}.{name}") for name, part in items if name not in SPARED]
        return {name: part for found in parts for name, part in found.items()}
    return {path: value}


def difference(wanted: Any, found: Any) -> str:
    """The first thing that is not the same to the last bit; empty where all is."""
    left, right = flattened(wanted), flattened(found)
    if left.keys() != right.keys():
        return f"other parts: {sorted(left.keys() ^ right.keys())}"
    for name, value in left.items():
        if not np.array_equal(
            np.asarray(value), np.asarray(right[name]), equal_nan=np.asarray(value).dtype.kind == "f"
        ):
            return f"{name}: {value!r} and {right[name]!r}"
    return ""


def work(name: str, folder: Path | None, point: str = "", count: int = 0) -> dict[str, Any]:
    """A run that keeps all it can; at the ``count``-th call of a ``point`` it kills its own process."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", CheckpointWarning)
    budget.PACE = budget.Pace(share=float("inf"), interval=0.0, worth=0.0)
    running.PIECE_BYTES = 1 << 16
    if point:
        _arm(point, count)
    return RUNS[name](folder)


def _arm(point: str, count: int) -> None:
    """Let a function kill the process, before it does its work or, where the name ends in " done", after."""
    owner, name = POINTS[point.removesuffix(" done")]
    real, left = getattr(owner, name), [count]

    def killing(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not point.endswith(" done"):
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **options)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, killing)
