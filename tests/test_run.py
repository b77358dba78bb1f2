"""The one way in which a stage is run: told, timed, shared, kept, and taken up by a run that goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lowdim.core import run as module
from lowdim.core.events import Events
from lowdim.core.run import Run, Store, Workers
from lowdim.core.shared import Shared
from lowdim.core.streams import STREAMS, Streams
from lowdim.errors import DataWarning, Stop
from lowdim.store import budget, checkpoint
from lowdim.store.budget import Pace
from lowdim.store.identity import Identity


@dataclass
class Made:
    x: int


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """All that can be kept is."""
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf"), interval=0.0, worth=0.0))


@pytest.fixture
def kept(tmp_path):
    """Opens a checkpoint, always the same."""
    return lambda events: checkpoint.keeping(tmp_path / "kept", lambda: Identity("work", {}, {}), events)


def test_a_stage_is_told_and_timed():
    heard = []
    run = Run(Events(heard.append))
    assert run.stage("double", lambda x, run: 2 * x, 4) == 8
    assert [(event.kind, event.stage) for event in heard] == [("started", "double"), ("finished", "double")]
    assert heard[1].data["took"] >= 0
    with pytest.raises(ZeroDivisionError):
        run.stage("divide", lambda run: 1 // 0)
    assert heard[-1].kind == "failed"


def test_streams_of_one_seed_are_apart_and_come_again():
    first, second = Streams(3), Streams(3)
    drawn = {name: first[name].integers(1 << 40) for name in STREAMS}
    assert len(set(drawn.values())) == len(STREAMS)
    assert second["solve"].integers(1 << 40) == drawn["solve"], "whatever others have drawn"
    assert first.anew()["solve"].integers(1 << 40) == drawn["solve"]
    assert first.seed == second.seed != Streams(np.random.default_rng(3)).seed


def test_streams_go_on_from_where_they_stood():
    streams = Streams(1)
    state = streams.state()
    drawn = streams["search"].random(3)
    streams.restore(state)
    np.testing.assert_array_equal(streams["search"].random(3), drawn)


def test_generators_that_do_not_split_serve_too():
    state = np.random.RandomState(2)
    assert Streams(state)["solve"].random() == Streams(np.random.RandomState(2))["solve"].random()


def test_fits_share_a_stage_by_its_key():
    made, shared = [], Shared()

    def make(value, run):
        made.append(value)
        return value

    runs = [Run(store=Store(shared=shared)) for _ in range(2)]
    for run in runs:
        assert run.stage("square", make, 4, key=2) == 4
    assert made == [4]
    assert runs[0].stage("square", make, 9, key=3) == 9
    assert runs[0].unshared().stage("square", make, 4, key=2) == 4
    assert made == [4, 9, 4]


def test_of_large_results_the_latest_is_shared():
    made, run = [], Run()

    def make(value, run):
        made.append(value)
        return value

    for value in (1, 1, 2, 1):
        assert run.stage("lists", make, value, key=value, latest=True) == value
    assert made == [1, 2, 1]


def test_a_run_that_goes_on_tells_again_and_draws_no_number_twice(kept):
    def make(run):
        run.chosen("what", "this", "because")
        run.warned("careful", DataWarning)
        run.progress(1, 2)
        return Made(int(run.random("solve").integers(1000)))

    results, told = [], []
    for _ in range(2):
        heard = []
        events = Events(heard.append)
        with kept(events) as place:
            run = Run(events, streams=Streams(3), store=Store(place))
            with pytest.warns(DataWarning, match="careful"):
                found = run.stage("draw", make, kept=Made)
            results.append((found.x, int(run.random("solve").integers(1000))))
        told.append([event.kind for event in heard])
    assert results[0] == results[1]
    assert told == [
        ["started", "chosen", "warned", "progress", "finished"],
        ["started", "chosen", "warned", "finished"],
    ]


def test_only_what_is_whole_is_kept_and_told_by_the_fit_that_made_it(kept):
    made = []

    def make(value, run):
        made.append(value)
        run.chosen("a", "b", value)
        return value

    for turn in range(2):
        heard = []
        events = Events(heard.append)
        with kept(events) as place:
            store = Store(place.inside("fit", turn), Shared(place=place.inside("shared")))
            run = Run(events, store=store)
            run.stage("cut", make, "cut", kept=str, is_whole=lambda value: value != "cut")
            run.stage("part", make, "shared", key="k", kept=str)
            assert run.choice("choice", lambda: make("choice", Run()), key="k") == "choice"
        reasons = [event.data["why"] for event in heard if event.kind == "chosen"]
        assert reasons == (["cut"] if turn else ["cut", "shared"])
    assert made == ["cut", "shared", "choice", "cut"]


def test_what_is_not_kept_is_made_again(kept):
    made = []

    def make(run):
        made.append(1)
        return object()

    for _ in range(2):
        with kept(Events()) as place:
            Run(store=Store(place)).stage("object", make)
    assert made == [1, 1]


def count_to(run, last, *, stop=None, in_place=True):
    """Numbers one after the other, cut where ``stop`` says."""
    steps = []

    def step(state):
        if stop is not None and state["i"] == stop[0]:
            raise stop[1]
        steps.append(state["i"])
        return {"i": state["i"] + 1}

    final = run.iterate("count", lambda: {"i": 0}, step, lambda state: state["i"] == last, in_place=in_place)
    return final["i"], steps


def test_a_loop_goes_on_from_the_last_state(kept):
    with pytest.raises(RuntimeError), kept(Events()) as place:
        count_to(Run(store=Store(place)), 6, stop=(4, RuntimeError()))
    with kept(Events()) as place:
        assert count_to(Run(store=Store(place)), 6) == (6, [4, 5])


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, Stop])
def test_an_interrupt_keeps_the_last_state_where_states_are_values(kept, interrupt, monkeypatch):
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf"), interval=1e9, worth=0.0))
    with pytest.raises(interrupt), kept(Events()) as place:
        count_to(Run(store=Store(place)), 6, stop=(4, interrupt()), in_place=False)
    with kept(Events()) as place:
        assert count_to(Run(store=Store(place)), 6, in_place=False) == (6, [4, 5])


def test_an_interrupt_keeps_nothing_of_arrays_that_a_step_was_changing(kept, monkeypatch):
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf"), interval=1e9, worth=0.0))
    with pytest.raises(KeyboardInterrupt), kept(Events()) as place:
        count_to(Run(store=Store(place)), 6, stop=(4, KeyboardInterrupt()))
    with kept(Events()) as place:
        assert count_to(Run(store=Store(place)), 6)[0] == 6


def test_pieces_are_done_once(kept, monkeypatch):
    monkeypatch.setattr(module, "PIECE_BYTES", 32)
    calls = []

    def square(part):
        calls.append(part.start)
        if part.start == 8 and len(calls) < 4:
            raise RuntimeError
        return {"x": np.arange(part.start, part.stop) ** 2}

    def work(run):
        return [state["x"] for _, state in run.pieces("squares", 10, 8, square)]

    with pytest.raises(RuntimeError), kept(Events()) as place:
        work(Run(store=Store(place)))
    with kept(Events()) as place:
        assert np.concatenate(work(Run(store=Store(place)))).tolist() == [i * i for i in range(10)]
    assert calls == [0, 4, 8, 8]
    assert len(work(Run())) == 1


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_run_that_goes_on_fills_only_the_pieces_that_are_missing(kept, monkeypatch, n_jobs):
    monkeypatch.setattr(module, "PIECE_BYTES", 4 * 8)

    def work(*, cut):
        """Squares of ten numbers in pieces of four, the rows that were worked on, and how far it said to be."""
        squares, rows, told = np.zeros(10), [], []

        def fill(block):
            if cut and block.start >= 4:
                raise RuntimeError
            rows.extend(range(block.start, block.stop))
            squares[block] = np.arange(block.start, block.stop) ** 2

        def take(piece, state):
            squares[piece] = state["squares"]

        with kept(Events()) as place:
            Run(workers=Workers(n_jobs), store=Store(place)).fill(
                fill,
                10,
                give=lambda piece: {"squares": squares[piece].copy()},
                take=take,
                name="squares",
                width=8,
                block_rows=2,
                done=told.append,
            )
        return squares, sorted(rows), told

    with pytest.raises(RuntimeError):
        work(cut=True)
    squares, rows, told = work(cut=False)
    assert squares.tolist() == [i * i for i in range(10)]
    assert rows in ([4, 5, 6, 7, 8, 9], list(range(10)))
    if n_jobs == 1:
        assert rows[0] == 4
        assert sorted(set(told)) == [6, 8, 10]


def test_rows_on_threads_and_their_progress():
    heard = []
    run = Run(Events(heard.append), Workers(2))
    assert run.n_jobs == 2
    assert sum(run.map(lambda part: part.stop - part.start, 1000, block_rows=100)) == 1000
    run.fill(lambda part: None, 10, name="x", width=8, block_rows=2, give=dict, take=lambda *_: None)
    assert heard[-1].data == {"done": 10, "total": 10}
    silent = run.silent()
    silent.progress(1, 2)
    assert heard[-1].data == {"done": 10, "total": 10}
    assert silent.streams is run.streams
    assert run.anew().streams is not run.streams


def test_a_plan_is_made_for_arrays_that_come_again():
    shared, made = Shared(), []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    first, other = np.arange(3), np.arange(4)
    assert shared.plan("sum", (first,), make) is None
    assert shared.plan("sum", (first.copy(),), make) == 0
    assert shared.plan("sum", (first,), make) == 0
    assert shared.plan("sum", (other,), make) is None
    assert shared.plan("sum", (first, other), make) is None
    assert shared.plan("another", (first, other), make) is None
    assert made == [0]


def test_a_plan_is_made_at_once_where_it_is_known_to_be_wanted_again():
    shared, made = Shared(is_repeated=True), []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    first, other = np.arange(3), np.arange(4)
    assert [shared.plan("sum", (given,), make) for given in (first, first.copy(), other)] == [0, 0, 1]
