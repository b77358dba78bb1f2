"""Checkpoints: what belongs to which run, what a folder may hold, and what becomes of damage and full disks."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.core.events import Events
from lowdim.core.places import Place
from lowdim.core.run import Run, Store
from lowdim.errors import CheckpointError, CheckpointWarning, FileError, InputError
from lowdim.optimize.outcome import History
from lowdim.store import budget, checkpoint, lock
from lowdim.store.budget import Budget, Pace
from lowdim.store.identity import Identity, digest, text


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Everything is kept, whatever it costs."""
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf"), interval=0.0, worth=0.0))


def run_of(value=1, what="a run", **data):
    return lambda: Identity(what, {"value": value, "n_jobs": 2}, data)


def open_at(path, events=None, **identity):
    return checkpoint.keeping(path, run_of(**identity), events or Events())


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def keep(path, state, *, finished=True, **identity):
    """A run that keeps one state."""
    events = Events()
    try:
        with open_at(path, events, **identity) as top:
            top.inside("stage").save_result(lambda: state)
            if not finished:
                raise RuntimeError
    except RuntimeError:
        pass


def found(path, **identity):
    events = Events()
    with open_at(path, events, **identity) as top:
        return top.inside("stage").find()


def full(*_):
    raise OSError(28, "No space left on device")


def denied(*_):
    raise PermissionError(13, "Permission denied")


def test_without_a_path_nothing_is_kept(tmp_path):
    events = Events()
    with open_at(None, events) as top:
        place = top.inside("stage")
        assert not place.is_active
        place.save_result(dict)
        place.save_progress(dict)
        place.mark_unfinished()
        assert place.find() is None
    assert names(tmp_path) == []


def test_states_come_back_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    state = {
        "c": rng.normal(size=(4, 3)),
        "f": np.asfortranarray(rng.normal(size=(4, 3))),
        "single": rng.normal(size=5).astype(np.float32),
        "sparse": sparse.random_array((5, 6), density=0.4, rng=rng, format="csr"),
        "nested": {"list": [1, 2.5, None, "text", (True, np.inf)], "bits": rng.bit_generator.state},
        "history": History.of([(1, 0.5, 2.0, 3, 1.0)]),
    }
    keep(tmp_path / "kept", state)
    back = found(tmp_path / "kept")
    assert back["nested"] == state["nested"]
    for name in ("c", "f", "single"):
        np.testing.assert_array_equal(back[name], state[name])
        assert back[name].dtype == state[name].dtype
        assert back[name].flags.c_contiguous == state[name].flags.c_contiguous
        assert back[name].flags.writeable
    assert (back["sparse"] != state["sparse"]).nnz == 0
    np.testing.assert_array_equal(back["history"].values, [2.0])


def test_another_run_is_named(tmp_path):
    keep(tmp_path / "kept", {}, finished=False, value=1, X=np.zeros(3))
    with pytest.raises(CheckpointError, match=r"value was 1, is 2; X was array \(3,\).*Name another folder"):
        found(tmp_path / "kept", value=2, X=np.ones(3))
    with pytest.raises(CheckpointError, match="method was a run, is b"):
        found(tmp_path / "kept", what="b", X=np.zeros(3))
    assert found(tmp_path / "kept", value=1, X=np.zeros(3)) == {}


def test_many_differences_are_counted(tmp_path):
    keep(tmp_path / "kept", {}, finished=False, a=1, b=2, c=3)
    with pytest.raises(CheckpointError, match="and 3 more"):
        found(tmp_path / "kept", what="other", value=7, d=1)


def test_a_finished_run_makes_way_for_another(tmp_path):
    keep(tmp_path / "kept", {"old": 1})
    assert found(tmp_path / "kept") == {"old": 1}
    keep(tmp_path / "kept", {"new": 1}, value=2)
    assert found(tmp_path / "kept", value=2) == {"new": 1}


