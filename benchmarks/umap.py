"""UMAP from the columns to the picture, against umap-learn with a seed and without, and how equal the pictures are."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

import lowdim
from experiments.umap_pictures import FIGURES as EQUAL
from experiments.umap_pictures import (
    PROCRUSTES,
    Comparison,
    Judge,
    by_peer,
    effective_loss,
    graph_of,
    recall,
    some,
)
from lowdim.estimators.embeddings.umap import fit_curve
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import RESULTS, compare, run, table

TITLE = "UMAP, 15 neighbours: seconds to the end state; effective loss, recall@15, 10-NN accuracy beside umap-learn's"
FIGURES = ["effective loss", "recall@15", "10-NN accuracy", "stages"]
SETS = ("digits", "cells", "olivetti", "coil", "mammoth", "mnist5000", "mnist20000")
DISTANCES = (0.1, 0.0, 0.5)
SEEDS = 5


def load(size: int) -> Labelled:
    """Digits in 50 columns."""
    return mnist(size)


def ours(data: Labelled) -> Any:
    """lowdim's, as it comes."""
    return lowdim.UMAP().fit(data.X)


def seeded(data: Labelled) -> Any:
    """umap-learn with a seed: one thread, the same picture every time."""
    from umap import UMAP

    return UMAP(random_state=0).fit(data.X)


def free(data: Labelled) -> Any:
    """umap-learn without a seed: all threads, another picture every time."""
    from umap import UMAP

    return UMAP(n_jobs=2).fit(data.X)


CONTESTANTS = {"lowdim": ours, "umap-learn, seed": seeded, "umap-learn, no seed": free}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Loss, recall and accuracy in the picture."""
    X = np.ascontiguousarray(model.embedding_, dtype=np.float64)
    graph, nearest = graph_of(data.X)
    figures: dict[str, Any] = {
        "effective loss": effective_loss(graph, X, *fit_curve(0.1, 1.0)),
        "recall@15": recall(nearest, X),
        "10-NN accuracy": neighbor_accuracy(X, data.y),
    }
    if hasattr(model, "report_"):
        stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
        figures["stages"] = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
    return figures


def equality(name: str, min_dist: float) -> list[str]:
    """A line: each figure beside the worst and the best of five seeds, and Procrustes distances."""
    judge = Judge.of(*some(name))
    peers = [
        by_peer(judge.X, min_dist, seed, RESULTS / f"umap-{name}-{min_dist}-{seed}.npy")
        for seed in range(SEEDS)
    ]
    found = Comparison.of(judge, min_dist, peers)
    return [name, f"{min_dist:g}", *(found.cell(figure) for figure in (*EQUAL, PROCRUSTES))]


def report(quick: bool) -> str:
    """70,000 digits, cold and warm, then the table of equality; the quick form 3,000 digits and one set."""
    names = list(CONTESTANTS)
    header = ["", "min_dist", *EQUAL, "Procrustes to / between seeds"]
    if quick:
        quickly = compare("umap", names[:2], 3000, FIGURES, repeats=1, peer_repeats=0)
        return quickly + "\n\n" + table(header, [equality("olivetti", 0.1)])
    tables = [compare("umap", names, 70_000, FIGURES, repeats=3, peer_repeats=1)]
    with tempfile.TemporaryDirectory() as cache:
        cold = run("umap", names[0], 70_000, repeats=0, cache=cache).first
    tables.append(f"\nlowdim in a new process with an empty kernel cache: {cold:.1f} s\n")
    rows = [equality(name, min_dist) for name in SETS for min_dist in DISTANCES]
    note = "\nlowdim / the worst and the best of umap-learn's five seeds; bold: outside of them.\n\n"
    return "\n".join(tables) + note + table(header, rows)
