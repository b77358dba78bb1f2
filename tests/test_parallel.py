"""Row blocks on threads."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowdim.parallel import count_workers, map_blocks, row_blocks


@given(n_rows=st.integers(0, 3000), size=st.integers(1, 700), n_jobs=st.integers(1, 5))
def test_every_row_once_and_results_in_order(n_rows: int, size: int, n_jobs: int) -> None:
    seen = np.zeros(n_rows, dtype=int)

    def visit(block: slice) -> int:
        seen[block] += 1
        return block.start

    starts = map_blocks(visit, n_rows, n_jobs=n_jobs, block_rows=size)
    assert np.all(seen == 1)
    assert starts == [block.start for block in row_blocks(n_rows, size)]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_failure_comes_out_and_stops_the_rest(n_jobs: int) -> None:
    visited = []

    def fail(block: slice) -> None:
        visited.append(block.start)
        raise RuntimeError(f"block {block.start}")

    with pytest.raises(RuntimeError, match="block"):
        map_blocks(fail, 10_000, n_jobs=n_jobs, block_rows=10)
    assert len(visited) <= n_jobs
    assert threading.active_count() < 20


def test_progress_is_told_in_the_calling_thread() -> None:
    told: list[tuple[int, int]] = []
    map_blocks(
        lambda block: None,
        1000,
        n_jobs=2,
        block_rows=100,
        done=lambda rows: told.append((rows, threading.get_ident())),
    )
    rows = [count for count, _ in told]
    assert all(thread == threading.get_ident() for _, thread in told)
    assert rows == sorted(rows)
    assert all(0 < count <= 1000 for count in rows)


def test_counting_workers() -> None:
    everything = count_workers(-1)
    assert count_workers(None) == everything >= 1
    assert count_workers(3) == 3
    assert count_workers(-everything) == 1
    assert count_workers(-everything - 5) == 1


def test_within_a_block_there_are_no_more_threads() -> None:
    def threads_within(block: slice) -> set[int]:
        barrier.wait(timeout=30)
        inner = map_blocks(lambda part: threading.get_ident(), 100, n_jobs=4, block_rows=10)
        assert set(inner) == {threading.get_ident()}
        return set(inner)

    barrier = threading.Barrier(2)
    outer = map_blocks(threads_within, 2, n_jobs=2, block_rows=1)
    assert len(set.union(*outer)) == 2
    barrier = threading.Barrier(4)
    again = map_blocks(
        lambda block: barrier.wait(timeout=30) and threading.get_ident(), 4, n_jobs=4, block_rows=1
    )
    assert len(again) == 4


def test_a_failure_leaves_the_thread_as_it_was() -> None:
    def fail(block: slice) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        map_blocks(fail, 10, n_jobs=1, block_rows=1)
    barrier = threading.Barrier(2)
    map_blocks(lambda block: barrier.wait(timeout=30), 2, n_jobs=2, block_rows=1)


def test_an_interrupt_while_others_still_work_ends_them_first():
    working, finished, left = threading.Event(), [], threading.Event()

    def function(block):
        if threading.current_thread() is threading.main_thread():
            working.wait(10)
            left.set()
            return
        working.set()
        left.wait(10)
        time.sleep(0.1)  # by now the calling thread waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.2)
        finished.append(block.start)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            map_blocks(function, 2, block_rows=1, n_jobs=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(finished) == 1, "no thread is at work any more"
