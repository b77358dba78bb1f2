"""Trust against what is known: tears of a sphere in the plane, and pictures in which nothing is torn.

A sphere cannot be laid out in the plane without a tear. A point is torn where one of its ten nearest neighbours is
shown five usual neighbourhoods away or more. What `lowdim.trust` flags as landing elsewhere, from where a moved row
would be put and not from where the neighbours are, is compared with that. On a roll by Isomap and a flat square by PCA
nothing is torn, in a random picture nothing is to be believed, and of clusters far apart all points are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim
from lowdim.reliability.record import CHANCE, ELSEWHERE

from .notebook import Notebook

NEAREST, APART = 10, 5.0
"""Neighbours of a point in the data, and how far one is shown, in usual distances to the 15th shown, if it is torn."""


def run(notebook: Notebook) -> None:
    """Flags against the truth, on every data set and seed."""
    size, seeds = (500, 1) if notebook.quick else (1500, 3)
    rows: list[dict[str, Any]] = []
    shown = None
    for seed in range(seeds):
        for name, (X, model) in _cases(size, seed).items():
            Y = np.asarray(model.fit(X).embedding_)
            found = lowdim.trust(X, Y, model)
            rows.append({"data": name, "seed": seed} | _counted(found, torn(X, Y)))
            shown = (X, Y, found) if name == "sphere, t-SNE" and shown is None else shown
        X = np.random.default_rng(seed).normal(size=(size, 3))
        found = lowdim.trust(X, np.random.default_rng(seed + 100).normal(size=(size, 2)))
        rows.append({"data": "random picture", "seed": seed} | _counted(found, np.zeros(size, dtype=bool)))
    notebook.table(rows)
    assert shown is not None
    notebook.figure(_draw(*shown))
    _judge(notebook, rows)


def torn(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Which points have a near neighbour in the data that is shown far away."""
    near = _nearest(X, NEAREST)[1]
    usual = np.median(_nearest(Y, 15)[0][:, -1])
    lengths = np.linalg.norm(Y[near] - Y[:, None], axis=2)
    return np.asarray(lengths.max(axis=1) > APART * usual)


def _nearest(points: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import KDTree

    distances, indices = KDTree(points).query(points, count + 1)
    return distances[:, 1:], indices[:, 1:]


def _cases(size: int, seed: int) -> dict[str, tuple[np.ndarray, Any]]:
    rng = np.random.default_rng(seed)
    sphere = rng.normal(size=(size, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    square = rng.uniform(size=(size, 2)) @ np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    apart = rng.normal(size=(size, 10)) + 40.0 * np.eye(5, 10)[rng.integers(5, size=size)]
    return {
        "sphere, t-SNE": (sphere, lowdim.TSNE()),
        "sphere, UMAP": (sphere, lowdim.UMAP()),
        "roll, Isomap": (lowdim.datasets.swiss_roll(size, random_state=seed).data, lowdim.Isomap(2)),
        "flat square, PCA": (square, lowdim.PCA(2)),
        "five clusters, t-SNE": (apart, lowdim.TSNE()),
    }


def _counted(found: Any, truth: np.ndarray) -> dict[str, float]:
    """Shares: of all points torn and flagged, of the torn flagged, of the others flagged, and no better than chance."""
    flagged = found.verdict == ELSEWHERE
    return {
        "torn": float(truth.mean()),
        "flagged": float(flagged.mean()),
        "of torn": float(flagged[truth].mean()) if truth.any() else float("nan"),
        "false alarms": float(flagged[~truth].mean()),
        "chance": float((found.verdict == CHANCE).mean()),
    }


def _judge(notebook: Notebook, rows: list[dict[str, Any]]) -> None:
    def of(name: str, what: str) -> list[float]:
        return [row[what] for row in rows if row["data"] == name]

    def told(values: list[float]) -> str:
        return f"{100 * min(values):.2g} to {100 * max(values):.2g} %"

    for name in ("sphere, t-SNE", "sphere, UMAP"):
        hits, false = of(name, "of torn"), of(name, "false alarms")
        notebook.claim(
            f"{name}: torn points are flagged, others are not",
            "torn points score high",
            f"{told(hits)} of the torn, {told(false)} of the others",
            min(hits) > 0.5 and max(false) < 0.1,
        )
    for name in ("roll, Isomap", "flat square, PCA"):
        flagged = of(name, "flagged")
        notebook.claim(
            f"{name}: nothing is torn", "", f"{told(flagged)} of the points flagged", max(flagged) < 0.01
        )
    lost = of("random picture", "chance")
    notebook.claim(
        "a random picture is no better than chance", "", f"{told(lost)} of the points", min(lost) > 0.95
    )
    lost = of("five clusters, t-SNE", "chance")
    notebook.claim(
        "points of clusters far apart are better than chance", "", f"{told(lost)} are not", max(lost) < 0.01
    )


def _draw(X: np.ndarray, Y: np.ndarray, found: Any) -> Figure:
    figure = Figure(figsize=(11, 3.9), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    usual = {"s": 9, "linewidths": 0}
    left.scatter(*Y.T, c=X[:, 2], cmap="viridis", **usual)
    left.set_title("a sphere by t-SNE, by height", fontsize=11)
    truth = torn(X, Y)
    middle.scatter(*Y[~truth].T, color="#c9ced6", **usual)
    middle.scatter(*Y[truth].T, color="#e76300", **usual)
    middle.set_title(f"torn in truth: {100 * truth.mean():.2g} %", fontsize=11)
    flagged = found.verdict == ELSEWHERE
    right.scatter(*Y[~flagged].T, color="#c9ced6", **usual)
    right.scatter(*Y[flagged].T, color="#3f90da", **usual)
    right.set_title(f"would land elsewhere: {100 * flagged.mean():.2g} %", fontsize=11)
    for axes in (left, middle, right):
        axes.set(xticks=[], yticks=[], aspect="equal")
    return figure
