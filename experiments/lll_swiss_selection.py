"""Swiss roll: whether the sigma and the K_W that LLL finds best are those that the exact solution finds best.

The roll is 1.5 times as long as wide, so that the first two eigenvectors of the exact Laplacian are its two axes (at
4 : 1 they are harmonics of one). Laplacian eigenmaps scale every coordinate to the same variance; the truth, arc length
and width, is scaled so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .notebook import Notebook, spread

SEEDS = 5
LANDMARKS = {"random": "LLL, landmarks at random", "farthest": "LLL, farthest-point landmarks"}
FIXED_NEIGHBORS = 150
FIXED_BANDWIDTH = 4.0
"""A sigma that reaches the next winding (6.3 away) a little, so that the number of neighbours matters."""


@dataclass
class Curve:
    """A sweep over one parameter: errors against truth and against exact (seeds x values), seconds by stage."""

    name: str
    truth: np.ndarray
    exact: np.ndarray | None
    fits: lowdim.selection.Sweep
    embeddings: dict[float, np.ndarray] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """Place of the minimum of the mean error against the truth."""
        return int(np.argmin(self.truth.mean(axis=0)))

    @property
    def seconds(self) -> float:
        """Median seconds of a fit beside neighbours, Z and affinities, which are shared or the same for all."""
        solving = ("reduce", "small problem", "solve")
        return float(
            np.median([sum(run.stages.get(part, 0.0) for part in solving) for run in self.fits.runs])
        )


def run(notebook: Notebook) -> None:
    """Vary sigma at K_W = 150, then K_W at one sigma."""
    n_points, n_landmarks = (1000, 120) if notebook.quick else (4000, 300)
    roll = lowdim.datasets.swiss_roll(n_points, aspect=1.5, random_state=0)
    truth = (roll.parameters - roll.parameters.mean(axis=0)) / roll.parameters.std(axis=0)
    density = np.sqrt(n_points / 4000)
    bandwidths = np.round(2.0 * 2.0 ** np.arange(-1.5, 2.01, 0.25) / density, 3)
    numbers = [4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256]
    fixed = round(FIXED_BANDWIDTH / density, 3), round(FIXED_NEIGHBORS * density**2)
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col")
    rows: list[dict[str, Any]] = []
    for column, (parameter, values) in enumerate([("bandwidth", bandwidths), ("n_neighbors", numbers)]):
        base = lowdim.LaplacianEigenmaps(2, n_neighbors=fixed[1], bandwidth=fixed[0])
        exact = sweep(base, "exact", parameter, values, roll.data, truth)
        curves = [exact]
        for choose in LANDMARKS:
            solver = lowdim.LLL(n_landmarks, n_neighbors=3, choose=choose)
            curves.append(sweep(base, solver, parameter, values, roll.data, truth, exact))
        at = f"K_W = {fixed[1]}" if column == 0 else f"sigma = {fixed[0]:g}"
        draw(panels[:, column], values, curves, f"{'sigma' if column == 0 else 'K_W'} (at {at})")
        rows += [
            line(curve, parameter, value, place) for curve in curves for place, value in enumerate(values)
        ]
        judge(notebook, "sigma" if column == 0 else "K_W", values, curves)
    panels[0, 1].legend(frameon=False, title="ring: least error", loc="upper left")
    notebook.table(rows)
    notebook.figure(figure)
    more_neighbors(notebook, base.set_params(bandwidth=2.0 / density), n_landmarks, roll.data, truth)


def sweep(
    base: Any,
    solver: Any,
    parameter: str,
    values: Sequence[float],
    data: np.ndarray,
    truth: np.ndarray,
    exact: Curve | None = None,
) -> Curve:
    """Errors along one parameter; landmarks over five seeds, the exact solution once."""
    embeddings: dict[float, np.ndarray] = {}

    def errors(fitted: Any, X: Any, y: Any) -> dict[str, float]:
        value = getattr(fitted, parameter)
        embeddings[value] = fitted.embedding_
        found = {"truth_error": lowdim.procrustes(fitted.embedding_, truth).error}
        if exact is not None:
            found["exact_error"] = lowdim.procrustes(fitted.embedding_, exact.embeddings[value]).error
        return found

    estimator = type(base)(**{**base.get_params(deep=False), "solver": solver})
    seeds = 1 if exact is None else SEEDS
    fits = lowdim.sweep(estimator, {parameter: list(values)}, data, score=errors, seeds=seeds)

    def by_seed(name: str) -> np.ndarray:
        return np.array([one.figures[name] for one in fits.runs]).reshape(seeds, len(values))

    name = "exact" if exact is None else LANDMARKS[solver.choose]
    against = None if exact is None else by_seed("exact_error")
    return Curve(name, by_seed("truth_error"), against, fits, embeddings)


def line(curve: Curve, parameter: str, value: float, place: int) -> dict[str, Any]:
    """A row of the table."""
    return {
        "parameter": parameter,
        "value": f"{value:g}",
        "method": curve.name,
        "error against truth": spread(curve.truth[:, place]),
        "error against exact": "" if curve.exact is None else spread(curve.exact[:, place]),
    }


def judge(notebook: Notebook, name: str, values: Sequence[float], curves: list[Curve]) -> None:
    """Whether the minima coincide, at the same point of the grid or the next, and whether Z was computed once."""
    exact = curves[0]
    for curve in curves[1:]:
        loss = exact.truth[0, curve.least] - exact.truth[0, exact.least]
        notebook.claim(
            f"{name}: the minima of exact and {curve.name} coincide (same or next point of the grid)",
            "they coincide",
            f"exact {values[exact.least]:g}, LLL {values[curve.least]:g}; exact at LLL's choice is {loss:.3f} above "
            f"its least error, {exact.truth[0, exact.least]:.3f}",
            abs(curve.least - exact.least) <= 1,
        )
    weighing = [run.stages.get("landmarks", 0.0) for run in curves[1].fits.runs]
    first = np.array(weighing).reshape(SEEDS, len(values))
    notebook.claim(
        f"{name}: Z is computed once",
        "once for all points of the grid",
        f"{1e3 * first[:, 0].mean():.1f} ms at the first point, {1e3 * first[:, 1:].mean():.2f} ms at each other",
        first[:, 1:].mean() < 0.1 * first[:, 0].mean(),
    )
    notebook.remark(
        f"{name}: reduction and small solve take {1e3 * curves[1].seconds:.0f} ms at each point of the grid, the exact "
        f"Lanczos {1e3 * exact.seconds:.0f} ms (medians): {exact.seconds / curves[1].seconds:.1f} times as long."
    )
    if name == "K_W":
        floor(notebook, values, exact)


def floor(notebook: Notebook, values: Sequence[float], exact: Curve) -> None:
    """How flat the floor of the exact curve over K_W is."""
    good = np.asarray(values)[exact.truth[0] < exact.truth[0].min() + 0.02]
    notebook.remark(
        f"K_W: exact is within 0.02 of its least error for all of K_W = {', '.join(map(str, good))}. On so flat a "
        "floor LLL's own error decides where its minimum lies: the sparser the graph, the rougher are the eigenvectors "
        "between landmarks. Landmarks at random leave gaps and so favour denser graphs; farthest-point ones do not."
    )


def more_neighbors(
    notebook: Notebook, base: Any, n_landmarks: int, data: np.ndarray, truth: np.ndarray
) -> None:
    """What more landmarks for each point do: they reach over to the next winding."""
    said = []
    for choose, name in LANDMARKS.items():
        base.set_params(solver=lowdim.LLL(n_landmarks, choose=choose))
        fits = lowdim.sweep(base, {"n_landmark_neighbors": [3, 5, 8, 12]}, data, truth=truth, seeds=SEEDS)
        errors = ", ".join(f"{row['procrustes_error']:.2f}" for row in fits.rows)
        said.append(f"{errors} ({name.removeprefix('LLL, ')})")
    notebook.remark(
        f"K_Z = 3 = d + 1, the least that rebuilds a point of a surface. With K_Z = 3, 5, 8, 12 at sigma = "
        f"{base.bandwidth:.3g} the error against the truth is {'; '.join(said)}: more landmarks of a point come to lie "
        "on the next winding."
    )


def draw(axes: np.ndarray, values: Sequence[float], curves: list[Curve], label: str) -> None:
    """Errors against the truth above, against exact below; a ring at each minimum."""
    above, below = axes
    for curve, colour in zip(curves, ("black", "tab:orange", "tab:blue"), strict=True):
        for panel, errors in ((above, curve.truth), (below, curve.exact)):
            if errors is None:
                continue
            mean, deviation = errors.mean(axis=0), errors.std(axis=0)
            panel.plot(values, mean, color=colour, label=curve.name, marker=".")
            panel.fill_between(
                values, mean - deviation, mean + deviation, color=colour, alpha=0.2, linewidth=0
            )
        least = curve.truth.mean(axis=0)[curve.least]
        above.plot(values[curve.least], least, "o", color=colour, markersize=11, fillstyle="none")
    above.set(ylabel="error against ground truth", ylim=(0, None))
    below.set(ylabel="error against exact", xlabel=label, xscale="log", ylim=(0, None))
    ticks = list(values)[::2]
    below.set_xticks(ticks, [f"{tick:.2g}" if tick < 10 else f"{tick:g}" for tick in ticks])
    below.minorticks_off()
