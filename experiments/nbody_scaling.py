"""Repulsion between all points of a picture: seconds and errors of exact sums, Barnes-Hut and FFT as points are added.

The cloud looks like a t-SNE of digits: ten patches, dense within, bent and rimmed, with some points between; about two
points a unit of area whatever their number, as in the picture of 70,000 digits, so that it grows wider with N. An
evaluation is potential and force at all points. The points move a little between evaluations, as they do in a run:
trees are grown anew, grids are kept where they serve again. The force is compared with exact sums at 1000 of the
points. Slopes are fitted to log seconds against log N from 10,000 points on, where no fixed cost counts any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lowdim.core.records import Floats
from lowdim.core.run import Run
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.repulsion.protocol import Engine, Field, Repulsion
from lowdim.objectives.similarities import GAUSSIAN, STUDENT, Similarity

from .notebook import Notebook, seconds

ENGINES: dict[str, Repulsion] = {
    "exact": Exact(),
    "Barnes-Hut, theta 0.5": BarnesHut(),
    "Barnes-Hut, theta 0.2": BarnesHut(0.2),
    "FFT, tolerance 0.02": FFT(),
    "FFT, tolerance 0.001": FFT(1e-3),
}
JUDGED = {"exact": (2.0, 0.15), "Barnes-Hut, theta 0.5": (1.2, 0.2), "FFT, tolerance 0.02": (1.0, 0.2)}
"""Slopes of the sheet, and how far from them is still about so much."""
DENSITY = 2.0
SAMPLE = 1000
PATIENCE = 0.5
"""Seconds after which an evaluation is not repeated any more."""
PLACES = np.sqrt((np.arange(10) + 0.5) / 10) * 0.5
"""Distances of the patches from the middle, on a spiral of golden angles."""


def run(notebook: Notebook) -> None:
    """Time every engine at every number of points."""
    counts = [1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]
    fit_from, most_exact = 10_000, 50_000
    if notebook.quick:
        counts, fit_from, most_exact = [1000, 2000, 4000, 8000, 16_000, 32_000], 4000, 16_000
    rows: list[dict[str, Any]] = []
    for kernel in (STUDENT, GAUSSIAN):
        for repulsion in ENGINES.values():
            _seconds(repulsion.start(kernel, counts[0], 2, Run()), cloud(counts[0]))
        for N in counts:
            X = cloud(N)
            rows += _measured(kernel, X, most_exact >= N)
    notebook.table(rows)
    slopes = {(kernel, name): _slope(rows, kernel, name, fit_from) for kernel, name in _curves(rows)}
    notebook.table([_ending(rows, *key) | {"slope": slope} for key, slope in slopes.items()], "slopes")
    notebook.figure(_draw(rows, slopes, cloud(20_000)))
    _judge(notebook, rows, slopes, fit_from, counts)


def cloud(n_points: int) -> Floats:
    """Ten bent patches and what lies between them, DENSITY points a unit of area."""
    rng = np.random.default_rng(0)
    width = np.sqrt(n_points / DENSITY)
    middles = np.array(
        [[np.cos(a) * r, np.sin(a) * r] for a, r in zip(np.arange(10) * 2.4, PLACES, strict=True)]
    )
    patch = rng.integers(10, size=n_points)
    across, along = rng.uniform(-1, 1, (2, n_points))
    turn = np.arange(10)[patch] * 1.3
    # A square whose points press against its rim, bent along one side.
    u, v = 0.12 * np.sin(0.5 * np.pi * across), 0.06 * np.sin(0.5 * np.pi * along) + 0.06 * across**2
    shape = np.column_stack([u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)])
    strays = rng.random(n_points) < 0.02
    X = middles[patch] + shape * np.where(strays, 2.5, 1.0)[:, None]
    return np.ascontiguousarray(width * X)


def _seconds(engine: Engine, X: Floats) -> tuple[float, Field]:
    """The least seconds of an evaluation after the first one, and the field of the last."""
    rng = np.random.default_rng(1)
    times: list[float] = []
    while len(times) < 2 or (len(times) < 6 and sum(times) < PATIENCE):
        moved = X + 1e-3 * rng.standard_normal(X.shape)
        with seconds() as took:
            engine.field(moved)
        times += took
    return min(times[1:]), engine.field(X)


def _measured(kernel: Similarity, X: Floats, with_exact: bool) -> list[dict[str, Any]]:
    chosen = np.random.default_rng(2).choice(len(X), min(SAMPLE, len(X)), replace=False)
    truth = Exact().start(kernel, len(X), 2, Run()).freeze(X).at(X[chosen], Run())
    rows = []
    for name, repulsion in ENGINES.items():
        if name == "exact" and not with_exact:
            continue
        took, field = _seconds(repulsion.start(kernel, len(X), 2, Run()), X)
        # A place of the frozen field sees the point that is there, at the distance 0.
        potential = truth.potential - 1.0
        rows.append(
            {
                "kernel": kernel.name,
                "N": len(X),
                "engine": name,
                "seconds": took,
                "error of the force": _relative(field.force[chosen], truth.force),
                "error of the potential": _relative(field.potential[chosen], potential),
            }
        )
    return rows


def _relative(found: Floats, truth: Floats) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def _curves(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["kernel"], row["engine"]) for row in rows))


def _of(rows: list[dict[str, Any]], kernel: str, name: str) -> list[dict[str, Any]]:
    return [row for row in rows if (row["kernel"], row["engine"]) == (kernel, name)]


def _slope(rows: list[dict[str, Any]], kernel: str, name: str, fit_from: int) -> float:
    curve = [row for row in _of(rows, kernel, name) if row["N"] >= fit_from]
    return float(
        np.polyfit(np.log([row["N"] for row in curve]), np.log([row["seconds"] for row in curve]), 1)[0]
    )


def _ending(rows: list[dict[str, Any]], kernel: str, name: str) -> dict[str, Any]:
    last = _of(rows, kernel, name)[-1]
    return {"kernel": kernel, "engine": name, "largest N": last["N"], "seconds there": last["seconds"]}


def _judge(
    notebook: Notebook,
    rows: list[dict[str, Any]],
    slopes: dict[tuple[str, str], float],
    fit_from: int,
    counts: list[int],
) -> None:
    for kernel in ("student", "gaussian"):
        for name, (wanted, about) in JUDGED.items():
            slope, last = slopes[kernel, name], _of(rows, kernel, name)[-1]
            notebook.claim(
                f"{kernel}: {name}: slope about {wanted:g}",
                f"{wanted:g}",
                f"{slope:.2f} from N = {fit_from:,} to {last['N']:,}, where it takes {last['seconds']:.3g} s",
                abs(slope - wanted) <= about,
            )
        for name in list(ENGINES)[1:]:
            errors = [row["error of the force"] for row in _of(rows, kernel, name)]
            notebook.remark(
                f"{kernel}, {name}: relative error of the force from {min(errors):.1e} to {max(errors):.1e} over all N."
            )
    for kernel in ("student", "gaussian"):
        first = {}
        for name in ("Barnes-Hut, theta 0.5", "FFT, tolerance 0.02"):
            exact = {row["N"]: row["seconds"] for row in _of(rows, kernel, "exact")}
            quicker = [
                row["N"] for row in _of(rows, kernel, name) if row["seconds"] < exact.get(row["N"], np.inf)
            ]
            first[name] = f"{name} from N = {min(quicker):,} on" if quicker else f"{name} nowhere"
        notebook.remark(f"{kernel}: quicker than exact among the sizes tried: {'; '.join(first.values())}.")
    notebook.remark(
        f"The picture is {np.ptp(cloud(counts[-1]), axis=0).max():.0f} wide at N = {counts[-1]:,}."
    )


def _draw(rows: list[dict[str, Any]], slopes: dict[tuple[str, str], float], X: Floats) -> Figure:
    figure = Figure(figsize=(14, 8), layout="constrained")
    panels = figure.subplot_mosaic(
        [["student", "student errors", "cloud"], ["gaussian", "gaussian errors", "cloud"]]
    )
    for kernel in ("student", "gaussian"):
        line = panels[kernel], panels[f"{kernel} errors"]
        for place, name in enumerate(ENGINES):
            curve = _of(rows, kernel, name)
            N, dashes = [row["N"] for row in curve], "o--" if name.endswith(("0.2", "0.001")) else "o-"
            label = f"{name}: slope {slopes[kernel, name]:.2f}"
            line[0].plot(N, [row["seconds"] for row in curve], dashes, ms=4, color=f"C{place}", label=label)
            if name != "exact":
                errors = [row["error of the force"] for row in curve]
                line[1].plot(N, errors, dashes, ms=4, color=f"C{place}", label=name)
        line[0].set(xscale="log", yscale="log", xlabel="points", ylabel="seconds of an evaluation")
        line[1].set(xscale="log", yscale="log", xlabel="points", ylabel="relative error of the force")
        line[0].set_title(f"{kernel} kernel", loc="left")
        line[0].legend(fontsize=8, loc="lower right")
        for panel in line:
            panel.grid(alpha=0.3)
    panels["cloud"].scatter(*X.T, s=0.4, color="black", linewidths=0)
    panels["cloud"].set(aspect="equal", title=f"the cloud, {len(X):,} points")
    return figure
