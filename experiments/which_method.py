"""Which method to take when: a picture for each reason.

Each picture shows data whose answer is known beside two or three methods: one that keeps what is asked for, and one
that cannot. The claims say how far each came, so that the reasons in docs/embeddings.md rest on figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import lowdim

from .notebook import Notebook
from .pictures import affine_error

Pictures = Mapping[str, NDArray]


def run(notebook: Notebook) -> None:
    """Draw every picture; quickly: of a third of the points."""
    few = 3 if notebook.quick else 1
    for draw in (_flat, _rolled, _holed, _given, _uneven, _branched, _grouped, _nothing):
        draw(notebook, few)


def _flat(notebook: Notebook, few: int) -> None:
    """A sheet in 50 columns of noise."""
    rng = np.random.default_rng(0)
    sheet = rng.uniform([-2, -1], [2, 1], size=(900 // few, 2))
    rows = sheet @ np.linalg.qr(rng.normal(size=(50, 2)))[0].T + 0.05 * rng.normal(size=(len(sheet), 50))
    found = {"PCA": lowdim.PCA(2).fit_transform(rows), "t-SNE": lowdim.TSNE().fit_transform(rows)}
    errors = {name: lowdim.procrustes(X, sheet).error for name, X in found.items()}
    notebook.figure(_row({"a sheet": sheet, **found}, sheet[:, 0]), "which-pca", small=True)
    _claim(notebook, "PCA keeps a flat sheet as it is, t-SNE bends it", errors, 0.1)


def _rolled(notebook: Notebook, few: int) -> None:
    """A rolled-up strip."""
    roll = lowdim.datasets.swiss_roll(1200 // few, random_state=0)
    found = {
        "Isomap": lowdim.Isomap(2, n_neighbors=10).fit_transform(roll.data),
        "PCA": lowdim.PCA(2).fit_transform(roll.data),
    }
    errors = {name: lowdim.procrustes(X, roll.parameters).error for name, X in found.items()}
    shown = {"a roll, from its end": roll.data[:, [0, 2]], **found}
    notebook.figure(_row(shown, roll.parameters[:, 0]), "which-isomap", small=True)
    _claim(notebook, "Isomap unrolls with lengths kept, PCA cannot", errors, 0.1)


def _holed(notebook: Notebook, few: int) -> None:
    """The same strip with a hole."""
    roll = lowdim.datasets.swiss_roll(1800 // few, hole=True, random_state=0)
    found = {
        "LLE (Hessian)": lowdim.LLE(2, n_neighbors=12, variant="hessian").fit_transform(roll.data),
        "Isomap": lowdim.Isomap(2, n_neighbors=12).fit_transform(roll.data),
    }
    errors = {name: affine_error(X, roll.parameters) for name, X in found.items()}
    shown = {"a strip with a hole, flat": roll.parameters, **found}
    notebook.figure(_row(shown, roll.parameters[:, 0], equal=False), "which-lle", small=True)
    _claim(notebook, "Hessian LLE keeps a hole, Isomap widens it", errors, 0.05)


def _given(notebook: Notebook, few: int) -> None:
    """Distances between the points of a star, half of them missing."""
    rng = np.random.default_rng(0)
    angles = np.linspace(0, 2 * np.pi, 600 // few, endpoint=False)
    star = (1 + 0.4 * np.cos(5 * angles))[:, None] * np.column_stack((np.cos(angles), np.sin(angles)))
    D = cdist(star, star)
    lost = np.triu(rng.random(D.shape) < 0.5, 1)
    gaps = np.where(lost | lost.T, np.nan, D)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps), gaps)
    found = {
        "MDS": lowdim.MDS(metric="precomputed").fit_transform(gaps),
        "classical MDS, gaps filled": lowdim.ClassicalMDS(2, metric="precomputed").fit_transform(filled),
    }
    errors = {name: lowdim.procrustes(X, star).error for name, X in found.items()}
    notebook.figure(_row({"a star": star, **found}, angles, colours="twilight"), "which-mds", small=True)
    _claim(notebook, "MDS needs half of the distances only", errors, 0.05)


def _uneven(notebook: Notebook, few: int) -> None:
    """A circle drawn more densely on one side."""
    rng = np.random.default_rng(0)
    angles = np.pi * np.linspace(-1, 1, 900 // few, endpoint=False)
    angles = angles + 0.75 * np.sin(angles)
    circle = np.column_stack((np.cos(angles), np.sin(angles)))
    rows = circle @ np.linalg.qr(rng.normal(size=(10, 2)))[0].T + 0.005 * rng.normal(size=(len(circle), 10))
    common: dict[str, Any] = {"radius": 0.35, "bandwidth": 0.2}
    found = {
        "diffusion map": lowdim.DiffusionMap(2, alpha=1.0, **common).fit_transform(rows),
        "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(2, **common).fit_transform(rows),
    }
    errors = {name: lowdim.procrustes(X, circle).error for name, X in found.items()}
    shown = {"a circle, dense on the left": circle, **found}
    notebook.figure(_row(shown, angles, colours="twilight"), "which-diffusion", small=True)
    _claim(notebook, "a diffusion map does not show how densely points were drawn", errors, 0.1)


def _branched(notebook: Notebook, few: int) -> None:
    """Three curved arms that leave one place, in 20 columns."""
    rng = np.random.default_rng(0)
    arm = np.repeat(np.arange(3), 400 // few)
    time = rng.uniform(size=arm.size)
    # Each arm goes on in a direction of its own, then turns into another.
    first, then = rng.normal(size=(2, 3, 20))
    bend = np.maximum(0.0, time - 0.5)[:, None]
    rows = (
        np.minimum(time, 0.5)[:, None] * first[arm]
        + bend * then[arm]
        + 0.05 * rng.normal(size=(arm.size, 20))
    )
    found = {
        "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(2, n_neighbors=15).fit_transform(rows),
        "PCA": lowdim.PCA(2).fit_transform(rows),
    }
    spreads = {}
    for name, X in found.items():
        far = time > 0.5
        centres = np.array([X[far & (arm == k)].mean(axis=0) for k in range(3)])
        within = np.sqrt(
            np.mean([((X[far & (arm == k)] - centres[k]) ** 2).sum(axis=1).mean() for k in range(3)])
        )
        spreads[name] = float(within / cdist(centres, centres)[np.triu_indices(3, 1)].mean())
    notebook.figure(
        _row(found, arm + 0.8 * time, equal=False, colours="nipy_spectral"), "which-laplacian", small=True
    )
    notebook.claim(
        "Laplacian eigenmaps draw branches as thin arms",
        "by eye",
        f"width of an arm's outer half over the distance between arms: {_listed(spreads)}",
        spreads["Laplacian eigenmaps"] < spreads["PCA"],
    )


def _grouped(notebook: Notebook, few: int) -> None:
    """Handwritten digits."""
    digits = lowdim.datasets.load("digits")
    rows, labels = digits.data[::few], digits.labels[::few]
    found = {
        "t-SNE": lowdim.TSNE().fit_transform(rows),
        "UMAP": lowdim.UMAP().fit_transform(rows),
        "elastic embedding": lowdim.ElasticEmbedding().fit_transform(rows),
        "PCA": lowdim.PCA(2).fit_transform(rows),
    }
    measures = ["neighbor_recall", "spearman"]
    scores = {name: lowdim.score(rows, X, measures=measures) for name, X in found.items()}
    recalls = {name: float(score["neighbor_recall"]) for name, score in scores.items()}
    orders = {name: float(score["spearman"]) for name, score in scores.items()}
    notebook.figure(_row(found, labels, colours="tab10", size=2.6), "which-neighbours", small=True)
    notebook.claim(
        "t-SNE keeps most of the nearest, UMAP fewer, PCA fewest",
        "by eye",
        f"recall {_listed(recalls)}",
        recalls["t-SNE"] > recalls["UMAP"] > recalls["PCA"],
    )
    notebook.claim(
        "the elastic embedding keeps more of the order of all distances than either",
        "by eye",
        f"Spearman {_listed(orders)}",
        orders["elastic embedding"] > max(orders["t-SNE"], orders["UMAP"]),
    )


def _nothing(notebook: Notebook, few: int) -> None:
    """Noise, in which there is nothing to see."""
    rows = np.random.default_rng(0).normal(size=(600 // few, 10))
    found = {
        "PCA": lowdim.PCA(2).fit_transform(rows),
        "t-SNE, perplexity 4": lowdim.TSNE(perplexity=4).fit_transform(rows),
        "UMAP, 5 neighbours": lowdim.UMAP(n_neighbors=5, min_dist=0.0).fit_transform(rows),
    }
    clumps = {name: _unevenness(X) for name, X in found.items()}
    notebook.figure(_row(found, np.linalg.norm(rows, axis=1)), "which-noise", small=True)
    notebook.claim(
        "few neighbours draw clumps where there is nothing but noise",
        "by eye",
        f"distance to the nearest over that to the tenth nearest, in the mean: {_listed(clumps)}",
        clumps["UMAP, 5 neighbours"] < clumps["PCA"],
    )


def _unevenness(X: NDArray) -> float:
    near = np.sort(cdist(X, X), axis=1)
    return float(np.mean(near[:, 1] / near[:, 10]))


def _claim(notebook: Notebook, words: str, errors: Mapping[str, float], most: float) -> None:
    """The first comes within ``most`` of the truth, the others do not."""
    values = list(errors.values())
    notebook.claim(words, "by eye", f"error {_listed(errors)}", values[0] < most < min(values[1:]))


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2g}" for name, value in values.items())


def _row(
    pictures: Pictures, colour: NDArray, *, equal: bool = True, colours: str = "viridis", size: float = 2.4
) -> Figure:
    """Pictures side by side, small."""
    figure = Figure(figsize=(size * len(pictures), size + 0.2), layout="constrained")
    for axes, (name, X) in zip(figure.subplots(1, len(pictures)), pictures.items(), strict=True):
        axes.scatter(X[:, 0], X[:, 1], c=colour, s=3, cmap=colours, linewidths=0)
        axes.set(xticks=[], yticks=[], aspect="equal" if equal else "auto")
        axes.set_title(name, fontsize=9)
        axes.spines[:].set_color("0.8")
    return figure
