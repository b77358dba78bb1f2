"""Laplacian eigenmaps by landmarks over shards: equal to memory, the same bits however cut, and a model like any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_writes import CutWrites
from scipy.linalg import subspace_angles
from sklearn.base import clone

import lowdim
from lowdim.data.shards import InMemory, MemoryMapped, Shards
from lowdim.engine.threads import Threads
from lowdim.errors import (
    CheckpointError,
    DisconnectedError,
    FormatError,
    InputError,
    MemoryLimitError,
    MemoryLimitWarning,
    NotFiniteError,
)
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.costs import cells_at_once, held_by_blocks, search_in_cell, tasks_at_once
from lowdim.sharded.layout import Layout

N = 700
ROLL = lowdim.datasets.swiss_roll(N, random_state=0).data
LANDMARKS = np.sort(np.random.default_rng(0).choice(N, 80, replace=False))
CUT = Layout(N, block_rows=150, cell_rows=200)
"""Five blocks, four cells."""


def eigenmaps(**settings: Any) -> lowdim.LaplacianEigenmaps:
    given = {"n_neighbors": 10, "solver": lowdim.LLL(landmarks=LANDMARKS), **settings}
    return lowdim.LaplacianEigenmaps(**given)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize(
    "affinity",
    [
        lowdim.SelfTuning(),
        lowdim.SelfTuning(symmetrize="average"),
        lowdim.Gaussian(3.0),
        lowdim.Binary("mutual"),
        lowdim.Entropic(4.0),
    ],
    ids=["union", "average", "gaussian", "mutual", "entropic"],
)
def test_full_recall_is_the_fit_in_memory(affinity: Any) -> None:
    whole = eigenmaps(affinity=affinity).fit(ROLL)
    for layout in (Layout(N), Layout(N, block_rows=150, cell_rows=200, cells_of_a_point=50)):
        model = fit_to_shards(eigenmaps(affinity=affinity), InMemory.of(ROLL), layout)
        assert relative(model.embedding_, whole.embedding_) < 1e-10
        assert relative(model.eigenvalues_, whole.eigenvalues_) < 1e-10


@pytest.mark.parametrize("size", [10, 1000], ids=["lanczos", "lapack"])
def test_sparse_sums_are_the_dense_ones(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = fit_to_shards(eigenmaps(), InMemory.of(ROLL), CUT)
    monkeypatch.setattr("lowdim.sharded.edge_sums.MANY_LANDMARKS", 0)
    monkeypatch.setattr("lowdim.solvers.landmarks.small._LANCZOS_SIZE", size)
    found = fit_to_shards(eigenmaps(), InMemory.of(ROLL), CUT)
    assert relative(found.embedding_, wanted.embedding_) < 1e-10


def test_parts_that_nothing_ties_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = np.where(np.arange(N)[:, None] % 2, ROLL, ROLL + 1000)
    for many in (0, 1000):
        monkeypatch.setattr("lowdim.sharded.edge_sums.MANY_LANDMARKS", many)
        with pytest.raises(DisconnectedError, match="80 landmarks falls into 2 parts"):
            fit_to_shards(eigenmaps(), InMemory.of(apart), CUT)


def test_two_cells_of_each_point_are_near_to_it() -> None:
    whole, model = eigenmaps().fit(ROLL), fit_to_shards(eigenmaps(), InMemory.of(ROLL), CUT)
    assert model.report_.figures["neighbour_recall_within_cells"] == 1
    assert np.degrees(subspace_angles(model.embedding_, whole.embedding_).max()) < 1.5


def test_what_cannot_be_by_rows_is_the_same_for_equal_rows() -> None:
    """Rows that come many times: no cell, list or weight of theirs is amiss."""
    rows = np.concatenate((ROLL, np.repeat(ROLL[:2], 40, axis=0)))
    layout = Layout(len(rows), block_rows=150, cell_rows=200)
    model = fit_to_shards(eigenmaps(), InMemory.of(rows), layout)
    np.testing.assert_array_equal(model.embedding_[N : N + 40], model.embedding_[[0] * 40])
    assert np.isfinite(model.embedding_).all()


class Chunked(InMemory):
    """Rows that are put together of small pieces."""

    def rows(self, start: int, stop: int) -> np.ndarray:
        return np.concatenate([self.values[row : row + 1] for row in range(start, stop)])


def test_the_same_bits_however_cut_and_with_any_threads(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROLL)
    sources: list[Shards] = [
        InMemory.of(ROLL),
        Chunked.of(ROLL),
        MemoryMapped.of(tmp_path / "x.npy"),
    ]
    settings: dict[str, Any] = {"solver": lowdim.LLL(80)}
    wanted = fit_to_shards(eigenmaps(n_jobs=1, **settings), sources[0], CUT)
    for threads, source in enumerate(sources, 1):
        found = fit_to_shards(eigenmaps(n_jobs=threads, **settings), source, CUT)
        np.testing.assert_array_equal(found.embedding_, wanted.embedding_)
    with lowdim.using(4):
        found = fit_to_shards(eigenmaps(**settings), sources[0], CUT)
    np.testing.assert_array_equal(found.embedding_, wanted.embedding_)


def test_an_ordinary_model(tmp_path: Path) -> None:
    source = InMemory.of(ROLL.astype(np.float32), tuple("abc"))
    model = eigenmaps(checkpoint=tmp_path / "run").fit(source)
    assert model.embedding_.dtype == np.float32
    assert isinstance(model.embedding_, np.memmap)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(again.transform(source.values), model.transform(source.values))
    with pytest.warns(UserWarning, match="feature names"):
        assert relative(model.transform(source.values), model.embedding_) < 1e-5


def test_a_run_goes_on_where_it_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut before every write of the store, one write later each time: every run does at least one task more."""
    wanted = fit_to_shards(eigenmaps(), InMemory.of(ROLL), CUT)
    writes = CutWrites(monkeypatch)
    cuts, model = 0, None
    while model is None:
        writes.left = 3
        try:
            model = fit_to_shards(eigenmaps(n_jobs=1, checkpoint=tmp_path), InMemory.of(ROLL), CUT)
        except KeyboardInterrupt:
            cuts += 1
    np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
    assert cuts > 10
    names = {path.parent.name for path in tmp_path.rglob("*.task")}
    assert names == {"manifest", "chosen", "landmarks", "cells", "recall", "solution", "result"}
    writes.left = 0  # what is finished writes nothing
    again = fit_to_shards(eigenmaps(checkpoint=tmp_path), InMemory.of(ROLL), CUT)
    np.testing.assert_array_equal(again.embedding_, wanted.embedding_)
    with pytest.raises(CheckpointError, match="n_neighbors was 10, is 11"):
        fit_to_shards(eigenmaps(n_neighbors=11, checkpoint=tmp_path), InMemory.of(ROLL), CUT)


