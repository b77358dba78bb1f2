"""What several figures share: thumbnails among points, errors after a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FAINT = "#b8bec6"


def affine_error(X: NDArray, truth: NDArray) -> float:
    """|aligned - truth| / |truth| after the best affine map of X: 0 where X is the truth but for scales and shear.

    Methods that scale every coordinate to the same variance (LLE and its kin, Laplacian eigenmaps) can give no more.
    """
    ones = np.column_stack([np.asarray(X), np.ones(len(X))])
    centred = truth - truth.mean(axis=0)
    fitted = ones @ np.linalg.lstsq(ones, centred, rcond=None)[0]
    return float(np.linalg.norm(fitted - centred) / np.linalg.norm(centred))


def thumbnails(
    axes: Any, X: NDArray, images: NDArray, *, across: int = 11, zoom: float = 0.8, edge: str = "white"
) -> None:
    """Draw the points faintly, and over them images of a few that lie well apart."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    axes.scatter(X[:, 0], X[:, 1], s=3, color=FAINT, linewidths=0)
    for place in spaced(X, across):
        picture = OffsetImage(images[place], cmap="gray", zoom=zoom)
        axes.add_artist(
            AnnotationBbox(
                picture, X[place], pad=0.08, frameon=True, bboxprops={"edgecolor": edge, "linewidth": 0.4}
            )
        )
    axes.set(xticks=[], yticks=[])
    axes.margins(0.06)


def spaced(X: NDArray, across: int) -> list[int]:
    """Points no two of which are nearer than one of ``across`` parts of the picture, as they come at random."""
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0) * across
    chosen: list[int] = []
    for place in np.random.default_rng(0).permutation(len(X)):
        if not chosen or np.abs(scaled[chosen] - scaled[place]).max(axis=1).min() > 1.0:
            chosen.append(int(place))
    return chosen
