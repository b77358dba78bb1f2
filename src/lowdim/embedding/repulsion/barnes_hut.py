"""Repulsion by a tree (Barnes & Hut 1986): far points act as one, O(N log N), in one, two or three dimensions.

Far cells are expanded to second order (charge, centre, spread), and points that lie together share one walk through the
tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import kernels
from ...errors import InputError
from ...messages import named, setting
from ...parallel import map_blocks
from ...records import Floats, Integers
from ...rules import Real, Rule
from ...validation import check_parameters
from ..similarity import Kernel
from .layout import charges_of, columns, places
from .protocol import Field, Stateless

if TYPE_CHECKING:
    from ...kernels.tree import Tree

LEAF_SIZE = 8
GROUP_SIZE = 64
"""Points in a leaf, and points that share a walk: the fastest of those tried, from 4 to 32 and from 8 to 128."""

BRANCH_SIZE = 8192
"""Points in a part of the tree that is grown on a thread of its own."""


@dataclass(frozen=True, slots=True)
class BarnesHut:
    """Sum the repulsion by a tree of boxes, in one, two or three dimensions.

    Parameters
    ----------
    theta
        A box stands as one source where its longest side is at most ``theta`` times its distance. The error of the
        field falls with it, about as theta^3, and is down to rounding at 0, where the sum is over all pairs. In two
        dimensions 0.5 gives forces to about one part in a thousand.
    """

    theta: float = 0.5

    _rules: ClassVar[Mapping[str, Rule]] = {"theta": Real(0, closed=True)}

    def start(self, kernel: Kernel, n_points: int, n_components: int, n_jobs: int | None) -> BarnesHutEngine:
        """The engine that runs; InputError where it cannot serve so many dimensions."""
        check_parameters(type(self).__name__, {"theta": self.theta}, self._rules)
        if n_components > 3:
            raise InputError(
                f"{named('n_components')} must be 1, 2 or 3 with {setting('repulsion', 'barnes-hut')}, whose tree "
                f"has no more dimensions; got {setting('n_components', n_components)}. Use "
                f"{setting('repulsion', 'exact')}, or ask for fewer components."
            )
        return BarnesHutEngine(kernel, float(self.theta), n_jobs)


class BarnesHutEngine(Stateless):
    """Sums by a tree, which is kept while the points stay where they are.

    Parameters
    ----------
    kernel
        The similarity.
    theta
        Longest side of a far box over its distance.
    n_jobs
        Threads.
    """

    def __init__(self, kernel: Kernel, theta: float, n_jobs: int | None) -> None:
        self.kernel = kernel
        self.theta = theta
        self.n_jobs = n_jobs
        self._planted: tuple[Floats, Tree, Integers] | None = None

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        tree, groups = self._tree_of(X)
        frozen = self.freeze(X, charges)
        student, out = self.kernel.name == "student", np.empty((X.shape[0], 1 + tree.columns.shape[0]))

        def work(rows: slice) -> None:
            kernels.tree_field.of_groups(
                student, tree, frozen.charges, frozen.cells, self.theta, groups, rows.start, rows.stop, out
            )

        self._over_groups(work, groups)
        return Field(out[:, 0].copy(), out[:, 1 : 1 + X.shape[1]].copy())

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        tree, groups = self._tree_of(X)
        student, ordered = self.kernel.name == "student", np.ascontiguousarray(charges[tree.order])
        expanded = kernels.tree_sums.moments_of(tree, ordered)
        out = np.empty(charges.shape)

        def work(rows: slice) -> None:
            kernels.tree_sums.of_groups(
                student, order, tree, ordered, expanded, self.theta, groups, rows.start, rows.stop, out
            )

        self._over_groups(work, groups)
        return out

    def freeze(self, X: Floats, charges: Floats | None = None) -> BarnesHutField:
        """The field of the points as it stands, for new points."""
        tree, _ = self._tree_of(X)
        ordered = charges_of(X.shape[0], charges)[tree.order]
        cells = kernels.tree_field.cells_of(tree, ordered)
        return BarnesHutField(self.kernel, tree, ordered, cells, self.theta, self.n_jobs)

    def _over_groups(self, work: Callable[[slice], None], groups: Integers) -> None:
        map_blocks(work, groups.size, n_jobs=self.n_jobs, block_rows=max(8, -(-groups.size // 64)))

    def _tree_of(self, X: Floats) -> tuple[Tree, Integers]:
        """The tree of X and its groups, grown unless X is what it was the last time."""
        if self._planted is None or not np.array_equal(self._planted[0], X):
            tree = _grow(columns(X), self.n_jobs)
            self._planted = (X.copy(), tree, kernels.tree.groups(tree, GROUP_SIZE))
        return self._planted[1:]


@dataclass(frozen=True, slots=True)
class BarnesHutField:
    """The field of fixed points: their tree, and their charges and cells in its order."""

    kernel: Kernel
    tree: Tree
    charges: Floats
    cells: Floats
    theta: float
    n_jobs: int | None

    def at(self, places: Floats) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        return _field_at(self, places)


def _field_at(frozen: BarnesHutField, X: Floats) -> Field:
    student, at = frozen.kernel.name == "student", places(X)
    out = np.empty((X.shape[0], 1 + at.shape[1]))

    def work(rows: slice) -> None:
        kernels.tree_field.of_places(
            student, frozen.tree, frozen.charges, frozen.cells, frozen.theta, at, rows.start, rows.stop, out
        )

    map_blocks(work, X.shape[0], n_jobs=frozen.n_jobs)
    return Field(out[:, 0].copy(), out[:, 1 : 1 + X.shape[1]].copy())


def _grow(points: Floats, n_jobs: int | None) -> Tree:
    """The tree of points in columns, which are permuted: its top first, then the branches in parallel."""
    grow, n_points = kernels.tree.grow, points.shape[1]
    order = np.arange(n_points)
    top = grow(points, order, 0, n_points, max(LEAF_SIZE, BRANCH_SIZE))
    skip = kernels.tree.link(top[0], top[1])
    ends = [i for i, after in enumerate(skip.tolist()) if after == i + 1]

    def branch(part: slice) -> tuple[Floats | Integers, ...]:
        i = ends[part.start]
        made: tuple[Floats | Integers, ...] = grow(points, order, top[0][i], top[1][i], LEAF_SIZE)
        return made

    branches = dict(zip(ends, map_blocks(branch, len(ends), n_jobs=n_jobs, block_rows=1), strict=True))
    pieces = [branches.get(i, tuple(part[i : i + 1] for part in top)) for i in range(skip.size)]
    start, stop, low, high, side = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return kernels.tree.Tree(points, order, start, stop, kernels.tree.link(start, stop), low, high, side)
