"""Digits: error of LLL, LE(Nystrom) and LE(Z) against the number of landmarks and against seconds, beside exact.

Laplacian eigenmaps of 60,000 digits, K_W = 200, sigma = 200, d = 50, K_Z = 50. LLL restricts the problem of all points,
so it is charged for what comes after the affinities: landmarks, Z, reduction, small problem; so is exact. LE(Nystrom)
and LE(Z) embed the landmarks alone and are charged for everything, as they need no affinities of all points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .data import Eigenmap, digits, eigsh_seconds, exact_eigenmap, landmark_solution
from .notebook import Notebook, spread

SETTINGS = {"n_neighbors": 200, "bandwidth": 200.0}
METHODS = {
    "LLL": lambda L: lowdim.LLL(L, n_neighbors=50),
    "LE(Z)": lambda L: lowdim.LandmarkZ(L, n_neighbors=50),
    "LE(Nystrom)": lowdim.Nystrom,
    "LLL, K_Z = 8, polished": lambda L: lowdim.LLL(L, n_neighbors=8, polish=10),
}
COLOURS = dict(zip(METHODS, ("C0", "C1", "C2", "C4"), strict=True))


def run(notebook: Notebook) -> None:
    """Sweep the landmarks, draw, and compare with the authors' figures."""
    n_points, counts = (3000, (60, 120, 451, 1000))
    seeds, few_above, last = 2, 1000, {}
    if not notebook.quick:
        n_points, counts = 60_000, (51, 100, 212, 451, 1000, 3000, 9000, 23_636)
        # The largest take minutes each: one seed, and only for the methods that need so many.
        seeds, few_above, last = 5, 1000, {"LLL": 9000, "LLL, K_Z = 8, polished": 3000}
    points, _ = digits(n_points)
    exact = exact_eigenmap(points, 50, **SETTINGS)
    rows = []
    for L in counts:
        for name in METHODS:
            if last.get(name, L) >= L:
                rows += [_fit(exact, name, L, seed) for seed in range(seeds if few_above >= L else 1)]
        notebook.keep(rows)
        notebook.say(f"L = {L}: " + ", ".join(f"{m} {_mean(rows, m, L):.3f}" for m in METHODS))
    by_eigsh = eigsh_seconds(exact.W, 50)
    notebook.table(_summary(rows))
    notebook.figure(_draw(rows, exact, by_eigsh))
    _judge(notebook, rows, exact, by_eigsh)


def _fit(exact: Eigenmap, name: str, L: int, seed: int) -> dict[str, Any]:
    """One run: error against exact, and seconds by stage."""
    solver = METHODS[name](L)
    if name.startswith("LLL"):
        problem = exact.problem(solver=solver, seed=seed)
    else:
        problem = lowdim.LaplacianEigenmaps(50, solver=solver, random_state=seed, **SETTINGS)
    X, stages = landmark_solution(problem, exact.points)
    stages = {key: round(value, 3) for key, value in stages.items()}
    return {
        "method": name,
        "L": L,
        "seed": seed,
        "error": exact.error(X),
        "seconds": sum(stages.values()),
    } | stages


def _values(rows: list[dict[str, Any]], name: str, L: int, key: str = "error") -> list[float]:
    return [row[key] for row in rows if (row["method"], row["L"]) == (name, L)]


def _mean(rows: list[dict[str, Any]], name: str, L: int, key: str = "error") -> float:
    values = _values(rows, name, L, key)
    return float(np.mean(values)) if values else np.nan


def _counts(rows: list[dict[str, Any]], name: str) -> list[int]:
    return sorted({row["L"] for row in rows if row["method"] == name})


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "method": name,
            "L": L,
            "seeds": len(_values(rows, name, L)),
            "error": spread(_values(rows, name, L)),
            "error squared": float(np.mean(np.square(_values(rows, name, L)))),
            "seconds": spread(_values(rows, name, L, "seconds")),
        }
        for name in METHODS
        for L in _counts(rows, name)
    ]


