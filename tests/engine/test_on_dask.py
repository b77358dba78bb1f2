"""Tasks on Dask: the store is waited for, names are readable, errors are typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tasks_to_run import Square

from lowdim.core.run import Run
from lowdim.engine import places_to_work, run_tasks, using
from lowdim.engine.on_dask import OnDask, _Watch
from lowdim.engine.threads import Threads
from lowdim.errors import InputError, WorkersError
from lowdim.store.tasks import TaskStore

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster in this process, which starts quickly."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(str(tmp_path))


def test_every_task_is_done_under_a_readable_name(client: Any, store: TaskStore) -> None:
    seen: list[str] = []
    submit = client.submit

    def watched(*arguments: Any, **settings: Any) -> Any:
        seen.append(settings["key"])
        return submit(*arguments, **settings)

    client.submit = watched
    try:
        with using(client):
            tally = run_tasks(Square(failing=(3,), times=2), 7, store, Run.of())
    finally:
        client.submit = submit
    assert [int(store.get("square", number)["value"]) for number in range(7)] == [n**2 for n in range(7)]
    assert (tally.tasks, tally.retries) == (7, 2)
    assert all(key.startswith(f"lowdim-square-{number}-") for number, key in enumerate(seen[:7]))
    assert len(set(seen)) == len(seen)


def test_errors_are_raised_here(client: Any, store: TaskStore) -> None:
    with using(client), pytest.raises(InputError, match="must be otherwise"):
        run_tasks(Square(refusing=(1,)), 2, store, Run.of())
    with using(client), pytest.raises(WorkersError, match="cube 0 failed 3 times"):
        run_tasks(Square("cube", failing=(0,), times=9), 2, store, Run.of())


def test_an_address_is_a_client(client: Any, store: TaskStore) -> None:
    with using(client.scheduler.address):
        run_tasks(Square(), 2, store, Run.of())
    assert store.is_finished("square")


def test_a_client_that_is_there_is_taken(client: Any) -> None:
    assert isinstance(places_to_work.mapper_for(2), Threads)
    with client.as_current():
        assert isinstance(places_to_work.mapper_for(2), OnDask)


def test_results_that_do_not_arrive_are_said(
    client: Any, store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lowdim.engine.on_dask.perform_on_worker", len)
    with using(client), pytest.raises(WorkersError):
        run_tasks(Square(), 1, store, Run.of())
    monkeypatch.setattr("lowdim.engine.on_dask.perform_on_worker", print)
    with using(client), pytest.raises(WorkersError, match="a folder that every worker"):
        run_tasks(Square(), 1, store, Run.of())


def test_what_ends_between_two_looks_is_not_lost(client: Any, store: TaskStore) -> None:
    watch = _Watch(client, Square(), store, {0})
    watch.submit([0])
    watch._futures[0].result()
    assert not watch._is_lost(0)
    assert watch.look()
    assert (watch.tally.tasks, watch.tally.retries) == (1, 0)
