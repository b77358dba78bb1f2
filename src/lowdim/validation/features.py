"""Number and names of the columns: remembered at ``fit``, compared at ``transform``.

The first sentences of the errors are scikit-learn's, which its checks of estimators ask for.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.events import frames_to_user
from ..errors import DataWarning, InputError
from .forms import Taken


def check_features(estimator: Any, taken: Taken, *, reset: bool) -> None:
    """Set (``reset``) or compare ``feature_names_in_`` and ``n_features_in_`` of an estimator."""
    names, count = taken.columns, int(taken.values.shape[1])
    if reset:
        estimator.n_features_in_ = count
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    owner = type(estimator).__name__
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is not None:
        _compare(names, fitted)
    elif names is not None:
        _warn(
            f"X has feature names, but {owner} was fitted without feature names: columns are taken by their place."
        )
    elif fitted is not None:
        _warn(
            f"X does not have valid feature names, but {owner} was fitted with feature names: columns are taken by "
            "their place."
        )
    # A fit to matrices alone has no features; its map says so.
    if count != getattr(estimator, "n_features_in_", count):
        raise InputError(
            f"X has {count} features, but {owner} is expecting {estimator.n_features_in_} features as input. Give the "
            "columns of the fit, in their order."
        )


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=frames_to_user())


def _compare(names: NDArray[Any], fitted: NDArray[Any]) -> None:
    """Raise an InputError where the columns are others than those of the fit, or in another order."""
    if np.array_equal(names, fitted):
        return
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    message = "The feature names should match those that were passed during fit.\n"
    message += _itemised("Feature names unseen at fit time:", unseen)
    message += _itemised("Feature names seen at fit time, yet now missing:", missing)
    if not (unseen or missing):
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message + "Give the columns of the fit: X[model.feature_names_in_].")


def _itemised(title: str, names: list[str], most: int = 5) -> str:
    if not names:
        return ""
    lines = [title, *(f"- {name}" for name in names[:most]), *(["- ..."] if len(names) > most else [])]
    return "\n".join(lines) + "\n"
