"""How a weighted sum of affinities changes with the squared distances that they are made of.

C = sum a_nj c_nj over the neighbour lists, c given. The scales of a row (beta; rho and sigma) follow from its
distances, and change with them: their share comes by the implicit function theorem.
"""

from __future__ import annotations

import numpy as np

from ..affinities.entropic import FittedEntropic
from ..affinities.fuzzy import FittedFuzzy
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run

SUM_HELD = 1e-6
"""Relative error of a row's sum above which its scale is a bound, and does not follow from the sum."""


class Lists:
    """Sums over the rows of neighbour lists."""

    def __init__(self, neighbors: Neighbors) -> None:
        self.neighbors = neighbors
        self.owners: Integers = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)

    def sums(self, values: Floats) -> Floats:
        """The sum of each row."""
        return np.asarray(np.bincount(self.owners, values, self.neighbors.n_rows), np.float64)

    def spread(self, values: Floats) -> Floats:
        """The number of each row at all of its places."""
        return values[self.owners]


def entropic_slopes(lists: Lists, p: Floats, c: Floats) -> Floats:
    """dC / ds_nj for p_j|n ~ exp(-beta_n s_nj) of a given entropy: s the squared distances.

    dp_j = -p_j (beta (ds_j - mean ds) + (s_j - m1) dbeta), and the entropy stays: dbeta = -beta cov(s, ds) / var(s),
    so that dC / ds_j = -beta p_j ((c_j - mean c) - (s_j - m1) cov(c, s) / var(s)), all means by p.
    """
    s = np.square(lists.neighbors.distances.astype(np.float64))
    s = s - lists.spread(lists.sums(p * s))
    centred = c - lists.spread(lists.sums(p * c))
    variance = lists.sums(p * s * s)
    safe = np.where(variance > 0.0, variance, 1.0)
    log_p = np.log(np.where(p > 0.0, p, 1.0))
    # log p = -beta s - log Z in every row; a row without a root is uniform on ties, and has no slope.
    beta = np.where(variance > 0.0, -lists.sums(p * log_p * s) / safe, 0.0)
    bent = np.where(variance > 0.0, lists.sums(p * centred * s) / safe, 0.0)
    return np.asarray(-lists.spread(beta) * p * (centred - s * lists.spread(bent)))


def fuzzy_slopes(lists: Lists, a: Floats, c: Floats, connectivity: float) -> Floats:
    """dC / ds_nj for a_j = exp(-(d_j - rho) / sigma) beyond rho, where the row's sum stays log2 of its neighbours.

    dC = -1 / sigma sum_j a_j (c_j - c~) (dd_j - drho) over those beyond rho, c~ their mean by a_j (d_j - rho): that is
    what the change of sigma gives back. rho is the distance of the nearest neighbours, one or two of them.
    """
    neighbors = lists.neighbors
    d, counts = neighbors.distances.astype(np.float64), neighbors.counts
    first, second, share = _reach_places(neighbors, connectivity)
    none = first < 0
    rho = np.where(none, 0.0, (1.0 - share) * d[np.maximum(first, 0)] + share * d[np.maximum(second, 0)])
    beyond = np.maximum(d - lists.spread(rho), 0.0) * ((a > 0.0) & (a < 1.0))
    # log a = -(d - rho) / sigma: the farthest of a row says sigma best.
    rate = np.zeros(neighbors.n_rows)
    slope = np.where(
        beyond > 0.0, -np.log(np.where(a > 0.0, a, 1.0)) / np.where(beyond > 0.0, beyond, 1.0), 0.0
    )
    np.maximum.at(rate, lists.owners, slope)
    total = lists.sums(a)
    held = np.abs(total - np.log2(counts + 1.0)) <= SUM_HELD * np.log2(counts + 1.0)
    weights = lists.sums(a * beyond)
    mean = np.where(
        held & (weights > 0.0), lists.sums(c * a * beyond) / np.where(weights > 0.0, weights, 1.0), 0.0
    )
    by_distance = -lists.spread(rate) * a * (c - lists.spread(mean)) * (beyond > 0.0)
    back = -lists.sums(by_distance)
    filled = np.flatnonzero(~none)
    np.add.at(by_distance, first[filled], (1.0 - share) * back[filled])
    if share > 0.0:
        np.add.at(by_distance, second[filled], share * back[filled])
    return np.asarray(np.where(d > 0.0, by_distance / np.where(d > 0.0, 2.0 * d, 1.0), 0.0))


def _reach_places(neighbors: Neighbors, connectivity: float) -> tuple[Integers, Integers, float]:
    """Between the distances at which two places rho lies, and how far from the first to the second; -1: at none.

    The kernel of fuzzy affinities has the same rule in words of distances.
    """
    starts, stops = neighbors.indptr[:-1], neighbors.indptr[1:]
    owners = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)
    zeros = np.bincount(owners[neighbors.distances <= 0.0], minlength=neighbors.n_rows)
    apart = neighbors.counts - zeros
    whole = int(np.floor(connectivity))
    share = connectivity - whole
    share = share if share > 1e-5 else 0.0
    first = starts + zeros + max(whole, 1) - 1
    last = stops - 1
    second = np.minimum(first + 1, last)
    short = apart < connectivity
    first, second = np.where(short, last, first), np.where(short, last, second)
    if whole == 0:
        # A share of the nearest distance: none of it moves rho where the share is 0.
        share = 0.0
    return np.where(apart > 0, first, -1), second, share


def slopes_of(
    fitted: object, lists: Lists, c: Floats, copies: Floats | None, scale: float, run: Run
) -> Floats | None:
    """d(sum_nm w_nm c_nm) / ds at the places of the lists, c symmetric and known there; None: no slope is known.

    ``scale`` is w over the symmetric affinities; ``copies`` are the rows that the points stand for.
    """
    neighbors = lists.neighbors
    masses = np.ones(neighbors.n_rows) if copies is None else copies
    if isinstance(fitted, FittedEntropic) and fitted.symmetrize == "average":
        # w = scale (M P + P'M) / 2, so that the sum is that of scale M P c.
        p = fitted.conditional(neighbors, run.silent()).astype(np.float64)
        return entropic_slopes(lists, p, scale * lists.spread(masses) * c)
    if isinstance(fitted, FittedFuzzy) and fitted.local_connectivity >= 1.0:
        a = fitted.memberships(neighbors, run.silent()).astype(np.float64)
        back = _other_way(neighbors, a)
        mix = fitted.set_op_mix_ratio
        both = 0.5 * (lists.spread(masses) + masses[neighbors.indices])
        return fuzzy_slopes(
            lists, a, 2.0 * scale * both * c * (mix + (1.0 - 2.0 * mix) * back), fitted.local_connectivity
        )
    return None


def _other_way(neighbors: Neighbors, values: Floats) -> Floats:
    """The value from m to n at each place from n to m; 0 where m does not have n among its neighbours."""
    size = neighbors.n_points
    owners = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)
    keys = owners * size + neighbors.indices.astype(np.int64)
    order = np.argsort(keys)
    wanted = neighbors.indices.astype(np.int64) * size + owners
    places = np.searchsorted(keys[order], wanted)
    places = np.minimum(places, keys.size - 1)
    found = keys[order][places] == wanted
    return np.asarray(np.where(found, values[order][places], 0.0))
