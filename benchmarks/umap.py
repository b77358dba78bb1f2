"""UMAP from the columns to the picture, against umap-learn with a seed and without, and how equal the pictures are."""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.affinities import Fuzzy
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.estimators.umap import fit_curve
from lowdim.metrics import neighbor_accuracy
from lowdim.neighbors import build_index
from lowdim.objectives.similarities.rounded_logarithm import core_of

from .data import Labelled, mnist
from .harness import RESULTS, compare, run, table

TITLE = "UMAP, 15 neighbours: seconds to the end state; effective loss, recall@15, 10-NN accuracy beside umap-learn's"
FIGURES = ["effective loss", "recall@15", "10-NN accuracy", "stages"]
SETS = ("digits", "cells", "olivetti", "coil", "mammoth", "mnist5000", "mnist20000")
DISTANCES = (0.1, 0.0, 0.5)
SEEDS = 5
SAMPLE = 2000
"""Rows whose repulsion is summed over all points for the effective loss, the same for everybody."""
NEGATIVES = 5.0
Figures = dict[str, float]


def load(size: int) -> Labelled:
    """Digits in 50 columns."""
    return mnist(size)


@lru_cache(maxsize=1)
def some(name: str) -> Labelled:
    """A data set of the table of equality: pixels and cells in 50 columns where they have more than 4,096."""
    if name == "digits":
        from sklearn.datasets import load_digits

        return Labelled(*load_digits(return_X_y=True))
    if name == "mammoth":
        with np.load(Path(os.environ["LOWDIM_DATA"]) / "mammoth.npz") as stored:
            X = stored["X10k"].astype(np.float64)
        return Labelled(X, np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, 11)[1:-1])))
    if name == "cells":
        with np.load(Path(os.environ["LOWDIM_DATA"]) / "pbmc68k_reduced.npz") as stored:
            return Labelled(stored["pca"].astype(np.float64), stored["y"])
    if name.startswith("mnist"):
        raw, size = lowdim.datasets.load("mnist"), int(name.removeprefix("mnist"))
        order = np.random.default_rng(0).permutation(len(raw.data))[:size]
        return Labelled(lowdim.PCA(50).fit_transform(raw.data[order].astype(np.float64)), raw.labels[order])
    raw = lowdim.datasets.load({"coil": "coil20"}.get(name, name))
    X = np.asarray(raw.data, dtype=np.float64) / 255
    return Labelled(lowdim.PCA(50).fit_transform(X) if X.shape[1] > 4096 else X, np.asarray(raw.labels))


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


def graph_of(X: np.ndarray) -> tuple[Any, np.ndarray]:
    """The fuzzy graph of exact neighbours, and the 15 nearest of each point."""
    index = build_index(Rows(np.ascontiguousarray(X)), "euclidean", search="exact", run=Run.of())
    lists = index.query(None, 15, Run.of())
    near = lists.first(14)
    return Fuzzy().fit(near, Run.of()).weights(near, Run.of()), lists.indices.reshape(-1, 15)


def recall(nearest: np.ndarray, X: np.ndarray) -> float:
    """Share of the 15 nearest that are so in the picture."""
    found = build_index(Rows(X), "euclidean", search="exact", run=Run.of()).query(None, 15, Run.of())
    pairs = zip(found.indices.reshape(-1, 15), nearest, strict=True)
    return float(np.mean([np.isin(a, b).mean() for a, b in pairs]))


def effective_loss(graph: Any, X: np.ndarray, a: float, b: float) -> float:
    """The potential of the expected step a point, its push cut at 4 as in umap-learn (Damrich & Hamprecht 2021)."""
    edges, n_points = graph.tocoo(), len(X)
    D = ((X[edges.row] - X[edges.col]) ** 2).sum(axis=1)
    attraction = float((edges.data * np.log1p(a * D**b)).sum()) / n_points
    degrees, core = np.asarray(graph.sum(axis=1)).ravel(), core_of(a, b, 1.0)
    rows = np.random.default_rng(0).permutation(n_points)[:SAMPLE]
    repulsion = 0.0
    for i in rows:
        D = ((X - X[i]) ** 2).sum(axis=1)
        D[i] = np.inf
        potential = np.log1p(1.0 / (a * np.maximum(D, core) ** b))
        repulsion += degrees[i] * float((potential + 4.0 * np.maximum(0.0, np.sqrt(core) - np.sqrt(D))).sum())
    return attraction + NEGATIVES / (2 * n_points) * repulsion / rows.size


def figures_of(data: Labelled, graph: Any, nearest: np.ndarray, X: np.ndarray, min_dist: float) -> Figures:
    """Everything that the table of equality shows of one picture; the first is best low, the others high."""
    scores = lowdim.score(data.X, X, measures=["trustworthiness", "spearman"])
    return {
        "loss": effective_loss(graph, X, *fit_curve(min_dist, 1.0)),
        "recall@15": recall(nearest, X),
        "10-NN": neighbor_accuracy(X, data.y),
        "trust": float(scores["trustworthiness"]),
        "spearman": float(scores["spearman"]),
    }


def theirs(name: str, min_dist: float, seed: int) -> np.ndarray:
    """A picture of umap-learn, kept on disk after the first time."""
    path = RESULTS / f"umap-{name}-{min_dist}-{seed}.npy"
    if not path.exists():
        from umap import UMAP

        RESULTS.mkdir(parents=True, exist_ok=True)
        np.save(path, UMAP(min_dist=min_dist, random_state=seed).fit_transform(some(name).X))
    return np.load(path).astype(np.float64)


def equality(name: str, min_dist: float) -> list[str]:
    """A line: each figure beside the worst and the best of five seeds, and Procrustes distances."""
    data = some(name)
    graph, nearest = graph_of(data.X)
    peers = [theirs(name, min_dist, seed) for seed in range(SEEDS)]
    own = lowdim.UMAP(min_dist=min_dist).fit(data.X).embedding_.astype(np.float64)
    others = [figures_of(data, graph, nearest, X, min_dist) for X in peers]
    found = figures_of(data, graph, nearest, own, min_dist)
    cells = [name, f"{min_dist:g}"]
    for key, value in found.items():
        values = [other[key] for other in others]
        low, high = min(values), max(values)
        worst = bool(value > high if key == "loss" else value < low)
        cells.append(f"{'**' * worst}{value:.4f}{'**' * worst} / {low:.4f}..{high:.4f}")
    between = [
        lowdim.procrustes(peers[i], peers[j]).error for i in range(SEEDS) for j in range(SEEDS) if i != j
    ]
    to_own = [lowdim.procrustes(peer, own).error for peer in peers]
    cells.append(f"{min(to_own):.3f}..{max(to_own):.3f} / {min(between):.3f}..{max(between):.3f}")
    return cells


def report(quick: bool) -> str:
    """70,000 digits, cold and warm, then the table of equality; the quick form 3,000 digits and one set."""
    names = list(CONTESTANTS)
    header = [
        "",
        "min_dist",
        "loss",
        "recall@15",
        "10-NN",
        "trust",
        "Spearman",
        "Procrustes to / between seeds",
    ]
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
