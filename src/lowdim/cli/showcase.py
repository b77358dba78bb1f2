"""What the demo shows: digits by several methods, a Swiss roll unrolled, clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim

from ..metrics import neighbor_accuracy
from ..records import Floats, Integers

Say = Callable[[str], None]


def digit_methods() -> dict[str, Any]:
    """The methods that embed the digits."""
    return {
        "PCA": lowdim.PCA(2),
        "Classical MDS (cosine)": lowdim.ClassicalMDS(2, metric="cosine"),
        "Kernel PCA": lowdim.KernelPCA(2, kernel="rbf", gamma=1e-3),
        "Isomap": lowdim.Isomap(2, n_neighbors=10),
        "LLE": lowdim.LLE(2, n_neighbors=12),
        "LLE, modified": lowdim.LLE(2, n_neighbors=12, variant="modified"),
        "LTSA": lowdim.LLE(2, n_neighbors=30, variant="ltsa"),
        "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(2, n_neighbors=10),
        "t-SNE": lowdim.TSNE(2),
    }


def show_digits(data: Floats, labels: Integers, methods: dict[str, Any], say: Say) -> dict[str, Floats]:
    """Fit each method to two thirds of the digits, send the others through its map, and say how labels fare."""
    order = np.random.default_rng(0).permutation(len(data))
    fitted, new = order[: len(order) * 2 // 3], order[len(order) * 2 // 3 :]
    say(f"{len(data)} digits of {data.shape[1]} pixels, to 2 dimensions; {len(new)} of them are held back.\n")
    say(f"{'method':<24}{'seconds':>9}{'10-NN accuracy':>17}{'of new points':>16}   how")
    embeddings = {}
    for name, model in methods.items():
        model.fit(data[fitted])
        held_back = accuracy_of_new(model.embedding_, labels[fitted], model.transform(data[new]), labels[new])
        report = model.report_
        chosen = [c.choice for c in report.choices if c.what == "optimizer"] or [
            c.choice for c in report.choices
        ]
        how = report.figures.get("eigensolver") or next(iter(chosen), "")
        accuracy = neighbor_accuracy(model.embedding_, labels[fitted], k=10)
        say(f"{name:<24}{report.seconds:>9.2f}{accuracy:>17.3f}{held_back:>16.3f}   {how}")
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


def show_clusters(data: Floats, labels: Integers, say: Say) -> None:
    """Spectral clustering of the digits, and of digits that it has not seen."""
    from sklearn.metrics import adjusted_rand_score

    two_thirds = len(data) * 2 // 3
    model = lowdim.SpectralClustering(10).fit(data[:two_thirds])
    seen = adjusted_rand_score(labels[:two_thirds], model.labels_)
    new = adjusted_rand_score(labels[two_thirds:], model.predict(data[two_thirds:]))
    say(f"\nSpectral clustering into 10 groups: adjusted Rand index {seen:.3f}, of new points {new:.3f}.")
