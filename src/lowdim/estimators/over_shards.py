"""What estimators say of rows in shards."""

from __future__ import annotations

from typing import Any

from ..core.messages import DATA, setting
from ..data.shards import Shards
from ..errors import InputError


def needs_all_rows(estimator: Any, source: Shards, why: str = "") -> InputError:
    """The error for a method that cannot go over shards, said before any work; it names one that can."""
    reason = f", because {why}" if why else ""
    return InputError(
        f"{type(estimator).__name__} needs all rows in memory{reason}; {DATA} comes in shards ({source.n_samples} x "
        f"{source.n_features}). Load the rows, or fit a random subset of them and transform the others; "
        f"LaplacianEigenmaps goes over shards with {setting('solver', 'lll')}."
    )
