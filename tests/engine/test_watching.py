"""The watch over tasks on Dask: workers that fall silent, connections that break, a scheduler that does not answer."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import tasks_to_run
from tasks_to_run import Square

from lowdim.core.run import Run
from lowdim.engine import on_dask, run_tasks, using
from lowdim.engine.on_dask import _Watch
from lowdim.engine.scheduler_view import SILENT_AFTER, SchedulerView, silent_among
from lowdim.errors import WorkersError
from lowdim.store.tasks import TaskStore

NOW = 1000.0


@dataclass
class Submitted:
    """A task that the scheduler below was handed, and that never ends by itself."""

    key: str
    number: int
    where: dict[str, Any]
    status: str = "pending"
    is_released: bool = False

    def release(self) -> None:
        self.is_released = True


@dataclass
class StandIn:
    """A client and its scheduler, as much of them as the watch needs; each worker is at the tasks of ``at``."""

    last_seen: dict[str, float]
    at: dict[str, set[int]] = field(default_factory=dict)
    submitted: list[Submitted] = field(default_factory=list)
    status: str = "running"
    answers: bool = True
    cluster: Any = None

    @property
    def scheduler(self) -> StandIn:
        return self

    def sync(self, question: Any, *, callback_timeout: float, **details: Any) -> Any:
        assert callback_timeout > 0
        if not self.answers:
            raise TimeoutError
        return question(**details)

    def identity(self) -> dict[str, Any]:
        return {"workers": {worker: {"last_seen": seen} for worker, seen in self.last_seen.items()}}

    def processing(self, workers: list[str] | None) -> dict[str, list[str]]:
        asked = self.last_seen if workers is None else workers
        numbers = {worker: self.at.get(worker, set()) for worker in asked}
        return {
            worker: [task.key for task in self.submitted if task.number in own and not task.where]
            for worker, own in numbers.items()
        }

    def submit(self, function: Any, task: Any, store: Any, number: int, **settings: Any) -> Submitted:
        where = {name: settings[name] for name in ("workers", "allow_other_workers") if name in settings}
        self.submitted.append(Submitted(settings["key"], number, where))
        return self.submitted[-1]


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(str(tmp_path))


def watching(client: Any, store: TaskStore, count: int = 4) -> _Watch:
    return _Watch(client, Square(), store, set(range(count)))


def test_who_is_silent_goes_by_the_others() -> None:
    seen = {"a": NOW, "b": NOW - SILENT_AFTER, "c": NOW - SILENT_AFTER - 1}
    assert silent_among({worker: {"last_seen": time} for worker, time in seen.items()}) == {"c"}
    assert silent_among({"c": {"last_seen": 0.0}}) == set()
    assert silent_among({}) == set()


def test_a_wait_ends_when_a_task_does(store: TaskStore) -> None:
    client = StandIn({"a": NOW})
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    watch.wait(0.0)
    for task in client.submitted[:2]:
        Square()(store, task.number)
        task.status = "finished"
        watch.wait(float("inf"))
        assert watch.look()
    client.submitted[2].status = "lost"
    watch.wait(float("inf"))
    assert not watch.look()
    assert client.submitted[-1].number == 2
    assert watch.left == {2, 3}


def test_what_a_silent_worker_is_at_is_submitted_elsewhere_once(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "ASK_AFTER", 0.0)
    client = StandIn({"a": NOW, "b": NOW}, at={"a": {0, 1}, "b": {2, 3}})
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    assert [task.where for task in client.submitted] == [{}] * 4
    client.last_seen["a"] = NOW + 2 * SILENT_AFTER
    watch.heed()
    elsewhere = {"workers": ["a"], "allow_other_workers": True}
    assert [(task.number, task.where) for task in client.submitted[4:]] == [(2, elsewhere), (3, elsewhere)]
    assert len({task.key for task in client.submitted}) == 6
    assert watch.tally.retries == 2
    watch.heed()
    assert len(client.submitted) == 6
    # Who is stuck must not seem to be free before the stage is over.
    assert not any(task.is_released for task in client.submitted)
    watch.release()
    assert all(task.is_released for task in client.submitted)


def test_a_stage_begins_without_silent_workers(store: TaskStore) -> None:
    client = StandIn({"a": NOW, "b": 0.0, "c": NOW})
    watching(client, store).begin([0, 1])
    assert [task.where["workers"] for task in client.submitted] == [["a", "c"]] * 2


def test_one_worker_alone_is_left_in_peace(store: TaskStore) -> None:
    client = StandIn({"a": 0.0}, at={"a": {0}})
    watching(client, store, 1).begin([0])
    assert [task.where for task in client.submitted] == [{}]


def test_tasks_that_hang_are_submitted_again_and_stay_asked_for(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = StandIn({"a": NOW}, at={"a": {1}})
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    assert not watch.look()
    assert len(client.submitted) == 4
    monkeypatch.setattr(on_dask, "AGAIN_AFTER", -1.0)
    watch.look()
    assert [task.number for task in client.submitted[4:]] == [0, 1, 2, 3]
    assert [task.number for task in watch._held] == [1]


def test_the_work_ends_where_nobody_who_is_heard_from_is_at_it(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit of a sweep may take longer than any limit; from a stopped worker nothing will come."""
    monkeypatch.setattr(on_dask, "ASK_AFTER", 0.0)
    monkeypatch.setattr(on_dask, "GIVE_UP_AFTER", -1.0)
    client = StandIn({"a": NOW}, at={"a": {1}})
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    watch.look()  # it is at one of them
    client.at["a"].clear()
    with pytest.raises(WorkersError, match="no worker is heard from that is at one; 4 are left"):
        watch.look()
    client.at["a"].add(1)
    monkeypatch.setattr(on_dask, "SILENT_AFTER", -1.0)  # the only worker gave no sign since the last look
    watch.heed()
    with pytest.raises(WorkersError, match="no worker is heard from"):
        watch.look()
    monkeypatch.setattr(on_dask, "SILENT_AFTER", SILENT_AFTER)
    client.last_seen["a"] += 1.0
    watch.heed()
    watch.look()
    client.last_seen.clear()
    watch.heed()
    with pytest.raises(WorkersError, match="no worker is heard from"):
        watch.look()


