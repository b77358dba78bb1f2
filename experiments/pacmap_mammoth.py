"""PaCMAP on a mammoth: whether the picture keeps the animal at large, beside t-SNE, UMAP and the authors' program.

10,000 points of the skeleton, everything as it comes. Random-triplet accuracy (Wang et al. 2021, sec. 5) is the share
of random triplets whose nearer pair is the nearer one in the picture too: the layout at large. Recall of the 10
nearest is that of the neighbourhoods. The authors' program (`pacmap`) is run where it is installed, with as many seeds;
a figure holds where the mean of lowdim's seeds is no lower than the mean of its, to three standard errors of the
difference. The authors' program gives point i the random numbers of seed + i: pictures of seeds next to each other
share nearly all that was drawn, and differ less than two draws do. So its seeds are far apart. Its pictures are kept
beside the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import lowdim

from .notebook import Notebook, spread
from .umap_pictures import some

TRIPLETS = 200_000
NEAREST = 10
SEEDS = 20
APART = 1_000_003
"""Between two seeds of the authors' program: more than it adds to a seed."""
SURE = 3.0
"""Standard errors from which on two means are said to differ."""
OURS, THEIRS = "PaCMAP", "PaCMAP, the authors'"
Pictures = dict[str, list[NDArray]]


def triplet_accuracy(X: NDArray, picture: NDArray) -> float:
    """Share of random triplets (i, j, k) in which j is the nearer to i, or k is, in both."""
    i, j, k = np.random.default_rng(0).integers(len(X), size=(3, TRIPLETS))
    differ = (i != j) & (i != k) & (j != k)
    i, j, k = i[differ], j[differ], k[differ]

    def nearer(Y: NDArray) -> NDArray:
        return np.asarray(((Y[i] - Y[j]) ** 2).sum(axis=1) < ((Y[i] - Y[k]) ** 2).sum(axis=1))

    return float(np.mean(nearer(X) == nearer(picture)))


def recall(X: NDArray, picture: NDArray) -> float:
    """Share of the 10 nearest that are so in the picture."""
    lists = [cKDTree(Y).query(Y, NEAREST + 1)[1][:, 1:] for Y in (X, picture)]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(*lists, strict=True)]))


def by_authors(X: NDArray, seed: int, path: Path) -> NDArray:
    """A picture of the authors' program with its ``seed``-th seed, kept on disk after the first time."""
    if not path.exists():
        from pacmap import PaCMAP

        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, PaCMAP(random_state=APART * seed).fit_transform(X.astype(np.float32), init="pca"))
    return np.asarray(np.load(path), dtype=np.float64)


def run(notebook: Notebook) -> None:
    """Fit, judge and draw; quickly: 1,500 points and one seed."""
    X, slices = some("mammoth")
    size, seeds = (1500, 1) if notebook.quick else (len(X), SEEDS)
    X, slices = X[:size], slices[:size]
    pictures: Pictures = {
        OURS: [lowdim.PaCMAP(random_state=seed).fit_transform(X) for seed in range(seeds)],
        "t-SNE": [lowdim.TSNE().fit_transform(X)],
        "UMAP": [lowdim.UMAP().fit_transform(X)],
    }
    if find_spec("pacmap") is not None:
        folder = notebook.folder / "seeds"
        pictures[THEIRS] = [by_authors(X, seed, folder / f"{size}-{seed}.npy") for seed in range(seeds)]
    figures = {
        name: {
            "triplets": [triplet_accuracy(X, Y) for Y in drawn],
            f"recall@{NEAREST}": [recall(X, Y) for Y in drawn],
        }
        for name, drawn in pictures.items()
    }
    notebook.table(
        [
            {"method": name} | {figure: spread(values) for figure, values in found.items()}
            for name, found in figures.items()
        ]
    )
    _judge(notebook, figures, X, pictures[OURS][0])
    notebook.figure(_draw(X, slices, pictures))


def _judge(notebook: Notebook, figures: dict[str, Any], X: NDArray, first: NDArray) -> None:
    mean = {
        name: {figure: float(np.mean(v)) for figure, v in found.items()} for name, found in figures.items()
    }
    for other in ("t-SNE", "UMAP"):
        notebook.claim(
            f"more of the layout at large than {other}",
            "higher random-triplet accuracy",
            f"{mean[OURS]['triplets']:.3f} against {mean[other]['triplets']:.3f}",
            mean[OURS]["triplets"] > mean[other]["triplets"],
        )
    again = lowdim.PaCMAP(random_state=0, n_jobs=1).fit_transform(X)
    notebook.claim(
        "the same picture for the same seed on one thread",
        "not said",
        "equal bits",
        np.array_equal(again, first),
    )
    if THEIRS not in figures:
        notebook.remark(
            "The authors' program is not installed (pip install pacmap): lowdim's is judged alone."
        )
        return
    for figure, values in figures[THEIRS].items():
        found = Difference.of(figures[OURS][figure], values)
        notebook.claim(
            f"mean {figure} no lower than that of the authors' program, to {SURE:g} standard errors",
            spread(values),
            spread(figures[OURS][figure]),
            not found.is_lower,
        )
        notebook.remark(f"{figure}: {found}")


class Difference(NamedTuple):
    """By how much the mean of ours is above that of theirs, and the standard error of that, over seeds of both."""

    apart: float
    error: float

    @classmethod
    def of(cls, ours: Sequence[float], theirs: Sequence[float]) -> Difference:
        """Of figures, one of each seed; of one seed nothing is known of the error."""
        apart = float(np.mean(ours) - np.mean(theirs))
        if min(len(ours), len(theirs)) < 2:
            return cls(apart, np.inf)
        return cls(apart, float(np.sqrt(sum(np.var(v, ddof=1) / len(v) for v in (ours, theirs)))))

    @property
    def is_lower(self) -> bool:
        """Whether ours is lower by more than seeds explain; of one seed each, whether it is lower."""
        return self.apart < 0 if np.isinf(self.error) else self.apart < -SURE * self.error

    def __str__(self) -> str:
        if np.isinf(self.error):
            return f"lowdim's is {self.apart:+.4f} from the authors'; one seed says no more."
        word = "a difference" if abs(self.apart) > SURE * self.error else "no more than chance"
        found = f"{self.apart:+.4f} from the authors', with a standard error of {self.error:.4f}"
        return f"lowdim's mean is {found}: {word}."


def _draw(X: NDArray, slices: NDArray, pictures: Pictures) -> Figure:
    """The animal from the side, and a picture of each method, turned and mirrored towards it."""
    side = X[:, np.argsort(-np.ptp(X, axis=0))[:2]]
    drawn = {"from the side": side} | {
        name: lowdim.procrustes(found[0], side).aligned for name, found in pictures.items()
    }
    figure = Figure(figsize=(3.2 * len(drawn), 3.4), layout="constrained")
    for axes, (title, Y) in zip(figure.subplots(1, len(drawn)), drawn.items(), strict=True):
        axes.scatter(Y[:, 0], Y[:, 1], c=slices, s=max(0.6, 4000 / len(Y)), cmap="turbo", linewidths=0)
        axes.set(xticks=[], yticks=[], aspect="equal", title=title)
    return figure
