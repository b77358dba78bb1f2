"""The problem of locally linear embedding and its kin restricted to landmarks, as sums over the patches of every cell.

A is a sum of small matrices on patches, a point and its neighbours each: A = sum_i S_i A_i S_i'. With Z the weights on
the landmarks, those of a cell c are the patches of the points that are at home there:

    A~ = Z'AZ = sum_c Z_c'A_c Z_c        B~ = Z'Z = sum_c of those at home

(Vladymyrov & Carreira-Perpinan 2013, eq. 3). A_c is (I - W)'(I - W) of the weights of standard LLE, or the sum of the
local matrices of its other variants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from ..affinities.patches import Patches, coordinate_patches, distance_patches
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers, Neighbors, Operator, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..methods.lle import LocallyLinear
from ..methods.lle_modified import residual_ratios, usual_threshold
from ..neighbors import build_index, resolve_metric
from ..spectral.operators import Normal
from ..store.tasks import TaskStore
from .edge_sums import CHUNK, row_sums_of, sums, triangle, upper, weights_on_landmarks
from .layout import Layout
from .search import members_of

PATCHES = 1 << 14
"""Patches of a cell whose matrices are held at once."""
MOST_RATIOS = 1 << 24
"""Points whose ratios decide eta of modified LLE: all, or of more than so many every second, third, ... of a cell."""


@dataclass(frozen=True, slots=True)
class Home:
    """The points of the patches of a cell: those at home first, then the neighbours that are not."""

    rows: NDArray[Any]
    lists: Neighbors
    landmarks: Integers
    shares: Floats

    @classmethod
    def read(cls, layout: Layout, n_cells: int, store: TaskStore, cell: int) -> Home:
        """Those of a cell, its own points and those that other cells have lent it."""
        starts, ends, lengths, pool = [], [], [], []
        members = members_of(layout, store, cell)
        for block in range(layout.n_blocks):
            edges = store.get("merge", block, cell)
            starts.append(edges["from"].astype(np.int64) + layout.block(block).start)
            ends.append(edges["to"].astype(np.int64))
            lengths.append(edges["values"])
            held = store.get("carry", block, cell)
            pool.append((store.get("rows", block, cell)["rows"], held["landmarks"], held["shares"]))
        lent = [store.get("lend", other, cell) for other in range(n_cells) if other != cell]
        pool += [(part["rows"], part["landmarks"], part["shares"]) for part in lent]
        numbers = np.concatenate((members, *(part["numbers"] for part in lent))).astype(np.int64)
        own, counts = np.unique(np.concatenate(starts), return_counts=True)
        used, indices = _numbered(own, np.concatenate(ends))
        known, first = np.unique(numbers, return_index=True)
        places = first[np.searchsorted(known, used)]
        rows, landmarks, shares = (np.concatenate(parts)[places] for parts in zip(*pool, strict=True))
        indptr = np.concatenate(([0], np.cumsum(counts)))
        return cls(rows, Neighbors(indptr, indices, np.concatenate(lengths), len(used)), landmarks, shares)

    def chunks(self) -> Iterator[Home]:
        """The same patches, so many at a time that the matrices of them are small."""
        lists = self.lists
        for own in row_blocks(lists.n_rows, PATCHES):
            edges = slice(lists.indptr[own.start], lists.indptr[own.stop])
            used, indices = _numbered(np.arange(own.start, own.stop), lists.indices[edges])
            indptr = lists.indptr[own.start : own.stop + 1] - edges.start
            part = Neighbors(indptr, indices, lists.distances[edges], len(used))
            yield Home(self.rows[used], part, self.landmarks[used], self.shares[used])

    def patches(self, method: LocallyLinear, run: Run) -> Patches:
        """Their Gram matrices."""
        lists, points = method.patch_lists(self.lists), Rows(self.rows)
        if resolve_metric(method.metric).name == "euclidean":
            return coordinate_patches(lists, points, None, run)
        index = build_index(points, method.metric, search="exact", n_queries=0, run=run)
        return distance_patches(lists, index.local_distances, run)


def _numbered(own: Integers, neighbors: Integers) -> tuple[Integers, Integers]:
    """Rising numbers and then those of their neighbours that are not among them; the places of all neighbours there."""
    used = np.concatenate((own, np.setdiff1d(neighbors, own)))
    order = np.argsort(used, kind="stable")
    return used, order[np.searchsorted(used[order], neighbors)]


@dataclass(frozen=True)
class PatchRatios:
    """Leaves what modified LLE makes its threshold of, of the points at home in a cell."""

    layout: Layout
    n_cells: int
    method: LocallyLinear
    name: str = "ratios"

    def __call__(self, store: TaskStore, number: int) -> None:
        """The ratios of a cell."""
        run, home = Run.of(0, 1), Home.read(self.layout, self.n_cells, store, number)
        found = [
            residual_ratios(part.patches(self.method, run), self.method.n_components, run)
            for part in home.chunks()
        ]
        step = -(-self.layout.n_samples // MOST_RATIOS)
        store.put(self.name, number, {"ratios": np.concatenate((np.zeros(0), *found))[::step]})


def threshold_of(store: TaskStore, n_cells: int) -> float:
    """Eta, the median of the ratios of all cells."""
    return usual_threshold(np.concatenate([store.get("ratios", cell)["ratios"] for cell in range(n_cells)]))


@dataclass(frozen=True)
class PatchSums:
    """Leaves A~ and B~ of the patches of a cell, Z'1, and what A~ 1 should be."""

    layout: Layout
    n_cells: int
    n_landmarks: int
    method: LocallyLinear
    threshold: float | None = None
    name: str = "sums"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Sum over the patches of a cell."""
        run, home, size = Run.of(0, 1), Home.read(self.layout, self.n_cells, store, number), self.n_landmarks
        A, row_sums = csr_array((size, size)), np.zeros(size)
        for part in home.chunks():
            Z = weights_on_landmarks(part.landmarks, part.shares, size)
            problem = self.method.problem_of(
                part.patches(self.method, run), threshold=self.threshold, run=run
            )
            A = csr_array(A + restricted(problem.operator, Z))
            row_sums += row_sums_of(problem.operator, Z)
        own = slice(0, home.lists.n_rows)
        Z = weights_on_landmarks(home.landmarks[own], home.shares[own], size)
        store.put(self.name, number, sums(A, row_sums, Z, np.ones(Z.shape[0])))


def restricted(operator: Operator, Z: Sparse) -> Sparse:
    """The upper triangle of Z'AZ."""
    if not isinstance(operator, Normal):
        A = csr_array(operator.explicit())
        return triangle(csr_array(sparse.triu(A, 1) + sparse.diags_array(A.diagonal() / 2)), Z)
    total = csr_array((Z.shape[1], Z.shape[1]))
    for rows in row_blocks(operator.F.shape[0], CHUNK):
        part = csr_array(operator.F[rows] @ Z)
        total = csr_array(total + upper(csr_array(part.T @ part)))
    return total
