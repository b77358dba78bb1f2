"""UMAP of a million deformed digits from 50 columns to the picture."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled
from .harness import RESULTS, compare
from .tsne_million import load, recall_of_some
from .umap import free, ours

__all__ = ["load"]
TITLE = "UMAP of 1,020,000 deformed digits (PCA to 50 beforehand), 15 neighbours"
FIGURES = ["recall@15 of 2,000 points", "10-NN accuracy", "iterations", "stages"]
CONTESTANTS = {"lowdim": ours, "umap-learn, no seed": free}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Recall on a sample, accuracy in the picture, which is written, and the seconds of lowdim's stages."""
    X = np.ascontiguousarray(model.embedding_, dtype=np.float64)
    figures: dict[str, Any] = {
        "recall@15 of 2,000 points": recall_of_some(data.X, X),
        "10-NN accuracy": neighbor_accuracy(X, data.y),
    }
    if hasattr(model, "report_"):
        lowdim.plot(X, data.y, path=RESULTS / "umap_million.png", title=f"{len(X):,} deformed digits")
        figures["iterations"] = model.n_iter_
        stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
        figures["stages"] = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
    return figures


def report(quick: bool) -> str:
    """One fit each."""
    size = 20_000 if quick else 1_020_000
    return compare("umap_million", list(CONTESTANTS), size, FIGURES, repeats=0, timeout=7200)
