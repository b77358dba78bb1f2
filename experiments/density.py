"""Densities kept: the radii of the data's neighbourhoods in UMAP and t-SNE, with the term of densMAP and without.

Narayan, Berger & Cho (2021) maximise the correlation of log R and log r, the local radii of data and picture over the
edges of UMAP's graph. Three sets: groups whose widths differ eightfold, digits, and cells. Two measures, the same for
everybody: that correlation on one graph (15 neighbours), and the correlation of the logarithms of the mean squared
distances to the 15 nearest in the data and in the picture, which asks no graph. Beside them the recall of the 15
nearest, which densities cost. umap-learn's densMAP is among the contestants where it is installed.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import KDTree

import lowdim
from lowdim.affinities import Fuzzy
from lowdim.affinities.radii import local_radii
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.estimators.embeddings.umap import fit_curve
from lowdim.neighbors import build_index
from lowdim.objectives.density import Density
from lowdim.objectives.similarities import Power

from .notebook import Notebook

NEIGHBORS = 15
SLACK = 0.01
"""Difference of correlations and recalls that counts as none."""
OURS, THEIRS = "UMAP, density=2", "umap-learn, densMAP"
Embed = Callable[[NDArray], NDArray]


def run(notebook: Notebook) -> None:
    """Embed every set by everybody, and measure."""
    rows, pictures = [], {}
    for name, (X, labels) in sets(notebook.quick).items():
        graph = graph_density(X)
        near = log_distances(X)
        for who, embed in contestants(notebook.quick).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Y = np.asarray(embed(X), dtype=np.float64)
            rows.append(
                {
                    "data": name,
                    "embedding": who,
                    "graph correlation": round(graph.correlation(Y), 3),
                    "distance correlation": round(float(np.corrcoef(near, log_distances(Y))[0, 1]), 3),
                    "recall": round(recall(X, Y), 3),
                }
            )
            pictures[name, who] = (Y, labels)
            notebook.keep(rows)
    notebook.table(rows)
    notebook.figure(_draw(pictures))
    _judge(notebook, rows)


def sets(quick: bool) -> dict[str, tuple[NDArray, NDArray]]:
    """Groups of unequal width, digits, and cells where their file is."""
    from sklearn.datasets import load_digits

    rng, each = np.random.default_rng(0), 60 if quick else 400
    widths = np.repeat([1.0, 2.0, 4.0, 8.0], each)
    centres = np.repeat(40.0 * rng.standard_normal((4, 10)), each, axis=0)
    found = {"mixture": (centres + widths[:, None] * rng.standard_normal((4 * each, 10)), widths)}
    digits = load_digits()
    found["digits"] = tuple(part[:: 6 if quick else 1] for part in (digits.data, digits.target))
    cells = Path(os.environ.get("LOWDIM_DATA", ".")) / "pbmc68k_reduced.npz"
    if cells.exists():
        with np.load(cells) as stored:
            step = 3 if quick else 1
            found["cells"] = stored["pca"].astype(np.float64)[::step], stored["y"][::step]
    return found


def contestants(quick: bool) -> dict[str, Embed]:
    """Who embeds, by name."""
    steps: dict[str, Any] = {"max_iter": 100} if quick else {}
    found: dict[str, Embed] = {
        "UMAP": lambda X: lowdim.UMAP(**steps).fit_transform(X),
        OURS: lambda X: lowdim.UMAP(density=2.0, **steps).fit_transform(X),
        "t-SNE": lambda X: lowdim.TSNE(**steps).fit_transform(X),
        "t-SNE, density=0.5": lambda X: lowdim.TSNE(density=0.5, **steps).fit_transform(X),
    }
    if find_spec("umap") is not None and not quick:
        import umap

        found["umap-learn"] = lambda X: umap.UMAP(random_state=0).fit_transform(X)
        found[THEIRS] = lambda X: umap.UMAP(densmap=True, random_state=0).fit_transform(X)
    return found


def graph_density(X: NDArray) -> Density:
    """The radii of the data on UMAP's graph, ready to be compared with those of any picture of them."""
    quiet = Run.of(0)
    neighbors = build_index(Rows(X), "euclidean", run=quiet, search="exact").query(None, NEIGHBORS - 1, quiet)
    W = Fuzzy().fit(neighbors, quiet).weights(neighbors, quiet)
    radii = local_radii(W, neighbors, quiet)
    return Density(W, radii, Power(*fit_curve(0.1, 1.0)), 1.0, 0.1, np.ones(len(X)), quiet)


def recall(X: NDArray, Y: NDArray) -> float:
    """Share of the nearest points that the picture keeps."""
    found = lowdim.score(X, Y, n_neighbors=NEIGHBORS, measures=["neighbor_recall"]).neighbor_recall
    return float("nan") if found is None else float(found)


def log_distances(X: NDArray) -> NDArray:
    """Logarithm of the mean squared distance to the nearest points."""
    found = KDTree(X).query(X, NEIGHBORS + 1)[0][:, 1:]
    return np.log((found**2).mean(axis=1) + 1e-12)


def _judge(notebook: Notebook, rows: list[dict[str, Any]]) -> None:
    table = {(row["data"], row["embedding"]): row for row in rows}
    for name in dict.fromkeys(row["data"] for row in rows):
        without, with_it = table[name, "UMAP"], table[name, OURS]
        _claim_rise(notebook, f"{name}: the term keeps UMAP's densities", without, with_it)
        _claim_rise(
            notebook,
            f"{name}: and t-SNE's",
            table[name, "t-SNE"],
            table[name, "t-SNE, density=0.5"],
        )
        if (name, THEIRS) in table:
            other = table[name, THEIRS]
            measures = ("graph correlation", "distance correlation", "recall")
            notebook.claim(
                f"{name}: no worse than umap-learn's densMAP",
                ", ".join(f"{measure} {other[measure]}" for measure in measures),
                ", ".join(f"{measure} {with_it[measure]}" for measure in measures),
                all(with_it[measure] >= other[measure] - SLACK for measure in measures),
            )
    if not any(who == THEIRS for _, who in table):
        notebook.remark(
            "umap-learn was not among the contestants: it is not installed, or the run was quick."
        )


def _claim_rise(notebook: Notebook, words: str, without: dict[str, Any], with_it: dict[str, Any]) -> None:
    measures = ("graph correlation", "distance correlation")
    shown = "; ".join(f"{measure} {without[measure]} to {with_it[measure]}" for measure in measures)
    held = all(with_it[measure] > without[measure] + 0.1 for measure in measures)
    notebook.claim(
        words, "densities kept", f"{shown}; recall {without['recall']} to {with_it['recall']}", held
    )


def _draw(pictures: dict[tuple[str, str], tuple[NDArray, NDArray]]) -> Figure:
    names, contestants = (list(dict.fromkeys(key[place] for key in pictures)) for place in (0, 1))
    figure = Figure(figsize=(2.6 * len(contestants), 2.8 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), len(contestants), squeeze=False)
    for (name, who), (Y, labels) in pictures.items():
        one = axes[names.index(name), contestants.index(who)]
        codes = np.unique(labels, return_inverse=True)[1]
        one.scatter(*Y.T, c=codes, s=2, cmap="tab20", linewidths=0)
        one.set(xticks=[], yticks=[], title=f"{name}: {who}")
        one.title.set_fontsize(8)
        one.set_aspect("equal", adjustable="datalim")
    return figure
