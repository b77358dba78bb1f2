"""A balanced tree of halves along directions in which the points spread widely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ...core.records import Integers
from ...core.run import Run

LEAF = 256
"""Points in a leaf, at most; more where many neighbours are wanted."""
BRANCHES = 64
"""Parts of a tree that grow on their own."""

Single = NDArray[np.float32]
Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Tree:
    """Points in leaves: leaf j holds ``order[bounds[j]:bounds[j + 1]]``; the planes are those of the nodes."""

    seed: np.uint64
    order: Places
    bounds: Integers
    normals: Single
    thresholds: Single

    @staticmethod
    def of(points: Single, leaf: int, seed: int, run: Run) -> Tree:
        """A tree with leaves of at most ``leaf`` points."""
        n_points, n_columns = points.shape
        bounds = leaf_bounds(n_points, leaf, seed)
        n_leaves = bounds.size - 1
        tree = Tree(
            np.uint64(seed),
            np.arange(n_points, dtype=np.int32),
            bounds,
            np.zeros((n_leaves, n_columns), np.float32),
            np.zeros(n_leaves, np.float32),
        )
        keys = np.empty(n_points, np.float32)
        arrays = points, tree.order, keys, bounds
        planes = tree.seed, tree.normals, tree.thresholds

        def split(part: slice) -> None:
            kernels.neighbors.forest.split(*arrays, nodes[part.start], *planes)

        def grow(part: slice) -> None:
            kernels.neighbors.forest.grow(*arrays, nodes[part.start], *planes)

        # Level by level until there is enough to share out, then branch by branch.
        nodes = [(0, n_leaves)] if n_leaves > 1 else []
        while 0 < len(nodes) < BRANCHES:
            run.map(split, len(nodes), block_rows=1)
            middles = [kernels.neighbors.forest.middle_of(tree.seed, *node) for node in nodes]
            halves = [half for (a, b), c in zip(nodes, middles, strict=True) for half in ((a, c), (c, b))]
            nodes = [(a, b) for a, b in halves if b - a > 1]
        run.map(grow, len(nodes), block_rows=1)
        return tree


def leaf_bounds(n_points: int, leaf: int, seed: int) -> Integers:
    """Leaves that are as equal as can be but for the first, so that leaves of other trees end elsewhere."""
    if n_points <= leaf:
        return np.array([0, n_points])
    first = leaf - seed % 7 * leaf // 14
    others = -(-(n_points - first) // leaf)
    return np.concatenate(([0], first + np.arange(others + 1) * (n_points - first) // others))
