"""Spectral clustering by LLL: whether it finds the clusters of the exact solution, and how much sooner.

Two data sets: the 70,000 digits with the affinities of lll-landmarks (K_W = 200, sigma = 200), whose clusters run into
one another, and 70,000 points of ten Gaussians in ten dimensions, whose clusters are clear. K-means starts 20 times: on
all points for the exact solution, on the landmarks alone for LLL, whose best seeds then take one run on all points.
Clusters are the same where at least 95 % of the points agree after the best matching of the clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

import lowdim

from .data import digits, eigsh_seconds, warm_up
from .notebook import Notebook, spread

SEEDS = 5
CLUSTERS = 10
SAME = 0.95
SHARED = ("neighbours", "affinities")
"""Stages that both solutions need, whatever solves the problem."""
OWN = ("landmarks", "reduce", "small problem", "polish", "solve", "k-means")


@dataclass(frozen=True)
class Clustering:
    """What one solver found: labels of each seed (seeds x N), and mean seconds by stage."""

    name: str
    labels: np.ndarray
    seconds: dict[str, float]

    @property
    def own(self) -> float:
        """Seconds beside neighbours and affinities."""
        return sum(self.seconds.get(stage, 0.0) for stage in OWN)


def run(notebook: Notebook) -> None:
    """Cluster both data sets exactly and by LLL, compare, draw."""
    n_points, n_landmarks = (4000, 300) if notebook.quick else (70_000, 1000)
    warm_up()
    pixels, labels = digits(n_points)
    clear, origins = gaussians(n_points)
    sets = {
        f"{n_points:,} digits": (pixels, labels.astype(int), {"n_neighbors": 200, "bandwidth": 200.0}),
        f"{n_points:,} points of ten Gaussians": (clear, origins, {"n_neighbors": 50}),
    }
    figure = Figure(figsize=(11, 7.6), layout="constrained")
    rows: list[dict[str, Any]] = []
    for panels, (title, (points, classes, options)) in zip(figure.subplots(2, 2), sets.items(), strict=True):
        found, W = cluster(points, options, solvers(n_landmarks))
        exact = found[0]
        by_eigsh = eigsh_seconds(W, CLUSTERS - 1)
        rows += [line(title, one, exact, classes) for one in found]
        draw(panels, title, found)
        judge(notebook, title, found, by_eigsh)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=6
    )
    notebook.table(rows)
    notebook.figure(figure)


def solvers(n_landmarks: int) -> dict[str, Any]:
    """Exact; LLL; with three times the landmarks; polished by ten steps of Chebyshev on all points."""
    return {
        "exact": "exact",
        f"LLL, L = {n_landmarks}": lowdim.LLL(n_landmarks),
        f"LLL, L = {3 * n_landmarks}": lowdim.LLL(3 * n_landmarks),
        f"LLL, L = {n_landmarks}, polished": lowdim.LLL(n_landmarks, polish=10),
    }


def gaussians(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of ten round clusters, near enough to touch."""
    rng = np.random.default_rng(0)
    origins = rng.integers(CLUSTERS, size=n_points)
    return 1.8 * rng.standard_normal((CLUSTERS, 10))[origins] + rng.standard_normal((n_points, 10)), origins


def cluster(
    points: np.ndarray, options: dict[str, Any], chosen: dict[str, Any]
) -> tuple[list[Clustering], Any]:
    """Clusters by each solver over five seeds, the neighbours being searched for once; and the affinities."""
    labels: dict[str, list[np.ndarray]] = {name: [] for name in chosen}
    kept: dict[str, Any] = {}

    def keep(fitted: Any, X: Any, y: Any) -> float:
        name = next(name for name, solver in chosen.items() if solver is fitted.solver)
        labels[name].append(fitted.labels_)
        if name == "exact":
            kept["W"] = fitted.affinity_matrix_
        return 0.0

    estimator = lowdim.SpectralClustering(CLUSTERS, n_init=20, **options)
    swept = lowdim.sweep(estimator, {"solver": list(chosen.values())}, points, score=keep, seeds=SEEDS)
    found = []
    for place, name in enumerate(chosen):
        runs = [run.stages for run in swept.runs if run.point == place]
        seconds = {stage: float(np.mean([run.get(stage, 0.0) for run in runs])) for stage in OWN}
        found.append(Clustering(name, np.array(labels[name]), seconds))
    first = swept.runs[0].stages
    for one in found:
        one.seconds.update({stage: first[stage] for stage in SHARED})
    # The polished solution has the landmarks and Z of the first: the sweep computed them once.
    found[3].seconds["landmarks"] = found[1].seconds["landmarks"]
    return found, kept["W"]


