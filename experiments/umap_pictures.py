"""Pictures by UMAP's objective: the data they are made of, what they minimise, and how far two of them are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lowdim
from lowdim.affinities import Fuzzy
from lowdim.core.atomic import writing
from lowdim.core.records import Floats, Sparse
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.estimators.embeddings.umap import fit_curve
from lowdim.metrics import neighbor_accuracy
from lowdim.neighbors import build_index
from lowdim.objectives.similarities.rounded_logarithm import core_of

NEIGHBORS = 15
NEGATIVES = 5.0
SAMPLE = 2000
"""Rows whose repulsion is summed over all points for the effective loss, the same for everybody."""
WIDEST = 4096
"""Columns up to which pixels are taken as they are."""
STORED = {"coil": "coil20", "cells": "pbmc68k"}
LOSS, PROCRUSTES = "loss", "Procrustes"
FIGURES = (LOSS, "recall@15", "10-NN", "trust", "Spearman")
"""What is told of a picture: the first is best low, the others high."""


@lru_cache(maxsize=1)
def some(name: str) -> tuple[NDArray, NDArray]:
    """Rows and labels of a data set: genes, and pixels where there are more than 4,096, by PCA to 50 columns.

    ``mnist5000`` are so many digits. The labels of the mammoth are ten slices along its length.
    """
    if name.startswith("mnist"):
        raw, size = lowdim.datasets.load("mnist"), int(name.removeprefix("mnist"))
        order = np.random.default_rng(0).permutation(len(raw.data))[:size]
        return lowdim.PCA(50).fit_transform(raw.data[order].astype(np.float64)), raw.labels[order]
    raw = lowdim.datasets.load(STORED.get(name, name))
    X = np.asarray(raw.data, dtype=np.float64)
    if name == "mammoth":
        X = X[np.random.default_rng(0).permutation(len(X))[:10_000]]
        return X, np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, 11)[1:-1]))
    if raw.image_shape is not None and name != "digits":
        X = X / 255
    return lowdim.PCA(50).fit_transform(X) if X.shape[1] > WIDEST or name == "cells" else X, raw.labels


def graph_of(X: NDArray) -> tuple[Sparse, NDArray]:
    """The fuzzy graph of exact neighbours, and the 15 nearest of each point."""
    index = build_index(Rows(np.ascontiguousarray(X)), "euclidean", search="exact", run=Run.of())
    lists = index.query(None, NEIGHBORS, Run.of())
    near = lists.first(NEIGHBORS - 1)
    graph = Fuzzy().fit(near, Run.of()).weights(near, Run.of())
    return graph, lists.indices.reshape(-1, NEIGHBORS)


def recall(nearest: NDArray, X: NDArray) -> float:
    """Share of the 15 nearest that are so in the picture."""
    found = build_index(Rows(X), "euclidean", search="exact", run=Run.of()).query(None, NEIGHBORS, Run.of())
    pairs = zip(found.indices.reshape(-1, NEIGHBORS), nearest, strict=True)
    return float(np.mean([np.isin(a, b).mean() for a, b in pairs]))


def effective_loss(graph: Any, X: NDArray, a: float, b: float) -> float:
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


@dataclass(frozen=True)
class Judge:
    """One data set, its fuzzy graph and its nearest neighbours: what every picture of it is judged by."""

    X: NDArray
    y: NDArray
    graph: Sparse
    nearest: NDArray

    @classmethod
    def of(cls, X: NDArray, y: NDArray) -> Judge:
        """The graph and the neighbours of rows."""
        return cls(X, y, *graph_of(X))

    def figures(self, picture: NDArray, min_dist: float) -> dict[str, float]:
        """Each of ``FIGURES``."""
        picture = np.ascontiguousarray(picture, dtype=np.float64)
        scores = lowdim.score(self.X, picture, measures=["trustworthiness", "spearman"])
        found = (
            effective_loss(self.graph, picture, *fit_curve(min_dist, 1.0)),
            recall(self.nearest, picture),
            neighbor_accuracy(picture, self.y),
            float(scores["trustworthiness"]),
            float(scores["spearman"]),
        )
        return dict(zip(FIGURES, found, strict=True))


@dataclass(frozen=True)
class Comparison:
    """A picture, lowdim's unless it is said, beside those of umap-learn's seeds: figures, and Procrustes distances."""

    own: Floats
    peers: Sequence[Floats]
    found: Mapping[str, float]
    others: Sequence[Mapping[str, float]]
    to_seeds: Sequence[float]
    between: Sequence[float]

    @classmethod
    def of(cls, judge: Judge, min_dist: float, peers: Sequence[Floats]) -> Comparison:
        """Fit lowdim's and judge all."""
        own = np.asarray(lowdim.UMAP(min_dist=min_dist).fit(judge.X).embedding_, dtype=np.float64)
        others = [judge.figures(peer, min_dist) for peer in peers]
        pairs = [(A, B) for A in peers for B in peers if A is not B]
        between = [lowdim.procrustes(A, B).error for A, B in pairs]
        to_seeds = [lowdim.procrustes(peer, own).error for peer in peers]
        return cls(own, peers, judge.figures(own, min_dist), others, to_seeds, between)

    def instead(self, judge: Judge, min_dist: float, picture: Floats) -> Comparison:
        """Another picture in the place of lowdim's, beside the same seeds."""
        to_seeds = [lowdim.procrustes(peer, picture).error for peer in self.peers]
        return replace(self, own=picture, found=judge.figures(picture, min_dist), to_seeds=to_seeds)

    def seeds(self, figure: str) -> tuple[float, float]:
        """The lowest and the highest of the seeds."""
        values = self.between if figure == PROCRUSTES else [other[figure] for other in self.others]
        return min(values), max(values)

    def value(self, figure: str) -> float:
        """lowdim's own; of Procrustes distances that to the nearest seed."""
        return min(self.to_seeds) if figure == PROCRUSTES else self.found[figure]

    def is_worse(self, figure: str) -> bool:
        """Whether lowdim's is worse than the worst seed's."""
        low, high = self.seeds(figure)
        value = self.value(figure)
        return bool(value > high if figure in (LOSS, PROCRUSTES) else value < low)

    def cell(self, figure: str) -> str:
        """lowdim's / the lowest and the highest of the seeds; in bold where it is worse than all of them."""
        low, high = self.seeds(figure)
        mark, digits = "**" * self.is_worse(figure), 3 if figure == PROCRUSTES else 4
        own = f"{self.value(figure):.{digits}f}"
        if figure == PROCRUSTES:
            own += f"..{max(self.to_seeds):.{digits}f}"
        return f"{mark}{own}{mark} / {low:.{digits}f}..{high:.{digits}f}"


def need_peer() -> None:
    """Say before any work that umap-learn is missing."""
    if find_spec("umap") is None:
        raise ModuleNotFoundError(
            "umap-learn, whose pictures these are compared with, is not installed", name="umap"
        )


def by_peer(X: NDArray, min_dist: float, seed: int, path: Path) -> Floats:
    """A picture by umap-learn, kept at ``path`` after the first time."""
    if not path.exists():
        from umap import UMAP

        picture = UMAP(min_dist=min_dist, random_state=seed, n_jobs=1).fit_transform(X)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as temporary, temporary.open("wb") as file:
            np.save(file, picture)
    return np.load(path).astype(np.float64)
