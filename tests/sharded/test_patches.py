"""Locally linear embedding and its kin over shards: every patch whole in one cell, sums equal to those in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_writes import CutWrites

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import InputError
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded import patch_merge
from lowdim.sharded.layout import Layout
from lowdim.store import tasks

N = 600
ROLL = lowdim.datasets.swiss_roll(N, random_state=0).data
LANDMARKS = np.sort(np.random.default_rng(0).choice(N, 80, replace=False))
CUT = Layout(N, block_rows=130, cell_rows=150)
"""Five blocks, four cells; every point is in two of them, and has all its neighbours there."""
VARIANTS = ["standard", "modified", "hessian", "ltsa"]


def lle(**settings: Any) -> lowdim.LLE:
    return lowdim.LLE(**{"n_neighbors": 10, "solver": lowdim.LLL(landmarks=LANDMARKS), **settings})


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize(
    "settings",
    [*({"variant": variant} for variant in VARIANTS), {"metric": "cosine"}],
    ids=[*VARIANTS, "cosine"],
)
def test_full_recall_is_the_fit_in_memory(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With patches that lack points in their home, and with more patches than are summed at once."""
    monkeypatch.setattr("lowdim.sharded.patch_sums.PATCHES", 70)
    lent, put = [], tasks.TaskStore.put

    def counted(self: Any, name: str, number: int, arrays: Any, starts: Any = None) -> None:
        lent.extend(arrays["numbers"] if name == "lend" else ())
        put(self, name, number, arrays, starts)

    monkeypatch.setattr(tasks.TaskStore, "put", counted)
    whole, model = lle(**settings).fit(ROLL), fit_to_shards(lle(**settings), InMemory.of(ROLL), CUT)
    assert lent
    assert relative(model.embedding_, whole.embedding_) < 1e-10
    assert relative(model.eigenvalues_, whole.eigenvalues_) < 1e-10
    assert model.reconstruction_error_ == model.report_.figures["reconstruction_error"]
    assert relative(model.transform(ROLL[:50]), whole.transform(ROLL[:50])) < 1e-10


@pytest.mark.slow
def test_the_same_bits_with_any_threads_and_after_any_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model(**settings: Any) -> lowdim.LLE:
        return lle(variant="modified", solver=lowdim.LLL(60), **settings)

    wanted = fit_to_shards(model(n_jobs=1), InMemory.of(ROLL), CUT).embedding_
    np.testing.assert_array_equal(fit_to_shards(model(n_jobs=3), InMemory.of(ROLL), CUT).embedding_, wanted)
    writes, cuts, found = CutWrites(monkeypatch), 0, None
    while found is None:
        writes.left = 8
        try:
            found = fit_to_shards(model(n_jobs=1, checkpoint=tmp_path), InMemory.of(ROLL), CUT).embedding_
        except KeyboardInterrupt:
            cuts += 1
    np.testing.assert_array_equal(found, wanted)
    assert cuts > 5
    names = {path.parent.name for path in tmp_path.rglob("*.task")}
    assert names == {"manifest", "chosen", "landmarks", "cells", "recall", "solution", "result"}


def test_the_home_of_a_point_is_the_cell_that_has_most_of_its_neighbours() -> None:
    """Three cells of one point; the lender is the first that has found what the home has not."""
    ids = np.array([[[1, 2, -1], [2, 3, 4], [5, 6, 7]]])
    held = patch_merge._held(np.array([[1, 2, 3, -1]]), ids)
    np.testing.assert_array_equal(held[0], [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 4, "variant": "hessian"}, "variant='hessian' needs at least 5 neighbours"),
        ({"solver": "shift-invert"}, "needs all rows in memory, because solver='shift-invert' does"),
        ({"n_neighbors": None, "radius": 2.0}, "radius of LLE gives lists of any length"),
        ({"metric": "manhattan"}, "metric='manhattan' has no coordinates"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InMemory, "rows", lambda *_: pytest.fail("read before it was refused"))
    with pytest.raises(InputError, match=message):
        lle(**settings).fit(InMemory.of(ROLL))


def test_a_point_with_too_few_others_in_its_cells_is_named() -> None:
    layout = Layout(4, block_rows=2)
    with pytest.raises(
        InputError, match="Row 3 of X has 1 neighbours in its cells, and at least 2 are needed"
    ):
        patch_merge.MergePatches(layout, 1, 3, 2)._check(np.array([2, 1]), 1)
