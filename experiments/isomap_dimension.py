"""Isomap faces: the residual variance falls until three dimensions, which are the light and the pose.

698 rendered faces, 6 neighbours (Tenenbaum, de Silva & Langford 2000, figs. 1 and 2; theirs had 64 x 64 pixels, these
have 32 x 32). Residual variance is 1 - R^2 between the distances in d dimensions and the best estimate of the distances
on the manifold: geodesics for Isomap, straight lines for PCA.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .notebook import Notebook
from .pictures import thumbnails

NEIGHBORS = 6
DIMENSIONS = 10
PAPER = {"light": 0.92, "left and right": 0.99, "up and down": 0.90}
"""The parameters, and the correlation of an axis with each (Tenenbaum et al. 2000, fig. 1)."""


def run(notebook: Notebook) -> None:
    """Curves of residual variance, and what the axes mean."""
    faces = lowdim.datasets.load("isomap_faces")
    step = 2 if notebook.quick else 1
    data, parameters, images = faces.data[::step], faces.parameters[::step], faces.images[::step]
    isomap = lowdim.Isomap(DIMENSIONS, n_neighbors=NEIGHBORS).fit(data)
    curves = {
        "Isomap": isomap.residual_variance_,
        "PCA": lowdim.metrics.residual_variance(_distances(data), lowdim.PCA(DIMENSIONS).fit_transform(data)),
    }
    rows = [
        {"d": d + 1} | {name: float(curve[d]) for name, curve in curves.items()} for d in range(DIMENSIONS)
    ]
    notebook.table(rows)
    R = np.abs(np.corrcoef(isomap.embedding_[:, :3].T, parameters.T)[:3, 3:])
    notebook.table(
        [
            {"axis": axis + 1} | {name: float(R[axis, at]) for at, name in enumerate(PAPER)}
            for axis in range(3)
        ],
        "correlations",
    )
    notebook.figure(_draw(curves, isomap.embedding_, images, parameters, R))
    _judge(notebook, curves, R, isomap.embedding_[:, :3], parameters)


def elbow(curve: np.ndarray) -> int:
    """The dimension where the curve bends most: where its logarithm's fall ends, by the largest second difference."""
    log = np.log(curve)
    return int(np.argmax(log[:-2] - 2 * log[1:-1] + log[2:])) + 2


def _distances(data: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import pdist, squareform

    return squareform(pdist(data))


def _judge(
    notebook: Notebook, curves: dict[str, np.ndarray], R: np.ndarray, X: np.ndarray, parameters: np.ndarray
) -> None:
    isomap, pca = curves["Isomap"], curves["PCA"]
    notebook.claim(
        "the residual variance of Isomap bends at d = 3",
        "3",
        f"{elbow(isomap)}: {', '.join(f'{value:.3f}' for value in isomap[:5])} for d = 1 to 5",
        elbow(isomap) == 3,
    )
    notebook.claim(
        "PCA needs more dimensions",
        "by eye",
        f"{pca[2]:.3f} at d = 3, {pca[5]:.3f} at d = 6; Isomap {isomap[2]:.3f} at d = 3",
        pca[2] > 2 * isomap[2],
    )
    best = R.argmax(axis=0)
    notebook.claim(
        "each of the three axes is one of the parameters",
        ", ".join(f"{name} R = {value:.2f}" for name, value in PAPER.items()),
        ", ".join(f"{name} R = {R[best[at], at]:.2f} (axis {best[at] + 1})" for at, name in enumerate(PAPER)),
        len(set(best)) == 3 and R.max(axis=0).min() > 0.85,
    )
    ones = np.column_stack([X, np.ones(len(X))])
    left = parameters - ones @ np.linalg.lstsq(ones, parameters, rcond=None)[0]
    multiple = np.sqrt(1 - left.var(axis=0) / parameters.var(axis=0))
    notebook.remark(
        "Any direction of the three-dimensional picture, not its axes alone: multiple correlations "
        + ", ".join(f"{name} {value:.2f}" for name, value in zip(PAPER, multiple, strict=True))
        + "."
    )


def _draw(
    curves: dict[str, np.ndarray], X: np.ndarray, images: np.ndarray, parameters: np.ndarray, R: np.ndarray
) -> Figure:
    figure = Figure(figsize=(13, 7.4), layout="constrained")
    grid = figure.add_gridspec(3, 3, width_ratios=[1.0, 1.0, 2.0])
    panel = figure.add_subplot(grid[:, 0])
    d = np.arange(1, DIMENSIONS + 1)
    panel.plot(d, curves["PCA"], "^-", color="#8a919c", label="PCA")
    panel.plot(d, curves["Isomap"], "o-", color="#3b6ea5", label="Isomap")
    panel.axvline(3, color="#c8ccd2", zorder=0)
    panel.set(xlabel="dimensions d", ylabel="residual variance, 1 - R²", xticks=d, ylim=(0, None))
    panel.legend(frameon=False)
    for at, name in enumerate(PAPER):
        panel = figure.add_subplot(grid[at, 1])
        axis = int(R[:, at].argmax())
        panel.scatter(X[:, axis], parameters[:, at], s=4, color="#3b6ea5", linewidths=0)
        panel.set(xlabel=f"axis {axis + 1}", ylabel=name, xticks=[], yticks=[])
        panel.set_title(f"R = {R[axis, at]:.2f}", fontsize=10)
    panel = figure.add_subplot(grid[:, 2])
    thumbnails(panel, X[:, :2], images, across=10, zoom=0.85)
    panel.set(xlabel="axis 1", ylabel="axis 2")
    return figure
