"""Hands out inputs to child processes, and notes what ended or held them up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .child import WIDTH, input_of
from .targets import TARGETS

PATIENCE = 20.0
"""Seconds of a processor that one input may take."""
ASLEEP = 120.0
"""Seconds by the clock, for an input that waits and does nothing; on a busy machine the others wait too."""
START = 300.0
"""Seconds in which a child must have begun: the first time, kernels are compiled."""
ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What came of a run: how many inputs were read, and what was found by (target, number)."""

    inputs: int = 0
    finds: dict[tuple[str, int], str] = field(default_factory=dict)
    chatter: str = ""


def drive(amounts: Mapping[str, int], seed: int, *, first: int = 0) -> Outcome:
    """Feed each target so many inputs, in one child after the other where one dies."""
    outcome = Outcome(sum(amounts.values()))
    left = [(name, first, first + amount) for name, amount in amounts.items()]
    with tempfile.TemporaryDirectory() as folder:
        while left:
            name, number, ended = _run(Path(folder), seed, left, outcome)
            if ended is None:
                break
            outcome.finds[name, number] = ended
            names = [part[0] for part in left]
            _, _, stop = left[names.index(name)]
            left = [(name, number + 1, stop), *left[names.index(name) + 1 :]]
            left = [part for part in left if part[1] < part[2]]
    return outcome


def _run(
    folder: Path, seed: int, left: list[tuple[str, int, int]], outcome: Outcome
) -> tuple[str, int, str | None]:
    """One child until it is done, dies or stands still; where it was then, and what ended it."""
    command = [
        sys.executable,
        "-m",
        "torture.fuzzing.child",
        str(folder),
        str(seed),
        *(f"{n}:{a}:{b}" for n, a, b in left),
    ]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = os.environ | one | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        (folder / "place").unlink(missing_ok=True)
        child = subprocess.Popen(command, stdout=out, stderr=err, cwd=ROOT, env=environment)
        stuck = _wait(child, folder / "place")
        out.seek(0)
        err.seek(0)
        for line in out:
            name, number, found = json.loads(line)
            outcome.finds[name, number] = found
        told = err.read()
    place = _place(folder / "place").split()
    if place == ["done"]:
        outcome.chatter += told
        return "", 0, None
    if len(place) != 2:
        raise RuntimeError(f"a child did not begin: {told[-2000:]}")
    what = (
        f"no answer within {PATIENCE:.0f} s"
        if stuck
        else f"the process ended with {_cause(child.returncode)}"
    )
    return place[0], int(place[1]), f"{what}: {_summary(told)}"


def _wait(child: subprocess.Popen[bytes], place: Path) -> bool:
    """Whether the child had to be ended because it stood still."""
    last, waited, worked = "", 0.0, 0.0
    while True:
        begun = time.monotonic()
        try:
            child.wait(0.25)
            return False
        except subprocess.TimeoutExpired:
            pass
        now = _place(place)
        # Where this process was stopped too, the time does not count.
        waited = waited + min(time.monotonic() - begun, 1.0) if now == last else 0.0
        worked = worked if now == last else _worked(child.pid)
        last = now
        if waited > (ASLEEP if " " in now else START) or (
            " " in now and _worked(child.pid) - worked > PATIENCE
        ):
            child.send_signal(signal.SIGABRT)  # faulthandler writes where it stands
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            return True


def _worked(pid: int) -> float:
    """Seconds of a processor that a process has had so far."""
    try:
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def _place(path: Path) -> str:
    try:
        return path.read_bytes()[:WIDTH].decode("ascii", "replace").strip("\0 ")
    except OSError:
        return ""


def _cause(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _summary(told: str) -> str:
    """The lines of a traceback that say most."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    files = [line for line in lines if line.startswith("File")]
    return " | ".join([*lines[:2], *files[:6], *lines[-1:]])[:1500]


def keep(outcome: Outcome, seed: int, folder: Path) -> None:
    """Save the inputs of finds, to be looked at."""
    folder.mkdir(parents=True, exist_ok=True)
    for (name, number), found in outcome.finds.items():
        data, options = input_of(name, seed, number)
        stem = f"{name}-{seed}-{number}"
        (folder / f"{stem}{TARGETS[name].suffix}.input").write_bytes(data)
        (folder / f"{stem}.txt").write_text(
            f"{found}\noptions: {options!r}\n", encoding="utf-8", errors="backslashreplace"
        )


def shared_out(amount: int) -> dict[str, int]:
    """At least so many inputs, to every target its share."""
    whole = sum(target.share for target in TARGETS.values())
    return {name: -(-amount * target.share // whole) for name, target in TARGETS.items()}
