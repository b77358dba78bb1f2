"""Ctrl-C and SIGTERM in the program, and runs that go on from a checkpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import lowdim
import lowdim.cli
import lowdim.core.parallel
from lowdim.cli.terminal.signals import ENDING, STOPPING, heeding
from lowdim.store import budget

SOURCE = Path(lowdim.__file__).parents[1]
LOWDIM = [sys.executable, "-m", "lowdim"]


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(budget, "PACE", budget.Pace(share=float("inf"), interval=0.0, worth=0.0))


def started(words, program=LOWDIM):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    }
    return subprocess.Popen([*program, *words], stderr=subprocess.PIPE, text=True, env=environment)


def test_sigterm_leaves_the_best_so_far_and_a_checkpoint_to_go_on_from(folder):
    np.save("many.npy", np.random.default_rng(0).normal(size=(400, 5)))
    words = ["embed", "many.npy", "--max-iter", "1000", "-o", "out.npy", "-vv"]
    with started([*words, "--checkpoint", "kept"]) as process:
        for line in process.stderr:
            if "iteration 20:" in line:
                break
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait() == 130
    assert STOPPING in rest
    assert "Interrupted: the best result so far" in rest
    assert rest.endswith("The same command goes on from the checkpoint.\n")
    assert np.load("out.npy").shape == (400, 2)
    model = lowdim.TSNE(max_iter=1000, checkpoint="kept")
    iterations = []
    model.callback = lambda event: (
        iterations.append(event.data["iteration"]) if "embedding" in event.data else None
    )
    model.fit(np.load("many.npy"))
    assert iterations[0] >= 20, "the same run, begun by the program, goes on"
    assert iterations[-1] == 1000


def test_an_interrupt_where_nothing_is_written_says_how_to_go_on(lowdim_command, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(lowdim.PCA, "fit", interrupted)
    answer = lowdim_command("embed points.npy -m pca -o out.npy --checkpoint kept")
    assert answer.code == 130
    assert answer.err.endswith("nothing was written. The same command goes on from the checkpoint.\n")
    answer = lowdim_command("embed points.npy -m pca -o out.npy")
    assert answer.err.endswith("interrupted: nothing was written.\n")


def test_a_sweep_takes_the_checkpoint_for_itself(lowdim_command, folder, eager):
    line = "sweep points.npy -m isomap --grid n_neighbors=5,8 -o table.csv --checkpoint kept"
    assert lowdim_command(line).code == 0
    assert len(list((folder / "kept").glob("fit-*.state"))) == 2
    assert lowdim_command(f"{line} --force").code == 0
    answer = lowdim_command("embed points.npy -m isomap -o out.npy --checkpoint points.csv")
    assert answer.code == 1
    assert "a checkpoint is a folder" in answer.err


def test_help_shows_the_folder(lowdim_command):
    for command in ("embed", "sweep"):
        assert "--checkpoint FOLDER" in lowdim_command(f"{command} --help").out


@pytest.mark.usefixtures("heard")
def test_signals_are_acknowledged_while_the_main_thread_is_busy_and_all_is_as_before():
    numbers = (*ENDING, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    told = []

    def work(number):
        with heeding(told.append):
            signal.raise_signal(number)
            pytest.fail("nobody was interrupted")

    for number in numbers:
        with pytest.raises(KeyboardInterrupt):
            work(number)
    assert told == [STOPPING] * len(numbers)
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_a_handler_of_somebody_else_and_other_signals_stay():
    called, told = [], []
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
    before = [signal.signal(number, lambda number, _: called.append(number)) for number in numbers]
    try:
        with heeding(told.append):
            for number in numbers:
                os.kill(os.getpid(), number)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    assert sorted(called) == sorted(numbers)
    assert told == []


def test_beside_the_main_thread_nothing_is_done():
    seen = []

    def work():
        with heeding(seen.append):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_a_long_call_of_a_library(folder):
    # A dense eigenproblem that would take ten minutes.
    np.save("many.npy", np.random.default_rng(0).normal(size=(60, 5)))
    program = (
        "import sys, threading, lowdim.core.lapack, lowdim.core.parallel\n"
        "def long(name, *arguments):\n"
        "    print(name, file=sys.stderr, flush=True)\n"
        "    threading.Event().wait(600)\n"
        "lowdim.core.lapack._call, lowdim.core.parallel.LARGE = long, 0.0\n"
        "words = 'embed many.npy -m laplacian-eigenmaps --solver dense -o out.npy --checkpoint kept'\n"
        "sys.argv = ['lowdim', *words.split()]\n"
        "from lowdim.cli import main\n"
        "sys.exit(main())\n"
    )
    with started(["-c", program], [sys.executable]) as process:
        for line in process.stderr:
            if line.startswith("dsyevr"):
                break
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait() == 130
    assert STOPPING in rest
    assert rest.endswith("nothing was written. The same command goes on from the checkpoint.\n")


@pytest.mark.parametrize("has_left", [False, True])
def test_a_call_that_was_left_does_not_keep_the_process(folder, monkeypatch, capsys, has_left):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    ended = []
    monkeypatch.setattr(lowdim.PCA, "fit", interrupted)
    monkeypatch.setattr(lowdim.core.parallel, "has_left", lambda: has_left)
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(sys, "argv", ["lowdim", "embed", "points.npy", "-m", "pca", "-o", "out.npy"])
    assert lowdim.cli.main() == 130
    assert ended == ([130] if has_left else [])
    assert "nothing was written" in capsys.readouterr().err
