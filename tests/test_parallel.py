"""Row blocks on threads."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from lowdim.core import parallel
from lowdim.core.parallel import count_workers, light_rows, map_blocks, row_blocks
from torture import interrupts


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


def test_light_work_comes_in_few_blocks() -> None:
    assert [light_rows(n, 25.0) for n in (1, 10_000, 60_000, 1_600_000)] == [1, 10_000, 10_000, 100_000]
    assert light_rows(80_000, 3.0) == 80_000


def test_within_a_block_there_are_no_more_threads() -> None:
    def threads_within(block: slice) -> set[int]:
        barrier.wait(timeout=300)
        inner = map_blocks(lambda part: threading.get_ident(), 100, n_jobs=4, block_rows=10)
        assert set(inner) == {threading.get_ident()}
        return set(inner)

    barrier = threading.Barrier(2)
    outer = map_blocks(threads_within, 2, n_jobs=2, block_rows=1)
    assert len(set.union(*outer)) == 2
    barrier = threading.Barrier(4)
    again = map_blocks(
        lambda block: barrier.wait(timeout=300) and threading.get_ident(), 4, n_jobs=4, block_rows=1
    )
    assert len(again) == 4


def test_a_failure_leaves_the_thread_as_it_was() -> None:
    def fail(block: slice) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        map_blocks(fail, 10, n_jobs=1, block_rows=1)
    barrier = threading.Barrier(2)
    map_blocks(lambda block: barrier.wait(timeout=300), 2, n_jobs=2, block_rows=1)


def is_waiting() -> bool:
    """Whether the main thread waits for its helpers."""
    return sys._current_frames()[threading.main_thread().ident].f_code is parallel._Latch.wait.__code__


@pytest.mark.parametrize("n_interrupts", [1, 2])
def test_interrupts_while_others_still_work_end_them_first(n_interrupts: int) -> None:
    """The calling thread has nothing left to do, and waits; a helper goes on after the interrupts have arrived."""
    begun, arrived, finished = queue.SimpleQueue(), queue.SimpleQueue(), []

    def function(block: slice) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            begun.get()
            return
        begun.put(None)
        for _ in range(n_interrupts):
            while not is_waiting():
                os.sched_yield()
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            arrived.get()
        finished.append(block.start)

    def interrupt(number: int, frame: object) -> None:
        arrived.put(None)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            map_blocks(function, 2, block_rows=1, n_jobs=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(finished) == 1, "no thread is at work any more"


def test_an_interrupt_comes_out_even_after_a_failure() -> None:
    """Who catches the failure and goes on another way would drop the interrupt."""
    begun = queue.SimpleQueue()

    def function(block: slice) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            begun.get()
            raise KeyboardInterrupt
        begun.put(None)
        raise RuntimeError("no")

    with pytest.raises(KeyboardInterrupt):
        map_blocks(function, 2, block_rows=1, n_jobs=2)


def test_interrupts_at_random_moments() -> None:
    """Five hundred are for `make torture`."""
    assert not interrupts.interrupted(200, 0)


def test_without_threads_the_calling_one_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel._thread, "start_new_thread", refuse)
    here = threading.get_ident()
    assert map_blocks(lambda block: threading.get_ident(), 5, block_rows=1, n_jobs=3) == [here] * 5
    assert parallel.apart(threading.get_ident) == here


def test_helpers_are_traced_and_profiled() -> None:
    """As threads of the library are: coverage, debuggers and profilers ask for it."""
    barrier, traced, profiled = threading.Barrier(2), set(), set()
    before = threading.gettrace(), threading.getprofile()
    threading.settrace(lambda *_: traced.add(threading.get_ident()))
    threading.setprofile(lambda *_: profiled.add(threading.get_ident()))
    try:
        threads = map_blocks(
            lambda block: (barrier.wait(timeout=300), threading.get_ident())[1], 2, n_jobs=2, block_rows=1
        )
    finally:
        threading.settrace(before[0])
        threading.setprofile(before[1])
    # Threads that others have begun meanwhile are seen as well.
    helpers = {thread for thread in threads if thread != threading.get_ident()}
    assert traced & set(threads) == profiled & set(threads) == helpers
    assert helpers
