"""Which pixels put a digit where it is: explanations against fits that were made again, and against pixels erased.

`model.explain` says to first order how far a digit would move with each pixel. Of symmetric SNE, which comes to rest,
the pixel is changed in all images of the digit, the picture minimised again from where it was, and the move compared:
with all points as neighbours of each, and with lists of the usual length, whose members change with the data. Of
t-SNE's picture sixteen pixels are set to the mean of the other digits in the images of one digit, and these are placed
again by the map: with the pixels that tell most more of them should leave their digit than with pixels at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import pearsonr

import lowdim

from .notebook import Notebook

ERASED, NEAREST = 16, 10
STEP = 0.1
"""By how many deviations a pixel is changed: little enough for a first order, more than the fit's rest."""


def run(notebook: Notebook) -> None:
    """Slopes against fits made again, and effects against pixels erased."""
    digits = lowdim.datasets.load("digits")
    X, y = np.asarray(digits.data, float), np.asarray(digits.labels).astype(str)
    some = np.random.default_rng(0).permutation(X.shape[0])[: 100 if notebook.quick else 200]
    shown = ("0",) if notebook.quick else ("0", "4", "7")
    pairs = [
        row | {"lists": name}
        for name, width in (("all", some.size - 1), ("usual", 60))
        for row in _moved_again(X[some], y[some], shown, width)
    ]
    notebook.keep(pairs, "refits")
    whole = slice(0, 400 if notebook.quick else None)
    model = lowdim.TSNE().fit(X[whole])
    found = {digit: model.explain(digit, labels=y[whole]) for digit in sorted(set(y[whole]))}
    erased = [
        {"digit": digit} | _erased(model, X[whole], y[whole], digit, one) for digit, one in found.items()
    ]
    notebook.table(erased)
    notebook.figure(_draw(found))
    _judge(notebook, pairs, erased)


def _moved_again(X: np.ndarray, y: np.ndarray, digits: tuple[str, ...], width: int) -> list[dict[str, Any]]:
    """What was foretold for some pixels of some digits, and what came of minimising again."""
    common: dict[str, Any] = {"perplexity": 20, "n_neighbors": width, "optimizer": "sd", "repulsion": "exact"}
    begun = lowdim.SymmetricSNE(**common).fit(X)
    settled = {"homotopy": None, "tolerance": 1e-12, "max_iter": 3000}
    model = lowdim.SymmetricSNE(**common, **settled, init=np.array(begun.embedding_)).fit(X)
    rows = []
    for digit in digits:
        inside = y == digit
        found = model.explain(inside)
        assert found.shift is not None
        for pixel in found.order("shift")[:24:4].tolist():
            distances = []
            for sign in (1, -1):
                changed = X.copy()
                changed[inside, pixel] += sign * STEP * found.deviation[pixel]
                again = lowdim.SymmetricSNE(**common, **settled, init=np.array(model.embedding_)).fit(changed)
                Y = np.asarray(again.embedding_)
                distances.append(float(np.linalg.norm(Y[inside].mean(axis=0) - Y[~inside].mean(axis=0))))
            rows.append(
                {
                    "digit": digit,
                    "pixel": pixel,
                    "foretold": float(found.shift[pixel]),
                    "moved": (distances[0] - distances[1]) / (2 * STEP),
                    "damping": found.damping,
                }
            )
    return rows


def _erased(model: Any, X: np.ndarray, y: np.ndarray, digit: str, found: Any) -> dict[str, float]:
    """Share of the images of a digit that are placed among others after some pixels are erased."""
    from scipy.spatial import KDTree

    inside = y == digit
    tree, others = KDTree(np.asarray(model.embedding_)), X[~inside].mean(axis=0)

    def gone(pixels: np.ndarray) -> float:
        changed = X[inside].copy()
        changed[:, pixels] = others[pixels]
        near = tree.query(model.transform(changed), NEAREST)[1]
        return float(np.mean((y[near] == digit).mean(axis=1) < 0.5))

    varying = np.flatnonzero(X.std(axis=0) > 0)
    rng = np.random.default_rng(1)
    return {
        "largest effects": gone(found.order()[:ERASED]),
        "largest shifts": gone(found.order("shift")[:ERASED]),
        "random": float(np.mean([gone(rng.choice(varying, ERASED, replace=False)) for _ in range(5)])),
    }


def _judge(notebook: Notebook, pairs: list[dict[str, Any]], erased: list[dict[str, Any]]) -> None:
    for lists, words, least, slack in (
        ("all", "with all points as neighbours", 0.99, 0.05),
        ("usual", "with lists of 60 neighbours", 0.9, np.inf),
    ):
        some = [row for row in pairs if row["lists"] == lists]
        foretold, moved = (np.array([row[name] for row in some]) for name in ("foretold", "moved"))
        r, ratio = float(pearsonr(foretold, moved).statistic), float(np.median(moved / foretold))
        notebook.claim(
            f"symmetric SNE, {words}: digits move with a pixel as foretold",
            "",
            f"r = {r:.4f} over {len(some)} pixels, moved over foretold {ratio:.2f} (median)",
            r > least and abs(ratio - 1) < slack,
        )
    for name in ("largest effects", "largest shifts"):
        better = sum(row[name] > row["random"] for row in erased)
        middle, usual = (100 * float(np.mean([row[which] for row in erased])) for which in (name, "random"))
        notebook.claim(
            f"t-SNE: without the {ERASED} pixels of the {name} more images leave their digit than without random ones",
            "",
            f"for {better} of {len(erased)} digits; {middle:.0f} % of the images, random {usual:.0f} %",
            better >= 0.8 * len(erased) and middle > 2 * usual,
        )


def _draw(found: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(1.25 * len(found), 2.9), layout="constrained")
    axes = figure.subplots(2, len(found), squeeze=False)
    for column, (digit, one) in enumerate(found.items()):
        for line, (name, values) in enumerate((("effect", one.effect), ("shift", one.shift))):
            ax, most = axes[line, column], float(np.abs(values).max()) or 1.0
            ax.imshow(values.reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
            ax.set(xticks=[], yticks=[])
            if column == 0:
                ax.set_ylabel(name)
        axes[0, column].set_title(digit, fontsize=11)
    return figure
