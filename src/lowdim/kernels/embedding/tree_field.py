"""Potential and force of all points by a tree: far nodes stand as one source each, near points for themselves.

Places that are near each other share one walk. It leaves two lists of sources, cells and points, over which the loops
of ``cell_sums`` and ``pair_sums`` then run for each place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .box_tree import Tree, walk
from .cell_sums import add_cells
from .pair_sums import ZERO, add_field


@njit(cache=True, nogil=True)
def _add_point(cell: Any, columns: Any, n: int, charge: float) -> None:
    """Let the centre of charge follow one more point. A running mean stays inside the box, whatever the charges."""
    d = columns.shape[0]
    cell[d] += charge
    if charge > 0.0:
        for c in range(d):
            cell[c] += (columns[c, n] - cell[c]) * (charge / cell[d])


@njit(cache=True, nogil=True)
def _add_spread(cell: Any, source: Any, charge: float) -> None:
    """Add charge (y - g)(y - g)' of a source at y to the triangle Q of a cell about g."""
    d = source.size
    place = d + 1
    for c in range(d):
        for e in range(c, d):
            cell[place] += charge * (source[c] - cell[c]) * (source[e] - cell[e])
            place += 1


@njit(cache=True, nogil=True)
def cells_of(tree: Tree, charges: Floats) -> Floats:
    """Centre, charge and triangle of Q of each node; ``charges``, never negative, are in the order of the tree."""
    n_nodes, d = tree.low.shape
    cells = np.zeros((n_nodes, 1 + d + d * (d + 1) // 2))
    point = np.empty(d)
    for i in range(n_nodes - 1, -1, -1):
        cell = cells[i]
        for c in range(d):
            cell[c] = 0.5 * tree.low[i, c] + 0.5 * tree.high[i, c]
        if tree.skip[i] == i + 1:
            for n in range(tree.start[i], tree.stop[i]):
                _add_point(cell, tree.columns, n, charges[n])
            for n in range(tree.start[i], tree.stop[i]):
                for c in range(d):
                    point[c] = tree.columns[c, n]
                _add_spread(cell, point, charges[n])
        else:
            first, second = cells[i + 1], cells[tree.skip[i + 1]]
            cell[d] = first[d] + second[d]
            if cell[d] > 0.0:
                for c in range(d):
                    cell[c] = first[c] + (second[c] - first[c]) * (second[d] / cell[d])
            for child in (first, second):
                _add_spread(cell, child[:d], child[d])
                for place in range(d + 1, cell.size):
                    cell[place] += child[place]
    return cells


@njit(cache=True, nogil=True)
def _list_sources(
    tree: Tree, charges: Floats, cells: Floats, found: Any, counts: tuple[int, int], lists: Any
) -> int:
    """Write the nodes and the points that a walk found into the two lists; returns the number of points."""
    nodes, ranges = found
    cell_list, point_list, charge_list = lists
    for t in range(counts[0]):
        for place in range(cells.shape[1]):
            cell_list[place, t] = cells[nodes[t], place]
    count = 0
    for t in range(counts[1]):
        for n in range(ranges[t, 0], ranges[t, 1]):
            for c in range(point_list.shape[0]):
                point_list[c, count] = tree.columns[c, n]
            charge_list[count] = charges[n]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _empty_lists(tree: Tree, width: int) -> tuple[Any, Any]:
    """Room for what a walk finds, and for the two lists of sources: no more than all nodes, and all points."""
    n_nodes, d, n_points = tree.start.size, tree.columns.shape[0], tree.columns.shape[1]
    found = (np.empty(n_nodes, np.int64), np.empty((n_nodes, 2), np.int64))
    return found, (np.empty((width, n_nodes)), np.empty((d, n_points)), np.empty(n_points))


@njit(cache=True, nogil=True)
def of_groups(
    radial: Any,
    at_zero: float,
    tree: Tree,
    charges: Floats,
    cells: Floats,
    theta: float,
    groups: Integers,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Potential and force (1 + d) at the points of groups [start, stop), into the rows that the points have.

    ``at_zero`` is K(0).
    """
    d = tree.columns.shape[0]
    found, lists = _empty_lists(tree, cells.shape[1])
    cell_list, point_list, charge_list = lists
    place = np.empty(d)
    for g in groups[start:stop]:
        own = (tree.start[g], tree.stop[g])
        box = (tree.low[g], tree.high[g])
        counts = walk(tree, cells, theta, box, own, found[0], found[1])
        others = _list_sources(tree, charges, cells, found, counts, lists)
        # Where all points of the group are in one place, each pair has K(0), and there is no force.
        together = tree.side[g] == 0.0
        count = others if together else others + own[1] - own[0]
        for t in range(others, count):
            for c in range(d):
                point_list[c, t] = tree.columns[c, own[0] + t - others]
            charge_list[t] = charges[own[0] + t - others]
        for n in range(own[0], own[1]):
            for c in range(d):
                place[c] = tree.columns[c, n]
            sums = out[tree.order[n]]
            sums[:] = 0.0
            if together:
                sums[0] = at_zero * (cells[g, d] - charges[n])
            else:
                # No point is its own source.
                charge_list[others + n - own[0]] = 0.0
            add_cells(radial, cell_list, counts[0], place, sums)
            add_field(radial, point_list, charge_list, ZERO, count, place, sums)
            if not together:
                charge_list[others + n - own[0]] = charges[n]


@njit(cache=True, nogil=True)
def of_places(
    radial: Any,
    tree: Tree,
    charges: Floats,
    cells: Floats,
    theta: float,
    places: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Potential and force (1 + d) at places [start, stop), each with a walk of its own."""
    found, lists = _empty_lists(tree, cells.shape[1])
    for n in range(start, stop):
        counts = walk(tree, cells, theta, (places[n], places[n]), (ZERO, ZERO), found[0], found[1])
        count = _list_sources(tree, charges, cells, found, counts, lists)
        out[n] = 0.0
        add_cells(radial, lists[0], counts[0], places[n], out[n])
        add_field(radial, lists[1], lists[2], ZERO, count, places[n], out[n])
