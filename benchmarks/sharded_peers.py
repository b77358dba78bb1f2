"""PCA and spectral clustering of rows in a file, beside dask-ml's and scikit-learn's IncrementalPCA."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import lowdim
from lowdim.data.shards import MemoryMapped, write

from . import placed_million
from .data import Labelled
from .harness import RESULTS, run, table

TITLE = "Rows in a file (deformed digits, 50 columns): PCA to 10 columns written to a file, and 10 groups"
load = placed_million.load
COMPONENTS, GROUPS, BLOCK = 10, 10, 1 << 16
TENTH, FEW = 102_000, 5_000


def _array(data: Labelled) -> Any:
    """The file as a dask array."""
    import dask.array as da

    return da.from_array(data.X, chunks=(BLOCK, -1))


def pca_ours(data: Labelled) -> np.ndarray:
    """Fit, and all coordinates to a file."""
    source = MemoryMapped.of(data.X.filename)
    with tempfile.TemporaryDirectory(dir=RESULTS) as folder:
        return np.load(write(lowdim.PCA(COMPONENTS).fit(source).transform(source), Path(folder) / "x.npy"))


def pca_dask_ml(solver: str) -> Any:
    """The same by dask-ml, on its threads."""

    def work(data: Labelled) -> np.ndarray:
        from dask_ml.decomposition import PCA

        array = _array(data)
        out = np.empty((len(data.X), COMPONENTS), np.float32)
        model = PCA(COMPONENTS, svd_solver=solver, random_state=0).fit(array)
        model.transform(array).store(out)
        return out

    return work


def pca_incremental(data: Labelled) -> np.ndarray:
    """The same by scikit-learn, which takes a block after another."""
    from sklearn.decomposition import IncrementalPCA

    model, parts = IncrementalPCA(COMPONENTS), range(0, len(data.X), BLOCK)
    for start in parts:
        model.partial_fit(np.asarray(data.X[start : start + BLOCK]))
    return np.concatenate([model.transform(np.asarray(data.X[start : start + BLOCK])) for start in parts])


def groups_ours(n_landmarks: int) -> Any:
    """Spectral clustering by landmarks over the file."""

    def work(data: Labelled) -> np.ndarray:
        solver = lowdim.LLL(n_landmarks, n_neighbors=5)
        model = lowdim.SpectralClustering(GROUPS, n_neighbors=15, solver=solver, random_state=0)
        return np.asarray(model.fit(MemoryMapped.of(data.X.filename)).labels_)

    return work


def groups_dask_ml(n_landmarks: int) -> Any:
    """Nystrom by dask-ml with so many rows; a hundredth of all pairs is nearer than the width of its kernel."""

    def work(data: Labelled) -> np.ndarray:
        from dask_ml.cluster import SpectralClustering
        from scipy.spatial.distance import pdist

        some = np.asarray(data.X[:: max(1, len(data.X) // 1000)], dtype=np.float64)
        gamma = float(1.0 / np.quantile(pdist(some), 0.01) ** 2)
        model = SpectralClustering(
            GROUPS, n_components=n_landmarks, gamma=gamma, random_state=0, persist_embedding=True
        )
        return np.asarray(model.fit(_array(data).astype(np.float64)).labels_)

    return work


def _warm(work: Any) -> Any:
    """The same with its processor seconds, once it has done a small piece: what is compiled and loaded is not told."""

    def timed(data: Labelled) -> tuple[np.ndarray, float, float]:
        work(load(FEW))
        began, spent = time.perf_counter(), time.process_time()
        found = work(data)
        return found, time.perf_counter() - began, time.process_time() - spent

    return timed


CONTESTANTS = {
    "PCA: lowdim": _warm(pca_ours),
    "PCA: dask-ml, full": _warm(pca_dask_ml("full")),
    "PCA: dask-ml, randomized": _warm(pca_dask_ml("randomized")),
    "PCA: IncrementalPCA": _warm(pca_incremental),
    "groups: lowdim, LLL(1000)": _warm(groups_ours(1000)),
    "groups: lowdim, LLL(100)": _warm(groups_ours(100)),
    "groups: dask-ml, 100": _warm(groups_dask_ml(100)),
}


def judge(data: Labelled, outcome: tuple[np.ndarray, float, float]) -> dict[str, Any]:
    """Share of the variance that the columns hold, or how well the groups agree with the digits."""
    found, seconds, processor = outcome
    if found.ndim == 1:
        quality = float(adjusted_rand_score(data.y, found))
    else:
        rows = np.asarray(data.X, dtype=np.float64)
        quality = float(found.astype(np.float64).var(axis=0).sum() / rows.var(axis=0).sum())
    return {"seconds": seconds, "processor": processor, "quality": quality}


def report(quick: bool) -> str:
    """One fit each, in a process of its own; PCA of all rows, groups of a tenth of them."""
    lines, firsts = [], {}
    for name in CONTESTANTS:
        what, size = name.split(":")[0], 20_000 if quick else 1_020_000
        size = min(size, TENTH) if what == "groups" else size
        done = run("sharded_peers", name, size, repeats=0)
        first = firsts.setdefault(what, done)
        figures = (
            [done.failure, "", "", "", ""]
            if done.failure
            else [
                f"{done.figures['seconds']:.1f}",
                f"{done.figures['processor']:.1f}",
                f"{done.figures['processor'] / first.figures['processor']:.1f}",
                f"{done.peak / 1e6:.0f}",
                f"{done.figures['quality']:.4f}",
            ]
        )
        lines.append([name, f"{size:,}", *figures])
    return table(
        ["", "rows", "s", "processor s", "times lowdim's", "peak MB", "variance held; adjusted Rand index"],
        lines,
    )
