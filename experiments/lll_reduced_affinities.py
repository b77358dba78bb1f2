"""Digits: the landmarks alone, embedded by the reduced affinities of LLL and by their original affinities.

The set-up of lll-landmarks in two dimensions, L = 1000. Reduced affinities, A~ = Z'(D - W)Z and B~ = Z'DZ, carry those
of all points; original ones are Gaussian affinities among the landmarks alone. The picture to be like is that of the
exact eigenmap of all points, of which only the landmarks are drawn.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .data import digits, exact_eigenmap, landmark_solution
from .lll_landmarks import SETTINGS
from .notebook import Notebook, spread

NAMES = {"reduced": "reduced affinities (LLL)", "original": "original affinities"}


def run(notebook: Notebook) -> None:
    """Embed the same landmarks both ways, five times."""
    n_points, L, seeds = (4000, 300, 2) if notebook.quick else (60_000, 1000, 5)
    points, labels = digits(n_points)
    exact = exact_eigenmap(points, 2, **SETTINGS)
    rows, first = [], {}
    for seed in range(seeds):
        chosen = np.sort(np.random.default_rng(seed).choice(n_points, L, replace=False))
        whole = exact.X[chosen]
        solver = lowdim.LLL(L, n_neighbors=50, landmarks=chosen)
        X, _ = landmark_solution(exact.problem(solver=solver), points)
        alone = lowdim.LaplacianEigenmaps(2, **SETTINGS, solver="exact").fit_transform(points[chosen])
        aligned = {
            "reduced": lowdim.procrustes(X[chosen], whole),
            "original": lowdim.procrustes(alone, whole),
        }
        rows += [{"seed": seed, "affinities": name, "error": fit.error} for name, fit in aligned.items()]
        first = first or {"exact, of all points": whole} | {
            f"{NAMES[name]}, error {fit.error:.2f}": fit.aligned for name, fit in aligned.items()
        } | {"labels": labels[chosen]}
    notebook.table(rows)
    colours = first.pop("labels")
    notebook.figure(_draw(first, colours, L, n_points))
    errors = {name: [row["error"] for row in rows if row["affinities"] == name] for name in NAMES}
    notebook.claim(
        "the landmarks by reduced affinities are nearer to exact than those by original ones",
        "by eye",
        f"error {spread(errors['reduced'])} against {spread(errors['original'])}",
        max(errors["reduced"]) < min(errors["original"]),
    )


def _draw(pictures: dict[str, np.ndarray], labels: np.ndarray, L: int, n_points: int) -> Figure:
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    whole = next(iter(pictures.values()))
    low, high = np.quantile(whole, [0.002, 0.998], axis=0)
    rim = 0.1 * (high - low)
    for panel, (title, X) in zip(panels, pictures.items(), strict=True):
        lowdim.plot(X, labels, ax=panel, title=title, point_size=8.0, legend=panel is panels[2])
        panel.set(
            xlim=(low[0] - rim[0], high[0] + rim[0]), ylim=(low[1] - rim[1], high[1] + rim[1]), aspect="auto"
        )
    figure.suptitle(f"{L:,} landmarks of {n_points:,} digits", fontsize=11)
    return figure