def test_a_damaged_result_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lowdim.sharded.edge_sums.EdgeSums.__call__", cut)
        with pytest.raises(KeyboardInterrupt):
            fit_to_shards(eigenmaps(checkpoint=tmp_path), InMemory.of(ROLL), CUT)
    damaged = tmp_path / "carry" / "00000002.task"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 16
    damaged.write_bytes(content)
    with pytest.raises(FormatError, match=r"carry.00000002\.task: is damaged.*run this again"):
        fit_to_shards(eigenmaps(checkpoint=tmp_path), InMemory.of(ROLL), CUT)


def test_numbers_that_are_none_are_named_by_their_row() -> None:
    rows = ROLL.copy()
    rows[333, 1] = np.nan
    with pytest.raises(NotFiniteError, match=r"row 333 .*is NaN in column 1"):
        fit_to_shards(eigenmaps(), InMemory.of(rows), CUT)
    with pytest.raises(NotFiniteError, match=r"row 333 .*is NaN in column 'b'"):
        fit_to_shards(eigenmaps(), InMemory.of(rows, tuple("abc")), CUT)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "exact"}, "needs all rows in memory, because solver='exact' does"),
        ({"solver": lowdim.LLL(50, polish=5)}, "polish of LLL needs the graph of all points"),
        ({"solver": lowdim.LLL(50, choose="farthest")}, "choose='farthest' looks at all rows"),
        ({"solver": lowdim.LLL(landmarks=[1, N])}, "landmarks of LLL must be numbers of rows from 0 to 699"),
        ({"n_neighbors": None, "radius": 2.0}, "radius of LaplacianEigenmaps gives lists of any length"),
        ({"metric": "manhattan"}, "metric='manhattan' has no coordinates"),
        ({"affinity": "precomputed"}, "needs all rows in memory"),
        ({"affinity": lowdim.Gaussian(2.0, threshold=3.0)}, "threshold of Gaussian"),
        ({"affinity": lowdim.Fuzzy()}, "Fuzzy needs the whole graph"),
        ({"n_neighbors": N}, "n_neighbors"),
    ],
)
def test_what_needs_all_rows_is_refused_before_the_work(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InMemory, "rows", lambda *_: pytest.fail("read before it was refused"))
    with pytest.raises(InputError, match=message):
        eigenmaps(**settings).fit(InMemory.of(ROLL))


