"""Sums of a kernel times several charges by a tree, to second order in the size of the far nodes.

The expansion is about the mean of the points of a node, the same for all charges: so the sums are those of one
approximate kernel matrix, and any combination of them is as accurate as that matrix is. With u = x - g and the moments
of the charges in y - g, a node adds

    K_j c_0 + 2 K_{j+1} sum_a u_a c_a + sum_{a <= b} B_ab c_ab,
    B_aa = 2 K_{j+2} u_a^2 - K_{j+1},  B_ab = 4 K_{j+2} u_a u_b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .box_tree import Tree, walk
from .pair_sums import ZERO, add_products, replace_by_slopes, squares
from .radials import REORDER, three_slopes


@njit(cache=True, nogil=True)
def _add_moments(target: Any, away: Any, source: Any) -> None:
    """Add the moments (1 + d + d(d + 1)/2 x C) of a source about a point that lies ``away`` from the target's."""
    d = away.size
    for k in range(target.shape[1]):
        target[0, k] += source[0, k]
        place = 1 + d
        for a in range(d):
            target[1 + a, k] += source[1 + a, k] + away[a] * source[0, k]
            for b in range(a, d):
                shift = away[a] * source[1 + b, k] + away[b] * source[1 + a, k]
                target[place, k] += source[place, k] + shift + away[a] * away[b] * source[0, k]
                place += 1


@njit(cache=True, nogil=True)
def moments_of(tree: Tree, charges: Floats) -> tuple[Floats, Floats]:
    """Mean of the points of each node, and the moments of the charges (N x C, in the order of the tree) about it."""
    n_nodes, d = tree.low.shape
    width = 1 + d + d * (d + 1) // 2
    mean, moments = np.empty((n_nodes, d)), np.zeros((n_nodes, width, charges.shape[1]))
    away, point = np.empty(d), np.zeros((width, charges.shape[1]))
    for i in range(n_nodes - 1, -1, -1):
        begin, end = tree.start[i], tree.stop[i]
        if tree.skip[i] == i + 1:
            for c in range(d):
                mean[i, c] = tree.columns[c, begin:end].mean()
            for n in range(begin, end):
                for k in range(charges.shape[1]):
                    point[0, k] = charges[n, k]
                for c in range(d):
                    away[c] = tree.columns[c, n] - mean[i, c]
                _add_moments(moments[i], away, point)
        else:
            first, second = i + 1, tree.skip[i + 1]
            share = (tree.stop[second] - tree.start[second]) / (end - begin)
            for c in range(d):
                mean[i, c] = mean[first, c] + (mean[second, c] - mean[first, c]) * share
            for child in (first, second):
                for c in range(d):
                    away[c] = mean[child, c] - mean[i, c]
                _add_moments(moments[i], away, moments[child])
    return mean, moments


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def _factors(radial: Any, order: int, columns: Any, count: int, place: Any, slope: Any, out: Any) -> None:
    """What multiplies each moment of the first ``count`` cells: ``count`` numbers of ``out`` for each moment."""
    d = columns.shape[0]
    first, second = slope[0], slope[1]
    squares(columns, ZERO, count, place, out)
    for t in range(count):
        out[t], first[t], second[t] = three_slopes(radial, order, out[t])
    into = (1 + d) * count
    for a in range(d):
        x, at = columns[a], place[a]
        linear = out[(1 + a) * count : (2 + a) * count]
        for t in range(count):
            linear[t] = 2.0 * first[t] * (at - x[t])
        for b in range(a, d):
            y, to = columns[b], place[b]
            quadratic = out[into : into + count]
            into += count
            if a == b:
                for t in range(count):
                    quadratic[t] = 2.0 * second[t] * (at - x[t]) * (at - x[t]) - first[t]
            else:
                for t in range(count):
                    quadratic[t] = 4.0 * second[t] * (at - x[t]) * (to - y[t])


