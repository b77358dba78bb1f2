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


@pytest.mark.parametrize("estimator", [lowdim.MDS(), lowdim.LaplacianEigenmaps(solver="exact")])
def test_who_needs_all_rows_says_so_before_the_work(estimator: object) -> None:
    with pytest.raises(InputError, match=r"needs all rows.*LaplacianEigenmaps.* over shards"):
        estimator.fit(Unread.of(ROWS))  # type: ignore[attr-defined]


def test_auto_takes_landmarks_of_shards() -> None:
    model = lowdim.LaplacianEigenmaps().fit(InMemory.of(ROWS))
    assert model.embedding_.shape == (60, 2)
    assert ("method", "LLL") in {(choice.what, choice.choice) for choice in model.report_.choices}
