"""Digits: t-SNE and the elastic embedding of 20,000, minimised for the same time by SD, FP, L-BFGS and momentum.

MNIST, 50 principal components, entropic affinities of perplexity 50 over 150 neighbours, which sum to 1; t-SNE with
lambda = 1, EE with w- = 1 and lambda = 0.2 / N (0.2 where the affinities of each point sum to 1); repulsion by FFT.
With lambda = 100, as for ten objects, the first step from noise scatters all points, because E falls by it, and none
found back in the time. All start from the same noise of deviation 0.01 and have the same seconds, their preparations
included. SD keeps the 7 strongest edges of each point (kappa = 7) and the whole diagonal; beside it stands SD with all
edges, in whatever form its cost allows. Steps may grow. There is no exaggeration and no homotopy. The curves show E as
the FFT gives it; the table has it by exact sums too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lowdim
from lowdim.objectives.divergence import negative_entropy
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.optimize import Outcome
from lowdim.plotting.static import plot_gallery

from .data import digits
from .embeddings import COLOURS, affinities, first_below, objective, optimizers, run_for, show, warm_up
from .notebook import Notebook

OBJECTIVES = ("t-SNE", "EE")
CHOSEN = ("FP", "SD", "L-BFGS", "momentum", "L-BFGS from SD")
ALL_EDGES = "SD, all edges"
TINTS = COLOURS | {ALL_EDGES: "tab:pink"}
KAPPA = 7
TOLERANCE, NOISE = 1e-3, 1e-6
"""Relative error of the force, and error of E relative to itself that line searches bear with."""
SOONER = 2.0
"""SD counts as far below FP where it is so many times sooner at the E at which the higher of the two ended."""


def run(notebook: Notebook) -> None:
    """Minimise both objectives with each optimiser."""
    n_points, seconds, perplexity = (2000, 1.5, 20.0) if notebook.quick else (20_000, 25.0, 50.0)
    pixels, labels = digits(n_points)
    points = lowdim.PCA(50).fit_transform(pixels)
    P = affinities(points, perplexity, int(3 * perplexity))
    start = 1e-2 * np.random.default_rng(0).standard_normal((n_points, 2))
    outcomes: dict[str, dict[str, Outcome]] = {}
    rows: list[dict[str, Any]] = []
    for name in OBJECTIVES:
        lam = 1.0 if name == "t-SNE" else 0.2 / n_points
        E = objective(name, P, lam, FFT(TOLERANCE))
        exact = objective(name, P, lam, Exact())
        chosen = {key: optimizers(KAPPA, NOISE)[key] for key in CHOSEN}
        chosen[ALL_EDGES] = optimizers(None, NOISE)["SD"]
        warm_up(E, start, chosen.values())
        outcomes[name] = {key: run_for(E, start, optimizer, seconds) for key, optimizer in chosen.items()}
        for key, outcome in outcomes[name].items():
            value = exact.evaluate(outcome.X).value
            rows.append({"objective": name, "optimiser": key} | _row(outcome, value, points, labels))
            if name == "t-SNE":
                rows[-1]["divergence"] = value + negative_entropy(P)
    notebook.table(rows)
    notebook.figure(_draw_curves(outcomes))
    for name in OBJECTIVES:
        notebook.figure(_draw_pictures(name, outcomes[name], labels), name.lower().replace("-", "_"))
        _judge(notebook, name, outcomes[name])


def _row(outcome: Outcome, value: float, points: NDArray, labels: NDArray) -> dict[str, Any]:
    kept = ("neighbor_recall", "neighbor_accuracy")
    scores = lowdim.score(points, outcome.X, labels, measures=kept)
    return {
        "E": round(outcome.value, 4),
        "E by exact sums": round(value, 4),
        "iterations": outcome.iterations,
        "evaluations": outcome.evaluations,
        "ended by": outcome.reason,
        **{name.replace("_", " "): round(float(scores[name]), 3) for name in kept},
        "deviation": round(float(outcome.X.std()), 1),
    }


def _judge(notebook: Notebook, name: str, outcomes: Mapping[str, Outcome]) -> None:
    """Whether SD comes long before FP to the E at which the higher of the two ended."""
    fixed = outcomes["FP"]
    for key, unit in (("SD", "evaluations"), ("SD", "seconds"), (ALL_EDGES, "seconds")):
        spectral = outcomes[key]
        level = max(fixed.value, spectral.value)
        first, other = first_below(spectral.history, level)[unit], first_below(fixed.history, level)[unit]
        notebook.claim(
            f"{name}: {key} is far below FP, in {unit} (at least {SOONER:g} times sooner where the higher ended)",
            "yes",
            f"E {spectral.value:.5g} against {fixed.value:.5g} in the same time; {key} is at {level:.5g} after "
            f"{show(first)} {unit}, FP after {show(other)}: {other / first:.2g} times",
            other / first >= SOONER,
        )
    lowest = min(outcomes, key=lambda key: outcomes[key].value)
    said = []
    for key, outcome in outcomes.items():
        took = first_below(outcomes[lowest].history, outcome.value)["seconds"]
        said.append(f"{key} {outcome.value:.5g} (there after {took:.2g} s)")
    notebook.remark(
        f"{name}: the lowest E is that of {lowest}. E at the end, and when {lowest} was there: {', '.join(said)}."
    )
    wide = {key: float(outcome.X.std()) for key, outcome in outcomes.items()}
    grown = [
        f"{key} ({size:.0f})" for key, size in wide.items() if size > 10.0 * np.median(list(wide.values()))
    ]
    if grown and name == "t-SNE":
        notebook.remark(
            f"{name}: pictures more than ten times as wide as the median one, by deviation: {', '.join(grown)}. "
            "Where all distances are large, 1 / (1 + D) is 1 / D, and E no longer changes with the scale: nothing "
            "holds the picture."
        )
    noisy = [key for key, outcome in outcomes.items() if outcome.reason == "stalled"]
    if noisy:
        notebook.remark(
            f"{name}: no step lowered E any more, before the time was up, for {', '.join(noisy)}."
        )


def _draw_curves(outcomes: Mapping[str, Mapping[str, Outcome]]) -> Figure:
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharey="row")
    for line, (name, runs) in zip(panels, outcomes.items(), strict=True):
        lowest = min(run.value for run in runs.values())
        for key, run in runs.items():
            gaps = np.minimum.accumulate(run.history.values) - lowest
            for panel, along in zip(line, (run.history.evaluations, run.history.seconds), strict=True):
                panel.plot(along, np.maximum(gaps, 1e-12), color=TINTS[key], label=key)
        ends = sorted(run.value - lowest for run in runs.values())
        top = max(run.history.values[0] for run in runs.values()) - lowest
        line[0].set(xscale="log", yscale="log", ylim=(max(0.1 * ends[1], 1e-6 * top), 2.0 * top))
        line[0].set(ylabel="E above the lowest of all")
        line[1].set(xscale="log")
        line[0].set_title(f"{name}; lowest E {lowest:.5g}", loc="left")
        for panel in line:
            panel.grid(alpha=0.3)
    panels[1, 0].set_xlabel("evaluations")
    panels[1, 1].set_xlabel("seconds")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(TINTS))
    return figure


def _draw_pictures(name: str, outcomes: Mapping[str, Outcome], labels: NDArray) -> Figure:
    pictures = {f"{key}: E = {outcome.value:.5g}": outcome.X for key, outcome in outcomes.items()}
    return plot_gallery(pictures, labels, title=name, columns=3)
