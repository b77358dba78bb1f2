"""The numbers that cells are compared by: X, its components or another matrix of obsm, chosen as scanpy does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.events import frames_to_user
from ..core.messages import listed
from ..core.rules import Whole
from ..data.counts import are_counts
from ..errors import DataWarning, InputError
from ..estimators.linear.pca import PCA
from ..validation import check_block
from .cells import Cells

FEW_GENES = 50
"""Genes up to which X is taken as it is, and components otherwise, as in scanpy."""
LOOKED_AT = 500
"""Cells whose numbers tell whether X holds counts."""


def represent(cells: Cells, use_rep: str | None, n_pcs: int | None) -> Any:
    """The matrix that ``use_rep`` and ``n_pcs`` name, by scanpy's rules; advice where it comes of raw counts.

    None: X where it has up to 50 columns, else X_pca, which is made where it is not there. ``"X"``, or ``n_pcs=0``: X.
    """
    obsm = cells.held.obsm
    if n_pcs is not None and not Whole(0).allows(n_pcs):
        raise InputError(f"n_pcs must be a whole number, 0 for X itself, or None; got {n_pcs!r}.")
    if use_rep is None and n_pcs == 0:
        use_rep = "X"
    if use_rep is None:
        use_rep = "X" if _has_few_genes(cells) else "X_pca"
    if use_rep == "X_pca" and "X_pca" not in obsm:
        return _components(cells, n_pcs)
    advise(cells, use_rep)
    if use_rep == "X":
        return _checked(_whole(cells), "adata.X")
    if use_rep not in obsm:
        raise InputError(
            f"use_rep must be 'X' or one of adata.obsm, {listed(map(repr, obsm.keys())) or 'which is empty'}; got "
            f"{use_rep!r}.{_elsewhere(cells, use_rep)}"
        )
    found = obsm[use_rep]
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    if n_pcs is not None and n_pcs > found.shape[1]:
        raise InputError(
            f"n_pcs must be at most {found.shape[1]}, the columns of adata.obsm[{use_rep!r}]; got {n_pcs}. Lower it, "
            "or run sc.pp.pca with more components."
        )
    return _checked(found[:, :n_pcs], f"adata.obsm[{use_rep!r}]")


def _checked(found: Any, name: str) -> Any:
    """The matrix, whose numbers are finite: what is wrong is told by its own name, not as X of an estimator."""
    check_block(found, name, at_least=1)
    return found


def advise(cells: Cells, use_rep: str | None) -> None:
    """Warn where cells are compared by raw counts, or by principal components of raw counts."""
    held = cells.held
    pca = held.uns.get("pca")
    if use_rep in (None, "X_pca"):
        parameters = pca.get("params", {}) if isinstance(pca, Mapping) else {}
        is_of_x = isinstance(pca, Mapping) and parameters.get("layer") is None
    else:
        is_of_x = use_rep == "X"
    if not is_of_x or "log1p" in held.uns or getattr(held, "X", None) is None:
        return
    if are_counts(_first_rows(held.X)):
        warnings.warn(
            "adata.X holds whole numbers that look like raw counts, of which cells with large totals lie apart, and "
            "the cells are compared by them. Run sc.pp.normalize_total(adata) and sc.pp.log1p(adata) first, then "
            "sc.pp.pca and sc.pp.neighbors again, unless you mean them as they are.",
            DataWarning,
            stacklevel=frames_to_user(),
        )


def _has_few_genes(cells: Cells) -> bool:
    """Whether X is small enough to be taken as it is; a MuData has none, and may have components."""
    if getattr(cells.held, "X", None) is None:
        return "X_pca" not in cells.held.obsm
    return int(cells.held.n_vars) <= FEW_GENES


def _elsewhere(cells: Cells, name: str) -> str:
    if name in getattr(cells.held, "layers", ()):
        return f" There is a layer of that name: make it X, or run sc.pp.pca(adata, layer={name!r})."
    return ""


def _first_rows(X: Any) -> Any:
    return _loaded(X[:LOOKED_AT])


def _loaded(X: Any) -> Any:
    return X.to_memory() if hasattr(X, "to_memory") else X


def _whole(cells: Cells) -> Any:
    """X in memory; where it stays in its file it is read."""
    X = getattr(cells.held, "X", None)
    if X is None:
        matrices = listed(map(repr, cells.held.obsm.keys()))
        parts = listed(map(repr, getattr(cells.held, "mod", ())))
        instead = f"Give modality, one of {parts}" if parts else "Give use_rep"
        raise InputError(
            f"There is no X to compare cells by. {instead}; adata.obsm has {matrices or 'no matrix'}."
        )
    if not getattr(cells.held, "isbacked", False):
        return X
    return X.to_memory() if hasattr(X, "to_memory") else X[:]


def _components(cells: Cells, n_pcs: int | None) -> Any:
    """Principal components of X, of the highly variable genes where these are marked, kept where scanpy keeps them."""
    held = cells.held
    advise(cells, "X")
    X = _checked(_whole(cells), "adata.X")
    used = np.ones(X.shape[1], dtype=bool)
    if "highly_variable" in held.var:
        used = np.asarray(held.var["highly_variable"], dtype=bool)
    most = min(X.shape[0], int(used.sum())) - 1
    wanted = min(FEW_GENES, most) if n_pcs is None else n_pcs
    if wanted > most:
        raise InputError(
            f"n_pcs must be at most {most}: there are {X.shape[0]} cells and {int(used.sum())} genes to find "
            f"components of; got {n_pcs}. Lower it."
        )
    warnings.warn(
        f"adata.obsm has no 'X_pca', so {wanted} principal components of the {int(used.sum())} genes of X were found "
        "and kept there. Run sc.pp.pca first to choose how, or give use_rep='X' to compare cells by all genes.",
        DataWarning,
        stacklevel=frames_to_user(),
    )
    model = PCA(wanted).fit(X if used.all() else X[:, np.flatnonzero(used)])
    directions = np.zeros((X.shape[1], wanted))
    directions[used] = model.components_.T
    found = {
        "variance": model.explained_variance_,
        "variance_ratio": model.explained_variance_ratio_,
        "params": {"zero_center": True, "use_highly_variable": not used.all()},
    }
    embedding = model.embedding_.copy()
    cells.keep(obsm={"X_pca": embedding}, varm={"PCs": directions}, uns={"pca": found})
    return embedding
