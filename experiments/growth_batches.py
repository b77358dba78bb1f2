"""A map that grows: digits in ten batches, each taken in by `update`, beside a fit to all rows so far.

What is wanted of each batch: old points move by less than 1 % of the picture's width in the median, the recall of the
15 nearest is within 0.01 of a fit from nothing, and it takes at most a third of the fit's seconds. Seconds are those of
the processors, all threads together. t-SNE and UMAP as they come, on the first 50 principal coordinates. Batches are of
1,000 digits, so that the first ones change half of the data, and of 7,000, all there are. t-SNE's picture becomes wider
with the number of points: the shift is also judged with both pictures drawn to one size, as a page shows them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import KDTree

import lowdim

from .data import digits
from .notebook import Notebook

BATCHES, COLUMNS, NEAREST, SAMPLE = 10, 50, 15, 2_000
MOST_SHIFT, MOST_LOSS, MOST_SHARE = 0.01, 0.01, 1 / 3
METHODS = {"t-SNE": lowdim.TSNE, "UMAP": lowdim.UMAP}
Row = dict[str, Any]


def run(notebook: Notebook) -> None:
    """Grow both pictures, and judge every batch."""
    for each in (200,) if notebook.quick else (1_000, 7_000):
        pixels, labels = digits(each * BATCHES)
        X = lowdim.PCA(COLUMNS).fit_transform(pixels)
        rows, pictures = [], {}
        for name, kind in METHODS.items():
            found, grown, fitted = growing(X, each, kind)
            rows += [{"method": name} | row for row in found]
            pictures |= {f"{name}, grown in ten batches": grown, f"{name}, fitted at once": fitted}
        notebook.table(rows, f"batches-of-{each}")
        notebook.figure(_draw(pictures, labels), f"batches-of-{each}")
        for name in METHODS:
            chosen = [row for row in rows if row["method"] == name]
            _judge(notebook, f"{name} by {each:,}", chosen)


def growing(X: NDArray, each: int, kind: Any) -> tuple[list[Row], NDArray, NDArray]:
    """A row for each batch after the first; the last picture, and that of a fit to the same rows."""
    # Compiled code is loaded before anything is measured.
    kind(max_iter=20).fit(X[:each]).update(X[each : 2 * each])
    model, rows, whole = kind().fit(X[:each]), [], None
    for batch in range(2, BATCHES + 1):
        points = X[: each * batch]
        began = time.process_time()
        following = model.update(points[each * (batch - 1) :])
        updated = time.process_time()
        whole = kind().fit(points)
        seconds, of_fit = updated - began, time.process_time() - updated
        moved = np.linalg.norm(following.embedding_[: len(model.embedding_)] - model.embedding_, axis=1)
        rows.append(
            {
                "digits": len(points),
                "seconds of update": round(seconds, 2),
                "of a fit": round(of_fit, 2),
                "median shift": round(float(np.median(moved) / np.ptp(model.embedding_, axis=0).max()), 4),
                "drawn to one size": round(following.report_.figures["median_shift_in_frame"], 4),
                "recall grown": round(recall(points, following.embedding_), 4),
                "recall fitted": round(recall(points, whole.embedding_), 4),
            }
        )
        model = following
    assert whole is not None
    return rows, np.asarray(model.embedding_), np.asarray(whole.embedding_)


def recall(X: NDArray, Y: NDArray) -> float:
    """Share of the nearest in the data that are nearest in the picture too, of a sample of the points."""
    some = np.random.default_rng(0).permutation(len(X))[:SAMPLE]
    near = [KDTree(points).query(points[some], NEAREST + 1)[1][:, 1:] for points in (X, Y)]
    return float(np.mean([len(set(a) & set(b)) / NEAREST for a, b in zip(*near, strict=True)]))


def _judge(notebook: Notebook, name: str, rows: list[Row]) -> None:
    losses = [row["recall fitted"] - row["recall grown"] for row in rows]
    shares = [row["seconds of update"] / max(row["of a fit"], 0.01) for row in rows]
    for column, how in (("median shift", ""), ("drawn to one size", ", drawn to one size")):
        shifts = [row[column] for row in rows]
        notebook.claim(
            f"{name}: old points move by less than 1 % of the width a batch{how}",
            "",
            f"{100 * min(shifts):.2g} to {100 * max(shifts):.2g} %",
            max(shifts) < MOST_SHIFT,
        )
    notebook.claim(
        f"{name}: recall within 0.01 of a fit from nothing",
        "",
        f"{min(losses):.3f} to {max(losses):.3f} behind",
        max(losses) <= MOST_LOSS,
    )
    notebook.claim(
        f"{name}: a third of a fit's processor seconds",
        "",
        f"{min(shares):.2f} to {max(shares):.2f} of them",
        max(shares) <= MOST_SHARE,
    )


def _draw(pictures: dict[str, NDArray], labels: NDArray) -> Figure:
    figure = Figure(figsize=(11, 11), layout="constrained")
    for axes, (title, Y) in zip(figure.subplots(2, 2).ravel(), pictures.items(), strict=True):
        axes.scatter(*Y.T, c=labels, cmap="tab10", s=2, linewidths=0)
        axes.set_title(title, fontsize=11)
        axes.set(xticks=[], yticks=[], aspect="equal")
    return figure
