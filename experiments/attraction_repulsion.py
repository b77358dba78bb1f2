"""Attraction against repulsion: one family from t-SNE through UMAP to Laplacian eigenmaps, and what it trades.

Boehm, Berens & Kobak (2022) found that t-SNE with more and more exaggeration passes what UMAP shows on its way to
Laplacian eigenmaps: discrete groups give way to the large shape. Damrich et al. (2023) have the first half of the way
by one number Z. `lowdim.NeighborSpectrum` has both in one. Here: MNIST digits (50 principal components), or those of
scikit-learn where MNIST is not there; at each position the recall of the 15 nearest (what is near) and the rank
correlation of distances (what is far); beside them t-SNE, UMAP with a = b = 1 and Laplacian eigenmaps of the same
affinities.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.linalg import subspace_angles

import lowdim
from lowdim.errors import LowdimError

from .notebook import Notebook

MEASURES = ("neighbor_recall", "spearman")
NEIGHBORS = 15
NEAR = 0.05
"""Difference of recalls that counts as close."""
SLACK = 0.01
"""Difference of recalls that counts as none."""
SAME = 0.5
"""Angle of two subspaces, in degrees, up to which they are the same."""


def run(notebook: Notebook) -> None:
    """Walk the family, and stop at the three that have names."""
    X, labels = _points(400 if notebook.quick else 4000)
    steps: dict[str, Any] = {"max_iter": 60} if notebook.quick else {}
    affinity = lowdim.Entropic(15 if notebook.quick else 30)
    model = lowdim.NeighborSpectrum(positions=5 if notebook.quick else 9, affinity=affinity, **steps).fit(X)
    tsne = lowdim.TSNE(affinity=affinity, **steps).fit(X)
    umap = lowdim.UMAP(min_dist=_unit_curve(), **steps).fit(X)
    count = model.report_.shape[0]
    eigenmaps = lowdim.LaplacianEigenmaps(
        affinity=affinity, n_neighbors=min(90, count - 1, 3 * int(affinity.perplexity))
    ).fit(X)
    rows = [{"embedding": f"position {at:g}", **_measured(X, Y)} for at, Y in model.frames_]
    named = {"t-SNE": tsne, "UMAP, a = b = 1": umap, "Laplacian eigenmaps": eigenmaps}
    rows += [{"embedding": name, **_measured(X, fit.embedding_)} for name, fit in named.items()]
    notebook.table(rows)
    notebook.figure(_draw(model.frames_, named, labels))
    _judge(notebook, model, tsne, eigenmaps, {row["embedding"]: row for row in rows}, X)


def _points(count: int) -> tuple[NDArray, NDArray]:
    """Digits in at most 50 columns."""
    try:
        mnist = lowdim.datasets.load("mnist")
    except LowdimError:
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.data[:count], digits.target[:count]
    return lowdim.PCA(50).fit_transform(mnist.data[:count] / 255.0), mnist.labels[:count]


def _unit_curve() -> float:
    """The min_dist whose curve is nearest to 1 / (1 + d^2)."""
    from lowdim.estimators.embeddings.umap import fit_curve

    tried = np.linspace(0.0, 0.9, 91)
    return float(min(tried, key=lambda each: sum(abs(part - 1.0) for part in fit_curve(float(each), 1.0))))


def _measured(X: NDArray, Y: NDArray) -> dict[str, float]:
    scores = lowdim.score(X, Y, n_neighbors=NEIGHBORS, measures=list(MEASURES))
    return {measure: round(float(getattr(scores, measure)), 3) for measure in MEASURES}


def _judge(
    notebook: Notebook, model: Any, tsne: Any, eigenmaps: Any, table: dict[str, dict[str, Any]], X: NDArray
) -> None:
    recall = {name: row["neighbor_recall"] for name, row in table.items()}
    frames = dict(model.frames_)
    walk = [recall[f"position {at:g}"] for at in model.positions_]
    notebook.claim(
        "position 0 keeps neighbours as t-SNE does",
        "t-SNE end",
        f"recall {walk[0]} against {recall['t-SNE']}",
        abs(walk[0] - recall["t-SNE"]) <= NEAR,
    )
    divergence = lowdim.TSNE(
        affinity=model.affinity, init=frames[0.0], learning_rate=1e-9, max_iter=1
    ).fit(X).kl_divergence_  # fmt: skip
    notebook.claim(
        "its divergence is t-SNE's to a tenth",
        "t-SNE end",
        f"KL {divergence:.3f} against {tsne.kl_divergence_:.3f}",
        divergence <= 1.1 * tsne.kl_divergence_,
    )
    notebook.claim(
        "position 1 keeps neighbours as UMAP does",
        "UMAP in the midst",
        f"recall {recall['position 1']} against {recall['UMAP, a = b = 1']}",
        abs(recall["position 1"] - recall["UMAP, a = b = 1"]) <= NEAR,
    )
    falls = all(later <= earlier + SLACK for earlier, later in pairwise(walk))
    notebook.claim("the more attraction, the fewer neighbours are kept", "yes", f"recall {walk}", falls)
    far = [table[f"position {at:g}"]["spearman"] for at in model.positions_]
    best = int(np.argmax(far))
    notebook.claim(
        "and the more of the large shape, until it is all that is left",
        "by eye",
        f"rank correlation {far}",
        best > 0 and far[best] > far[0],
    )
    angle = _degrees(frames[2.0], eigenmaps.embedding_)
    before = model.positions_[-2]
    notebook.claim(
        "position 2 is Laplacian eigenmaps of the same graph",
        "the limit",
        f"{angle:.2g} degrees between the planes",
        angle <= SAME,
    )
    notebook.remark(
        f"At position {before:g}, the last with a repulsion, the plane is {_degrees(frames[before], frames[2.0]):.0f} "
        "degrees from that of the eigenmaps: what the repulsion does to the largest coordinates is not linear there."
    )


def _degrees(A: NDArray, B: NDArray) -> float:
    """The largest angle between two planes of coordinates, both centred."""
    return float(np.rad2deg(subspace_angles(A - A.mean(axis=0), B - B.mean(axis=0))).max())


def _draw(frames: list[tuple[float, NDArray]], named: dict[str, Any], labels: NDArray) -> Figure:
    shown = [(f"position {at:g}", Y) for at, Y in frames]
    shown += [(name, fit.embedding_) for name, fit in named.items()]
    across = 4
    down = -(-len(shown) // across)
    figure = Figure(figsize=(3.0 * across, 3.1 * down), layout="constrained")
    for place, (name, Y) in enumerate(shown, start=1):
        axes = figure.add_subplot(down, across, place)
        axes.scatter(*Y.T, c=labels.astype(int), s=2, cmap="tab10", linewidths=0)
        axes.set(xticks=[], yticks=[], title=name)
    return figure
