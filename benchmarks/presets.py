"""PaCMAP and ForceAtlas2 beside their references, and LargeVis alone: seconds, and quality of the pictures.

The peers are `pacmap` and `fa2-modified`; one that is not installed says so in its line. They are imported, and the
graph that ForceAtlas2 draws is made, before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lowdim
from experiments.pacmap_mammoth import recall, triplet_accuracy
from experiments.umap_pictures import graph_of, some
from lowdim.metrics import neighbor_accuracy

from .data import Labelled
from .harness import compare

TITLE = "PaCMAP, ForceAtlas2 and LargeVis, d = 2, beside pacmap and fa2-modified"
SETS = {1797: "digits", 10_000: "mammoth", 20_000: "mnist20000"}
FIGURES = ["processor seconds", "triplets", "recall@10", "10-NN accuracy", "energy"]
PEERS = ("pacmap", "fa2_modified")
STEPS = 500
"""Steps of ForceAtlas2's reference, as scanpy takes them."""


class Picture(NamedTuple):
    """Coordinates, the processor seconds that they took, and the graph that was drawn, if it was one."""

    embedding_: NDArray
    processor: float
    graph: Any = None


@lru_cache(maxsize=1)
def load(size: int) -> Labelled:
    """Digits of 8 x 8 pixels, a mammoth, or MNIST in 50 columns."""
    for name in PEERS:
        if find_spec(name) is not None:
            import_module(name)
    return Labelled(*some(SETS[size]))


@lru_cache(maxsize=1)
def graph(size: int) -> Any:
    """UMAP's graph of the points."""
    return graph_of(load(size).X)[0]


def timed(draw: Callable[[], Any], drawn: Any = None) -> Picture:
    """A picture and what it took."""
    began = process_time()
    return Picture(np.asarray(draw()), process_time() - began, drawn)


def pacmap(data: Labelled) -> Picture:
    """lowdim's PaCMAP, as it comes."""
    return timed(lambda: lowdim.PaCMAP().fit_transform(data.X))


def pacmap_peer(data: Labelled) -> Picture:
    """The authors' program, with a seed."""
    from pacmap import PaCMAP

    X = data.X.astype(np.float32)
    return timed(lambda: PaCMAP(random_state=0).fit_transform(X, init="pca"))


def large_vis(data: Labelled) -> Picture:
    """lowdim's LargeVis, as it comes."""
    return timed(lambda: lowdim.LargeVis().fit_transform(data.X))


def force_atlas(data: Labelled) -> Picture:
    """lowdim's ForceAtlas2 of UMAP's graph."""
    edges = graph(len(data.X))
    return timed(lambda: lowdim.ForceAtlas2(metric="graph").fit_transform(edges), edges)


def force_atlas_peer(data: Labelled) -> Picture:
    """The reference's steps by swing, on the same graph, from a random start as scanpy's."""
    from fa2_modified import ForceAtlas2
    from scipy.sparse import csr_matrix

    edges = graph(len(data.X))
    start = np.random.default_rng(0).random((len(data.X), 2))
    atlas = ForceAtlas2(verbose=False)
    return timed(lambda: atlas.forceatlas2(csr_matrix(edges), pos=start, iterations=STEPS), edges)


CONTESTANTS = {
    "lowdim PaCMAP": pacmap,
    "pacmap": pacmap_peer,
    "lowdim LargeVis": large_vis,
    "lowdim ForceAtlas2": force_atlas,
    "fa2-modified": force_atlas_peer,
}


def energy(edges: Any, X: NDArray, scaling: float = 2.0, gravity: float = 1.0) -> float:
    """ForceAtlas2's energy, four times, with gravity towards the origin (Jacomy et al. 2014, eqs. 1 to 3)."""
    charges, pairs = 1.0 + np.diff(edges.indptr), edges.tocoo()
    total = float((pairs.data * ((X[pairs.row] - X[pairs.col]) ** 2).sum(axis=1)).sum())
    for first in range(0, len(X), 500):
        D = ((X[first : first + 500, None] - X[None]) ** 2).sum(axis=2)
        D[np.arange(len(D)), first + np.arange(len(D))] = 1.0
        total -= scaling * float((charges[first : first + 500, None] * charges * np.log(D)).sum())
    return total + 4.0 * gravity * float((charges * np.linalg.norm(X, axis=1)).sum())


def judge(data: Labelled, picture: Picture) -> dict[str, Any]:
    """Triplets, recall and accuracy, and the energy of a drawn graph."""
    X = np.ascontiguousarray(picture.embedding_, dtype=np.float64)
    return {
        "processor seconds": picture.processor,
        "triplets": triplet_accuracy(data.X, X),
        "recall@10": recall(data.X, X),
        "10-NN accuracy": neighbor_accuracy(X, data.y),
        "energy": "" if picture.graph is None else f"{energy(picture.graph, X):.5g}",
    }


def report(quick: bool) -> str:
    """The three sets; the quick form the small digits."""
    names = list(CONTESTANTS)
    sizes = list(SETS)[:1] if quick else list(SETS)
    return "\n".join(compare("presets", names, size, FIGURES, repeats=1) for size in sizes)
