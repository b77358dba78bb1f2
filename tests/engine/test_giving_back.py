"""What a stage has read makes room while it is at work, and whoever comes too late for it is not missed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lowdim.core.run import Run
from lowdim.engine import run_tasks
from lowdim.engine.giving_back import STEPS, GivingBack, step_of
from lowdim.engine.task import perform
from lowdim.errors import FormatError
from lowdim.store.tasks import TaskStore

N_FILES = 3


@dataclass(frozen=True)
class Sum:
    """Adds up a part of every file."""

    name: str = "sum"

    def __call__(self, store: TaskStore, number: int) -> None:
        parts = [store.get("files", file, number)["values"].sum() for file in range(N_FILES)]
        store.put(self.name, number, {"value": np.array(sum(parts))})


def filled(root: Path, n_parts: int) -> TaskStore:
    store = TaskStore(str(root))
    for number in range(N_FILES):
        values = np.arange(100.0 * n_parts) + number
        store.put("files", number, {"values": values}, np.arange(n_parts + 1) * 100)
    return store


def test_files_grow_shorter_with_the_work(tmp_path: Path) -> None:
    n_parts = 3 * STEPS - 1
    store, whole, sizes = filled(tmp_path, n_parts), filled(tmp_path, n_parts).size("files"), []
    used = GivingBack(store, "sum", n_parts, "files", N_FILES)

    def ended() -> None:
        used()
        sizes.append(store.size("files"))

    run_tasks(Sum(), n_parts, store, Run.of(n_jobs=1), ended=ended)
    assert sizes[-1] < whole - 0.95 * 800 * N_FILES * n_parts
    assert len(set(sizes)) <= STEPS + 1
    assert all(later <= sooner for sooner, later in itertools.pairwise(sizes))


def test_nothing_goes_that_a_task_before_needs(tmp_path: Path) -> None:
    n_parts = 2 * STEPS
    store = filled(tmp_path, n_parts)
    used, whole = GivingBack(store, "sum", n_parts, "files", N_FILES), store.size("files")
    for number in range(1, n_parts):
        Sum()(store, number)
        used()
    assert store.size("files") == whole
    again = GivingBack(store, "sum", n_parts, "files", N_FILES)  # as after a cut
    Sum()(store, 0)
    again()
    assert store.size("files") == whole - 800 * N_FILES * n_parts


def test_who_comes_too_late_is_not_missed(tmp_path: Path) -> None:
    store = filled(tmp_path, 2)

    class Late(Sum):
        def __call__(self, store: TaskStore, number: int) -> None:
            Sum()(store, number)  # another worker, meanwhile
            store.shorten("files", 0, number + 1)
            Sum()(store, number)

    perform(Late(), store, 0)
    assert store.has("sum", 0)
    store.shorten("files", 0, 2)
    with pytest.raises(FormatError, match="is damaged"):
        perform(Sum(), store, 1)


def test_steps() -> None:
    assert [step_of(count) for count in (1, STEPS, STEPS + 1, 10 * STEPS)] == [1, 1, 2, 10]
