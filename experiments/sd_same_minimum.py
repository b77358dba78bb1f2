"""Ten objects from all sides: how fast each optimiser goes down to one minimum of EE and of symmetric SNE.

The first ten objects of COIL-20 (N = 720, D = 16384), entropic affinities of perplexity 20 over all other points, which
sum to 1; EE with lambda = 100 and w- = 1, and s-SNE; the sum over all pairs is exact. A low minimum X* is found by the
homotopy. All optimisers start at one X near it, of two kinds: the minimum at a third of lambda, whose error is smooth
over the graph, and X* with noise of 2 % of its deviation, whose error is rough. Directions p = -B^-1 g go with two line
searches: that of the paper (first step 1, shrinks, never grows), and ours, whose steps may grow. What counts is the gap
E - E*, relative to that of the start; a run that ends below E* has found another minimum and counts as down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lowdim.optimize import Outcome

from .embeddings import (
    COLOURS,
    NAMES,
    PAPER,
    affinities,
    coil,
    first_below,
    low_minimum,
    objective,
    optimizers,
    paper_steps,
    run_for,
    settle,
    show,
    warm_up,
)
from .notebook import Notebook

LAMBDAS = {"EE": 100.0, "s-SNE": 1.0}
SMOOTH, ROUGH = "a third of lambda", "noise"
STEPS = ("the paper's steps", "growing steps")
LEVELS = (1e-1, 1e-2, 1e-4)
JUDGED = 1e-2
"""Gap that counts as down to the minimum: where the curves of the paper end, to the eye."""
MUCH = 3.0
GROUPS = (("GD",), ("FP", "DiagH"), ("CG", "SD-"), ("L-BFGS", "SD"))
"""From slow to fast, as the authors found."""
Runs = Mapping[tuple[str, str, str], Mapping[str, Outcome]]


def run(notebook: Notebook) -> None:
    """Run every optimiser from every start for the same time."""
    step, seconds = (4, 0.3) if notebook.quick else (1, 4.0)
    points, _ = coil(step)
    P = affinities(points, 20.0)
    runs: dict[tuple[str, str, str], dict[str, Outcome]] = {}
    lowest: dict[tuple[str, str], tuple[float, float]] = {}
    for name, lam in LAMBDAS.items():
        E = objective(name, P, lam)
        rng = np.random.default_rng(0)
        least = low_minimum(E, 1e-2 * rng.standard_normal((len(points), 2)))
        smooth = settle(E.with_lambda(lam / 3.0), least)
        rough = least + 0.02 * least.std() * rng.standard_normal(least.shape)
        warm_up(E, smooth, [*optimizers().values(), *paper_steps().values()])
        for kind, X in ((SMOOTH, smooth), (ROUGH, rough)):
            values = [E.evaluate(place).value for place in (X, settle(E, X) if kind == SMOOTH else least)]
            lowest[name, kind] = values[0], values[1]
            ours = {key: run_for(E, X, optimizer, seconds) for key, optimizer in optimizers().items()}
            theirs = {key: run_for(E, X, optimizer, seconds) for key, optimizer in paper_steps().items()}
            runs[name, kind, STEPS[0]] = ours | theirs
            runs[name, kind, STEPS[1]] = ours
    rows = _rows(runs, lowest)
    notebook.table(rows)
    for kind, steps, figure in ((SMOOTH, 0, "figure"), (SMOOTH, 1, "growing_steps"), (ROUGH, 1, "noise")):
        notebook.figure(_draw(runs, lowest, kind, STEPS[steps]), figure)
    for name in LAMBDAS:
        for steps in STEPS:
            _judge(notebook, name, steps, rows)
    _remark(notebook, rows, seconds)


def _rows(runs: Runs, lowest: Mapping[tuple[str, str], tuple[float, float]]) -> list[dict[str, Any]]:
    rows = []
    for (name, kind, steps), outcomes in runs.items():
        first, last = lowest[name, kind]
        for key in NAMES:
            outcome, row = outcomes[key], {"objective": name, "start": kind, "steps": steps, "optimiser": key}
            for level in LEVELS:
                took = first_below(outcome.history, last + level * (first - last))
                row |= {f"{unit} to {level:g}": value for unit, value in took.items()}
            gap = (outcome.value - last) / (first - last)
            rows.append(row | {"gap at the end": gap, "iterations": outcome.iterations})
    return rows


def _took(
    rows: list[dict[str, Any]], name: str, kind: str, steps: str, unit: str, level: float = JUDGED
) -> Any:
    """What each optimiser took to a gap."""
    wanted = (name, kind, steps)
    return {
        row["optimiser"]: row[f"{unit} to {level:g}"]
        for row in rows
        if (row["objective"], row["start"], row["steps"]) == wanted
    }


def _judge(notebook: Notebook, name: str, steps: str, rows: list[dict[str, Any]]) -> None:
    """The authors' order, group by group, in seconds to the gap from the smooth start."""
    seconds = _took(rows, name, SMOOTH, steps, "seconds")
    iterations = _took(rows, name, SMOOTH, steps, "iterations")

    def shown(group: tuple[str, ...]) -> str:
        return ", ".join(f"{key} {show(seconds[key], 2)} s ({show(iterations[key])})" for key in group)

    for slow, fast in zip(GROUPS[:-1], GROUPS[1:], strict=True):
        factor = MUCH if slow == ("GD",) else 1.0
        held = min(seconds[key] for key in slow) > factor * max(seconds[key] for key in fast)
        notebook.claim(
            f"{name}, {steps}: {' and '.join(slow)} {'far ' if factor > 1 else ''}slower than {' and '.join(fast)}",
            "yes",
            f"{shown(slow)}; {shown(fast)}",
            held,
        )


