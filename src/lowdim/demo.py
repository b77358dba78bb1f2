"""The main job in under a minute: real digits by several methods, a table of what came out, and a picture.

Run it with ``python -m lowdim.demo [FOLDER]``; the pictures go to FOLDER (default: demo-output).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim import datasets
from lowdim.metrics import neighbor_accuracy
from lowdim.plotting import plot_gallery
from lowdim.records import Floats, Integers

METHODS: dict[str, Any] = {
    "PCA": lowdim.PCA(2),
    "Classical MDS (cosine)": lowdim.ClassicalMDS(2, metric="cosine"),
    "Kernel PCA": lowdim.KernelPCA(2, kernel="rbf", gamma=1e-3),
    "Isomap": lowdim.Isomap(2, n_neighbors=10),
    "LLE": lowdim.LLE(2, n_neighbors=12),
    "LLE, modified": lowdim.LLE(2, n_neighbors=12, variant="modified"),
    "LTSA": lowdim.LLE(2, n_neighbors=30, variant="ltsa"),
    "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(2, n_neighbors=10),
}


def main(folder: str = "demo-output") -> None:
    """Embed the digits and a Swiss roll, print a report, write the pictures."""
    began = time.perf_counter()
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    digits = datasets.load("digits")
    labels = np.asarray(digits.labels)
    embeddings = show_digits(digits.data, labels)
    plot_gallery(embeddings, labels, path=out / "digits.png")
    roll = datasets.swiss_roll(2500, random_state=0)
    plot_gallery(unroll(roll.data), np.asarray(roll.parameters)[:, 0], path=out / "swiss-roll.png")
    show_clusters(digits.data, labels)
    print(f"\nOne report in full:\n{METHODS['Laplacian eigenmaps'].report_}")
    print(f"\nPictures: {out / 'digits.png'}, {out / 'swiss-roll.png'}")
    print(f"All of it took {time.perf_counter() - began:.1f} s.")


def show_digits(data: Floats, labels: Integers) -> dict[str, Floats]:
    """Fit each method to two thirds of the digits, send the others through its map, and say how labels fare."""
    order = np.random.default_rng(0).permutation(len(data))
    fitted, new = order[: len(order) * 2 // 3], order[len(order) * 2 // 3 :]
    print(
        f"{len(data)} digits of {data.shape[1]} pixels, to 2 dimensions; {len(new)} of them are held back.\n"
    )
    print(f"{'method':<24}{'seconds':>9}{'10-NN accuracy':>17}{'of new points':>16}   how")
    embeddings = {}
    for name, model in METHODS.items():
        model.fit(data[fitted])
        held_back = accuracy_of_new(model.embedding_, labels[fitted], model.transform(data[new]), labels[new])
        report = model.report_
        how = report.figures.get("eigensolver") or next((c.choice for c in report.choices), "")
        accuracy = neighbor_accuracy(model.embedding_, labels[fitted], k=10)
        print(f"{name:<24}{report.seconds:>9.2f}{accuracy:>17.3f}{held_back:>16.3f}   {how}")
        embeddings[name] = model.transform(data)
    return embeddings


def accuracy_of_new(fitted: Floats, fitted_labels: Integers, new: Floats, new_labels: Integers) -> float:
    """Share of new points whose ten nearest fitted points vote for their label."""
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(10).fit(fitted, fitted_labels).score(new, new_labels))


def unroll(data: Floats) -> dict[str, Floats]:
    """A Swiss roll, flattened by each kind of method."""
    models = {
        "PCA": lowdim.PCA(2),
        "Isomap": lowdim.Isomap(2, n_neighbors=10),
        "LLE": lowdim.LLE(2, n_neighbors=12),
        "LLE, modified": lowdim.LLE(2, n_neighbors=12, variant="modified"),
        "LLE, Hessian": lowdim.LLE(2, n_neighbors=12, variant="hessian"),
        "LTSA": lowdim.LLE(2, n_neighbors=12, variant="ltsa"),
        "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(2, n_neighbors=12),
        "Kernel PCA": lowdim.KernelPCA(2, kernel="rbf", gamma=0.005),
    }
    return {name: model.fit_transform(data) for name, model in models.items()}


def show_clusters(data: Floats, labels: Integers) -> None:
    """Spectral clustering of the digits, and of digits that it has not seen."""
    from sklearn.metrics import adjusted_rand_score

    model = lowdim.SpectralClustering(10).fit(data[:1200])
    seen = adjusted_rand_score(labels[:1200], model.labels_)
    new = adjusted_rand_score(labels[1200:], model.predict(data[1200:]))
    print(f"\nSpectral clustering into 10 groups: adjusted Rand index {seen:.3f}, of new points {new:.3f}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
