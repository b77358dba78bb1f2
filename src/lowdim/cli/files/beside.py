"""New rows drawn beside those that a model was fitted to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .outputs import colours_of


def beside_fitted(
    fitted: Any, labels: Any, coordinates: Any, table: Any, clusters: Any
) -> tuple[Any, Any, Any]:
    """Coordinates, table and clusters of the fitted points and of the new ones after them.

    Of the fitted points nothing is known but their places and clusters, so their columns are empty.
    """
    import numpy as np

    n_fitted, n_new = len(fitted), len(coordinates)
    label, columns = colours_of(table, None)
    both = {name: _after_empty(np.asarray(values), n_fitted) for name, values in columns.items()}
    which = "points" if "points" not in both else "fitted or new"
    both[which] = np.repeat(np.array(["fitted", "new"], dtype=object), [n_fitted, n_new])
    ids = None if table.ids is None else _after_empty(np.asarray(table.ids), n_fitted)
    if clusters is not None:
        clusters = np.concatenate([labels, clusters])
    elif label is None:
        label = which
    X = np.broadcast_to(0.0, (n_fitted + n_new, 1))
    shown = replace(table, X=X, columns=both, label=label, ids=ids, feature_names=None)
    return np.concatenate([fitted, coordinates]), shown, clusters


def _after_empty(values: Any, count: int) -> Any:
    """Values with as many empty ones before them."""
    import numpy as np

    if values.dtype.kind in "fc":
        return np.concatenate([np.full(count, np.nan), values])
    return np.concatenate([np.full(count, "fitted", dtype=object), values.astype(str).astype(object)])
