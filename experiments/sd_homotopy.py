"""Ten objects from all sides: the elastic embedding followed through lambda, and the evaluations that it takes.

The data of sd-same-minimum; EE with w- = 1, along 50 values of lambda from 1e-4 to 1e2, evenly spaced in its logarithm,
each from the minimum before, until E falls by less than 1e-6 of itself in an iteration, or for 10,000 iterations. The
start is noise of deviation 0.01. Directions p = -B^-1 g go with the line search of the paper (first step 1, shrinks,
never grows) and with ours, whose steps may grow. The affinities sum to 1; some runs have them sum to N.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lowdim.objectives.base import NeighborObjective
from lowdim.optimize import Outcome, Schedule, Stopping, minimise
from lowdim.optimize.protocol import Optimizer

from .embeddings import (
    COLOURS,
    MEMORY,
    NAMES,
    PAPER,
    affinities,
    coil,
    objective,
    optimizers,
    paper_steps,
    warm_up,
)
from .notebook import Notebook

AUTHORS = {
    "GD": 143_237,
    "FP": 26_219,
    "DiagH": 26_235,
    "SD": 5_183,
    "SD-": 2_775,
    "L-BFGS": 6_816,
    "CG": 16_600,
}
"""Evaluations of the objective."""
PATH = (1e-4, 1e2)
MOST = 10_000
"""Iterations at one lambda."""
PAPERS, GROWING, OWN = "paper's", "growing", "its own"
Runs = dict[tuple[str, str], Outcome]


def run(notebook: Notebook) -> None:
    """Follow the path with every optimiser."""
    step, count, limit = (6, 12, 2.0) if notebook.quick else (1, 50, 40.0)
    points, _ = coil(step)
    P = affinities(points, 20.0)
    E = objective("EE", P)
    X = 1e-2 * np.random.default_rng(0).standard_normal((len(points), 2))
    ours, theirs = optimizers(), paper_steps()
    warm_up(E, X, [*ours.values(), *theirs.values()])
    runs: Runs = {}
    for name in NAMES:
        for steps, chosen in ((PAPERS, theirs), (GROWING if name in theirs else OWN, ours)):
            if name in chosen:
                runs[name, steps] = _follow(E, X, chosen[name], count, limit)
    rows = [_row(name, steps, outcome, count) for (name, steps), outcome in runs.items()]
    notebook.table(rows)
    notebook.figure(_draw(runs, count))
    for steps in (PAPERS, GROWING):
        _judge(notebook, runs, steps, count)
    _remark(notebook, runs, count, limit)
    _other_scale(notebook, runs, P, X, count, limit)


def _follow(E: NeighborObjective, X: np.ndarray, optimizer: Optimizer, count: int, limit: float) -> Outcome:
    stopping = Stopping(1e-6, MOST, value_every=1)
    path = Schedule.path(np.geomspace(*PATH, count), stopping, max_seconds=limit)
    with warnings.catch_warnings():
        # That phases end early is counted in the table.
        warnings.simplefilter("ignore")
        return minimise(E, X, optimizer, path)


def _early(outcome: Outcome) -> int:
    """Phases that used all their iterations."""
    return sum(phase.reason == "max_iterations" for phase in outcome.phases)


def _is_whole(outcome: Outcome, count: int) -> bool:
    return len(outcome.phases) == count and outcome.reason != "max_seconds"


def _row(name: str, steps: str, outcome: Outcome, count: int) -> dict[str, Any]:
    return {
        "optimiser": name,
        "steps": steps,
        "authors' evaluations": AUTHORS.get(name, ""),
        "evaluations": outcome.evaluations,
        "iterations": outcome.iterations,
        "seconds": round(outcome.seconds, 1),
        "lambdas reached": len(outcome.phases),
        "of them not converged": _early(outcome),
        "E at the end": round(outcome.value, 3) if _is_whole(outcome, count) else "",
    }


def _judge(notebook: Notebook, runs: Runs, steps: str, count: int) -> None:
    """The authors' order, neighbour by neighbour."""
    chosen = {name: runs.get((name, steps), runs.get((name, OWN))) for name in PAPER}
    taken = {name: outcome.evaluations for name, outcome in chosen.items() if outcome is not None}

    whole = {name for name, outcome in chosen.items() if outcome is not None and _is_whole(outcome, count)}

    def shown(name: str) -> str:
        return f"{name} {'' if name in whole else '> '}{taken[name]:,}"

    for less, more, factor in (
        ("SD-", "SD", 1.0),
        ("SD", "L-BFGS", 1.0),
        ("L-BFGS", "CG", 1.0),
        ("CG", "FP", 1.0),
        ("CG", "DiagH", 1.0),
        ("FP", "GD", 2.0),
        ("DiagH", "GD", 2.0),
    ):
        words = f"{steps} steps: {more} takes more evaluations than {less}"
        notebook.claim(
            words.replace("more ev", "far more ev") if factor > 1 else words,
            f"{more} {AUTHORS[more]:,}, {less} {AUTHORS[less]:,}",
            f"{shown(more)}, {shown(less)}",
            less in whole and taken[more] > factor * taken[less],
        )


