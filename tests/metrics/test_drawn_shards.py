"""Scores and dimensions of rows in shards: of all where they are few, else of a draw that is blind to chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim.data.shards import InMemory
from lowdim.data.shards.sampling import sampled_rows
from lowdim.errors import InputError, NotFiniteError
from lowdim.metrics import drawn_shards

ROWS = lowdim.datasets.swiss_roll(900, random_state=0).data
SHOWN = ROWS[:, [0, 2]]
LABELS = (ROWS[:, 1] > ROWS[:, 1].mean()).astype(int)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_shards, "MOST_ROWS", 300)


def test_few_rows_are_all_compared() -> None:
    whole, found = (
        lowdim.score(ROWS, SHOWN, LABELS),
        lowdim.score(InMemory.of(ROWS), InMemory.of(SHOWN), LABELS),
    )
    assert found.as_dict() == whole.as_dict()
    assert str(found) == str(whole)
    dimension = lowdim.estimate_dimension(InMemory.of(ROWS))
    assert dimension.as_dict() == lowdim.estimate_dimension(ROWS).as_dict()


@pytest.mark.usefixtures("few")
def test_of_many_a_draw_is_compared_that_is_blind_to_chunks() -> None:
    array = pytest.importorskip("dask.array")
    sources: list[tuple[Any, Any]] = [
        (InMemory.of(ROWS), SHOWN),
        (array.from_array(ROWS, chunks=(70, 3)), SHOWN),
        (array.from_array(ROWS, chunks=(501, 2)), array.from_array(SHOWN, chunks=(100, 2))),
        (ROWS, InMemory.of(SHOWN)),
    ]
    found = [lowdim.score(X, shown, LABELS) for X, shown in sources]
    assert all(each.as_dict() == found[0].as_dict() for each in found)
    assert (found[0].n_points, found[0].n_all) == (300, 900)
    assert "300 points drawn from 900" in str(found[0])
    seed = int(np.random.default_rng(0).integers(2**63))
    numbers = sampled_rows(900, 300, seed)
    assert found[0].trustworthiness == lowdim.score(ROWS[numbers], SHOWN[numbers]).trustworthiness
    assert lowdim.score(InMemory.of(ROWS), SHOWN, random_state=1).as_dict() != found[0].as_dict()
    dimension = lowdim.estimate_dimension(InMemory.of(ROWS))
    assert dimension.n_points == 300
    assert dimension.dimension == 2
    assert "300 of 900 rows were drawn" in str(dimension)


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(InputError, match="800 rows for 900"):
        lowdim.score(InMemory.of(ROWS), SHOWN[:800])
    with pytest.raises(InputError, match="needs all distances in memory"):
        lowdim.score(InMemory.of(ROWS), SHOWN, metric="precomputed")
    with pytest.raises(InputError, match="needs all distances in memory"):
        lowdim.estimate_dimension(InMemory.of(ROWS), metric="precomputed")
    wrong = ROWS.copy()
    wrong[10, 0] = np.nan
    with pytest.raises(NotFiniteError, match="row 10 of X"):
        lowdim.estimate_dimension(InMemory.of(wrong))