def matched(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """How many points are in cluster i of one and j of the other, the second's clusters in the order that fits best."""
    counts = np.zeros((CLUSTERS, CLUSTERS), dtype=int)
    np.add.at(counts, (first, second), 1)
    return counts[:, linear_sum_assignment(-counts)[1]]


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    """Share of points in matching clusters."""
    return float(np.trace(matched(first, second)) / first.size)


def line(title: str, one: Clustering, exact: Clustering, classes: np.ndarray) -> dict[str, Any]:
    """A row of the table."""
    return {
        "data": title,
        "method": one.name,
        "agreement with exact": spread(agreements(one, exact)),
        "agreement with classes": spread([agreement(classes, labels) for labels in one.labels]),
        **{f"seconds, {stage}": one.seconds.get(stage, 0.0) for stage in (*SHARED, *OWN)},
        "seconds beside neighbours and affinities": one.own,
    }


def agreements(one: Clustering, exact: Clustering) -> list[float]:
    """Agreement with the exact solution of each seed; of the exact one itself, of each seed with the next."""
    other = np.roll(exact.labels, 1, axis=0) if one is exact else exact.labels
    return [agreement(*pair) for pair in zip(other, one.labels, strict=True)]


def judge(notebook: Notebook, title: str, found: list[Clustering], by_eigsh: float) -> None:
    """Same clusters, ten times faster."""
    exact, plain, more, polished = found
    for one in (plain, more, polished):
        same = agreements(one, exact)
        notebook.claim(
            f"{title}: {one.name} finds the clusters of exact",
            "the same clusters",
            f"{spread(same)} of the points agree",
            np.mean(same) >= SAME,
        )
    arpack = by_eigsh + exact.seconds["k-means"]
    notebook.claim(
        f"{title}: {plain.name} is 10 times faster than exact, beside neighbours and affinities",
        "10 times",
        f"{exact.own / plain.own:.1f} times ({exact.own:.1f} s and {plain.own:.1f} s); {arpack / plain.own:.1f} times "
        "with SciPy's Lanczos as exact",
        exact.own / plain.own >= 10,
    )
    notebook.remark(
        f"{title}: eigenvectors take {exact.seconds['solve']:.1f} s by lowdim's Lanczos, {by_eigsh:.1f} s by SciPy's "
        f"and {plain.own - plain.seconds['k-means']:.1f} s by LLL, of which Z {plain.seconds['landmarks']:.1f} s; "
        f"k-means {exact.seconds['k-means']:.1f} s on all points, {plain.seconds['k-means']:.1f} s from landmarks; "
        f"neighbours and affinities, the same for all, {sum(exact.seconds[stage] for stage in SHARED):.1f} s. Exact "
        f"with another seed of k-means: {spread(agreements(exact, exact))} of the points agree."
    )


def draw(panels: Sequence[Any], title: str, found: list[Clustering]) -> None:
    """Seconds by stage, and where the clusters of exact and LLL meet."""
    bars, picture = panels
    start = np.zeros(len(found))
    for stage, colour in zip(OWN, ("C1", "C2", "C3", "C4", "C7", "C0"), strict=True):
        seconds = np.array([one.seconds.get(stage, 0.0) for one in found])
        bars.barh([one.name for one in found], seconds, left=start, color=colour, label=stage)
        start += seconds
    for place, one in enumerate(found):
        share = "" if one is found[0] else f"  agrees {100 * np.mean(agreements(one, found[0])):.1f} %"
        bars.text(start[place], place, share, va="center", fontsize=8)
    bars.invert_yaxis()
    bars.set(xlabel="seconds beside neighbours and affinities", title=title, xlim=(0, 1.35 * start.max()))
    counts = matched(found[0].labels[0], found[1].labels[0])
    picture.imshow(counts / counts.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
    for (i, j), count in np.ndenumerate(counts):
        if share := round(100 * count / counts[i].sum()):
            colour = "white" if share > 50 else "black"
            picture.text(j, i, str(share), ha="center", va="center", fontsize=7, color=colour)
    picture.set(xlabel=f"cluster by {found[1].name}", ylabel="cluster by exact", xticks=[], yticks=[])
    picture.set_title("% of each exact cluster", fontsize=10)