@njit(cache=True, nogil=True)
def _list_sources(
    tree: Tree, charges: Floats, expanded: Any, found: Any, counts: tuple[int, int], lists: Any
) -> int:
    """Write what a walk found into the lists of places, and all moments and charges into one; returns the points."""
    mean, moments = expanded
    nodes, ranges = found
    cell_list, point_list, charge_list = lists
    d, width, C = mean.shape[1], moments.shape[1], moments.shape[2]
    for t in range(counts[0]):
        for c in range(d):
            cell_list[c, t] = mean[nodes[t], c]
        for place in range(width):
            for k in range(C):
                charge_list[k, place * counts[0] + t] = moments[nodes[t], place, k]
    count, offset = 0, width * counts[0]
    for t in range(counts[1]):
        for n in range(ranges[t, 0], ranges[t, 1]):
            for c in range(d):
                point_list[c, count] = tree.columns[c, n]
            for k in range(C):
                charge_list[k, offset + count] = charges[n, k]
            count += 1
    return count


@njit(cache=True, nogil=True, forceinline=True)
def _sum_group(
    radial: Any, order: int, tree: Tree, own: tuple[int, int], counts: Any, lists: Any, room: Any, out: Any
) -> None:
    """Sums over the lists at the points of one group, four at a time; its own points, if listed, are the last ones.

    ``counts`` are those of the cells, of the points, and of the points that are not the group's own.
    """
    n_cells, n_points, others = counts
    cell_list, point_list, charge_list = lists
    values, slope, totals = room
    d = tree.columns.shape[0]
    place = np.empty(d)
    offset = (1 + d + d * (d + 1) // 2) * n_cells
    for first in range(own[0], own[1], 4):
        last = min(first + 4, own[1])
        for n in range(first, last):
            for c in range(d):
                place[c] = tree.columns[c, n]
            row = values[n - first]
            _factors(radial, order, cell_list, n_cells, place, slope, row)
            near = row[offset : offset + n_points]
            squares(point_list, ZERO, n_points, place, near)
            replace_by_slopes(radial, order, near)
            if n_points > others:
                # No point is its own source.
                row[offset + others + n - own[0]] = 0.0
        totals[:] = 0.0
        add_products(values, charge_list, ZERO, offset + n_points, totals)
        for n in range(first, last):
            for k in range(totals.shape[1]):
                out[tree.order[n], k] = totals[n - first, k]


@njit(cache=True, nogil=True)
def of_groups(
    radial: Any,
    order: int,
    at_zero: float,
    tree: Tree,
    charges: Floats,
    expanded: tuple[Floats, Floats],
    theta: float,
    groups: Integers,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """sum_{m != n} K_order(D_nm) c_m at the points of groups [start, stop), into the rows that the points have.

    ``expanded`` is what ``moments_of`` gave for the charges, ``at_zero`` is K_order(0).
    """
    mean, moments = expanded
    n_nodes, d, n_points = tree.start.size, tree.columns.shape[0], tree.columns.shape[1]
    most = moments.shape[1] * n_nodes + n_points
    found = (np.empty(n_nodes, np.int64), np.empty((n_nodes, 2), np.int64))
    lists = (np.empty((d, n_nodes)), np.empty((d, n_points)), np.empty((charges.shape[1], most)))
    room = (np.zeros((4, most)), np.empty((2, n_nodes)), np.empty((4, charges.shape[1])))
    for g in groups[start:stop]:
        own = (tree.start[g], tree.stop[g])
        counts = walk(tree, mean, theta, (tree.low[g], tree.high[g]), own, found[0], found[1])
        others = _list_sources(tree, charges, expanded, found, counts, lists)
        together = tree.side[g] == 0.0
        count = others if together else others + own[1] - own[0]
        for t in range(others, count):
            for c in range(d):
                lists[1][c, t] = tree.columns[c, own[0] + t - others]
            for k in range(charges.shape[1]):
                lists[2][k, moments.shape[1] * counts[0] + t] = charges[own[0] + t - others, k]
        _sum_group(radial, order, tree, own, (counts[0], count, others), lists, room, out)
        if together:
            # All points of the group are in one place.
            for n in range(own[0], own[1]):
                for k in range(charges.shape[1]):
                    out[tree.order[n], k] += at_zero * (moments[g, 0, k] - charges[n, k])
