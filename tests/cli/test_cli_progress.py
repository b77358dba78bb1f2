"""Bars, lines and the time left."""

from __future__ import annotations

import argparse
import io
from types import SimpleNamespace

import pytest

from lowdim.cli.session import Session
from lowdim.cli.terminal.console import Console
from lowdim.cli.terminal.progress import Bars, Lines, counted, time_left
from lowdim.core.events import Event, Events
from lowdim.errors import InterruptedWarning


def console():
    from rich.console import Console

    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_bars_follow_the_stages():
    bars = Bars(console())
    events = Events(bars)
    tasks = bars._progress.tasks
    with events.stage("outer"):
        with events.stage("inner"):
            events.progress(3, 10)
            assert [task.description for task in bars._progress.tasks] == ["outer", "  inner"]
            assert (bars._progress.tasks[1].completed, bars._progress.tasks[1].total) == (3, 10)
        events.emit("iteration", iteration=7, value=1.5, total=20)
        assert bars._progress.tasks[0].fields["note"] == "objective 1.5"
        events.emit("iteration", iteration=8, value=None)
        assert bars._progress.tasks[0].completed == 8
        events.chosen("a", "b", "c")
    assert bars._progress.tasks == []
    assert tasks == []
    bars.stop()


def test_bars_are_taken_away_whatever_is_open():
    bars = Bars(console())
    bars(Event("started", "read"))
    bars.stop()
    assert bars._progress.tasks == []
    for kind in ("finished", "progress", "iteration"):
        bars(Event(kind, "read", data={"took": 1.0, "done": 1, "total": 2, "iteration": 1}))
    assert bars._progress.tasks == []


def task(**fields):
    known = {"elapsed": 0.0, "total": None, "completed": 0, "fields": {}}
    return SimpleNamespace(**(known | fields))


@pytest.mark.parametrize(
    ("shown", "left", "count"),
    [
        (task(elapsed=10.0, total=100, completed=20), "40 s left", "20 %"),
        (task(elapsed=100.0, total=100, completed=10), "15:00 left", "10 %"),
        (task(elapsed=1000.0, total=100, completed=10), "02:30:00 left", "10 %"),
        (task(elapsed=3.0, fields={"expected": 20.0}), "about 17 s left", ""),
        (task(elapsed=30.0, fields={"expected": 20.0}), "30 s", ""),
        (task(elapsed=0.5, fields={"expected": 1.0}), "0 s", ""),
        (task(elapsed=None, completed=1500), "0 s", "1,500"),
    ],
)
def test_time_left(shown, left, count):
    assert time_left(shown) == left
    assert counted(shown) == count


def test_planned_seconds_are_for_stages_that_cannot_say():
    screen = console()
    bars = Bars(screen)
    bars.expect({"solve": 30.0})
    bars(Event("started", "solve"))
    bars._progress.refresh()
    bars.stop()
    assert "about 30 s left" in screen.file.getvalue()


def test_lines(capsys, monkeypatch):
    events = Events(Lines(everything=True))
    with events.stage("solve"):
        events.progress(1, 4)
        events.emit("iteration", "iteration 3: E 2", iteration=3)
        events.chosen("a", "b", "c")
    err = capsys.readouterr().err
    assert err.startswith("  solve ...\n  solve: done 1, total 4\n  solve: iteration 3: E 2\n  solve: 0.")
    plain = Lines(everything=False)
    plain(Event("progress", "solve", data={"done": 1, "total": 4}))
    plain.stop()
    plain.expect({})
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr", None)
    plain(Event("finished", "solve", data={"took": 1.0}))


def session(verbose=0, quiet=False):
    return Session(argparse.Namespace(verbose=verbose, quiet=quiet), ["embed", "my data.csv"])


def test_a_session_notices_interruptions():
    own = session(quiet=True)
    own.listen(Event("warned", "optimise", data={"category": "ConvergenceWarning"}))
    assert not own.interrupted
    own.listen(Event("warned", "optimise", data={"category": InterruptedWarning.__name__}))
    assert own.interrupted
    assert own.command == "lowdim embed 'my data.csv'"


def test_a_session_shows_plans_where_it_shows_anything(monkeypatch):
    plan = SimpleNamespace(stages=[SimpleNamespace(name="solve", seconds=9.0)])
    session().expect(plan)
    session(verbose=1).expect(plan)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    own = session()
    own.expect(plan)
    assert own._shown._expected == {"solve": 9.0}
    own.quieten()


def test_a_voice_says_a_warning_once(capsys):
    voice = Console()
    voice.warn("careful")
    voice.warn("careful")
    assert capsys.readouterr().err == "Warning: careful\n"
