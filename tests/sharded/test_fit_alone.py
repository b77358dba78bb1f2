"""Landmarks alone over shards: the same bits however cut and by whom, after any cut, and a model like any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_writes import CutWrites

import lowdim
from lowdim.data.shards import InMemory, MemoryMapped
from lowdim.errors import DataWarning, MemoryLimitError
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

N = 400
ROLL = lowdim.datasets.swiss_roll(N, random_state=0).data
CUT = Layout(N, block_rows=90)


def isomap(**settings: Any) -> lowdim.Isomap:
    return lowdim.Isomap(**{"n_neighbors": 8, "solver": lowdim.LandmarkZ(100), **settings})


def kernel(**settings: Any) -> lowdim.KernelPCA:
    return lowdim.KernelPCA(**{"kernel": "rbf", "gamma": 0.01, "solver": lowdim.Nystrom(60), **settings})


@pytest.mark.parametrize("make", [isomap, kernel])
def test_the_same_bits_however_cut_and_with_any_threads(make: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROLL)
    wanted = fit_to_shards(make(n_jobs=1), InMemory.of(ROLL), CUT).embedding_
    mapped = MemoryMapped.of(tmp_path / "x.npy")
    np.testing.assert_array_equal(fit_to_shards(make(n_jobs=3), mapped, CUT).embedding_, wanted)
    with lowdim.using(4):
        np.testing.assert_array_equal(make().fit(mapped).embedding_, wanted)


@pytest.mark.parametrize("make", [isomap, kernel])
def test_a_run_goes_on_where_it_was_cut_to_an_ordinary_model(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = fit_to_shards(make(), InMemory.of(ROLL), CUT)
    writes, cuts, model = CutWrites(monkeypatch), 0, None
    run = tmp_path / "run"
    while model is None:
        writes.left = 3
        try:
            model = fit_to_shards(make(n_jobs=1, checkpoint=run), InMemory.of(ROLL), CUT)
        except KeyboardInterrupt:
            cuts += 1
    np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
    assert cuts > 3
    names = {path.parent.name for path in run.rglob("*.task")}
    assert names == {"manifest", "chosen", "landmarks", "alone", "result"}
    writes.left = 0  # what is finished writes nothing
    again = fit_to_shards(make(checkpoint=run), InMemory.of(ROLL), CUT)
    np.testing.assert_array_equal(again.embedding_, wanted.embedding_)
    assert again.report_.figures["eigensolver"] == wanted.report_.figures["eigensolver"]
    np.testing.assert_array_equal(again.eigenvalues_, wanted.eigenvalues_)
    lowdim.save(again, tmp_path / "m.lowdim")
    loaded = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(loaded.transform(ROLL[:20]), wanted.transform(ROLL[:20]))


def test_points_far_from_all_landmarks_are_told_of() -> None:
    rows = ROLL.copy()
    rows[-1] = 1e4
    with pytest.warns(DataWarning, match="1 of 400 points are far from every landmark"):
        model = isomap(solver=lowdim.LandmarkZ(landmarks=np.arange(0, 300, 3))).fit(InMemory.of(rows))
    assert model.certificate_.far == 1


@pytest.mark.parametrize("make", [isomap, kernel])
def test_a_plan_holds_no_more_for_more_rows_and_a_limit_is_kept_before_the_work(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InMemory, "rows", lambda *_: pytest.fail("read before it was refused"))
    some, many = (
        InMemory.of(np.broadcast_to(np.float32(0), (size, 50))) for size in (10_000_000, 40_000_000)
    )
    model = make(n_jobs=2)
    peaks = [max(stage.bytes for stage in model.plan(source).stages) for source in (some, many)]
    assert peaks[0] == peaks[1] < 2e9
    assert model.plan(many).seconds > 2 * model.plan(some).seconds
    with pytest.raises(MemoryLimitError, match=r"The stage 'place'"):
        model.set_params(memory_limit="10 MB").fit(some)
