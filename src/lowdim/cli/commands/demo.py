"""``lowdim demo``: the main job, in seconds once its loops are compiled."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..options.shared import add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..terminal.streams import emit

TEXT = """\
Embed real digits by several methods and a Swiss roll by eight, print what came out, and write pictures. It takes some
seconds, and a minute or more the first time: compiled loops are then kept on disk.
"""
EXAMPLES = [
    ("lowdim demo", "pictures go to demo-output"),
    ("lowdim demo somewhere", "or to a folder of your choice"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("demo", "[FOLDER]", TEXT, EXAMPLES)
    parser.add_positional("FOLDER", "where the pictures go (default: demo-output)", required=False)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Embed the digits and a Swiss roll, print a report, write the pictures."""
    import numpy as np

    from ...data import datasets
    from ...plotting import plot_gallery
    from ...plotting.drawing import require_matplotlib

    require_matplotlib()
    began = time.perf_counter()
    out = Path(options.folder or "demo-output")
    out.mkdir(parents=True, exist_ok=True)
    digits = datasets.load("digits")
    labels = np.asarray(digits.labels)
    methods = digit_methods()
    embeddings = show_digits(digits.data, labels, methods, emit)
    plot_gallery(embeddings, labels, path=out / "digits.png")
    roll = datasets.swiss_roll(2500, random_state=0)
    plot_gallery(unroll(roll.data), np.asarray(roll.parameters)[:, 0], path=out / "swiss-roll.png")
    show_clusters(digits.data, labels, emit)
    emit(f"\nOne report in full:\n{methods['Laplacian eigenmaps'].report_}")
    emit(f"\nPictures: {out / 'digits.png'}, {out / 'swiss-roll.png'}")
    emit(f"All of it took {time.perf_counter() - began:.1f} s.")
    return DONE


def digit_methods() -> dict[str, Any]:
    """The methods that embed the digits."""
    import lowdim

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


def show_digits(
    data: Any, labels: Any, methods: dict[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """Fit each method to two thirds of the digits, send the others through its map, and say how labels fare."""
    import numpy as np

    from ...metrics import neighbor_accuracy

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


def accuracy_of_new(fitted: Any, fitted_labels: Any, new: Any, new_labels: Any) -> float:
    """Share of new points whose ten nearest fitted points vote for their label."""
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(10).fit(fitted, fitted_labels).score(new, new_labels))


def unroll(data: Any) -> dict[str, Any]:
    """A Swiss roll, flattened by each kind of method."""
    import lowdim

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


def show_clusters(data: Any, labels: Any, say: Callable[[str], None]) -> None:
    """Spectral clustering of the digits, and of digits that it has not seen."""
    from sklearn.metrics import adjusted_rand_score

    import lowdim

    two_thirds = len(data) * 2 // 3
    model = lowdim.SpectralClustering(10).fit(data[:two_thirds])
    seen = adjusted_rand_score(labels[:two_thirds], model.labels_)
    new = adjusted_rand_score(labels[two_thirds:], model.predict(data[two_thirds:]))
    say(f"\nSpectral clustering into 10 groups: adjusted Rand index {seen:.3f}, of new points {new:.3f}.")