def test_a_plan_holds_no_more_for_more_rows_and_a_limit_is_kept_before_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(InMemory, "rows", lambda *_: pytest.fail("read before it was refused"))
    some, many = (
        InMemory.of(np.broadcast_to(np.float32(0), (size, 50))) for size in (10_000_000, 40_000_000)
    )
    model = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(10_000, n_neighbors=5), n_jobs=2)
    peaks = [max(stage.bytes for stage in model.plan(source).stages) for source in (some, many)]
    assert peaks[0] == peaks[1] < 4e9
    assert model.plan(many).seconds > 3 * model.plan(some).seconds
    with pytest.raises(MemoryLimitError, match=r"The stage 'search'.*cells"):
        model.set_params(solver=lowdim.LLL(2_000, n_neighbors=5), memory_limit="100 MB").fit(some)


def test_fewer_cells_at_a_time_where_memory_has_no_room_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells are larger than the plan, which knows their mean, could tell."""
    monkeypatch.setattr("lowdim.estimators.shards.landmarks_over_shards.plan_over_shards", lambda *_: [])
    asked: list[int | None] = []
    monkeypatch.setattr(Threads, "at_most", lambda self, count: asked.append(count) or self)
    wanted = fit_to_shards(eigenmaps(n_jobs=4), InMemory.of(ROLL), CUT)
    assert not any(choice.what == "cells at a time" for choice in wanted.report_.choices)
    largest = search_in_cell(wanted._method(), InMemory.of(ROLL), 400, 4).bytes
    one = fit_to_shards(eigenmaps(n_jobs=4, memory_limit=1.3 * largest), InMemory.of(ROLL), CUT)
    chosen = {choice.what: choice.choice for choice in one.report_.choices}
    cells = int(chosen["cells at a time"])
    assert 1 <= cells < 4 <= max(asked)
    assert asked.count(cells) >= 2  # search and sums
    np.testing.assert_array_equal(one.embedding_, wanted.embedding_)
    with pytest.raises(MemoryLimitError, match=r"A cell needs .* and 10 kB are allowed"):
        fit_to_shards(eigenmaps(memory_limit=10_000), InMemory.of(ROLL), CUT)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(10_000, n_neighbors=5)),
        lowdim.Isomap(solver=lowdim.LandmarkZ(2000)),
        lowdim.KernelPCA(solver=lowdim.Nystrom(2000)),
    ],
    ids=["sums", "weights", "map"],
)
def test_many_threads_have_no_more_than_the_limit(model: Any) -> None:
    """A machine of many cores: fewer blocks at a time, and not an error."""
    rows = InMemory.of(np.broadcast_to(np.float32(0), (10_000_000, 50)))
    limited = clone(model).set_params(n_jobs=64, memory_limit="4 GB")
    free, held = (each.set_params(n_jobs=64).plan(rows) for each in (model, limited))
    assert max(stage.bytes for stage in held.stages) <= 4 * 10**9 < max(stage.bytes for stage in free.stages)
    assert any(stage.note.endswith(" at a time") for stage in held.stages)


def test_no_more_blocks_at_a_time_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Threads, "at_most", lambda self, count: asked.append(count) or self)
    given: list[tuple[int, int, int | None]] = []
    wanted = fit_to_shards(eigenmaps(n_jobs=8), InMemory.of(ROLL), CUT)
    assert max(asked) == 8
    monkeypatch.setattr("lowdim.sharded.fit.tasks_at_once", lambda *told: given.append(told) or 3)
    few = fit_to_shards(eigenmaps(n_jobs=8, memory_limit="2 GB"), InMemory.of(ROLL), CUT)
    np.testing.assert_array_equal(few.embedding_, wanted.embedding_)
    assert asked.count(3) == len(given) == 4
    held = held_by_blocks(InMemory.of(ROLL), CUT, wanted._method(), wanted.solver)
    assert sorted(given) == sorted((each, 8, 2 * 10**9) for each in held.values())


def test_tasks_at_once() -> None:
    assert tasks_at_once(10, 8, None) == 8
    assert [tasks_at_once(10, 8, limit) for limit in (100, 79, 39, 9, -5)] == [8, 7, 3, 1, 1]


def test_cells_at_once() -> None:
    assert cells_at_once([3, 5, 4], 9) == 2
    assert cells_at_once([3, 5, 4], 8) == 1
    assert cells_at_once([3, 5, 4], 12) == 3
    assert cells_at_once([3, 5, 4], None) == 3


def test_a_stage_that_holds_more_than_it_may_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter([10**9] * 4)
    monkeypatch.setattr("lowdim.core.memory.peak_memory", lambda: next(peaks, 2 * 10**9))
    monkeypatch.setattr("lowdim.core.memory.resident_memory", lambda: 10**8)
    with pytest.warns(MemoryLimitWarning, match=r"The stage \w+ held 1\.9 GB, more than was foreseen"):
        model = fit_to_shards(eigenmaps(memory_limit="1.5 GB"), InMemory.of(ROLL), CUT)
    assert np.isfinite(model.embedding_).all()


def test_the_file_of_coordinates_is_that_of_numpy(tmp_path: Path) -> None:
    model = fit_to_shards(eigenmaps(checkpoint=tmp_path / "run"), InMemory.of(ROLL), CUT)
    np.save(tmp_path / "x.npy", np.asarray(model.embedding_))
    assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "run" / "embedding.npy").read_bytes()


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
def test_clusters_are_those_in_memory(assign_labels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(150, 4)) + 2.5 * centre for centre in np.eye(4)])
    settings: dict[str, Any] = {
        "n_neighbors": 12,
        "solver": lowdim.LLL(landmarks=np.arange(0, 600, 5)),
        "assign_labels": assign_labels,
    }
    whole = lowdim.SpectralClustering(4, **settings).fit(rows)
    model = fit_to_shards(lowdim.SpectralClustering(4, **settings), InMemory.of(rows), Layout(600))
    assert relative(model.embedding_, whole.embedding_) < 1e-10
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    monkeypatch.setattr("lowdim.estimators.spectral.spectral_clustering.MOST_IN_MEMORY", 0)
    by_landmarks = fit_to_shards(lowdim.SpectralClustering(4, **settings), InMemory.of(rows), Layout(600))
    assert np.mean(by_landmarks.labels_ == by_landmarks.predict(rows)) == 1


def test_coordinates_past_memory_need_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowdim.estimators.shards.landmarks_over_shards.MOST_IN_MEMORY", 1000)
    with pytest.raises(MemoryLimitError, match="Give checkpoint, a folder"):
        eigenmaps().fit(InMemory.of(ROLL))
