"""The engine: every task once, failures that pass, failures that do not, on threads and executors."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from tasks_to_run import Square
from threadpoolctl import threadpool_info

import lowdim
from lowdim.core.blas_threads import ONE_BLAS_THREAD
from lowdim.core.run import Run
from lowdim.engine import run_tasks, using
from lowdim.errors import InputError, WorkersError
from lowdim.store.tasks import TaskStore


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(str(tmp_path))


def check(store: TaskStore, count: int, name: str = "square") -> None:
    assert [int(store.get(name, number)["value"]) for number in range(count)] == [
        number**2 for number in range(count)
    ]


def test_threads_do_what_is_missing(store: TaskStore) -> None:
    heard: list[tuple[int, int]] = []
    run = Run.of().heard_by(lambda e: heard.append((e.data["done"], e.data["total"])))
    Square()(store, 3)
    with using(2):
        tally = run_tasks(Square(), 9, store, run)
    check(store, 9)
    assert tally.tasks == 8
    assert heard[-1] == (9, 9)
    assert run_tasks(Square(), 9, store, run).tasks == 0
    store.drop("square")
    assert run_tasks(Square(), 9, store, run).tasks == 0


def test_a_failure_on_threads_is_raised_as_it_is(store: TaskStore) -> None:
    with pytest.raises(RuntimeError, match="no luck"):
        run_tasks(Square(failing=(2,)), 4, store, Run.of())
    run_tasks(Square(failing=(2,)), 4, store, Run.of())
    check(store, 4)


def test_an_executor_tries_again(store: TaskStore) -> None:
    with ThreadPoolExecutor(2) as pool, using(pool):
        tally = run_tasks(Square(failing=(1, 2), times=2), 5, store, Run.of())
    check(store, 5)
    assert (tally.tasks, tally.retries) == (5, 4)


def test_a_task_that_always_fails_ends_the_work(store: TaskStore) -> None:
    with (
        ThreadPoolExecutor(2) as pool,
        using(pool),
        pytest.raises(WorkersError, match=r"square 1 failed 3 times.*RuntimeError: no luck.*checkpoint"),
    ):
        run_tasks(Square(failing=(1,), times=9), 3, store, Run.of())


def test_a_typed_error_is_not_tried_again(store: TaskStore) -> None:
    with ThreadPoolExecutor(1) as pool, using(pool), pytest.raises(InputError, match="must be otherwise"):
        run_tasks(Square(refusing=(0,)), 2, store, Run.of())


@pytest.mark.slow
def test_a_pool_whose_worker_was_killed_says_so_and_another_goes_on(store: TaskStore) -> None:
    spawn = get_context("spawn")
    task = Square(killing=(2,))
    with (
        ProcessPoolExecutor(1, mp_context=spawn) as pool,
        using(pool),
        pytest.raises(WorkersError, match="run the same again"),
    ):
        run_tasks(task, 4, store, Run.of())
    with ProcessPoolExecutor(1, mp_context=spawn) as pool, using(pool):
        run_tasks(task, 4, store, Run.of())
    check(store, 4)


@pytest.mark.parametrize("workers", [0, True, "10.0.0.1", None, 2.5])
def test_what_cannot_work_is_refused(workers: object) -> None:
    with pytest.raises(InputError, match=r"distributed\.Client.*number of threads"), lowdim.using(workers):
        pass


def test_one_thread_of_blas_while_anybody_is_inside() -> None:
    def threads() -> list[int]:
        return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]

    before = threads()
    with ONE_BLAS_THREAD:
        with ONE_BLAS_THREAD:
            pass
        assert set(threads()) == {1}
    assert threads() == before
