"""t-SNE of a million deformed digits, against openTSNE given as many seconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from . import million
from .data import Labelled
from .harness import RESULTS, compare

TITLE = "t-SNE of 1,020,000 deformed digits (PCA to 50 beforehand), perplexity 30"
FIGURES = ["KL by its own engine", "recall@15 of 2,000 points", "10-NN accuracy", "iterations", "stages"]
SAMPLE = 2000


def load(size: int) -> Labelled:
    """Deformed digits in 50 columns."""
    digits = million.load(size)
    return Labelled(lowdim.PCA(50).fit_transform(digits.X), digits.y)


def ours(data: Labelled) -> Any:
    """lowdim's, as it comes."""
    return lowdim.TSNE(perplexity=30).fit(data.X)


def open_tsne(seconds: float) -> Any:
    """openTSNE with its defaults, stopped once its seconds are used up."""

    def work(data: Labelled) -> Any:
        import openTSNE

        began = time.perf_counter()

        def out_of_time(*_: Any) -> bool:
            return time.perf_counter() - began > seconds

        return openTSNE.TSNE(
            perplexity=30, n_jobs=2, random_state=0, callbacks=out_of_time, callbacks_every_iters=1
        ).fit(data.X)

    return work


CONTESTANTS = {"lowdim": ours, "openTSNE, 210 s": open_tsne(210.0)}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Recall on a sample, accuracy in the picture, which is written, and what the library says of its own."""
    X = np.ascontiguousarray(getattr(model, "embedding_", model), dtype=np.float64)
    # openTSNE has no divergence where its callback stopped it.
    divergence = getattr(model, "kl_divergence_", getattr(model, "kl_divergence", None))
    figures: dict[str, Any] = {
        "KL by its own engine": float(np.nan if divergence is None else divergence),
        "recall@15 of 2,000 points": recall_of_some(data.X, X),
        "10-NN accuracy": neighbor_accuracy(X, data.y),
    }
    if hasattr(model, "report_"):
        lowdim.plot(X, data.y, path=RESULTS / "tsne_million.png", title=f"{len(X):,} deformed digits")
        figures["iterations"] = model.n_iter_
        stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
        figures["stages"] = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
    return figures


def recall_of_some(data: np.ndarray, X: np.ndarray) -> float:
    """Share of the 15 nearest of some points that are so in the picture."""
    sample = np.random.default_rng(0).choice(len(X), min(SAMPLE, len(X)), replace=False)
    true, found = (nearest_of_some(values, sample) for values in (data, X))
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(found, true, strict=True)]))


def nearest_of_some(values: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """The 15 nearest other rows of some."""
    from sklearn.neighbors import NearestNeighbors

    found = (
        NearestNeighbors(n_neighbors=16, n_jobs=2)
        .fit(values)
        .kneighbors(values[sample], return_distance=False)
    )
    return np.array([row[row != own][:15] for row, own in zip(found, sample, strict=True)])


def report(quick: bool) -> str:
    """One fit each."""
    size = 20_000 if quick else 1_020_000
    return compare("tsne_million", list(CONTESTANTS), size, FIGURES, repeats=0, timeout=3600)
