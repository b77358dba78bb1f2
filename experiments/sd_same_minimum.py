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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lowdim.core.records import Floats, Sparse
from lowdim.objectives.base import NeighborObjective
from lowdim.optimize import Momentum, Outcome

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
PAPERS, GROWING, OWN = "the paper's steps", "growing steps", "steps of its own"
LEVELS = (1e-2, 1e-4)
JUDGED = 1e-2
"""Gap that counts as down to the minimum: where the curves of the paper end, to the eye."""
MUCH = 3.0
GROUPS = (("GD",), ("FP", "DiagH"), ("CG", "SD-"), ("L-BFGS", "SD"))
"""From slow to fast, as the authors found."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Start:
    """An X near a minimum: of which objective, how it was made, E there and at the minimum, and the runs from it."""

    name: str
    kind: str
    first: float
    least: float
    growing: Mapping[str, Outcome]
    papers: Mapping[str, Outcome]

    def runs(self, steps: str) -> dict[str, Outcome]:
        """The run of each optimiser, with one of the two line searches where it has the choice."""
        return {**self.growing, **self.papers} if steps == PAPERS else dict(self.growing)

    def at(self, gap: float) -> float:
        """E at a gap."""
        return self.least + gap * (self.first - self.least)

    def gap(self, values: Any) -> Any:
        """E above the minimum, relative to the start."""
        return (values - self.least) / (self.first - self.least)


def run(notebook: Notebook) -> None:
    """Run every optimiser from every start for the same time."""
    step, seconds = (4, 0.3) if notebook.quick else (1, 6.0)
    points, _ = coil(step)
    P = affinities(points, 20.0)
    starts: dict[tuple[str, str], Start] = {}
    for name, lam in LAMBDAS.items():
        E, rng = objective(name, P, lam), np.random.default_rng(0)
        least = low_minimum(E, 1e-2 * rng.standard_normal((len(points), 2)))
        smooth = settle(E.with_lambda(lam / 3.0), least)
        rough = least + 0.02 * least.std() * rng.standard_normal(least.shape)
        warm_up(E, smooth, [*optimizers().values(), *paper_steps().values()])
        for kind, X in ((SMOOTH, smooth), (ROUGH, rough)):
            bottom = settle(E, X) if kind == SMOOTH else least
            starts[name, kind] = _runs(E, name, kind, X, bottom, seconds)
        if name == "EE":
            _calm_momentum(notebook, E, smooth, starts[name, SMOOTH], seconds)
    rows = [row for start in starts.values() for row in _rows(start)]
    notebook.table(rows)
    for kind, steps, figure in (
        (SMOOTH, PAPERS, "figure"),
        (SMOOTH, GROWING, "growing_steps"),
        (ROUGH, GROWING, "noise"),
    ):
        notebook.figure(_draw([starts[name, kind] for name in LAMBDAS], steps), figure)
    for name in LAMBDAS:
        for steps in (PAPERS, GROWING):
            _judge(notebook, starts[name, SMOOTH], steps)
    _remark(notebook, starts, P, seconds)


def _runs(E: NeighborObjective, name: str, kind: str, X: Floats, bottom: Floats, seconds: float) -> Start:
    first, least = (E.evaluate(place).value for place in (X, bottom))
    growing = {key: run_for(E, X, optimizer, seconds) for key, optimizer in optimizers().items()}
    papers = {key: run_for(E, X, optimizer, seconds) for key, optimizer in paper_steps().items()}
    return Start(name, kind, first, least, growing, papers)


def _rows(start: Start) -> Rows:
    rows = []
    for key in NAMES:
        for steps, runs in ((PAPERS, start.papers), (GROWING, start.growing)):
            if key not in runs:
                continue
            outcome, shown = runs[key], steps if key in start.papers else OWN
            row = {"objective": start.name, "start": start.kind, "optimiser": key, "steps": shown}
            for level in LEVELS:
                took = first_below(outcome.history, start.at(level))
                row |= {f"{unit} to {level:g}": value for unit, value in took.items()}
            gap = start.gap(outcome.value)
            rows.append(row | {"gap at the end": float(f"{gap:.2g}"), "iterations": outcome.iterations})
    return rows


def _took(start: Start, steps: str, unit: str, level: float = JUDGED) -> dict[str, float]:
    """What each optimiser took to a gap."""
    return {key: first_below(run.history, start.at(level))[unit] for key, run in start.runs(steps).items()}


def _judge(notebook: Notebook, start: Start, steps: str) -> None:
    """The authors' order, group by group, in seconds to the gap."""
    seconds, iterations = (_took(start, steps, unit) for unit in ("seconds", "iterations"))

    def shown(group: tuple[str, ...]) -> str:
        return ", ".join(f"{key} {show(seconds[key], 2)} s ({show(iterations[key])})" for key in group)

    for slow, fast in pairwise(GROUPS):
        factor = MUCH if slow == ("GD",) else 1.0
        words = f"{' and '.join(slow)} {'far ' if factor > 1 else ''}slower than {' and '.join(fast)}"
        held = min(seconds[key] for key in slow) > factor * max(seconds[key] for key in fast)
        notebook.claim(f"{start.name}, {steps}: {words}", "yes", f"{shown(slow)}; {shown(fast)}", held)