def _draw(rows: list[dict[str, Any]], exact: Eigenmap, by_eigsh: float) -> Figure:
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for name, colour in COLOURS.items():
        counts = _counts(rows, name)
        errors = np.array([[np.mean(v), np.std(v)] for v in (_values(rows, name, L) for L in counts)])
        took = [_mean(rows, name, L, "seconds") for L in counts]
        for panel, places in ((left, counts), (right, took)):
            panel.errorbar(
                places, errors[:, 0], errors[:, 1], fmt="o-", color=colour, ms=4, capsize=2, label=name
            )
    right.axvline(exact.seconds["solve"], color="k", label="exact (lowdim), error 0")
    right.axvline(by_eigsh, color="k", ls=":", label="exact (SciPy's eigsh, largest), error 0")
    left.plot([451, 3000], [0.10, 0.03], "k*", ms=9, ls="", label="authors, LLL")
    left.plot([23_636], [0.10], "ks", mfc="none", ls="", label="authors, LE(Z)")
    left.axhline(0.5, color="0.6", lw=0.8, ls="--", label="authors, LE(Nystrom)")
    for panel, words in ((left, "landmarks L"), (right, "seconds (see the script for what is counted)")):
        panel.set(xscale="log", yscale="log", xlabel=words)
        panel.grid(alpha=0.3, which="both")
        panel.legend(fontsize=7)
    left.set_ylabel("error after Procrustes alignment, relative to exact")
    figure.suptitle(f"Laplacian eigenmaps of {len(exact.points):,} digits, d = 50", fontsize=11)
    return figure


def _judge(notebook: Notebook, rows: list[dict[str, Any]], exact: Eigenmap, by_eigsh: float) -> None:
    solve, counts = exact.seconds["solve"], _counts(rows, "LLL")
    most = max(L for L in counts if L <= 3000)
    for L, claimed in ((451, 0.10), (most, 0.03)):
        errors = _values(rows, "LLL", L)
        squared = np.mean(np.square(errors))
        notebook.claim(
            f"error of LLL at L = {L}",
            f"{claimed:.0%}" + (" (L near 3000)" if claimed < 0.1 else ""),
            f"{spread(errors)}; squared {squared:.3f}",
            np.mean(errors) < 1.05 * claimed,
        )
    ratio = solve / _mean(rows, "LLL", 451, "seconds")
    notebook.claim(
        "exact takes many times as long as LLL at L = 451",
        "14x",
        f"{ratio:.2g}x (exact {solve:.3g} s; SciPy's eigsh {by_eigsh:.3g} s, {by_eigsh / solve * ratio:.2g}x)",
        ratio > 7,
    )
    wanted = _mean(rows, "LLL", 451)
    at = [L for L in _counts(rows, "LE(Z)") if _mean(rows, "LE(Z)", L) <= wanted]
    last = _counts(rows, "LE(Z)")[-1]
    notebook.claim(
        "LE(Z) needs tens of times the landmarks for the error of LLL at L = 451",
        "23,636 against 451",
        f"{at[0]:,} against 451" if at else f"more than {last:,} (error {_mean(rows, 'LE(Z)', last):.3f})",
        not at or at[0] > 10 * 451,
    )
    plateau = [_mean(rows, "LE(Nystrom)", L) for L in _counts(rows, "LE(Nystrom)")]
    notebook.claim(
        "LE(Nystrom) stays near 50 % whatever L",
        "about 50 %",
        ", ".join(f"{value:.2f}" for value in plateau) + "; squared at the end " + f"{plateau[-1] ** 2:.2f}",
        all(0.4 < value < 0.6 for value in plateau[len(plateau) // 2 :]),
    )
    others = ("LE(Z)", "LE(Nystrom)")
    notebook.claim(
        "LLL is nearer to exact than LE(Z) and LE(Nystrom) at every L",
        "yes",
        "; ".join(
            f"L = {L}: " + " / ".join(f"{_mean(rows, m, L):.2f}" for m in ("LLL", *others)) for L in counts
        ),
        all(_mean(rows, "LLL", L) < min(_mean(rows, m, L) for m in others) for L in counts),
    )