def _remark(notebook: Notebook, rows: list[dict[str, Any]], budget: float) -> None:
    notebook.remark(
        f"Seconds (and iterations) until E - E* is {JUDGED:g} of what it was at the start, from the minimum at a third of "
        f"lambda; '-' is not within {budget:g} s. GD counts as far slower from {MUCH:g} times on."
    )
    for name in LAMBDAS:
        for kind in (SMOOTH, ROUGH):
            said = []
            for level in LEVELS[1:]:
                took = _took(rows, name, kind, STEPS[1], "seconds", level)
                order = sorted(took, key=took.__getitem__)
                said.append(f"to {level:g}: " + ", ".join(f"{key} {show(took[key], 2)}" for key in order))
            notebook.remark(f"{name} from {kind}, growing steps, seconds {'; '.join(said)}.")
    for name in LAMBDAS:
        fixed, free = (_took(rows, name, SMOOTH, steps, "evaluations") for steps in STEPS)
        pairs = [f"{key} {show(fixed[key])} -> {show(free[key])}" for key in PAPER if fixed[key] != free[key]]
        notebook.remark(
            f"{name}: evaluations with the paper's steps -> with steps that may grow: {', '.join(pairs)}."
        )


def _draw(runs: Runs, lowest: Mapping[tuple[str, str], tuple[float, float]], kind: str, steps: str) -> Figure:
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True)
    for line, name in zip(panels, LAMBDAS, strict=True):
        first, last = lowest[name, kind]
        for key in NAMES:
            history = runs[name, kind, steps][key].history
            # E so far: momentum goes up and down.
            gaps = np.minimum.accumulate((history.values - last) / (first - last))
            dashes = "--" if key not in PAPER else "-"
            for panel, along in zip(line, (history.iterations, history.seconds), strict=True):
                panel.plot(along, np.maximum(gaps, 1e-7), dashes, color=COLOURS[key], label=key, lw=1.4)
        line[0].set(xscale="log", yscale="log", ylim=(1e-6, 1.5), ylabel="gap to the minimum, relative")
        line[0].set(title=f"{name}, lambda = {LAMBDAS[name]:g}", xlim=(1, None))
        line[1].set(xscale="log", title=f"{name}, start: {kind}; {steps}", xlim=(1e-2, None))
        for panel in line:
            panel.axhline(JUDGED, color="0.7", lw=0.8)
            panel.grid(alpha=0.3)
    panels[1, 0].set_xlabel("iterations")
    panels[1, 1].set_xlabel("seconds")
    panels[0, 1].legend(fontsize=8, ncols=2, loc="lower left")
    return figure
