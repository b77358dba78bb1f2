"""The small pictures of the chart of which-method.md: ``python docs/leaves.py`` writes docs/images/leaf-*.png."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import lowdim

IMAGES = Path(__file__).parent / "images"
SIDE = 1.5
Drawn = tuple[Any, Any]


def pictures() -> Iterator[tuple[str, Callable[[], Drawn]]]:
    """Name of each leaf, and what makes its points and their colours."""
    digits = lowdim.datasets.load("digits")
    some, labels = digits.data[:700], digits.labels[:700]
    roll = lowdim.datasets.swiss_roll(900, random_state=0)
    holed = lowdim.datasets.swiss_roll(1200, hole=True, random_state=0)
    speech = lowdim.datasets.two_speaker_cepstra(120)
    arms, along = three_arms()
    angle, circle = uneven_circle()
    sphere = lowdim.datasets.severed_sphere(500, random_state=0)
    yield "pca", lambda: (lowdim.PCA(2).fit_transform(some), labels)
    yield "oriented-pca", lambda: (speech_map(speech), speech.labels)
    yield "mds", lambda: (lowdim.MDS(2).fit_transform(sphere.data), sphere.parameters[:, 0])
    yield "isomap", lambda: (lowdim.Isomap(2).fit_transform(roll.data), roll.parameters[:, 0])
    hessian = lowdim.LLE(n_neighbors=12, variant="hessian")
    yield "lle", lambda: (hessian.fit_transform(holed.data), holed.parameters[:, 0])
    yield "laplacian", lambda: (lowdim.LaplacianEigenmaps(2, n_neighbors=20).fit_transform(arms), along)
    yield "diffusion", lambda: (lowdim.DiffusionMap(2, n_neighbors=30, alpha=1).fit_transform(circle), angle)
    yield "clustering", lambda: (lowdim.TSNE().fit_transform(some), clusters(some))
    yield "tsne", lambda: (lowdim.TSNE().fit_transform(some), labels)
    yield "umap", lambda: (lowdim.UMAP().fit_transform(some), labels)
    yield "pacmap", lambda: (lowdim.PaCMAP().fit_transform(some), labels)
    yield "elastic", lambda: (lowdim.ElasticEmbedding().fit_transform(some[:400]), labels[:400])
    graph, level = tree()
    yield "force-atlas", lambda: (lowdim.ForceAtlas2(metric="graph").fit_transform(graph), level)
    curve = lowdim.datasets.s_curve(2000, random_state=0)
    solver = lowdim.LLL(100)
    yield (
        "landmarks",
        lambda: (
            lowdim.LLE(n_neighbors=12, solver=solver).fit_transform(curve.data),
            curve.parameters[:, 0],
        ),
    )


def three_arms() -> Drawn:
    """Noisy points along three arms, and how far out each is."""
    random = np.random.default_rng(0)
    arm, along = random.integers(3, size=700), random.uniform(size=700)
    return 10 * along[:, None] * np.eye(30)[arm] + random.normal(size=(700, 30)), along


def uneven_circle() -> Drawn:
    """Angles, most of them around 0, and their points on a circle."""
    random = np.random.default_rng(0)
    angle = random.vonmises(0, 1.5, size=700)
    return angle, np.column_stack([np.cos(angle), np.sin(angle), 0.05 * random.normal(size=700)])


def speech_map(speech: Any) -> Any:
    """Vowels, whoever speaks."""
    return lowdim.OrientedPCA(2).fit(speech.data, noise=speech.noise).embedding_


def clusters(rows: Any) -> Any:
    """Ten groups, found without labels."""
    return lowdim.SpectralClustering(10, n_neighbors=10).fit(rows).labels_


def tree() -> Drawn:
    """A binary tree as a graph, and the level of each node."""
    child = np.arange(1, 127)
    edges = sparse.coo_array((np.ones(126), (child, (child - 1) // 2)), shape=(127, 127)).tocsr()
    return sparse.csr_array(edges + edges.T), np.floor(np.log2(np.arange(127) + 1)).astype(int)


def draw(name: str, points: Any, colours: Any) -> None:
    """Write one picture, without its axes and its legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIDE, SIDE), dpi=120)
    axes = figure.add_axes((0, 0, 1, 1))
    lowdim.plot(points, colours, ax=axes, legend=False, point_size=2.5)
    axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    axes.set_axis_off()
    figure.savefig(IMAGES / f"leaf-{name}.png")


if __name__ == "__main__":
    for leaf, made in pictures():
        draw(leaf, *made())
