"""Symmetric SNE and the elastic embedding at 70,000 points with Fourier repulsion."""

from __future__ import annotations

from typing import Any

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import compare

TITLE = "Symmetric SNE and the elastic embedding, perplexity 30, Fourier repulsion"
load = mnist
FIGURES = ["objective", "iterations", "10-NN accuracy", "stages"]
CONTESTANTS = {
    "symmetric SNE": lambda data: lowdim.SymmetricSNE().fit(data.X),
    "elastic embedding, lambda = 1": lambda data: lowdim.ElasticEmbedding(lam=1.0).fit(data.X),
}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Objective, iterations, accuracy in the picture, seconds by stage."""
    stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
    return {
        "objective": float(model.objective_),
        "iterations": model.n_iter_,
        "10-NN accuracy": neighbor_accuracy(model.embedding_, data.y),
        "stages": ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items()),
    }


def report(quick: bool) -> str:
    """Both, one warm fit each."""
    return compare("gaussian_embeddings", list(CONTESTANTS), 3000 if quick else 70_000, FIGURES, repeats=1)
