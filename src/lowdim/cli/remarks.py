"""Remarks on data and results in which something else may have been meant: said, and nothing is changed for it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .files.columns import is_pairwise
from .session import Session

LOOKED_AT, ENTRIES = 2000, 4_000_000
"""Rows that are looked at, evenly over the data, and numbers at most."""
ALONE = 0.99
"""Share of all variance with which one column decides every distance."""
OWN_SCALE = ("correlation", "cosine", "mahalanobis", "seuclidean")
"""Metrics that do not take columns as they are."""
COUNTED = (".h5ad", ".mtx", ".zarr")
"""Formats in which counts of genes come."""
NARROW, MOST = 0.01, 0.98
"""So many of the points within this share of a coordinate's range are a picture of the others."""


def remark_on_data(table: Any, model: Any, options: argparse.Namespace, session: Session) -> None:
    """Say what about the data may not be meant: components that are there already, raw counts, a column that rules."""
    if is_pairwise(model):
        return
    if options.pca is None:
        _remark_on_components(table.source, options, session)
    n_rows, n_columns = table.X.shape
    X = table.X[:: -(-n_rows // max(2, min(LOOKED_AT, ENTRIES // n_columns)))]
    if _are_counts(X, table.source):
        session.console.say(
            f"{table.source} holds whole numbers that look like raw counts, of which rows with large totals lie apart. "
            "Divide each row by its total and take logarithms first (in scanpy: normalize_total, log1p), unless you "
            "mean them as they are."
        )
    elif getattr(model, "metric", "") not in OWN_SCALE and (column := _ruling_column(X)) is not None:
        name = column + 1 if table.feature_names is None else repr(table.feature_names[column])
        cure = " or use --metric seuclidean," if hasattr(model, "metric") else ""
        session.console.say(
            f"{table.source}: column {name} has over {ALONE:.0%} of all variance, so that it alone says who is near "
            f"whom. Bring the columns to one scale,{cure} unless this is meant."
        )


def remark_on_result(model: Any, session: Session) -> None:
    """Say where a few points far from all others leave the rest in one place."""
    import numpy as np

    if hasattr(model, "labels_"):  # clusters are to lie apart
        return
    points = np.asarray(model.embedding_)
    low, middle, high = np.quantile(points, [0.0, 0.5, 1.0], axis=0)
    is_near = np.abs(points - middle) <= NARROW * (high - low)
    share = np.where(high > low, is_near.mean(axis=0), 0.0)
    if share.max() < MOST:
        return
    axis = int(share.argmax())
    far = np.flatnonzero(~is_near[:, axis])
    rows = ", ".join(map(str, far[:5])) + (", ..." if far.size > 5 else "")
    others = (
        f"one other from them (row {rows}" if far.size == 1 else f"{far.size:,} others from them (rows {rows}"
    )
    session.console.say(
        f"{share[axis]:.1%} of the points lie in {NARROW:.0%} of the width of coordinate {axis + 1}: it tells "
        f"{others}, counted from 0). Look at what lies there, leave it out, or tie it in by more neighbours."
    )


def _remark_on_components(source: str, options: argparse.Namespace, session: Session) -> None:
    """Say that an .h5ad holds principal components already, where its whole matrix is about to be embedded."""
    if not source.lower().endswith(".h5ad") or options.obsm or options.layer:
        return
    from ..data.files.h5ad import obsm_names

    if "X_pca" in obsm_names(Path(source)):
        session.console.say(
            f"{source} holds principal components too: --obsm X_pca embeds those, which is quicker and the usual way."
        )


def _are_counts(X: Any, source: str) -> bool:
    """Whether numbers look like counts, and are held sparsely or as genes are."""
    from scipy import sparse

    from ..data.counts import are_counts

    is_genes = sparse.issparse(X) or source.lower().rstrip("/").endswith(COUNTED)
    return bool(is_genes and are_counts(X))


def _ruling_column(X: Any) -> int | None:
    """The column with nearly all variance, where there are more than two."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(X) or X.shape[1] < 3:
        return None
    with np.errstate(all="ignore"):  # what is missing or too large is told by the check of the data
        variances = np.var(np.asarray(X, dtype=np.float64), axis=0)
    column = int(variances.argmax())
    return column if variances[column] > ALONE * variances.sum() else None
