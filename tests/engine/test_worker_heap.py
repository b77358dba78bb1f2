"""The heap of a worker of Dask: roomy while a task is at work, and as Dask wants it otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tasks_to_run import Square

from lowdim.engine import worker_heap
from lowdim.engine.worker_heap import ROOMY_HEAP, perform_on_worker
from lowdim.store.tasks import TaskStore


class Library:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.limits: dict[int, int] = {}
        self.trimmed = 0

    def mallopt(self, limit: int, size: int) -> int:
        self.limits[limit] = size
        return 1

    def malloc_trim(self, pad: int) -> int:
        self.trimmed += 1
        return 1


GLIBC = worker_heap._glibc


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    GLIBC.cache_clear()
    yield
    GLIBC.cache_clear()


def test_limits_are_wide_while_anybody_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(worker_heap, "_glibc", lambda: library)
    with ROOMY_HEAP, ROOMY_HEAP:
        assert library.limits == {-1: 64 << 20, -3: 32 << 20}
    assert library.limits == {-1: 65536, -3: 128 << 10}
    assert library.trimmed == 1


@pytest.mark.parametrize("given", [None, "1000000"])
def test_a_limit_that_dask_has_not_set_stays(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if given is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", given)
    assert worker_heap._glibc() is None


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert worker_heap._glibc() is None


def test_the_task_is_done(tmp_path: Path) -> None:
    store = TaskStore(str(tmp_path))
    perform_on_worker(Square(), store, 3)
    assert int(store.get("square", 3)["value"]) == 9
