"""Digits: two-dimensional pictures by LLL, LE(Nystrom) and LE(Z) after five seconds each, beside exact.

The set-up of lll-landmarks. Each method takes as many landmarks as it can within the time; what counts is what comes
after the affinities of all points for LLL, and everything for the two that embed the landmarks alone. Two coordinates
are computed: the first two are the same ones among fifty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .data import Eigenmap, digits, exact_eigenmap, landmark_solution
from .lll_landmarks import METHODS, SETTINGS
from .notebook import Notebook

ALIKE = 0.3
"""Error below which two pictures count as alike: the coordinates then have a correlation of 0.95 and more."""
NAMES = ("LLL", "LE(Z)", "LE(Nystrom)")


def run(notebook: Notebook) -> None:
    """Grow the landmarks of each method until the time is up, draw the last picture of each."""
    n_points, budget = (4000, 0.5) if notebook.quick else (60_000, 5.0)
    points, labels = digits(n_points)
    exact = exact_eigenmap(points, 2, **SETTINGS)
    best = {name: _within(exact, name, budget) for name in NAMES}
    rows = [
        {"method": name} | {key: row[key] for key in ("L", "seconds", "error")} for name, row in best.items()
    ]
    solve = exact.seconds["solve"]
    notebook.table([{"method": "exact", "seconds": solve, "error": 0.0}, *rows])
    notebook.figure(_draw(exact, labels, best))
    for name in NAMES:
        row, like = best[name], name == "LLL"
        notebook.claim(
            f"{name} {'looks' if like else 'does not look'} like exact after {budget:g} s",
            "by eye",
            f"error {row['error']:.2f} at L = {row['L']:,} ({row['seconds']:.2g} s); alike is below {ALIKE:g}",
            (row["error"] < ALIKE) == like,
        )
    notebook.remark(
        f"Exact, for these two coordinates, took {solve:.2g} s here after the affinities "
        f"(neighbours {exact.seconds['neighbours']:.3g} s, affinities {exact.seconds['affinities']:.2g} s), "
        + (
            "so that it fits into the same time itself."
            if solve < budget
            else "so that it does not fit into the time."
        )
    )


def _within(exact: Eigenmap, name: str, budget: float) -> dict[str, Any]:
    """The run with the most landmarks that ends within the time, their number growing by half from run to run."""
    best: dict[str, Any] = {}
    L, seconds = 64, 0.0
    while seconds < budget and len(exact.points) // 2 >= L:
        if name == "LLL":
            problem = exact.problem(solver=METHODS[name](L))
        else:
            problem = lowdim.LaplacianEigenmaps(2, solver=METHODS[name](L), **SETTINGS)
        X, stages = landmark_solution(problem, exact.points)
        seconds = sum(stages.values())
        if not best or seconds < budget:
            aligned = lowdim.procrustes(X, exact.X)
            best = {"L": L, "seconds": seconds, "error": aligned.error, "X": aligned.aligned}
        L = 3 * L // 2
    return best


def _draw(exact: Eigenmap, labels: np.ndarray, best: dict[str, dict[str, Any]]) -> Figure:
    figure = Figure(figsize=(10, 9.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    low, high = np.quantile(exact.X, [0.002, 0.998], axis=0)
    rim = 0.08 * (high - low)
    pictures = {f"exact, {exact.seconds['solve']:.2g} s": exact.X}
    for name, row in best.items():
        title = f"{name}, L = {row['L']:,}, {row['seconds']:.2g} s, error {row['error']:.2f}"
        pictures[title] = row["X"]
    for panel, (title, X) in zip(panels, pictures.items(), strict=True):
        lowdim.plot(X, labels, ax=panel, title=title, point_size=1.0, legend=panel is panels[1])
        panel.set(
            xlim=(low[0] - rim[0], high[0] + rim[0]), ylim=(low[1] - rim[1], high[1] + rim[1]), aspect="auto"
        )
    return figure
