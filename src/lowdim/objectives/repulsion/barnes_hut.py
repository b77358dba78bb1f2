"""Repulsion by a tree (Barnes & Hut 1986): far points act as one, O(N log N), in one, two or three dimensions.

Far cells are expanded to second order (charge, centre, spread), and points that lie together share one walk through the
tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import kernels
from ...core.messages import named, setting
from ...core.records import Floats, Integers
from ...core.rules import Real, Rule
from ...core.run import Run
from ...errors import InputError
from ...validation import check_parameters
from ..similarities import Similarity
from .bending import bends_by_sums
from .layout import charges_of, columns, places
from .protocol import Field, Stateless

if TYPE_CHECKING:
    from ...kernels.embedding.box_tree import Tree

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

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits").data[:200]
    >>> lowdim.TSNE(3, repulsion=lowdim.BarnesHut(theta=0.3), max_iter=50).fit(digits).embedding_.shape
    (200, 3)
    """

    theta: float = 0.5

    name: ClassVar[str] = "barnes-hut"
    most_components: ClassVar[int | None] = 3
    _rules: ClassVar[Mapping[str, Rule]] = {"theta": Real(0, closed=True)}

    def cost(self, n_points: int) -> tuple[float, str]:
        """Grows with the number of points."""
        return n_points * 4e-7, "trees"

    def start(self, kernel: Similarity, n_points: int, n_components: int, run: Run) -> BarnesHutEngine:
        """The engine that runs; InputError where it cannot serve so many dimensions."""
        check_parameters(type(self).__name__, {"theta": self.theta}, self._rules)
        if n_components > 3:
            raise InputError(
                f"{named('n_components')} must be 1, 2 or 3 with {setting('repulsion', 'barnes-hut')}, whose tree "
                f"has no more dimensions; got {setting('n_components', n_components)}. Use "
                f"{setting('repulsion', 'exact')}, or ask for fewer components."
            )
        return BarnesHutEngine(kernel, float(self.theta), run)


class BarnesHutEngine(Stateless):
    """Sums by a tree, which is kept while the points stay where they are.

    Parameters
    ----------
    kernel
        The similarity.
    theta
        Longest side of a far box over its distance.
    run
        Workers.
    """

    is_exact: ClassVar[bool] = False

    def __init__(self, kernel: Similarity, theta: float, run: Run) -> None:
        self.kernel = kernel
        self.theta = theta
        self.run = run
        self._planted: tuple[Floats, Tree, Integers] | None = None

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        tree, groups = self._tree_of(X)
        frozen = self.freeze(X, charges)
        radial, at_zero = self.kernel.radial, self.kernel.at_zero()
        out = np.empty((X.shape[0], 1 + tree.columns.shape[0]))

        def work(rows: slice) -> None:
            kernels.embedding.tree_field.of_groups(
                radial, at_zero, tree, frozen.charges, frozen.cells, self.theta, groups, rows.start, rows.stop,
                out,
            )  # fmt: skip

        self._over_groups(work, groups)
        return Field(out[:, 0].copy(), out[:, 1 : 1 + X.shape[1]].copy())

    def fields(self, X: Floats, charges: Sequence[Floats | None]) -> list[Field]:
        """The field of each of several charges."""
        return [self.field(X, each) for each in charges]

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        tree, groups = self._tree_of(X)
        radial, ordered = self.kernel.radial, np.ascontiguousarray(charges[tree.order])
        at_zero = self.kernel.at_zero(order)
        expanded = kernels.embedding.tree_sums.moments_of(tree, ordered)
        out = np.empty(charges.shape)

        def work(rows: slice) -> None:
            kernels.embedding.tree_sums.of_groups(
                radial,
                order,
                at_zero,
                tree,
                ordered,
                expanded,
                self.theta,
                groups,
                rows.start,
                rows.stop,
                out,
            )

        self._over_groups(work, groups)
        return out

    def bends(self, X: Floats, charges: Floats) -> Floats:
        """sum_{m != n} (2 K_1 - 4 K_2 u u') c_m, u = x_n - x_m, for charges that are vectors (N x d)."""
        return bends_by_sums(lambda moves, order: self.sums(X, moves, order), X, charges)

    def freeze(self, X: Floats, charges: Floats | None = None) -> BarnesHutField:
        """The field of the points as it stands, for new points."""
        tree, _ = self._tree_of(X)
        ordered = charges_of(X.shape[0], charges)[tree.order]
        cells = kernels.embedding.tree_field.cells_of(tree, ordered)
        return BarnesHutField(self.kernel, tree, ordered, cells, self.theta)

    def _over_groups(self, work: Callable[[slice], None], groups: Integers) -> None:
        self.run.map(work, groups.size, block_rows=max(8, -(-groups.size // 64)))

    def _tree_of(self, X: Floats) -> tuple[Tree, Integers]:
        """The tree of X and its groups, grown unless X is what it was the last time."""
        if self._planted is None or not np.array_equal(self._planted[0], X):
            tree = _grow(columns(X), self.run)
            self._planted = (X.copy(), tree, kernels.embedding.box_tree.groups(tree, GROUP_SIZE))
        return self._planted[1:]


@dataclass(frozen=True, slots=True)
class BarnesHutField:
    """The field of fixed points: their tree, and their charges and cells in its order."""

    kernel: Similarity
    tree: Tree
    charges: Floats
    cells: Floats
    theta: float

    def at(self, places: Floats, run: Run) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        return _field_at(self, places, run)


def _field_at(frozen: BarnesHutField, X: Floats, run: Run) -> Field:
    radial, at = frozen.kernel.radial, places(X)
    out = np.empty((X.shape[0], 1 + at.shape[1]))

    def work(rows: slice) -> None:
        kernels.embedding.tree_field.of_places(
            radial, frozen.tree, frozen.charges, frozen.cells, frozen.theta, at, rows.start, rows.stop, out
        )

    run.map(work, X.shape[0])
    return Field(out[:, 0].copy(), out[:, 1 : 1 + X.shape[1]].copy())


def _grow(points: Floats, run: Run) -> Tree:
    """The tree of points in columns, which are permuted: its top first, then the branches in parallel."""
    grow, n_points = kernels.embedding.box_tree.grow, points.shape[1]
    order = np.arange(n_points)
    top = grow(points, order, 0, n_points, max(LEAF_SIZE, BRANCH_SIZE))
    skip = kernels.embedding.box_tree.link(top[0], top[1])
    ends = [i for i, after in enumerate(skip.tolist()) if after == i + 1]

    def branch(part: slice) -> tuple[Floats | Integers, ...]:
        i = ends[part.start]
        made: tuple[Floats | Integers, ...] = grow(points, order, top[0][i], top[1][i], LEAF_SIZE)
        return made

    branches = dict(zip(ends, run.map(branch, len(ends), block_rows=1), strict=True))
    pieces = [branches.get(i, tuple(part[i : i + 1] for part in top)) for i in range(skip.size)]
    start, stop, low, high, side = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    skip = kernels.embedding.box_tree.link(start, stop)
    tree: Tree = kernels.embedding.box_tree.Tree(points, order, start, stop, skip, low, high, side)
    return tree
