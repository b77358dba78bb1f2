"""What holds the cells, an AnnData, a MuData or one modality of it: where results are read from and left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.messages import listed
from ..errors import InputError, InputTypeError


@dataclass(frozen=True, slots=True)
class Cells:
    """``held`` has the fields to read and to write; ``returned`` is what the caller gets: None, or the copy."""

    held: Any
    returned: Any

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.held.n_obs)

    def keep(self, **fields: Mapping[str, Any]) -> Any:
        """Write into obs, obsm, obsp, varm and uns, all at the end, so that a failure leaves nothing by halves."""
        for field, entries in fields.items():
            for key, value in entries.items():
                getattr(self.held, field)[key] = value
        return self.returned


def open_cells(adata: Any, modality: str | None, copy: bool) -> Cells:
    """The AnnData or MuData that was given, or a copy of it; of a MuData the ``modality`` that was named.

    A copy of cells that stay in their file is one in memory: the file of the original is not copied.
    """
    if not all(hasattr(adata, field) for field in ("obs", "obsm", "obsp", "uns")):
        raise InputTypeError(
            f"adata must be an AnnData or a MuData; got an object of type {type(adata).__name__}. For an array of "
            "cells use the estimators, such as lowdim.UMAP."
        )
    modalities = getattr(adata, "mod", None)
    if modality is not None and modalities is None:
        raise InputError(
            f"modality names a part of a MuData; got modality={modality!r} with {type(adata).__name__}, which has no "
            "parts. Leave it out."
        )
    if modality is not None and modalities is not None and modality not in modalities:
        raise InputError(
            f"modality must be one of {listed(map(repr, modalities))}, which this MuData has; got {modality!r}."
        )
    if copy:
        adata = adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()
    held = adata if modality is None else adata.mod[modality]
    return Cells(held, adata if copy else None)


def places(usual: str, key_added: str | None) -> tuple[str, str]:
    """Keys of obsm and uns, as scanpy has them: X_umap and umap, or for both the one that was given."""
    return (f"X_{usual}", usual) if key_added is None else (key_added, key_added)


def stored(**parameters: Any) -> dict[str, Any]:
    """Parameters as uns holds them, so that a file can: without those that are None, and seeds where they are numbers.

    scanpy leaves a seed of 0 out as well.
    """
    seed = parameters.pop("random_state", 0)
    kept = {name: value for name, value in parameters.items() if value is not None}
    return {"params": kept | ({"random_state": seed} if isinstance(seed, int) and seed != 0 else {})}


def threads(n_jobs: int | None) -> int:
    """Threads for the estimators: all where nothing was said, since no result depends on them."""
    return -1 if n_jobs is None else n_jobs
