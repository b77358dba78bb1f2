"""Ten objects from all sides: where each optimiser of symmetric SNE ends from many random starts, in the same time.

The data and affinities of sd-same-minimum. Every start is Gaussian noise of deviation 0.01; every optimiser has the
same seconds from each, its preparations included. Directions p = -B^-1 g go with the line search of the paper and with
ours, whose steps may grow. A few starts as wide as the final picture are tried too. An optimiser that has come less
than half of the way down that the best one came counts as not under way: that all its runs are alike says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lowdim.objectives.base import NeighborObjective
from lowdim.optimize import History
from lowdim.optimize.protocol import Optimizer

from .embeddings import (
    COLOURS,
    NAMES,
    PAPER,
    affinities,
    coil,
    objective,
    optimizers,
    paper_steps,
    run_for,
    warm_up,
)
from .notebook import Notebook, spread

NARROW, WIDE = 1e-2, 1.0
PARTS = {"a tenth": 0.1, "a third": 1 / 3, "all": 1.0}
"""Shares of the time at which E is looked at."""
OLD = "{} (paper's steps)"
Values = Mapping[str, NDArray]
"""E of each optimiser: starts x shares of the time."""


def run(notebook: Notebook) -> None:
    """Run every optimiser from every start."""
    step, n_starts, n_wide, seconds = (4, 6, 3, 0.08) if notebook.quick else (1, 50, 10, 0.4)
    points, _ = coil(step)
    E = objective("s-SNE", affinities(points, 20.0))
    ours = optimizers()
    theirs = {OLD.format(name): optimizer for name, optimizer in paper_steps().items()}
    size = (len(points), 2)
    warm_up(E, WIDE * np.random.default_rng(0).standard_normal(size), [*ours.values(), *theirs.values()])
    narrow = _ends(E, ours | theirs, NARROW, n_starts, seconds)
    wide = _ends(E, ours, WIDE, n_wide, seconds)
    first = np.log(len(points) * (len(points) - 1.0))
    notebook.table([*_rows(narrow, "0.01", seconds), *_rows(wide, "1", seconds)])
    notebook.figure(_draw(narrow, wide, seconds))
    _judge(
        notebook, {name: narrow.get(OLD.format(name), narrow[name]) for name in PAPER}, first, "paper's steps"
    )
    _judge(notebook, {name: narrow[name] for name in PAPER}, first, "growing steps")
    notebook.remark(
        f"{seconds:g} s for each of {n_starts} starts, about "
        f"{seconds / _seconds_of_evaluation(E, size):.0f} evaluations. E is {first:.2f} at X = 0."
    )
    _remark(notebook, narrow, wide)


def _ends(
    E: NeighborObjective, chosen: Mapping[str, Optimizer], scale: float, count: int, seconds: float
) -> dict[str, NDArray]:
    values = {name: np.empty((count, len(PARTS))) for name in chosen}
    for seed in range(count):
        X = scale * np.random.default_rng(seed).standard_normal((E.weights.shape[0], 2))
        for name, optimizer in chosen.items():
            history = run_for(E, X, optimizer, seconds).history
            values[name][seed] = [_lowest_until(history, share * seconds) for share in PARTS.values()]
    return values


def _lowest_until(history: History, seconds: float) -> float:
    """The lowest E that was known by then; that of the start where there was none."""
    known = max(1, int(np.searchsorted(history.seconds, seconds, side="right")))
    return float(history.values[:known].min())


def _seconds_of_evaluation(E: NeighborObjective, size: tuple[int, int]) -> float:
    history = run_for(E, np.random.default_rng(0).standard_normal(size), optimizers()["GD"], 0.2).history
    return float(history.seconds[-1] / history.evaluations[-1])


def _rows(values: Values, scale: str, seconds: float) -> list[dict[str, Any]]:
    rows = []
    for name, ends in values.items():
        row: dict[str, Any] = {"deviation of the start": scale, "optimiser": name}
        for place, share in enumerate(PARTS.values()):
            row[f"E after {share * seconds:.2g} s"] = spread(ends[:, place], 5)
        rows.append(row | {"lowest": float(ends[:, -1].min()), "highest": float(ends[:, -1].max())})
    return rows


def _judge(notebook: Notebook, values: Values, first: float, steps: str) -> None:
    """Whether SD ends lowest, and least spread, among the paper's seven."""
    ends = {name: value[:, -1] for name, value in values.items()}
    means = {name: float(value.mean()) for name, value in ends.items()}
    order = sorted(means, key=means.__getitem__)
    said = ", ".join(f"{name} {means[name]:.3f}" for name in order)
    notebook.claim(f"{steps}: SD ends lowest in the mean", "yes", said, order[0] == "SD")
    under_way = [name for name in order if first - means[name] > 0.5 * (first - means[order[0]])]
    deviations = {name: float(ends[name].std()) for name in under_way}
    order = sorted(deviations, key=deviations.__getitem__)
    said = ", ".join(f"{name} {deviations[name]:.2g}" for name in order)
    missing = [name for name in PAPER if name not in under_way]
    said += f"; not under way: {', '.join(missing)}" if missing else ""
    notebook.claim(f"{steps}: SD has the least spread (standard deviation)", "yes", said, order[0] == "SD")


