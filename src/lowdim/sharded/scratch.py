"""What the store holds on disk while a fit by sums over cells runs: so many bytes a point, and a table of parts."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.giving_back import step_of
from .layout import Layout, type_of_landmarks

PART = 40
"""Bytes of a part of a file beside its rows: where it begins, and its digest."""
PLACE, NUMBER = 4, 8
"""Bytes of the place of a row in its block, and of a number in double precision."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """What decides how much the store holds.

    Attributes
    ----------
    layout
        Blocks and cells.
    n_cells
        Number of cells.
    row_bytes
        Bytes of a row of the source.
    n_neighbors, n_landmark_neighbors, n_landmarks
        k, K_Z and L.
    has_patches
        Whether the sums are over patches (`LLE`), which need the rows once more.
    """

    layout: Layout
    n_cells: int
    row_bytes: int
    n_neighbors: int
    n_landmark_neighbors: int
    n_landmarks: int
    has_patches: bool = False

    def by_stage(self) -> dict[str, int]:
        """Bytes when a stage ends: what its tasks have read, and no other stage will, has been removed meanwhile.

        Not counted are the sums of the cells, which hang on the landmarks that share edges, and what cells lend each
        other of patches: a hundredth of the rows or so.
        """
        of = self._bytes_of()
        weighed = of["weights"] + of["carry"]
        found = {
            "route": weighed + of["rows"],
            "search": weighed + of["search"],
            "merge": weighed + of["merge"],
        }
        if self.has_patches:
            found["rows"] = weighed + of["merge"] + of["rows"]
        return found

    def peak(self) -> int:
        """The most at any time, with cells of equal size.

        While a stage removes what it has read its own results lie beside it: of two steps, since the tasks end in
        another order than they began.
        """
        of, ends = self._bytes_of(), self.by_stage()
        weighed = of["weights"] + of["carry"]
        searching = _beside(of["rows"], of["search"], self.n_cells)
        merging = _beside(of["search"], of["merge"], self.layout.n_blocks)
        return max(*ends.values(), weighed + searching, weighed + merging)

    def _bytes_of(self) -> dict[str, int]:
        """Bytes of what stages leave; a point is in ``each`` cells."""
        each = min(self.layout.cells_of_a_point, self.n_cells)
        number = type_of_landmarks(self.n_landmarks).itemsize
        weighed = self.n_landmark_neighbors * (number + NUMBER)
        k = self.n_neighbors
        found = k * (self.layout.row_type.itemsize + NUMBER)
        merged = self._rows(found + k * PLACE) + self._parts()
        scales = 0 if self.has_patches else self._rows(each * NUMBER) + self._parts()
        return {
            "weights": self._rows(weighed),
            "carry": self._rows(each * (PLACE + weighed)) + self._parts(),
            "rows": self._rows(each * self.row_bytes) + self._parts(),
            "search": self._rows(each * found) + self._parts(),
            "merge": merged + scales,
        }

    def _rows(self, each: int) -> int:
        return self.layout.n_samples * each

    def _parts(self) -> int:
        """Of results that come by block and cell."""
        return PART * self.layout.n_blocks * self.n_cells


def _beside(read: int, left: int, n_tasks: int) -> int:
    """The most that a stage of so many tasks has on disk of what it reads and of what it leaves."""
    share = min(1.0, 2 * step_of(n_tasks) / n_tasks)
    return int(max(read + share * left, share * read + left))