def _remark(notebook: Notebook, runs: Runs, count: int, limit: float) -> None:
    cut = [
        f"{name} with {steps} steps ({len(run.phases)} of {count} lambdas)"
        for (name, steps), run in runs.items()
        if not _is_whole(run, count)
    ]
    notebook.remark(f"Each run had {limit:g} s. Cut by that: {', '.join(cut) if cut else 'none'}.")
    ratios = [
        f"{name} {run.evaluations / AUTHORS[name]:.2f}"
        for (name, steps), run in runs.items()
        if steps in (PAPERS, OWN) and name in AUTHORS and _is_whole(run, count)
    ]
    notebook.remark(f"Evaluations over the authors', with the paper's line search: {', '.join(ratios)}.")
    ours = [
        f"{name} {run.evaluations:,} in {run.seconds:.1f} s"
        for (name, steps), run in runs.items()
        if steps != PAPERS
    ]
    notebook.remark(
        f"With steps that may grow: {', '.join(ours)}. An evaluation of SD- leaves out its inner products with L^xx, "
        "each about as dear as an evaluation."
    )
    notebook.remark(
        f"L-BFGS takes {_rate(runs['L-BFGS', OWN])} evaluations an iteration here (strong Wolfe from the step "
        f"1, m = {MEMORY}); SD with the paper's steps {_rate(runs['SD', PAPERS])}, with growing ones "
        f"{_rate(runs['SD', GROWING])}."
    )
    ends = {key: run.value for key, run in runs.items() if _is_whole(run, count)}
    if ends:
        low, high = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
        notebook.remark(
            f"E at the end of those that came there: from {ends[low]:.5g} ({low[0]}, {low[1]} steps) to "
            f"{ends[high]:.5g} ({high[0]}, {high[1]} steps)."
        )


def _rate(outcome: Outcome) -> str:
    return f"{outcome.evaluations / outcome.iterations:.2f}"


def _other_scale(notebook: Notebook, runs: Runs, P: Any, X: np.ndarray, count: int, limit: float) -> None:
    """The same path where the affinities sum to N: lambda counts N times as much."""
    E = objective("EE", P * P.shape[0])
    names = ("SD", "SD-", "L-BFGS")
    said = []
    for name in names:
        taken = _follow(E, X, optimizers()[name], count, limit).evaluations
        before = runs.get((name, GROWING), runs.get((name, OWN)))
        said.append(f"{name} {taken:,}" + (f" ({before.evaluations:,})" if before is not None else ""))
    notebook.remark(
        f"With affinities that sum to N instead of 1, evaluations of {', '.join(said)}: the path then begins near the "
        "critical lambda and ends with less repulsion. With a sum of 1 the counts are nearer to the authors'."
    )


def _draw(runs: Runs, count: int) -> Figure:
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (name, steps), run in runs.items():
        line = ":" if steps == PAPERS else "-"
        lam = [phase.history.lam[-1] for phase in run.phases]
        total = np.cumsum([phase.evaluations for phase in run.phases])
        left.plot(lam, total, line, color=COLOURS[name], label=None if steps == PAPERS else name)
    left.set(xscale="log", yscale="log", xlabel="lambda", ylabel="evaluations so far")
    left.set_title("dotted: the paper's line search", loc="left")
    left.grid(alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(NAMES), fontsize=9)
    kinds = {"authors": "black", "the paper's steps": "tab:orange", "growing or its own": "tab:blue"}
    for place, name in enumerate(NAMES):
        papers, own = runs.get((name, PAPERS)), runs.get((name, GROWING)) or runs[name, OWN]
        right.bar(place - 0.27, AUTHORS.get(name, 0), 0.25, color="black")
        for shift, outcome, colour in ((0.0, papers, "tab:orange"), (0.27, own, "tab:blue")):
            if outcome is not None:
                strength = 1.0 if _is_whole(outcome, count) else 0.35
                right.bar(place + shift, outcome.evaluations, 0.25, color=colour, alpha=strength)
    for kind, colour in kinds.items():
        right.bar(0, 0, color=colour, label=kind)
    right.set(yscale="log", ylabel="evaluations in all")
    right.set_xticks(range(len(NAMES)), NAMES, rotation=35, ha="right")
    right.legend(fontsize=8, title="pale: cut by the time", title_fontsize=8)
    return figure