def test_a_lost_connection_is_waited_for_and_then_said(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = StandIn({"a": NOW})
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    client.status = "connecting"
    client.submitted[0].status = "cancelled"
    Square()(store, 1)
    assert watch.look()  # what is in the store counts, connection or not
    watch.heed()
    assert len(client.submitted) == 4
    client.status = "running"
    watch.look()
    assert [task.number for task in client.submitted[4:]] == [0]
    client.status = "connecting"
    monkeypatch.setattr(on_dask, "RECONNECT_WITHIN", -1.0)
    with pytest.raises(WorkersError, match=r"is gone \(the client is connecting\)"):
        watch.look()
    client.status = "closed"
    with pytest.raises(WorkersError, match="the client is closed"):
        watching(client, store).begin([0])


def test_a_scheduler_that_does_not_answer_stops_nothing(store: TaskStore) -> None:
    client = StandIn({"a": NOW, "b": 0.0}, answers=False)
    watch = watching(client, store)
    watch.begin([0, 1, 2, 3])
    assert [task.where for task in client.submitted] == [{}] * 4
    assert SchedulerView(client).tasks_at() == set()


def test_workers_that_went_are_counted_and_asked_for_again(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "ASK_AFTER", 0.0)
    asked: list[int] = []
    client = StandIn({"a": NOW, "b": NOW})
    client.cluster = type("Cluster", (), {"scale": staticmethod(asked.append)})
    watch = watching(client, store)
    watch.heed()
    client.last_seen = {"b": NOW, "c": NOW}  # a came back under another address
    watch.heed()
    assert (watch.tally.workers_lost, asked) == (1, [])
    client.last_seen = {"b": NOW}
    watch.heed()
    monkeypatch.setattr(on_dask, "HEAL_AFTER", -1.0)
    watch.heed()
    assert (watch.tally.workers_lost, asked) == (2, [2])


def test_a_stage_that_begins_without_any_worker_asks_for_those_that_were_planned(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "ASK_AFTER", 0.0)
    monkeypatch.setattr(on_dask, "HEAL_AFTER", -1.0)
    asked: list[int] = []
    planning = type("Cluster", (), {"scale": staticmethod(asked.append), "plan": {0, 1, 2}})
    watch = watching(StandIn({}, cluster=planning), store)
    watch.begin([0, 1, 2, 3])
    watch.heed()
    assert asked == [3]


def test_connections_that_are_aborted_cost_nothing(store: TaskStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own, while it waits: it connects again, and what was lost on the way is submitted again."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        left = [2, 5]
        lock = threading.Lock()

        def called(number: int) -> None:
            with lock:
                if number not in left:
                    return
                left.remove(number)
            for connection in list(cluster.scheduler.client_comms.values()):
                cluster.loop.add_callback(connection.comm.abort)

        monkeypatch.setattr(tasks_to_run, "called", called)
        with using(client):
            tally = run_tasks(Square(calling=(2, 5)), 8, store, Run.of())
        assert not left
        assert [int(store.get("square", number)["value"]) for number in range(8)] == [n**2 for n in range(8)]
        assert tally.tasks == 8
