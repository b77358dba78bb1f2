"""Snapshot PCA: a few hundred large images by their inner products, not by the covariance of their pixels.

400 images (Sirovich & Kirby 1987). Covariance PCA solves a D x D eigenproblem, snapshot PCA a 400 x 400 one and turns
its vectors into images. At 4096 pixels the images are Olivetti's faces; at more they are the same ones enlarged (cubic
splines), so that D is the only thing that grows.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import zoom

import lowdim
from lowdim.errors import MissingDataError

from .notebook import Notebook, seconds

COMPONENTS = 20
SAME = 1e-10


def run(notebook: Notebook) -> None:
    """Both ways at growing D; the covariance as far as it goes in a minute or two."""
    images, what = _images()
    sides, most = ((32, 48, 64), 48) if notebook.quick else ((32, 48, 64, 80, 128, 256), 80)
    rows: list[dict[str, Any]] = []
    first = None
    for solver in ("snapshot", "covariance"):
        # Load what is compiled before the clock runs.
        lowdim.PCA(2, solver=solver).fit(_resized(images, 16))
    for side in sides:
        data = _resized(images, side)
        snapshot, row = _measure("snapshot", data)
        first = snapshot if side == 64 else first
        rows.append({"pixels": side * side, "solver": "snapshot"} | row)
        if side <= most:
            covariance, row = _measure("covariance", data)
            difference = _difference(snapshot.components_, covariance.components_)
            rows.append({"pixels": side * side, "solver": "covariance"} | row | {"difference": difference})
        notebook.keep(rows)
    notebook.table(rows)
    notebook.figure(_draw(rows, images, first))
    _judge(notebook, rows, what)


def _images() -> tuple[np.ndarray, str]:
    """400 images of 64 x 64: faces, or a drawn one at 400 places where there are none."""
    try:
        return lowdim.datasets.load("olivetti").images / 255.0, "Olivetti's faces"
    except MissingDataError:
        drawn = lowdim.datasets.translated_faces((20, 20), face="drawn", noise=0.5).images
        return np.stack([zoom(image, np.divide(64, image.shape), order=3) for image in drawn]), "a drawn face"


def _resized(images: np.ndarray, side: int) -> np.ndarray:
    factor = side / images.shape[1]
    if factor == 1:
        return images.reshape(len(images), -1)
    return np.stack([zoom(image, factor, order=3) for image in images]).reshape(len(images), -1)


def _measure(solver: str, data: np.ndarray) -> tuple[lowdim.PCA, dict[str, float]]:
    """Seconds (the best of three where they are few), and memory by a run of its own, which the bookkeeping slows."""
    took: list[float] = []
    while not took or (len(took) < 3 and took[0] < 5.0):
        with seconds() as once:
            model = lowdim.PCA(COMPONENTS, solver=solver).fit(data)
        took += once
    tracemalloc.start()
    lowdim.PCA(COMPONENTS, solver=solver).fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return model, {"seconds": min(took), "MB": peak / 1e6}


def _difference(A: np.ndarray, B: np.ndarray) -> float:
    """Largest |a - b| over pairs of unit vectors, their signs made the same."""
    signs = np.sign(np.sum(A * B, axis=1, keepdims=True))
    return float(np.linalg.norm(A - signs * B, axis=1).max())


def _judge(notebook: Notebook, rows: list[dict[str, Any]], what: str) -> None:
    both = {row["pixels"]: row for row in rows if row["solver"] == "covariance"}
    snapshot = {row["pixels"]: row for row in rows if row["solver"] == "snapshot"}
    largest, worst = max(both), max(row["difference"] for row in both.values())
    notebook.claim(
        f"the same {COMPONENTS} eigenvectors to {SAME:g}",
        "the same",
        f"{worst:.1e} at most, D = {min(both):,} to {largest:,} ({what})",
        worst < SAME,
    )
    for figure, unit in (("seconds", "s"), ("MB", "MB")):
        one, other = snapshot[largest][figure], both[largest][figure]
        notebook.claim(
            f"{'time' if unit == 's' else 'memory'} far smaller",
            "N^3 for D^3" if unit == "s" else "N^2 for D^2",
            f"{one:.2g} {unit} for {other:.3g} {unit} at D = {largest:,}: {other / one:.0f} times less",
            other > 10 * one,
        )
    widest = max(snapshot)
    notebook.remark(
        f"At D = {widest:,} the covariance alone would take {8 * widest**2 / 1e9:.3g} GB; snapshot PCA takes "
        f"{snapshot[widest]['seconds']:.2g} s and {snapshot[widest]['MB']:.0f} MB."
    )


def _draw(rows: list[dict[str, Any]], images: np.ndarray, model: Any) -> Figure:
    figure = Figure(figsize=(12.5, 3.6), layout="constrained")
    grid = figure.add_gridspec(2, 8)
    for place, (what, unit) in enumerate((("seconds", "seconds"), ("MB", "peak memory, MB"))):
        panel = figure.add_subplot(grid[:, 2 * place : 2 * place + 2])
        for solver, colour in (("covariance", "#8a919c"), ("snapshot", "#3b6ea5")):
            own = [row for row in rows if row["solver"] == solver]
            panel.loglog(
                [row["pixels"] for row in own], [row[what] for row in own], "o-", color=colour, label=solver
            )
        panel.set(xlabel="pixels D", ylabel=unit)
        panel.legend(frameon=False)
    for place, component in enumerate(model.components_[:8]):
        panel = figure.add_subplot(grid[place // 4, 4 + place % 4])
        panel.imshow(component.reshape(64, 64), cmap="gray")
        panel.set(xticks=[], yticks=[])
        panel.set_title(f"{place + 1}", fontsize=8)
    return figure
