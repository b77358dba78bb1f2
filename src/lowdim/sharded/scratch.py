"""What the store holds on disk while a fit by sums over cells runs: so many bytes a point, and a table of parts."""

from __future__ import annotations

from dataclasses import dataclass

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
        """Bytes when a stage ends, before anything is dropped.

        Not counted are the sums of the cells, which hang on the landmarks that share edges, and what cells lend each
        other of patches: a hundredth of the rows or so.
        """
        of, k = self._bytes_of(), self.n_neighbors
        weights, carry = of["weights"], of["carry"]
        lists = self._rows(k * (PLACE + self.layout.row_type.itemsize + NUMBER)) + self._parts()
        found = {
            "route": weights + carry + of["rows"],
            "search": weights + carry + of["rows"] + of["search"],
            "merge": weights + carry + of["search"] + lists + (0 if self.has_patches else of["scales"]),
        }
        if self.has_patches:
            found["rows"] = weights + carry + lists + of["rows"]
        return found

    def peak(self) -> int:
        """The most of them."""
        return max(self.by_stage().values())

    def _bytes_of(self) -> dict[str, int]:
        """Bytes of what stages leave; a point is in ``each`` cells."""
        each = min(self.layout.cells_of_a_point, self.n_cells)
        number = type_of_landmarks(self.n_landmarks).itemsize
        weighed = self.n_landmark_neighbors * (number + NUMBER)
        found = self.n_neighbors * (self.layout.row_type.itemsize + NUMBER)
        return {
            "weights": self._rows(weighed),
            "carry": self._rows(each * (PLACE + weighed)) + self._parts(),
            "rows": self._rows(each * self.row_bytes) + self._parts(),
            "search": self._rows(each * found) + self._parts(),
            "scales": self._rows(each * NUMBER) + self._parts(),
        }

    def _rows(self, each: int) -> int:
        return self.layout.n_samples * each

    def _parts(self) -> int:
        """Of results that come by block and cell."""
        return PART * self.layout.n_blocks * self.n_cells
