"""A million deformed digits in the plane by LLL, LE(Nystrom) and LE(Z), and whether the digits separate.

784 pixels are first reduced to 50 principal components, for the neighbours and for Z alike; 10 neighbours, self-tuning
affinities. LE(Nystrom) and LE(Z) embed the landmarks alone, with 10 neighbours among the landmarks. Three seeds of the
landmarks, the neighbours of all points being searched for once; the pictures are of the first.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import warm_up
from .notebook import Notebook, seconds, spread

N_COLUMNS = 50
K_W = 10
K_Z = 5
SEEDS = 3
DRAWN = 100_000


def run(notebook: Notebook) -> None:
    """From the file of digits to the pictures, every stage timed."""
    n_points, n_landmarks = (20_000, 1000) if notebook.quick else (1_020_000, 10_000)
    warm_up()
    with TemporaryDirectory() as folder:
        with seconds() as making:
            digits = lowdim.datasets.deformed_digits(
                n_points, path=Path(folder) / "digits.npy", random_state=0
            )
        with seconds() as turning:
            points = lowdim.PCA(N_COLUMNS).fit_transform(digits.data)
        labels = digits.labels
        del digits
    notebook.remark(
        f"{making[0]:.0f} s to make and write the digits, {turning[0]:.0f} s from the file to {N_COLUMNS} columns."
    )
    pictures, rows = embed(points, labels, solvers(n_landmarks))
    for row in rows:
        row["error against exact"] = lowdim.procrustes(pictures[row["method"]], pictures["exact"]).error
    notebook.table([{**row, "10-NN accuracy": spread(row["10-NN accuracy"])} for row in rows])
    notebook.figure(draw(pictures, rows, labels))
    judge(notebook, rows)


def solvers(n_landmarks: int) -> dict[str, Any]:
    """The three of the paper, and the exact solution beside them."""
    return {
        "LLL": lowdim.LLL(n_landmarks, n_neighbors=K_Z),
        "LE(Nystrom)": lowdim.Nystrom(n_landmarks),
        "LE(Z)": lowdim.LandmarkZ(n_landmarks, n_neighbors=K_Z),
        "exact": "exact",
    }


def embed(
    points: np.ndarray, labels: np.ndarray, chosen: dict[str, Any]
) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
    """The first embedding of each method, and its accuracies and mean seconds by stage."""
    pictures: dict[str, np.ndarray] = {}

    def accuracy(fitted: Any, X: Any, y: Any) -> float:
        name = next(name for name, solver in chosen.items() if solver is fitted.solver)
        pictures.setdefault(name, fitted.embedding_)
        return neighbor_accuracy(fitted.embedding_, labels, 10, n_jobs=-1)

    estimator = lowdim.LaplacianEigenmaps(2, n_neighbors=K_W)
    swept = lowdim.sweep(
        estimator, {"solver": list(chosen.values())}, points, score=accuracy, seeds=SEEDS, verbose=1
    )
    rows = []
    for place, name in enumerate(chosen):
        runs = [run for run in swept.runs if run.point == place]
        shared = {"neighbours", "duplicates"} & set(runs[0].stages) if name in ("LLL", "exact") else set()
        stages = {
            stage: float(np.mean([run.stages[stage] for run in runs]))
            for stage in runs[0].stages
            if stage not in ("check", "score")
        }
        # Searched for once, by the first of all runs.
        stages.update({stage: swept.runs[0].stages[stage] for stage in shared})
        accuracies = [figure for run in runs for figure in run.figures.values()]
        rows.append({"method": name, "10-NN accuracy": accuracies, **stages})
    return pictures, rows


def judge(notebook: Notebook, rows: list[dict[str, Any]]) -> None:
    """Whether the digits separate best under LLL, and the seconds next to the authors'."""
    by_name = {row["method"]: row for row in rows}
    lll, others = by_name["LLL"], [by_name["LE(Nystrom)"], by_name["LE(Z)"]]
    accuracies = ", ".join(f"{row['method']} {spread(row['10-NN accuracy'])}" for row in rows)
    notebook.claim(
        "digits separate under LLL, better than under LE(Nystrom) and LE(Z)",
        "seen in the pictures",
        f"10-NN accuracy in the plane: {accuracies}",
        np.mean(lll["10-NN accuracy"]) > max(np.mean(row["10-NN accuracy"]) for row in others),
    )
    embedding = lll["reduce"] + lll["small problem"]
    notebook.claim(
        "landmarks and Z in no more time", "4.2 min", f"{lll['landmarks']:.1f} s", lll["landmarks"] <= 252
    )
    notebook.claim(
        "reduction and small problem in no more time", "14 min", f"{embedding:.1f} s", embedding <= 840
    )
    notebook.remark(
        f"Neighbours and affinities, which LLL and exact need and the other two do not: {lll['neighbours']:.0f} s and "
        f"{lll['affinities']:.0f} s. The exact solution then takes {by_name['exact']['solve']:.0f} s by Lanczos, LLL "
        f"{lll['landmarks'] + embedding:.0f} s; Procrustes error of LLL against exact "
        f"{lll['error against exact']:.3f}, of the others {others[0]['error against exact']:.3f} and "
        f"{others[1]['error against exact']:.3f}."
    )


def draw(pictures: dict[str, np.ndarray], rows: list[dict[str, Any]], labels: np.ndarray) -> Figure:
    """A picture for each method, turned as the exact one, of a sample of the points, without the farthest 1 %."""
    figure = Figure(figsize=(11, 10.4), layout="constrained")
    chosen = np.random.default_rng(0).permutation(labels.size)[:DRAWN]
    size = np.clip(20_000 / chosen.size, 0.3, 2.0)
    for panel, row in zip(figure.subplots(2, 2).ravel(), rows, strict=True):
        X = lowdim.procrustes(pictures[row["method"]], pictures["exact"]).aligned
        colours = panel.scatter(*X[chosen].T, c=labels[chosen], s=size, cmap="tab10", linewidths=0)
        low, high = np.quantile(X, (0.01, 0.99), axis=0)
        margin = 0.05 * (high - low)
        panel.set_xlim(low[0] - margin[0], high[0] + margin[0])
        panel.set_ylim(low[1] - margin[1], high[1] + margin[1])
        panel.set(xticks=[], yticks=[])
        panel.set_title(f"{row['method']}: 10-NN accuracy {np.mean(row['10-NN accuracy']):.3f}")
    handles, names = colours.legend_elements()
    figure.legend(handles, names, loc="outside right center", frameon=False, title="digit")
    return figure
