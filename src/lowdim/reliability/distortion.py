"""How the map stretches what is near: the local metric of each point (Perrault-Joncas & Meila 2013).

With L the Laplacian of the data and f the coordinates of the map, the dual metric

    H_ab = 1/2 (L(f_a f_b) - f_a L f_b - f_b L f_a)

says what the map makes of a small ball around a point: an ellipse {v : v' H^-1 v <= 1}. It is the identity where the
map is an isometry. Its pseudo-inverse is the metric by which lengths in the picture are those of the data. Of the
Laplacian of a walk, L = (P - I) / t, all terms are differences,

    H_ab(i) = 1 / (2 t) sum_j P_ij (f_a(j) - f_a(i)) (f_b(j) - f_b(i)),

and 2 t d = sum_j P_ij |x_j - x_i|^2 for a walk on d dimensions, which says t point by point: neither the bandwidth nor
that the lists end somewhere changes the scale. P has the kernel of Gaussians over the neighbours, with the density
divided out once (Coifman & Lafon 2006, alpha = 1), so that it leans to no side where points are denser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from .lists import Lists

NEIGHBORS = 50
"""Neighbours of the walk at most."""
BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Distortion:
    """``dual``: H of each point, M x d x d; how much longer the long axis of its ellipse is than the short; its size.

    ``ratio`` is the square root of the largest over the smallest eigenvalue of H. ``magnification`` is sqrt(det H) over
    its median: 2 where the map takes twice the area, or volume, that it takes elsewhere.
    """

    dual: Floats
    ratio: Floats
    magnification: Floats


def distortion(lists: Lists, points: Floats) -> Distortion:
    """The local metric at every point looked at; NaN where all neighbours are copies."""
    count = min(NEIGHBORS, lists.width)
    distances, nearest = lists.given[:, :count], lists.nearest[:, :count]
    size = points.shape[1]
    dual = np.empty((lists.rows.size, size, size))
    density = _densities(lists, distances)
    for part in row_blocks(lists.rows.size, BLOCK):
        weights = _walk(distances[part], nearest[part], density)
        moved = points[nearest[part]] - points[lists.rows[part], None, :]
        squares = np.einsum("ij,ij->i", weights, np.square(distances[part]))
        scales = size / np.where(squares > 0, squares, np.nan)
        dual[part] = np.einsum("ij,ija,ijb->iab", weights, moved, moved) * scales[:, None, None]
    return _described(dual)


def _described(dual: Floats) -> Distortion:
    known = np.isfinite(dual).all(axis=(1, 2))
    values = np.full(dual.shape[:2], np.nan)
    values[known] = np.maximum(np.linalg.eigvalsh(dual[known]), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(values[:, -1] / values[:, 0])
        # The logarithm: a product of many small ones would vanish.
        sizes = 0.5 * np.log(values).sum(axis=1)
        middle = np.median(sizes[np.isfinite(sizes)]) if np.isfinite(sizes).any() else 0.0
    return Distortion(dual, np.where(values[:, -1] == 0, np.inf, ratio), np.exp(sizes - middle))


def _kernel(distances: Floats) -> Floats:
    """Gaussians as wide as half of the reach of each list."""
    reach = distances[:, -1:]
    return np.asarray(np.exp(-2.0 * np.square(distances / np.where(reach > 0, reach, 1.0))))


def _densities(lists: Lists, distances: Floats) -> Floats:
    """Density at each point up to a factor: neighbours over the volume that they are in, as the kernel weighs them.

    Points that were not looked at have the median: of a sample only the lists of its own points are known.
    """
    # The exponent: a volume of many dimensions would leave what numbers can hold.
    reach = np.maximum(distances[:, -1], np.finfo(np.float64).tiny)
    logs = -lists_dimension(distances) * np.log(reach)
    found = np.full(lists.n_points, np.median(logs))
    found[lists.rows] = logs
    return np.asarray(np.exp(np.clip(found - np.median(logs), -50.0, 50.0)))


def lists_dimension(distances: Floats) -> float:
    """Dimension of the data by how distances grow along the lists (Levina & Bickel 2004), averaged as by MacKay."""
    inner, last = distances[:, :-1], np.broadcast_to(distances[:, -1:], distances[:, :-1].shape)
    known = inner > 0
    mean = float(np.log(last[known] / inner[known]).mean()) if known.any() else 0.0
    return 1.0 / mean if mean > 0 else 1.0


def _walk(distances: Floats, nearest: Integers, density: Floats) -> Floats:
    weights = _kernel(distances) / density[nearest]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
