"""Rows in shards: who can take them, and what the others say before any work."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import InputError

ROWS = np.random.default_rng(0).normal(size=(60, 4))


class Unread(InMemory):
    """Rows that nobody may read."""

    def rows(self, start: int, stop: int) -> np.ndarray:
        raise AssertionError("read before it was refused")


@pytest.mark.parametrize("estimator", [lowdim.Isomap(), lowdim.MDS(), lowdim.LaplacianEigenmaps()])
def test_who_needs_all_rows_says_so_before_the_work(estimator: object) -> None:
    with pytest.raises(InputError, match=r"needs all rows.*LaplacianEigenmaps go over shards"):
        estimator.fit(Unread.of(ROWS))  # type: ignore[attr-defined]
