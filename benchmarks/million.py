"""A million deformed digits from the file to a picture: PCA to 50 columns, neighbours, LLL; beside it exact Lanczos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .harness import RESULTS, run, table

TITLE = "Deformed digits, Laplacian eigenmaps, 10 neighbours, d = 2, L = 10,000, K_Z = 5, from the file"


@dataclass(frozen=True)
class Stored:
    """A memory map of images, and their labels."""

    X: np.ndarray
    y: np.ndarray


def load(size: int) -> Stored:
    """Made once, then read from the disk."""
    path = RESULTS / f"deformed{size}.npy"
    if not path.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        digits = lowdim.datasets.deformed_digits(size, path=path, random_state=0)
        np.save(path.with_suffix(".labels.npy"), digits.labels)
    return Stored(np.load(path, mmap_mode="r"), np.load(path.with_suffix(".labels.npy")))


def embed(solver: Any) -> Any:
    """PCA and Laplacian eigenmaps; brings back the embedding and the seconds of each stage."""

    def work(data: Stored) -> Any:
        pca = lowdim.PCA(50)
        columns = pca.fit_transform(data.X)
        size = min(solver.n_landmarks, len(columns) // 10) if isinstance(solver, lowdim.LLL) else 0
        chosen = lowdim.LLL(size, n_neighbors=5) if size else solver
        model = lowdim.LaplacianEigenmaps(2, n_neighbors=10, solver=chosen).fit(columns)
        stages = {"PCA": pca.report_.seconds}
        stages |= {s.name: s.seconds for s in model.report_.stages if s.depth == 0}
        return model, stages

    return work


CONTESTANTS = {"LLL": embed(lowdim.LLL(10_000)), "exact Lanczos": embed("exact")}


def judge(data: Stored, outcome: Any) -> dict[str, Any]:
    """Label accuracy, seconds of each stage, recall of the neighbour search."""
    model, stages = outcome
    some = np.random.default_rng(0).permutation(len(data.y))[:200_000]
    return {
        "10-NN accuracy": neighbor_accuracy(model.embedding_[some], np.asarray(data.y)[some]),
        "stages": stages,
        "recall": model.report_.figures["neighbour_recall"],
    }


def report(quick: bool) -> str:
    """Seconds in all and by stage, memory, accuracy."""
    size = 20_000 if quick else 1_020_000
    run("million", "LLL", 20_000, repeats=0)
    runs = [run("million", name, size, repeats=0, timeout=1800) for name in CONTESTANTS]
    names = list(dict.fromkeys(stage for one in runs for stage in one.figures.get("stages", {})))
    rows = [[one.name, one.failure] for one in runs if one.failure] or []
    for one in runs:
        if not one.failure:
            stages = [f"{one.figures['stages'].get(stage, 0):.1f}" for stage in names]
            quality = [f"{one.figures['10-NN accuracy']:.3f}", f"{one.figures['recall']}"[:5]]
            rows.append([one.name, f"{one.seconds:.0f}", f"{one.peak / 1e9:.1f}", *quality, *stages])
    header = ["", "seconds", "peak GB", "10-NN accuracy", "neighbour recall", *names]
    return f"\nN = {size:,}\n\n" + table(header, rows)
