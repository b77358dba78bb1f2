"""Swiss roll: what each method makes of it, in one figure, coloured by the place along the roll.

2000 points, 12 neighbours. The roll is 60 % longer than wide: long enough that nothing linear flattens it, and short
enough that the first two eigenvectors of a graph Laplacian are its two sides (at 4 : 1 both are waves along one). The
epsilon of Isomap is such that a point has 12 neighbours on average. Two errors against the flat roll, arc length and
width: after rotation and one scale (Procrustes), and after the best affine map, for the methods that give every
coordinate the same variance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .notebook import Notebook, spread
from .pictures import affine_error

NEIGHBORS = 12
LINEAR = ("PCA", "MDS", "kernel PCA")
SHAPE = ("Isomap, K", "Isomap, ε")
AFFINE = ("MLLE", "HLLE", "LTSA")
UNROLLED = 0.1
"""Error below which the roll counts as flattened to its shape."""


def methods(data: np.ndarray) -> dict[str, Any]:
    """Every method by its name in the figure."""
    return {
        "PCA": lowdim.PCA(2),
        "MDS": lowdim.ClassicalMDS(2),
        "kernel PCA": lowdim.KernelPCA(2, kernel="rbf", gamma=0.005),
        "Isomap, K": lowdim.Isomap(2, n_neighbors=NEIGHBORS),
        "Isomap, ε": lowdim.Isomap(2, radius=typical_radius(data)),
        "LLE": lowdim.LLE(2, n_neighbors=NEIGHBORS),
        "MLLE": lowdim.LLE(2, n_neighbors=NEIGHBORS, variant="modified"),
        "HLLE": lowdim.LLE(2, n_neighbors=NEIGHBORS, variant="hessian"),
        "LTSA": lowdim.LLE(2, n_neighbors=NEIGHBORS, variant="ltsa"),
        "LE": lowdim.LaplacianEigenmaps(2, n_neighbors=NEIGHBORS),
        "EE": lowdim.ElasticEmbedding(2, perplexity=NEIGHBORS),
        "t-SNE": lowdim.TSNE(2, perplexity=NEIGHBORS),
    }


def typical_radius(data: np.ndarray) -> float:
    """The distance within which a point has 12 others on average."""
    from scipy.spatial import cKDTree

    tree = cKDTree(data)
    low, high = 0.0, float(np.ptp(data, axis=0).max())
    for _ in range(40):
        middle = (low + high) / 2
        mean = tree.count_neighbors(tree, middle) / len(data) - 1
        low, high = (middle, high) if mean < NEIGHBORS else (low, middle)
    return high


def run(notebook: Notebook) -> None:
    """Embed five rolls by every method; draw the first."""
    n_points, seeds = (1500, 1) if notebook.quick else (2000, 5)
    rows: list[dict[str, Any]] = []
    first: dict[str, np.ndarray] = {}
    for seed in range(seeds):
        roll = lowdim.datasets.swiss_roll(n_points, aspect=1.6, random_state=seed)
        for name, model in methods(roll.data).items():
            X = model.fit_transform(roll.data)
            rows.append(
                {
                    "seed": seed,
                    "method": name,
                    "Procrustes": lowdim.procrustes(X, roll.parameters).error,
                    "affine": affine_error(X, roll.parameters),
                    "trustworthiness": float(lowdim.score(roll.data, X)["trustworthiness"]),
                }
            )
            if seed == 0:
                first[name] = lowdim.procrustes(X, roll.parameters).aligned
        notebook.keep(rows)
    names = list(first)
    notebook.table(
        [
            {"method": name}
            | {
                figure: spread([row[figure] for row in rows if row["method"] == name])
                for figure in ("Procrustes", "affine", "trustworthiness")
            }
            for name in names
        ]
    )
    mean = {
        figure: {
            name: float(np.mean([row[figure] for row in rows if row["method"] == name])) for name in names
        }
        for figure in ("Procrustes", "affine", "trustworthiness")
    }
    notebook.figure(_draw(lowdim.datasets.swiss_roll(n_points, aspect=1.6, random_state=0), first, mean))
    _judge(notebook, mean)


def _judge(notebook: Notebook, mean: dict[str, dict[str, float]]) -> None:
    def listed(figure: str, names: tuple[str, ...]) -> str:
        return ", ".join(f"{name} {mean[figure][name]:.2f}" for name in names)

    notebook.claim(
        "PCA, MDS and kernel PCA do not flatten the roll",
        "by eye",
        f"affine error {listed('affine', LINEAR)}",
        min(mean["affine"][name] for name in LINEAR) > 0.3,
    )
    notebook.claim(
        "MDS of Euclidean distances is PCA",
        "the same",
        f"Procrustes error {mean['Procrustes']['PCA']:.6f} and {mean['Procrustes']['MDS']:.6f}",
        abs(mean["Procrustes"]["PCA"] - mean["Procrustes"]["MDS"]) < 1e-9,
    )
    notebook.claim(
        "Isomap flattens it, lengths and all",
        "by eye",
        f"Procrustes error {listed('Procrustes', SHAPE)}; flattened is below {UNROLLED:g}",
        max(mean["Procrustes"][name] for name in SHAPE) < UNROLLED,
    )
    notebook.claim(
        "MLLE, HLLE and LTSA flatten it but for the scales of the axes",
        "by eye",
        f"affine error {listed('affine', AFFINE)}",
        max(mean["affine"][name] for name in AFFINE) < UNROLLED,
    )
    notebook.claim(
        "LLE flattens it, less exactly than its three kin",
        "by eye",
        f"affine error {mean['affine']['LLE']:.2f}, at best {min(mean['affine'][n] for n in AFFINE):.3f} of the kin",
        max(mean["affine"][name] for name in AFFINE) < mean["affine"]["LLE"] < 0.5,
    )
    notebook.claim(
        "LE flattens it, its rims drawn together",
        "by eye",
        f"affine error {mean['affine']['LE']:.2f}",
        mean["affine"]["LE"] < 0.4,
    )
    notebook.claim(
        "EE flattens it, its rims drawn together",
        "by eye",
        f"affine error {mean['affine']['EE']:.2f}, trustworthiness {mean['trustworthiness']['EE']:.4f}",
        mean["affine"]["EE"] < 0.4,
    )
    notebook.claim(
        "t-SNE keeps who is near whom, not the shape",
        "by eye",
        f"trustworthiness {mean['trustworthiness']['t-SNE']:.4f}, affine error {mean['affine']['t-SNE']:.2f}",
        mean["trustworthiness"]["t-SNE"] > 0.99 and mean["affine"]["t-SNE"] > 0.3,
    )


def _draw(roll: Any, pictures: dict[str, np.ndarray], mean: dict[str, dict[str, float]]) -> Figure:
    figure = Figure(figsize=(13.5, 8.4), layout="constrained")
    colours = roll.parameters[:, 0]
    style = {"c": colours, "cmap": "viridis", "s": 3.0, "linewidths": 0}
    solid = figure.add_subplot(3, 5, 1, projection="3d")
    solid.scatter(*roll.data[:, [0, 1, 2]].T, **style)
    solid.view_init(elev=12, azim=-72)
    solid.set(xticks=[], yticks=[], zticks=[], box_aspect=(1, 1.3, 1))
    solid.set_title("the roll", fontsize=11)
    for place, (name, X) in enumerate({"flat": roll.parameters, **pictures}.items(), start=2):
        panel = figure.add_subplot(3, 5, place)
        panel.scatter(X[:, 0], X[:, 1], **style)
        panel.set(xticks=[], yticks=[])
        panel.set_aspect("equal", adjustable="datalim")
        panel.set_title(name if name != "flat" else "the roll, flat", fontsize=11)
        panel.margins(0.06)
        for side in panel.spines.values():
            side.set_color("#c8ccd2")
    _draw_errors(figure.add_subplot(3, 5, 15), list(pictures)[::-1], mean)
    return figure


def _draw_errors(panel: Any, names: list[str], mean: dict[str, dict[str, float]]) -> None:
    """Both errors of every method as bars, the name at the end of each."""
    heights = np.arange(len(names))
    wide, narrow = ([mean[figure][name] for name in names] for figure in ("Procrustes", "affine"))
    panel.barh(heights, wide, color="#d5dae1", label="Procrustes")
    panel.barh(heights, narrow, color="#3b6ea5", height=0.45, label="affine")
    for height, name, end in zip(heights, names, wide, strict=True):
        panel.annotate(
            name, (end, height), xytext=(3, 0), textcoords="offset points", fontsize=7, va="center"
        )
    panel.set(yticks=[], xlim=(0, 1.25), xticks=[0, 0.5, 1])
    panel.tick_params(axis="x", labelsize=7)
    panel.set_title("error against flat", fontsize=11)
    panel.legend(fontsize=7, frameon=False, loc="center right")
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
