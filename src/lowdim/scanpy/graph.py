"""The graph that ``sc.pp.neighbors`` has left: connectivities and distances in obsp, how they came about in uns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..core.messages import listed
from ..core.records import Neighbors, Sparse
from ..errors import InputError
from .cells import Cells

USUAL = "neighbors"


class NeighborGraph:
    """The graph under a key of uns."""

    def __init__(self, cells: Cells, key: str | None) -> None:
        self.key = USUAL if key is None else key
        self._held = cells.held
        if not isinstance(cells.held.uns.get(self.key), Mapping):
            raise _not_there(cells, self.key)
        self._settings: Mapping[str, Any] = cells.held.uns[self.key]

    @property
    def params(self) -> Mapping[str, Any]:
        """What ``sc.pp.neighbors`` was told; empty where it did not say."""
        found = self._settings.get("params", {})
        return found if isinstance(found, Mapping) else {}

    def param(self, name: str) -> Any:
        """One of them as a plain value, though files of old give arrays of one entry; None where it is not there."""
        value = self.params.get(name)
        return value.ravel()[0].item() if isinstance(value, np.ndarray) and value.size == 1 else value

    @property
    def connectivities(self) -> Sparse:
        """Symmetric affinities of the cells."""
        return self._matrix("connectivities")

    @property
    def neighbors(self) -> Neighbors:
        """The neighbours of each cell by their distance, nearest first; a stored 0 is the distance of equal cells."""
        entries = self._matrix("distances").tocoo()
        off = entries.row != entries.col
        rows, columns, lengths = entries.row[off], entries.col[off], entries.data[off]
        order = np.lexsort((columns, lengths, rows))
        counts = np.bincount(rows, minlength=entries.shape[0])
        return Neighbors(
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            columns[order].astype(np.int64),
            lengths[order],
            entries.shape[0],
        )

    def _matrix(self, what: str) -> Sparse:
        """A matrix of obsp in double precision; files of old have it in uns."""
        key = self._settings.get(f"{what}_key", what)
        found = self._held.obsp[key] if key in self._held.obsp else self._settings.get(what)
        if found is None:
            raise InputError(
                f"adata.uns[{self.key!r}] says that the {what} of its graph are adata.obsp[{key!r}], and they are not "
                f"there; obsp has {listed(map(repr, self._held.obsp.keys())) or 'nothing'}. Run sc.pp.neighbors again."
            )
        return sparse.csr_array(found).astype(np.float64)


def _not_there(cells: Cells, key: str) -> InputError:
    uns = cells.held.uns
    others = [
        name
        for name, value in uns.items()
        if isinstance(value, Mapping) and ("connectivities_key" in value or name == USUAL)
    ]
    instead = (
        f" There are graphs under {listed(map(repr, others))}: give one as neighbors_key." if others else ""
    )
    modalities = getattr(cells.held, "mod", None)
    if modalities and not others:
        instead = f" Graphs of a part are found by modality: {listed(map(repr, modalities))}."
    return InputError(
        f"adata.uns[{key!r}], where sc.pp.neighbors leaves its graph, is not there. Run sc.pp.neighbors(adata) or "
        f"lowdim.scanpy.neighbors(adata) first.{instead}"
    )
