"""``verbose`` goes through `logging`, and sets nothing of it up."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import lowdim
from lowdim.core.events import Events, LogLines
from lowdim.errors import DataWarning, InputError

X = np.random.default_rng(0).random((30, 4))


def state() -> list[object]:
    loggers = [logging.getLogger(), logging.getLogger("lowdim")]
    return [(logger.level, list(logger.handlers), logger.propagate, logger.disabled) for logger in loggers]


@pytest.mark.parametrize("verbose", [True, 1, np.int64(1), 2])
def test_stages_and_choices_are_logged(verbose: object, caplog: pytest.LogCaptureFixture) -> None:
    before = state()
    lowdim.Isomap(verbose=verbose, n_neighbors=8).fit(X)
    assert {record.name for record in caplog.records} == {"lowdim"}
    assert any(line.startswith("neighbours: ") for line in caplog.messages)
    assert all(record.seconds >= 0 for record in caplog.records)
    assert state() == before


@pytest.mark.parametrize("verbose", [False, 0])
def test_silence_is_the_default(verbose: object, caplog: pytest.LogCaptureFixture) -> None:
    lowdim.PCA(verbose=verbose).fit(X)
    lowdim.sweep(lowdim.PCA(), {"n_components": [1, 2]}, X, np.arange(30) % 3, verbose=verbose)
    assert caplog.records == []


def test_a_sweep_takes_true_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    lowdim.sweep(lowdim.PCA(), {"n_components": [1, 2]}, X, np.arange(30) % 3, verbose=True)
    assert any("n_components=2" in line for line in caplog.messages)


@pytest.mark.parametrize("verbose", [-1, 1.5, "loud", None])
def test_what_verbose_cannot_be(verbose: object) -> None:
    with pytest.raises(InputError, match="verbose of PCA must be True or False, or a whole number >= 0"):
        lowdim.PCA(verbose=verbose).fit(X)
    with pytest.raises(InputError, match="verbose of sweep must be True or False, or a whole number >= 0"):
        lowdim.sweep(lowdim.PCA(), {"n_components": [1]}, X, verbose=verbose)


def emit(verbose: int) -> None:
    events = Events(LogLines(verbose))
    with events.stage("solve"):
        events.chosen("solver", "dense", "small")
        events.progress(1, 2)
        with pytest.warns(DataWarning):
            events.warned("look out", DataWarning)


def test_levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    emit(2)
    levels = {record.message.partition(" (")[0]: record.levelname for record in caplog.records}
    assert levels.pop("solve: done 1, total 2") == "DEBUG"
    assert levels.pop("solve: solver: dense") == "INFO"
    assert levels.pop("solve: look out") == "WARNING"
    assert set(levels.values()) == {"INFO"}


def test_the_level_of_the_logger_counts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "lowdim"):
        emit(2)
    assert caplog.messages == ["solve: look out"]


def test_without_handlers_lines_go_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    before = state()
    emit(1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("s] ")[2].partition(":")[0] for line in lines] == ["solve"] * 3
    assert lines[0].startswith("[lowdim ")
    assert state() == before


def test_what_is_outside_of_all_stages_has_no_name_before_it(caplog: pytest.LogCaptureFixture) -> None:
    Events(LogLines(1)).chosen("repulsion", "exact", "quickest")
    assert caplog.messages == ["repulsion: exact (quickest)"]
