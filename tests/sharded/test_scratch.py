"""What the store holds on disk is what is foretold, and what was read makes room for what is left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim.core.records import format_bytes
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards, plan_over_shards
from lowdim.sharded.layout import Layout, type_of_landmarks
from lowdim.sharded.scratch import PART, Scratch
from lowdim.store.tasks import TaskStore

N = 700
ROLL = lowdim.datasets.swiss_roll(N, random_state=0).data
CUT = Layout(N, block_rows=150, cell_rows=200)
LARGE = ("weights", "carry", "route", "search", "merge", "scales", "rows")
READ_BY = {"route": "search", "search": "merge"}
"""What is dropped at the end of which stage."""
HEADER = 400
"""Bytes at the beginning of a file, at most."""


def size_of(store: TaskStore) -> int:
    return sum(store.size(stage) for stage in LARGE)


@pytest.mark.parametrize("make", [lowdim.LaplacianEigenmaps, lowdim.LLE])
def test_the_store_holds_what_is_foretold(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, int] = {}
    files: Counter[str] = Counter()
    cells: list[int] = []
    finish, drop = TaskStore.finish, TaskStore.drop

    def look(store: TaskStore, name: str) -> None:
        held[name] = size_of(store)
        files[name] = sum(len(list(Path(store.root, stage).glob("*.task"))) for stage in LARGE)
        if name == "route":
            cells.append(len(store.get("cells", 0)["centres"]))

    def finished(store: TaskStore, name: str) -> None:
        finish(store, name)
        look(store, name)

    def dropped(store: TaskStore, name: str) -> None:
        drop(store, name)
        if name in READ_BY and "sums" not in held:
            look(store, READ_BY[name])

    monkeypatch.setattr(TaskStore, "finish", finished)
    monkeypatch.setattr(TaskStore, "drop", dropped)
    fit_to_shards(make(n_neighbors=10, solver=lowdim.LLL(80, n_neighbors=5)), InMemory.of(ROLL), CUT)
    foretold = Scratch(CUT, cells[0], ROLL.itemsize * 3, 10, 5, 80, make is lowdim.LLE).by_stage()
    assert set(foretold) <= set(held)
    for stage, count in foretold.items():
        assert 0 <= held[stage] - count <= HEADER * files[stage], stage


@pytest.mark.parametrize("columns", [3, 60], ids=["lists are larger", "rows are larger"])
def test_what_was_read_makes_room_while_the_others_are_at_work(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).normal(size=(6000, columns))
    layout = Layout(len(rows), block_rows=300, cell_rows=300)
    held: list[int] = []
    cells: list[int] = []
    put = TaskStore.put

    def watched(store: TaskStore, name: str, *rest: Any) -> None:
        put(store, name, *rest)
        if name in ("route", "search", "merge"):
            held.append(size_of(store))
        if name == "cells":
            cells.append(len(store.get(name, 0)["centres"]))

    monkeypatch.setattr(TaskStore, "put", watched)
    model = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(400, n_neighbors=5), n_jobs=1)
    fit_to_shards(model, InMemory.of(rows), layout)
    foretold = Scratch(layout, cells[0], rows.itemsize * columns, 15, 5, 400)
    tables = 2 * HEADER * (layout.n_blocks + cells[0]) + PART * layout.n_blocks * cells[0]
    assert 0.9 * foretold.peak() < max(held) < 1.05 * foretold.peak() + tables


@pytest.mark.parametrize("n_samples", [10**6, 10**9])
@pytest.mark.parametrize("has_patches", [False, True], ids=["edges", "patches"])
def test_six_or_eight_hundred_bytes_a_point(n_samples: int, has_patches: bool) -> None:
    layout = Layout(n_samples)
    scratch = Scratch(layout, layout.wanted_cells, 50 * 4, 15, 5, 10_000, has_patches)
    assert scratch.peak() <= (820 if has_patches else 650) * n_samples


def test_a_plan_says_it() -> None:
    rows = InMemory.of(np.broadcast_to(np.float32(0), (10_000_000, 50)))
    model = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(10_000, n_neighbors=5))
    layout = Layout(10_000_000)
    peak = Scratch(layout, layout.wanted_cells, 200, 15, 5, 10_000).peak()
    notes = {stage.name: stage.note for stage in plan_over_shards(model, rows)}
    assert notes["search"].endswith(f"; {format_bytes(peak)} on disk")


def test_landmarks_are_kept_in_a_type_that_holds_their_numbers() -> None:
    for count in (2, 1 << 16, (1 << 16) + 1, 1 << 20):
        assert np.arange(count).astype(type_of_landmarks(count))[-1] == count - 1


def test_a_plan_knows_that_few_landmarks_make_large_cells() -> None:
    rows = InMemory.of(np.broadcast_to(np.float32(0), (1_000_000_000, 50)))
    notes, held = {}, {}
    for L in (10_000, 100_000):
        model = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(L, n_neighbors=5), n_jobs=1)
        stages = {stage.name: stage for stage in plan_over_shards(model, rows)}
        notes[L], held[L] = stages["search"].note, stages["search"].bytes
    assert notes[10_000].startswith("about 1250 cells of 1600000 points")
    assert notes[100_000].startswith("about 7630 cells of 262144 points")
    assert held[10_000] > 5 * held[100_000]


def test_a_plan_knows_that_a_cell_is_searched_by_one_thread() -> None:
    def seconds(size: int, **settings: Any) -> float:
        rows = InMemory.of(np.broadcast_to(np.float32(0), (size, 50)))
        model = lowdim.LaplacianEigenmaps(n_neighbors=15, solver=lowdim.LLL(10_000), **settings)
        return next(stage.seconds for stage in plan_over_shards(model, rows) if stage.name == "search")

    assert seconds(100_000, n_jobs=2) == seconds(100_000, n_jobs=1)
    assert seconds(1_000_000, n_jobs=2) == pytest.approx(seconds(1_000_000, n_jobs=1) / 2)
    alone = seconds(1_000_000, n_jobs=2, memory_limit="700 MB")
    assert alone == pytest.approx(seconds(1_000_000, n_jobs=1))