def test_a_cut_run_is_not_finished(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "PACE", Pace(share=0.02))
    events = Events()
    with open_at(tmp_path / "kept", events) as top:
        top.inside("stage").save_result(lambda: {"a": 1})
        top.mark_unfinished()
    with pytest.raises(CheckpointError, match="unfinished"):
        found(tmp_path / "kept", value=2)


def test_another_version_of_lowdim(tmp_path, monkeypatch):
    keep(tmp_path / "kept", {}, finished=False)
    monkeypatch.setattr(checkpoint, "__version__", "99")
    with pytest.raises(CheckpointError, match=r"lowdim was .*, is 99"):
        found(tmp_path / "kept")


def test_other_libraries_are_warned_of(tmp_path, monkeypatch):
    keep(tmp_path / "kept", {"a": 1}, finished=False)
    monkeypatch.setattr(checkpoint, "libraries", lambda: {"numpy": "0.0"})
    with pytest.warns(CheckpointWarning, match=r"numpy was .*, is 0\.0"):
        assert found(tmp_path / "kept") == {"a": 1}


def test_foreign_folders_are_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(CheckpointError, match="other things"):
        found(tmp_path)
    assert names(tmp_path) == ["thesis.txt"]
    with pytest.raises(CheckpointError, match="this is a file"):
        found(tmp_path / "thesis.txt")
    with pytest.raises(FileError, match="cannot be kept there"):
        found(tmp_path / "missing" / "kept")
    with pytest.raises(FileError, match="cannot be kept there"):
        found("a\0b")


def test_what_a_killed_write_left_goes(tmp_path):
    keep(tmp_path / "kept", {"a": 1})
    (tmp_path / "kept" / ".1234.part-stage.state").write_text("half")
    assert found(tmp_path / "kept") == {"a": 1}
    assert ".1234.part-stage.state" not in names(tmp_path / "kept")


@pytest.mark.parametrize("place", [0, 9, 200, -1])
def test_a_flipped_bit_in_a_state_is_found_and_the_part_done_again(tmp_path, place):
    keep(tmp_path / "kept", {"a": np.arange(100)}, finished=False)
    path = tmp_path / "kept" / "stage.state"
    raw = bytearray(path.read_bytes())
    raw[place] ^= 4
    path.write_bytes(raw)
    with pytest.warns(CheckpointWarning, match="done again"):
        assert found(tmp_path / "kept") is None


def test_a_damaged_manifest_is_an_error(tmp_path):
    keep(tmp_path / "kept", {"a": 1}, finished=False)
    path = tmp_path / "kept" / "manifest.state"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CheckpointError, match="nothing says which run"):
        found(tmp_path / "kept")


@pytest.mark.parametrize(
    "text_of_tree",
    ["[]", '{"objects":[]}', '{"objects":[],"state":3}', '{"objects":3,"state":{"dict":[]}}', "no"],
)
def test_states_that_are_none(tmp_path, text_of_tree):
    keep(tmp_path / "kept", {}, finished=False)
    packed = checkpoint._Packed({})
    packed._text = text_of_tree
    packed.write(tmp_path / "kept" / "stage.state")
    with pytest.warns(CheckpointWarning):
        assert found(tmp_path / "kept") is None


def test_a_newer_format_is_an_error_that_names_both_versions(tmp_path, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + 1)
        keep(tmp_path / "kept", {"a": 1}, finished=False)
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    with pytest.raises(CheckpointError, match=r"in format 2 by lowdim .*; this is .* up to 1\. Upgrade"):
        found(tmp_path / "kept")
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}


def test_a_state_in_a_newer_format_is_done_again(tmp_path, monkeypatch):
    keep(tmp_path / "kept", {"a": 1}, finished=False)
    manifest = (tmp_path / "kept" / "manifest.state").read_bytes()
    with monkeypatch.context() as later:
        later.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + 1)
        keep(tmp_path / "kept", {"a": 2}, finished=False)
    (tmp_path / "kept" / "manifest.state").write_bytes(manifest)
    with pytest.warns(CheckpointWarning, match="in format 2"):
        assert found(tmp_path / "kept") is None