def _remark(notebook: Notebook, narrow: Values, wide: Values) -> None:
    sd = narrow["SD"][:, -1]
    said = []
    for name in NAMES:
        if name != "SD":
            difference = narrow[name][:, -1] - sd
            error = difference.std(ddof=1) / np.sqrt(difference.size)
            share = (difference > 0.0).mean()
            said.append(
                f"{name} {difference.mean():.4f} ± {error:.4f} (higher from {share:.0%} of the starts)"
            )
    notebook.remark(
        f"E less that of SD from the same start, growing steps, with standard error: {'; '.join(said)}."
    )
    for place, part in enumerate(PARTS):
        means = {name: float(narrow[name][:, place].mean()) for name in NAMES}
        order = sorted(means, key=means.__getitem__)
        listed = ", ".join(f"{name} {means[name]:.3f}" for name in order)
        notebook.remark(f"Mean E after {part} of the time, growing steps: {listed}.")
    falls = {name: float((narrow[name][:, 1] - narrow[name][:, -1]).mean()) for name in NAMES}
    notebook.remark(
        "In the last two thirds of the time E fell by "
        + ", ".join(
            f"{name} {fall:.3f} (deviation over starts {narrow[name][:, -1].std():.3f})"
            for name, fall in falls.items()
        )
        + ". Where the fall is less than the deviation, which of many minima was found counts for more than how far a "
        "run has come."
    )
    means = {name: float(value[:, -1].mean()) for name, value in wide.items()}
    order = sorted(means, key=means.__getitem__)
    listed = ", ".join(f"{name} {means[name]:.3f}" for name in order)
    notebook.remark(f"From {len(wide['SD'])} wide starts (deviation {WIDE:g}): {listed}.")


def _draw(narrow: Values, wide: Values, seconds: float) -> Figure:
    figure = Figure(figsize=(12, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True).ravel()
    lowest = min(float(value.min()) for value in (*narrow.values(), *wide.values()))
    for panel, (place, share) in zip(panels, enumerate(PARTS.values()), strict=False):
        _boxes(panel, {name: value[:, place] - lowest for name, value in narrow.items()})
        panel.set_title(f"after {share * seconds:.2g} s", loc="left")
    _boxes(panels[3], {name: value[:, -1] - lowest for name, value in wide.items()})
    panels[3].set_title(f"from wide starts, after {seconds:.2g} s", loc="left")
    for panel in panels:
        panel.set(yscale="log")
        panel.grid(alpha=0.3, axis="y")
    for panel in panels[::2]:
        panel.set_ylabel(f"E above the lowest found, {lowest:.3f}")
    return figure


def _boxes(panel: Any, ends: Mapping[str, NDArray]) -> None:
    """A box for each optimiser, and a dot for each start; the lowest of all is drawn at 0.001."""
    ends = {name: np.maximum(value, 1e-3) for name, value in ends.items()}
    old = [OLD.format(name) for name in PAPER]
    order = [name for pair in zip(PAPER, old, strict=True) for name in pair if name in ends]
    order += [name for name in NAMES if name not in PAPER]
    drawn = panel.boxplot([ends[name] for name in order], widths=0.6, showfliers=False, patch_artist=True)
    for place, name in enumerate(order):
        colour = COLOURS[name.split(" (")[0]]
        drawn["boxes"][place].set(facecolor=colour, alpha=0.3 if name in old else 0.7)
        drawn["medians"][place].set(color="black")
        across = place + 1 + np.linspace(-0.2, 0.2, ends[name].size)
        panel.plot(across, ends[name], ".", color=colour, ms=3)
    panel.set_xticks(range(1, len(order) + 1), order, rotation=40, ha="right", fontsize=8)
