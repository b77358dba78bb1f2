"""t-SNE of a million deformed digits to its end, and what openTSNE would take for as much, from its parts.

An hour of openTSNE is not run. Its neighbours and affinities are timed; so is its gradient, where a run begins and in
lowdim's final picture. Its defaults are 250 iterations with exaggeration, in which the picture stays small, and 500
after it, in which the grid grows with the picture: 750 gradients at the price of the start are less than it takes, 250
at that price and 500 at that of the end more. Steps between gradients are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import lowdim
from lowdim.affinities import Entropic
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.metrics import neighbor_accuracy
from lowdim.neighbors import build_index

from . import tsne_million
from .data import Labelled
from .harness import RESULTS, run

TITLE = "t-SNE of 1,020,000 deformed digits beside the parts of openTSNE, perplexity 30"
load = tsne_million.load
GRID = {"n_interpolation_points": 3, "min_num_intervals": 50, "ints_in_interval": 1}
EXAGGERATED, AFTER = 250, 500
REPEATS = 3
PATIENCE = 330
"""Seconds after which the search of openTSNE is ended: it then counts for so much."""


def ours(data: Labelled) -> dict[str, Any]:
    """A fit to its end, and how good it is; the picture is kept for `gradients`."""
    began = time.perf_counter()
    model = lowdim.TSNE(perplexity=30).fit(data.X)
    seconds = time.perf_counter() - began
    np.save(_picture(len(data.X)), model.embedding_)
    stages = {s.name: round(s.seconds, 1) for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
    return {
        "seconds": seconds,
        "iterations": int(model.n_iter_),
        "KL": float(model.kl_divergence_),
        "recall@15": tsne_million.recall_of_some(data.X, model.embedding_),
        "10-NN accuracy": neighbor_accuracy(model.embedding_, data.y),
        "stages": stages,
    }


def affinities(data: Labelled) -> dict[str, Any]:
    """openTSNE's search and affinities, with its defaults."""
    from openTSNE.affinity import PerplexityBasedNN

    began = time.perf_counter()
    PerplexityBasedNN(data.X, perplexity=30, n_jobs=2, random_state=0)
    return {"seconds": time.perf_counter() - began}


def gradients(data: Labelled) -> dict[str, Any]:
    """Seconds of a gradient of openTSNE's at the start and in lowdim's picture, by lowdim's affinities."""
    from openTSNE.tsne import kl_divergence_fft

    X, stages = data.X, Run.of()
    lists = build_index(Rows(X), "euclidean", run=stages).query(None, 90, stages)
    W = Entropic(30.0).fit(lists, stages).weights(lists, stages)
    del lists
    P = csr_matrix((W.data / W.data.sum(), W.indices.astype(np.int32), W.indptr.astype(np.int32)), W.shape)
    start = np.ascontiguousarray(X[:, :2])
    places = {"start": 1e-4 * start / start[:, 0].std(), "end": np.load(_picture(len(X)))}
    found = {"width of the picture": float(np.ptp(places["end"]))}
    for name, place in places.items():
        Y = np.ascontiguousarray(place, dtype=np.float64)
        found[name] = _timed(lambda: kl_divergence_fft(Y, P, 1.0, GRID, n_jobs=2))  # noqa: B023
    return found


def _timed(work: Callable[[], Any]) -> float:
    """The quickest of a few."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _picture(size: int) -> Path:
    return RESULTS / f"tsne_{size}.npy"


CONTESTANTS = {"lowdim": ours, "affinities": affinities, "gradients": gradients}


def judge(data: Labelled, found: dict[str, Any]) -> dict[str, Any]:
    """The figures."""
    return found


def report(quick: bool) -> str:
    """What each part took, and what openTSNE takes at the least and at the most."""
    size = 20_000 if quick else 1_020_000
    runs = {
        name: run("tsne_million_parts", name, size, repeats=0, timeout=PATIENCE + 60 * (name != "affinities"))
        for name in CONTESTANTS
    }
    lines = [
        f"{name}: {one.failure or one.figures}; peak {one.peak / 1e9:.1f} GB" for name, one in runs.items()
    ]
    if not runs["lowdim"].failure and not runs["gradients"].failure:
        took, cost = runs["lowdim"].figures["seconds"], runs["gradients"].figures
        # One that was ended counts for its limit, less what its process takes to make the data.
        before = runs["affinities"].figures.get("seconds", float(PATIENCE - 60))
        first, last = cost["start"], cost["end"]
        least = before + (EXAGGERATED + AFTER) * first
        most = before + EXAGGERATED * first + AFTER * last
        lines.append(
            f"openTSNE needs {least:.0f} to {most:.0f} s, {least / took:.1f} to {most / took:.1f} times lowdim's."
        )
    return f"\nN = {size:,}\n\n" + "\n\n".join(lines)