def test_two_at_once(tmp_path):
    with open_at(tmp_path / "kept"), pytest.raises(CheckpointError, match="in use"):
        found(tmp_path / "kept")
    assert found(tmp_path / "kept") is None


def test_a_disk_without_locks(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr(lock, "lock", no_locks)
    keep(tmp_path / "kept", {"a": 1})
    assert found(tmp_path / "kept") == {"a": 1}


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(lock.os, "open", denied)
    with pytest.raises(FileError, match=r"Permission denied\. Name another"):
        found(tmp_path)


def test_a_full_disk_is_said_once_and_the_run_goes_on(tmp_path, monkeypatch):
    events = Events()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with open_at(tmp_path / "kept", events) as top:
            monkeypatch.setattr(os, "fsync", full)
            top.inside("one").save_result(lambda: {"a": 1})
            top.inside("two").save_result(lambda: {"a": 1})
            monkeypatch.undo()
    assert [warning.category for warning in heard] == [CheckpointWarning]
    assert "disk is full" in str(heard[0].message)
    assert names(tmp_path / "kept") == ["lock", "manifest.state"]
    assert found(tmp_path / "kept", value=2) is None, "it is finished all the same"


@pytest.mark.parametrize("before", ["nothing", "unfinished", "finished, another"])
def test_a_full_disk_at_the_start_is_an_error_before_the_work(tmp_path, monkeypatch, before):
    path, other = tmp_path / "kept", int(before == "finished, another")
    if before != "nothing":
        keep(path, {"a": 1}, finished=bool(other), value=other)
    there = {name: (path / name).read_bytes() for name in names(path)} if path.exists() else {}
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_container", full)
        with pytest.raises(
            FileError, match=r"kept: a checkpoint cannot be kept there: .*disk is full\. Free"
        ) as info:
            found(path, value=0)
    assert info.value.errno == 28
    assert {name: (path / name).read_bytes() for name in names(path) if name != "lock"} == {
        name: content for name, content in there.items() if name != "lock"
    }
    assert found(path, value=0) == ({"a": 1} if before == "unfinished" else None)


def test_a_finished_run_can_be_had_from_a_full_disk(tmp_path, monkeypatch):
    keep(tmp_path / "kept", {"a": 1})
    monkeypatch.setattr(checkpoint, "write_container", full)
    assert found(tmp_path / "kept") == {"a": 1}


def test_what_cannot_be_removed_is_named(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    keep(path, {"a": 1})
    (path / ".1234.part-stage.state").write_text("half")
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", denied)
        with pytest.raises(
            FileError, match=r"kept: a checkpoint .*part-stage.state: cannot be removed: Permission"
        ):
            found(path)
    assert found(path) == {"a": 1}
    events = Events()
    with open_at(path, events, value=2) as top, monkeypatch.context() as patch:
        stage = top.inside("stage")
        stage.inside("loop").save_progress(dict)
        patch.setattr(os, "unlink", denied)
        with pytest.warns(CheckpointWarning, match="cannot be removed"):
            stage.save_result(lambda: {"b": 2})
    assert found(path, value=2) == {"b": 2}


def test_a_manifest_that_cannot_be_read_is_no_reason_to_remove_it(tmp_path, monkeypatch):
    keep(tmp_path / "kept", {"a": 1}, finished=False)
    with monkeypatch.context() as patch:
        patch.setattr("lowdim.store.container._opened", denied)
        with pytest.raises(
            FileError, match=r"kept: a checkpoint .*cannot be read: Permission denied"
        ) as info:
            found(tmp_path / "kept")
    assert "remove" not in str(info.value)
    assert found(tmp_path / "kept") == {"a": 1}


def test_a_run_that_cannot_be_marked_as_finished(tmp_path, monkeypatch):
    def run():
        events = Events()
        with monkeypatch.context() as patch, open_at(path, events) as top:
            top.inside("stage").save_result(lambda: {"a": 1})
            patch.setattr(checkpoint, "write_container", full)

    path = tmp_path / "kept"
    with pytest.warns(CheckpointWarning, match=r"manifest\.state: the disk is full"):
        run()
    with pytest.raises(CheckpointError, match="unfinished"):
        found(path, value=2)
    assert found(path) == {"a": 1}
    assert found(path, value=2) is None


def test_a_lock_that_cannot_be_closed_loses_no_result(tmp_path, monkeypatch):
    real = os.close

    def failing(descriptor):
        real(descriptor)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch, lock.locked(tmp_path):
        patch.setattr(lock.os, "close", failing)
    assert found(tmp_path) is None


def test_a_warning_of_the_disk_is_not_told_again_by_the_next_run(tmp_path, monkeypatch):
    def make(run):
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "write_container", full)
            run.store.place.inside("part").save_result(dict)
        return 3

    heard = []
    events = Events(heard.append)
    with (
        open_at(tmp_path / "kept", events) as top,
        pytest.warns(CheckpointWarning, match="disk is full"),
    ):
        assert Run(events, store=Store(top)).stage("stage", make, kept=int) == 3
    heard.clear()
    with open_at(tmp_path / "kept", events) as top:
        assert Run(events, store=Store(top)).stage("stage", make, kept=int) == 3
    assert [event.kind for event in heard] == ["started", "finished"]


def test_a_final_state_takes_the_place_of_those_inside(tmp_path):
    events = Events()
    with open_at(tmp_path / "kept", events) as top:
        stage = top.inside("a stage", 3)
        loop = stage.inside("loop")
        loop.save_progress(lambda: {"turn": 1})
        assert "a-stage-3.loop.state" in names(tmp_path / "kept")
        stage.save_result(lambda: {"done": True})
    assert names(tmp_path / "kept") == ["a-stage-3.state", "lock", "manifest.state"]


def test_places_have_names_of_their_own(tmp_path):
    events = Events()
    with open_at(tmp_path / "kept", events) as top:
        visits = [top.inside("part").name for _ in range(3)]
        keyed = {top.inside("part", key).name for key in (1, "a", ("a", 2), ("a", 3))}
    assert visits == ["part", "part~2", "part~3"]
    assert len(keyed) == 4
    assert "part-1" in keyed


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(budget.time, "perf_counter", lambda: self.now)


def test_the_budget_is_kept(monkeypatch):
    monkeypatch.setattr(budget, "PACE", Pace(share=0.02))
    clock = Clock(monkeypatch)
    spent = Budget()
    assert not spent.allows(0)
    clock.now += 1.01
    assert spent.allows(0)
    assert not spent.allows(10**8)
    assert not spent.is_worth(10**8, 1.0)
    assert spent.is_worth(10**8, 1.1)
    with spent.spending(10**8):
        clock.now += 2.0
    assert spent.estimate(10**8) > 0.6, "a slow disk is learnt from"
    assert not spent.allows(0)
    clock.now += 100.0
    assert spent.allows(0)
    with spent.spending(10):
        clock.now += 0.5
    assert spent.estimate(0) == pytest.approx(0.26)


def test_states_of_a_loop_come_every_few_seconds(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(budget, "PACE", Pace(share=0.02))
    events, taken = Events(), []

    def state():
        taken.append(clock.now)
        return {"x": np.zeros(1000)}

    with open_at(tmp_path / "kept", events) as top:
        loop = top.inside("loop")
        for _ in range(100):
            clock.now += 0.25
            loop.save_progress(state)
        count = len(taken)
        loop.save_progress(state, now=True)
    assert 4 <= count <= 7
    assert len(taken) == count + 1


def test_what_costs_too_much_waits_and_is_written_when_it_may(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(budget, "PACE", Pace(worth=0.0))
    events, values = Events(), np.ones(10**6)
    with open_at(tmp_path / "kept", events) as top:
        stage = top.inside("stage")
        stage.inside("part").save_result(lambda: {"x": np.ones(10)})
        stage.save_result(lambda: {"x": values})
        top.inside("large").save_result(lambda: {"x": values}, size=values.nbytes)
        values[:] = 2.0
        assert names(tmp_path / "kept") == ["lock", "manifest.state"]
        clock.now += 60.0
        top.inside("other").save_progress(dict)
        assert names(tmp_path / "kept") == ["lock", "manifest.state", "other.state", "stage.state"]
    assert (found(tmp_path / "kept")["x"] == 1.0).all()


def test_what_waits_inside_goes_with_the_final_state(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SMALL", 0)
    clock = Clock(monkeypatch)
    monkeypatch.setattr(budget, "PACE", Pace(worth=0.0))
    events = Events()
    with open_at(tmp_path / "kept", events) as top:
        stage = top.inside("stage")
        stage.inside("part").save_result(lambda: {"x": np.ones(10**6)})
        stage.save_result(lambda: {"x": 1})
        clock.now += 60.0
    assert names(tmp_path / "kept") == ["lock", "manifest.state", "stage.state"]


def test_what_is_made_sooner_than_written_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf")))
    events = Events()
    with open_at(tmp_path / "kept", events) as top:
        top.inside("quick").save_result(lambda: {"x": 1}, seconds=0.001)
        top.inside("slow").save_result(lambda: {"x": 1}, seconds=10.0)
    assert "slow.state" in names(tmp_path / "kept")
    assert "quick.state" not in names(tmp_path / "kept")


def interrupted(path, events):
    """A run that is interrupted while something waits to be written."""
    with open_at(path, events) as top:
        top.inside("stage").save_result(lambda: {"x": 1})
        raise KeyboardInterrupt


def test_an_interrupt_writes_what_waits(tmp_path, monkeypatch):
    Clock(monkeypatch)
    monkeypatch.setattr(budget, "PACE", Pace(worth=0.0))
    events = Events()
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "kept", events)
    assert names(tmp_path / "kept") == ["lock", "manifest.state", "stage.state"]


def test_an_interrupt_does_not_wait_for_ever(tmp_path, monkeypatch):
    Clock(monkeypatch)
    monkeypatch.setattr(budget, "PACE", Pace(worth=0.0))
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.01)
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "kept", Events())
    assert names(tmp_path / "kept") == ["lock", "manifest.state"]


@dataclass
class Made:
    x: int


def test_texts_tell_values_apart():
    def function():
        pass

    class Odd:
        pass

    a = np.arange(6.0).reshape(2, 3)
    assert text(a) == text(np.asfortranarray(a)) != text(a + 1)
    assert text(a) != text(a.astype(np.float32))
    assert digest(np.array(3.0)) == digest(np.array([3.0]))
    assert digest(np.zeros((3, 0))) == digest(np.zeros((3, 0)))
    assert text(sparse.csr_array(a)) == text(sparse.csc_array(a)) != text(sparse.csr_array(a + 1))
    assert text(np.float64(2.5)) == "2.5"
    assert text({"a": [1, (None, True)]}) == "{'a': [1, [None, True]]}"
    assert text(np.array(["a", 1], dtype=object)) != text(np.array(["a", 2], dtype=object))
    assert text(lowdim.LLL(7)).startswith("LLL(n_landmarks=7")
    assert text(function).endswith("function")
    assert "0x" not in text(Odd())
    assert text(Made) == f"{__name__}.Made"


def test_random_numbers_must_come_again(tmp_path):
    with pytest.raises(InputError, match="random_state must be a whole number where checkpoint is given"):
        lowdim.PCA(random_state=None, checkpoint=tmp_path / "kept").fit(np.eye(5))
    assert names(tmp_path) == []


def test_a_keeper_of_nothing_keeps_nothing():
    keeper = Place()
    assert keeper.inside("a") is keeper
