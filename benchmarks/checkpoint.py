"""What keeping a checkpoint costs: the same fits with and without one, in turn, in one process.

Single fits vary by more than a checkpoint costs. So the time inside the checkpoint's own calls is taken too: digests,
copies, files and waits for the disk, all of which are made in the thread of the fit.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

import lowdim
from lowdim.store import checkpoint

from .data import Labelled, mnist
from .harness import run, table

TITLE = "Checkpoints: seconds with and without, and of a run that goes on from a finished one"
PAIRS, QUICK = 11, 1000


def load(size: int) -> Labelled:
    """MNIST by PCA to 50 columns."""
    return mnist(size)


def in_turn(make: Callable[..., Any], data: Labelled) -> dict[str, Any]:
    """Seconds of fits without and with a checkpoint, in turn, of a run again, and what the folder takes."""
    make(max_iter=5).fit(data.X) if make is lowdim.TSNE else make().fit(data.X[:QUICK])
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    inside = _clocked()
    same, size, again, own = True, 0, 0.0, []
    for turn in range(PAIRS if len(data.X) > QUICK else 1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kept"
            embeddings = {}
            for which in ("without", "with") if turn % 2 else ("with", "without"):
                inside.clear()
                took, embeddings[which] = _timed(make, data, path if which == "with" else None)
                seconds[which].append(took)
                own += [sum(inside) / took] if which == "with" else []
            again, embedding = _timed(make, data, path)
            size = sum(file.stat().st_size for file in path.iterdir())
            same &= np.array_equal(embeddings["with"], embeddings["without"])
            same &= np.array_equal(embeddings["with"], embedding)
    return {"seconds": seconds, "inside": own, "again": again, "same": bool(same), "size": size}


def _clocked() -> list[float]:
    """A list to which every call into a checkpoint will add its seconds."""
    seconds: list[float] = []
    busy = [False]

    def clocked(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if busy[0]:
                return function(*args, **options)
            busy[0], began = True, time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                seconds.append(time.perf_counter() - began)
                busy[0] = False

        return call

    for owner, names in (
        (checkpoint.CheckpointPlace, ("inside", "find", "save_progress", "save_result")),
        (checkpoint.Checkpoint, ("__init__", "finish")),
        (checkpoint.Identity, ("texts",)),
        (checkpoint, ("_opened",)),
    ):
        for name in names:
            setattr(owner, name, clocked(getattr(owner, name)))
    return seconds


def _timed(make: Callable[..., Any], data: Labelled, path: Path | None) -> tuple[float, np.ndarray]:
    os.sync()  # what others have written is not to be paid for here
    began = time.perf_counter()
    fitted = make(checkpoint=path).fit(data.X)
    return time.perf_counter() - began, fitted.embedding_


CONTESTANTS = {
    "TSNE": partial(in_turn, lowdim.TSNE),
    "ElasticEmbedding, 5 iterations a step": partial(in_turn, partial(lowdim.ElasticEmbedding, max_iter=5)),
    "Isomap": partial(in_turn, lowdim.Isomap),
    "Isomap, 1000 landmarks": partial(in_turn, partial(lowdim.Isomap, landmarks=1000)),
    "LLE": partial(in_turn, lowdim.LLE),
}
SIZES = {"Isomap": 10_000}


def judge(data: Labelled, measured: dict[str, Any]) -> dict[str, Any]:
    """What was measured."""
    return measured


def report(quick: bool) -> str:
    """A row for each method."""
    rows = []
    for name in CONTESTANTS:
        size = QUICK if quick else SIZES.get(name, 20_000)
        found = run("checkpoint", name, size, repeats=0, timeout=7200)
        if found.failure:
            rows.append([name, f"{size:,}", found.failure, "", "", "", "", "", ""])
            continue
        figures = found.figures
        without, kept = (figures["seconds"][which] for which in ("without", "with"))
        shares = [b / a - 1 for a, b in zip(without, kept, strict=True)]
        rows.append(
            [
                name,
                f"{size:,}",
                f"{median(without):.2f}",
                f"{median(kept):.2f}",
                f"{100 * median(shares):+.1f} % ± {100 * _error(shares):.1f}",
                f"{100 * median(figures['inside']):.2f} %",
                f"{figures['again']:.2f}",
                f"{figures['size'] / 1e6:.1f}",
                "yes" if figures["same"] else "NO",
            ]
        )
    head = [
        "",
        "N",
        "without, s",
        "with, s",
        "median of pairs",
        "in its calls",
        "again, s",
        "folder, MB",
        "same bits",
    ]
    return table(head, rows)


def _error(shares: list[float]) -> float:
    """Standard error of the median, from the spread of the middle half."""
    if len(shares) < 4:
        return float("nan")
    low, _, high = quantiles(shares, n=4)
    return 0.93 * float(high - low) / len(shares) ** 0.5
