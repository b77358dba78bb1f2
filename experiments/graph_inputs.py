"""Laplacian eigenmaps from graphs: a geometric graph, a weighted and an unweighted one, given in every way there is.

A Swiss roll of 1500 points, tied where they are nearer than tau, which is less than from one winding to the next. It is
so wide that the first two eigenvectors are its two sides. The same graph can be given as points and a radius, as
distances (dense or sparse) and a radius, or as its edges: weighted by the Gaussian affinity of the geometric graph, or
unweighted, 0 and 1. Where the information is the same the embedding must be the same, whatever form it came in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy import sparse
from scipy.spatial import cKDTree

import lowdim

from .notebook import Notebook
from .pictures import FAINT, affine_error

SAME = 1e-6
"""Largest Procrustes error of embeddings that are meant to be the same: two runs of an iterative solver."""


def run(notebook: Notebook) -> None:
    """Give two graphs in nine forms."""
    n_points = 800 if notebook.quick else 1500
    roll = lowdim.datasets.swiss_roll(n_points, aspect=1.3, random_state=0)
    tau = 4.0 * np.sqrt(1500 / n_points)
    sigma = tau / 2
    weighted, unweighted = _forms(roll.data, tau, sigma)
    rows, pictures = [], {}
    for graph, forms in {"weighted": weighted, "unweighted": unweighted}.items():
        first = None
        for name, (model, X) in forms.items():
            found = model.fit_transform(X)
            first = found if first is None else first
            error = lowdim.procrustes(found, first).error
            rows.append(
                {
                    "graph": graph,
                    "given as": name,
                    "difference": error,
                    "affine error": affine_error(found, roll.parameters),
                }
            )
        pictures[graph] = first
    notebook.table(rows)
    notebook.figure(_draw(roll, tau, pictures))
    _judge(notebook, rows, pictures)


def _forms(points: np.ndarray, tau: float, sigma: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each form of the two graphs: an estimator and what to give it."""
    near = cKDTree(points).sparse_distance_matrix(cKDTree(points), tau, output_type="coo_matrix")
    distances = sparse.csr_array(near)
    distances.setdiag(0.0)
    distances.eliminate_zeros()
    whole = np.linalg.norm(points[:, None] - points[None], axis=2)
    weights = distances.copy()
    weights.data = np.exp(-((weights.data / sigma) ** 2))
    ones = distances.copy()
    ones.data = np.ones_like(ones.data)

    def model(**options: Any) -> lowdim.LaplacianEigenmaps:
        return lowdim.LaplacianEigenmaps(2, solver="lanczos", **options)

    gaussian, binary = {"bandwidth": sigma}, {"affinity": lowdim.Binary()}
    return (
        {
            "points and tau": (model(radius=tau, **gaussian), points),
            "dense distances and tau": (model(radius=tau, metric="precomputed", **gaussian), whole),
            "sparse distances and tau": (model(radius=tau, metric="precomputed", **gaussian), distances),
            "sparse weights": (model(metric="graph"), weights),
            "dense weights": (model(metric="graph"), weights.toarray()),
            "precomputed affinity": (model(affinity="precomputed"), weights),
        },
        {
            "points and tau": (model(radius=tau, **binary), points),
            "edges of 0 and 1": (model(metric="graph"), ones),
            "edges as truth values": (model(metric="graph"), ones.astype(bool)),
        },
    )


def _judge(notebook: Notebook, rows: list[dict[str, Any]], pictures: dict[str, np.ndarray]) -> None:
    notebook.claim(
        "a geometric, a weighted and an unweighted graph are each accepted",
        "accepted",
        f"{len(rows)} forms of two graphs",
        True,
    )
    for graph in pictures:
        worst = max(row["difference"] for row in rows if row["graph"] == graph)
        count = sum(row["graph"] == graph for row in rows)
        notebook.claim(
            f"{graph}: the same embedding from all {count} forms",
            "the same",
            f"they differ by {worst:.1e} at most",
            worst < SAME,
        )
    apart = lowdim.procrustes(pictures["unweighted"], pictures["weighted"]).error
    notebook.claim(
        "where the information differs, so does the embedding: without weights the distances within tau are lost",
        "another one",
        f"weighted and unweighted differ by {apart:.3f}",
        apart > 100 * SAME,
    )


def _draw(roll: Any, tau: float, pictures: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(13.5, 4.8), layout="constrained")
    colours = roll.parameters[:, 0]
    pairs = cKDTree(roll.data).query_pairs(tau, output_type="ndarray")
    flat = {"the geometric graph on the flat roll": roll.parameters} | {
        f"Laplacian eigenmap, {name}": X for name, X in pictures.items()
    }
    for place, (title, X) in enumerate(flat.items(), start=1):
        panel = figure.add_subplot(1, 3, place)
        panel.add_collection(LineCollection(X[pairs], colors=FAINT, linewidths=0.4, zorder=1))
        panel.scatter(*X.T, c=colours, cmap="viridis", s=5, linewidths=0, zorder=2)
        panel.set(xticks=[], yticks=[])
        panel.set_aspect("equal", adjustable="datalim")
        panel.margins(0.05)
        panel.set_title(title, fontsize=11)
    return figure
