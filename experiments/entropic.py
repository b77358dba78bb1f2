"""Digits: how many evaluations of the entropy each root finder takes for a point, with ordered and unordered rows.

p_j ~ exp(-beta d_j^2) over the nearest digits, alpha = log beta, F(alpha) = entropy - log K, K = 30 (Vladymyrov &
Carreira-Perpinan 2013). Newton, Halley and Euler keep to a bracket that starts from the bounds of beta and shrinks with
every evaluation; a step that leaves it is replaced by its middle. They begin at the root of the row before, with rows
as they come or in the order of the distance to the K-th neighbour; or, alone, in the middle of the bounds. Bisection
and Brent's method begin with the bounds whatever the order; bisection by doubling, as t-SNE programs have it, with
beta = 1 and no bounds. All stop where F is 0 to within the tolerance. One thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors.build import build_index

from .data import digits
from .notebook import Notebook, seconds
from .roots import METHODS, bounds, entropy, solve

PERPLEXITY = 30.0
NEIGHBORS = (90, 600)
TOLERANCES = (1e-5, 1e-10)
ORDERS = ("ordered", "unordered", "alone")
AUTHORS = {"Newton": 4.0, "Halley": 3.2, "Euler": 3.2}
"""Evaluations a point with ordered rows."""
ABOUT = 0.25


def run(notebook: Notebook) -> None:
    """Solve all rows with each method, in each order."""
    n_points, repeats = (3000, 1) if notebook.quick else (20_000, 3)
    points, _ = digits(n_points)
    lists = build_index(Rows(points), search="exact", run=Run.of()).query(None, max(NEIGHBORS), Run.of())
    distances = lists.distances.reshape(n_points, -1)
    rows: list[dict[str, Any]] = []
    for k in NEIGHBORS:
        squares = distances[:, :k] ** 2
        squares -= squares[:, :1]
        order = np.argsort(squares[:, int(PERPLEXITY) - 1], kind="stable")
        for tolerance in TOLERANCES:
            rows += _compare(squares, order, tolerance, repeats)
        rows.append(_production(np.ascontiguousarray(distances[:, :k]), repeats))
    for row in rows:
        k, tolerance = row["neighbours"], row["tolerance"]
        newton = _find(rows, k, tolerance, "Newton", "ordered")
        row["seconds over Newton's"] = row["seconds"] / newton["seconds"] if newton else ""
    notebook.table(rows)
    notebook.figure(_draw(rows))
    _judge(notebook, rows)


def _compare(squares: NDArray, order: NDArray, tolerance: float, repeats: int) -> Iterator[dict[str, Any]]:
    low, high = bounds(squares, PERPLEXITY)
    target, as_they_come = math.log(PERPLEXITY), np.arange(len(squares))
    alphas, counts = np.empty(len(squares)), np.empty(len(squares), np.int64)
    for place, method in enumerate(METHODS):
        for how in ORDERS if place < 3 else ORDERS[2:]:
            rows = order if how == "ordered" else as_they_come
            settings = (low, high, how == "alone", target, tolerance, alphas, counts)
            solve(place, squares, rows[:2], *settings)
            took = _clock(partial(solve, place, squares, rows, *settings), repeats)
            off = [abs(entropy(row, alpha, target)) for row, alpha in zip(squares, alphas, strict=True)]
            yield {
                "neighbours": squares.shape[1],
                "tolerance": tolerance,
                "method": method,
                "rows": how,
                "evaluations a point": round(float(counts.mean()), 2),
                "most": int(counts.max()),
                "largest error": max(off),
                "seconds": took,
            }


def _production(distances: NDArray, repeats: int) -> dict[str, Any]:
    """What the library does: Euler from a first guess of each row alone."""
    n_points, k = distances.shape
    indptr, values = np.arange(n_points + 1) * k, np.empty(distances.size)
    task = partial(kernels.affinities.entropic.solve_rows, indptr, distances.ravel(), PERPLEXITY, 0)
    task(2, values)
    return {
        "neighbours": k,
        "tolerance": kernels.affinities.entropic.TOLERANCE,
        "method": "lowdim (Euler)",
        "rows": "alone",
        "evaluations a point": round(task(n_points, values)[0] / n_points, 2),
        "seconds": _clock(partial(task, n_points, values), repeats),
    }


def _clock(work: Callable[[], Any], repeats: int) -> float:
    """The least seconds of some runs."""
    times = []
    for _ in range(repeats):
        with seconds() as took:
            work()
        times += took
    return min(times)


def _find(rows: list[dict[str, Any]], k: int, tolerance: float, method: str, how: str) -> dict[str, Any]:
    wanted = (k, tolerance, method, how)
    keys = ("neighbours", "tolerance", "method", "rows")
    return next((row for row in rows if tuple(row[key] for key in keys) == wanted), {})


def _judge(notebook: Notebook, rows: list[dict[str, Any]]) -> None:
    k, tolerance = NEIGHBORS[0], TOLERANCES[-1]
    for method, authors in AUTHORS.items():
        taken = [
            (how, level, _find(rows, k, level, method, how)["evaluations a point"])
            for how in ORDERS[:2]
            for level in TOLERANCES
        ]
        notebook.claim(
            f"{method} takes about {authors:g} evaluations a point, rows ordered",
            f"{authors:g}",
            "; ".join(f"{count:.2f} ({how}, to {level:g})" for how, level, count in taken),
            abs(taken[1][2] / authors - 1.0) <= ABOUT,
        )
    newton, slow = (
        _find(rows, k, tolerance, *key) for key in (("Newton", "ordered"), ("bisection", "alone"))
    )
    ratio = slow["seconds"] / newton["seconds"]
    notebook.claim(
        "bisection takes 10 to 20 times as long as Newton",
        "10 to 20",
        f"{ratio:.1f} times ({slow['evaluations a point']:.1f} evaluations a point against "
        f"{newton['evaluations a point']:.2f})",
        10.0 <= ratio <= 20.0,
    )
    _remark(notebook, rows, newton["seconds"])


def _remark(notebook: Notebook, rows: list[dict[str, Any]], newton: float) -> None:
    k, tolerance = NEIGHBORS[0], TOLERANCES[-1]
    blind = _find(rows, k, tolerance, METHODS[5], "alone")
    notebook.remark(
        f"Without the bounds, from beta = 1, bisection takes {blind['evaluations a point']:.1f} evaluations "
        f"and {blind['seconds'] / newton:.1f} times as long as Newton. An evaluation costs about the same with "
        "derivatives as without: the exponentials are most of it."
    )
    worst = max(row["largest error"] / row["tolerance"] for row in rows if "largest error" in row)
    notebook.remark(
        f"Every row of every method was solved: the largest error is {worst:.2g} of its tolerance."
    )
    own = next(row for row in rows if row["method"].startswith("lowdim"))
    notebook.remark(
        f"The library takes {own['evaluations a point']:.2f} evaluations a point to {own['tolerance']:g} "
        f"({own['neighbours']} neighbours) with Euler's steps from a guess that each row makes from its own distances, "
        "so that no row depends on another."
    )
    said = ", ".join(
        f"{method} {_find(rows, k, tolerance, method, 'alone')['evaluations a point']:.1f}"
        for method in METHODS
    )
    notebook.remark(f"From the bounds alone, without a row before: {said} evaluations to {tolerance:g}.")


def _draw(rows: list[dict[str, Any]]) -> Figure:
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, k in zip(panels, NEIGHBORS, strict=True):
        for shift, how in enumerate(ORDERS):
            for place, method in enumerate(METHODS):
                row = _find(rows, k, TOLERANCES[-1], method, how)
                if row:
                    height = row["evaluations a point"]
                    at = place + (0.27 * (shift - 1) if place < 3 else 0.0)
                    bars = panel.bar(at, height, 0.25, color=f"C{shift}")
                    panel.bar_label(bars, fmt="%.1f", fontsize=7)
        for place, evaluations in enumerate(AUTHORS.values()):
            panel.plot([place - 0.39, place - 0.15], 2 * [evaluations], color="black", lw=1.5)
        panel.set_xticks(range(len(METHODS)), [name.replace(" by", "\nby") for name in METHODS])
        panel.set_title(f"{k} neighbours, F = 0 to {TOLERANCES[-1]:g}", loc="left")
    for shift, how in enumerate(ORDERS):
        panels[1].bar(0, 0, color=f"C{shift}", label=how)
    panels[1].plot([], [], color="black", lw=1.5, label="authors, ordered")
    panels[0].set_ylabel("evaluations a point")
    panels[1].legend()
    return figure
