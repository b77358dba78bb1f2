"""How faithful a result is: a few measures for the summary and the report."""

from __future__ import annotations

from typing import Any

from .session import Session

MEASURES = ("trustworthiness", "continuity", "neighbor_recall")
FEWEST = 20
"""Rows below which the measures say nothing."""


def measure(model: Any, table: Any, session: Session) -> Any:
    """Scores of a fitted model, or None where they have no meaning: a graph has no distances."""
    from ..metrics import score

    pairwise = bool(model.__sklearn_tags__().input_tags.pairwise)
    metric = getattr(model, "metric", "euclidean")
    n_rows = table.X.shape[0]
    is_given = metric == "precomputed" and not _is_sparse(table.X)
    if n_rows < FEWEST or (pairwise and not is_given):
        return None
    labels = table.labels if _are_classes(table.labels) else None
    with session.stage("quality"):
        return score(
            table.X,
            model.embedding_,
            labels,
            n_neighbors=min(15, n_rows // 2 - 1),
            metric=metric,
            measures=[*MEASURES, *(["neighbor_accuracy"] if labels is not None else [])],
            n_jobs=model.n_jobs,
        )


def _is_sparse(X: Any) -> bool:
    from scipy import sparse

    return bool(sparse.issparse(X))


def _are_classes(labels: Any) -> bool:
    """Whether labels are classes: some of them equal, and no quantity."""
    import numpy as np

    if labels is None or np.asarray(labels).dtype.kind == "f":
        return False
    return 1 < np.unique(np.asarray(labels).astype(str)).size <= len(labels) // 2
