"""Runs killed by SIGKILL at random moments, and at chosen ones within a write, go on to the same bits.

``--amount`` is the number of kills. Each run is killed a few times and resumed after each. What it leaves in the end is
compared with what a run leaves that keeps no checkpoint and is never killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from . import _runs

USUAL = 200
MOST_KILLS = 4
"""Kills of one run, at most."""
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A disk in memory, where there is one: a kill loses nothing that was written, whatever the disk."""
LIMIT = 120.0
"""Seconds after which a run that was to end is a failure."""


class Broken(Exception):
    """A promise was not kept."""


def run(amount: int | None = None, seed: int = 0) -> int:
    """Kill so many runs; 0 where every one came to its result."""
    wanted = USUAL if amount is None else amount
    rng = np.random.default_rng(seed)
    references = {name: _reference(name) for name in _runs.RUNS}
    names, kills, stories, broken = list(_runs.RUNS), 0, 0, []
    while kills < wanted:
        name = names[stories % len(names)]
        stories += 1
        with tempfile.TemporaryDirectory(dir=QUICK) as folder:
            most = min(MOST_KILLS, wanted - kills)
            try:
                kills += _story(name, references[name], Path(folder), most, rng)
            except Broken as error:
                broken.append(f"{name}: {error}")
                kills += 1
    for line in broken:
        print(line)
    print(f"{kills} kills in {stories} runs, {len(broken)} broken")
    return 1 if broken else 0


def _reference(name: str) -> tuple[Any, float]:
    """The result of a run that is left alone, and about how long one takes that keeps a checkpoint.

    It runs in this process: all of lowdim that it needs is then loaded, once for all runs to come.
    """
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        wanted = _runs.work(name, None)
        began = time.perf_counter()
        _compare(wanted, _result(Path(folder), name, Path(folder) / "kept"), "never killed")
        return wanted, time.perf_counter() - began


def _story(name: str, reference: tuple[Any, float], folder: Path, most: int, rng: np.random.Generator) -> int:
    """One run, killed up to so many times and resumed after each; the number of times that it was."""
    wanted, seconds = reference
    kills = 0
    for _ in range(int(rng.integers(1, most + 1))):
        if rng.random() < 0.5:
            point = str(rng.choice(list(_runs.POINTS))) + ("" if rng.random() < 0.5 else " done")
            child = _start(folder, name, folder / "kept", point, int(rng.integers(1, 25)))
            killed = _await(child) == -signal.SIGKILL
        else:
            child = _start(folder, name, folder / "kept")
            time.sleep(float(rng.uniform(0, seconds)))
            killed = _kill(child)
        if not killed:
            break
        kills += 1
    _compare(wanted, _result(folder, name, folder / "kept"), f"killed {kills} times")
    _compare(wanted, _result(folder, name, folder / "kept"), "run again when it was finished")
    return kills


def _compare(wanted: Any, found: Any, when: str) -> None:
    if different := _runs.difference(wanted, found):
        raise Broken(f"{when}: {different}")


def _result(folder: Path, name: str, checkpoint: Path | None) -> Any:
    """The result of a run that comes to its end."""
    (folder / "result").unlink(missing_ok=True)
    if _await(_start(folder, name, checkpoint)) != 0:
        raise Broken((folder / "error").read_text() if (folder / "error").exists() else "the process died")
    return pickle.loads((folder / "result").read_bytes())


def _start(folder: Path, name: str, checkpoint: Path | None, point: str = "", count: int = 0) -> int:
    """Fork a run: lowdim is loaded, and no thread of it is left running."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        result = _runs.work(name, checkpoint, point, count)
        (folder / "result").write_bytes(pickle.dumps(result))
        code = 0
    except BaseException as error:  # noqa: BLE001 - told by the parent
        (folder / "error").write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _await(child: int) -> int:
    """The exit code of a run, or minus the signal that ended it."""
    ends = time.monotonic() + LIMIT
    while time.monotonic() < ends:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise Broken(f"no end after {LIMIT:.0f} s")


def _kill(child: int) -> bool:
    """Kill a run; whether it was still at work."""
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