def _calm_momentum(notebook: Notebook, E: NeighborObjective, X: Floats, start: Start, seconds: float) -> None:
    """Momentum whose rate the largest entry of the Hessian's diagonal bounds."""
    diagonal = E.diagonal(X)
    calm = run_for(E, X, Momentum(8.0 * E.lam / diagonal.max()), seconds)
    took = first_below(calm.history, start.at(JUDGED))["seconds"]
    notebook.remark(
        f"EE: the diagonal of the Hessian is {diagonal.mean():.2g} in the mean and {diagonal.max():.2g} at most. "
        f"Momentum's own rate leaves a gap of {start.gap(start.growing['momentum'].value):.2g}; the rate 2 / (largest "
        f"entry) leaves {start.gap(calm.value):.2g} and takes {show(took, 2)} s to {JUDGED:g}."
    )


def _remark(notebook: Notebook, starts: Mapping[tuple[str, str], Start], P: Sparse, budget: float) -> None:
    notebook.remark(
        f"The claims are in seconds (iterations) until E - E* is {JUDGED:g} of what it was at the start, from the "
        f"minimum at {SMOOTH}; '-' is not within {budget:g} s. GD counts as far slower from {MUCH:g} times on."
    )
    for (name, kind), start in starts.items():
        said = []
        for level in LEVELS:
            took = _took(start, GROWING, "seconds", level)
            order = sorted(took, key=took.__getitem__)
            said.append(f"to {level:g}: " + ", ".join(f"{key} {show(took[key], 2)}" for key in order))
        notebook.remark(f"{name} from {kind}, growing steps, seconds {'; '.join(said)}.")
    for name in LAMBDAS:
        fixed, free = (_took(starts[name, SMOOTH], steps, "evaluations") for steps in (PAPERS, GROWING))
        pairs = [f"{key} {show(fixed[key])} -> {show(free[key])}" for key in PAPER if fixed[key] != free[key]]
        notebook.remark(
            f"{name}: evaluations with the paper's steps -> with growing ones: {', '.join(pairs)}."
        )
    degrees = P.sum(axis=1)
    notebook.remark(
        f"The degrees of the affinities differ by {degrees.std() / degrees.mean():.0%} (deviation over mean), so that "
        f"FP is GD but for its first step, which is 1 / (4 degree) = {0.25 / degrees.mean():.0f} times as long. Where "
        "GD is far slower, it is because the paper's step starts at 1 and never grows; where the repulsion bounds the "
        "step anyway, or steps may grow, the two are alike."
    )


def _draw(starts: list[Start], steps: str) -> Figure:
    figure = Figure(figsize=(11, 8.4), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True, sharex="col")
    for line, start in zip(panels, starts, strict=True):
        runs = start.runs(steps)
        for key in NAMES:
            history = runs[key].history
            # The lowest E so far: momentum goes up and down.
            gaps = np.maximum(np.minimum.accumulate(start.gap(history.values)), 1e-9)
            dashes = "-" if key in PAPER else "--"
            for panel, along in zip(line, (history.iterations, history.seconds), strict=True):
                panel.plot(along, gaps, dashes, color=COLOURS[key], label=key, lw=1.5)
        line[0].set(
            xscale="log", yscale="log", ylim=(1e-6, 1.5), xlim=(1, None), ylabel="relative gap to the minimum"
        )
        line[1].set(xscale="log", xlim=(1e-3, None))
        line[0].set_title(f"{start.name}, lambda = {LAMBDAS[start.name]:g}", loc="left")
        for panel in line:
            panel.axhline(JUDGED, color="0.6", lw=0.8)
            panel.grid(alpha=0.3)
    for panel, label in zip(panels[1], ("iterations", "seconds"), strict=True):
        panel.set_xlabel(label)
    figure.suptitle(f"start: {starts[0].kind}; {steps}")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(NAMES))
    return figure
