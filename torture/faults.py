"""Disk full, no permission, I/O error: the Nth call of every kind fails, for every N, over everything that is written.

A job is a function that writes to a path. Add one to `torture._jobs`, and it is in. So are runs that keep a checkpoint,
in `torture._checkpoints`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from lowdim.errors import FileError

from ._injection import ERRORS, SHIM, Injector, compile_shim

MOST = 20_000
"""Calls of a kind that a job may make: more would be a writer that never gives up."""
PREVIOUS = b"the file that was there before"


@dataclass(frozen=True)
class Job:
    """Something that writes a file, replacing what is there.

    ``is_whole(path)`` is for files that differ from run to run: whether one is all there.
    """

    name: str
    file: str
    write: Callable[[Path], Any]
    is_whole: Callable[[Path], bool] | None = None

    def trial(self, injector: Injector, folder: Path) -> Trial:
        """The job in a folder."""
        return _JobTrial(self, injector, folder)


class Task(Protocol):
    """What can be tormented."""

    def trial(self, injector: Injector, folder: Path) -> Trial:
        """The task in a folder."""


@dataclass(frozen=True)
class Fault:
    """A kind of call, the error that it fails with, and whether once or for good."""

    kind: str
    error: str
    mode: str

    @property
    def is_passing(self) -> bool:
        """Whether the call is only to be tried again."""
        return "short" in self.mode or self.error == "EINTR"

    def __str__(self) -> str:
        return f"{self.kind} {self.error if 'short' not in self.mode else ''} {self.mode}"


@dataclass
class Tally:
    """What was tried, and which promises were broken."""

    runs: int = 0
    places: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def faults(injector: Injector, *, quick: bool) -> Iterator[Fault]:
    """Every fault; ``quick``: one error for each kind of call."""
    usual = {"open": "EACCES", "sync": "EIO", "rename": "EPERM", "chmod": "EPERM", "unlink": "EACCES"}
    for kind in injector.kinds:
        errors = [usual.get(kind, "ENOSPC")] if quick else [name for name in ERRORS if name != "EINTR"]
        for error in errors:
            yield Fault(kind, error, "once")
            yield Fault(kind, error, "for good")
    for kind in ("open", "write", "sync") if injector.is_below_python else ():
        yield Fault(kind, "EINTR", "once")
    yield Fault("write", "EIO", "short once")
    yield Fault("write", "EIO", "short for good")


def torment(
    task: Task, injector: Injector, *, quick: bool = True, kill: bool = False, step: int = 1
) -> Tally:
    """Fail every call of a task in turn; the promises that it broke are in the tally.

    Parameters
    ----------
    task
        What writes.
    injector
        What fails calls.
    quick
        One error for each kind of call, not all.
    kill
        Also kill the process (a copy of it) at every call.
    step
        Fail one call of so many only, other ones for each fault.
    """
    # In memory where that is possible: a real disk would take its time for every flush.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name).resolve()
        injector.watch(folder)
        trial = task.trial(injector, folder)
        cases = product(faults(injector, quick=quick), trial.befores)
        for number, (fault, before) in enumerate(cases):
            trial.every_place(fault, before, range(number % step, MOST, step))
        if kill:
            for kind in injector.kinds:
                trial.every_place(Fault(kind, "EIO", "kill"), trial.befores[0], range(MOST))
        injector.watch(Path("/nowhere"))
        return trial.tally


class Trial(ABC):
    """One task in one folder, and what is known of its undisturbed runs."""

    befores: tuple[str, ...]
    """What may be in the folder when the task begins."""

    def __init__(self, name: str, injector: Injector, folder: Path) -> None:
        self.name, self.injector, self.folder = name, injector, folder
        self.tally = Tally()

    def every_place(self, fault: Fault, before: str, places: range) -> None:
        """Fail call 0, 1, 2, ... until a run has no more of them."""
        for place in places:
            self.set(before)
            calls, error = self._disturbed(fault, place)
            if calls <= place:
                self.tally.places[str(fault)] = place
                return
            self.tally.runs += 1
            problem = self.judged(fault, before, error, is_last=place == calls - 1)
            if problem:
                self.tally.broken.append(f"{self.name}: call {place} ({fault}, {before} there): {problem}")
        self.tally.broken.append(f"{self.name}: {fault}: never gives up")

    @abstractmethod
    def set(self, before: str) -> None:
        """Bring the folder into one of the states before."""

    @abstractmethod
    def work(self) -> None:
        """Do the task."""

    @abstractmethod
    def judged(self, fault: Fault, before: str, error: BaseException | None, *, is_last: bool) -> str:
        """What is wrong after a disturbed run; empty where every promise was kept."""

    def _disturbed(self, fault: Fault, place: int) -> tuple[int, BaseException | None]:
        if fault.mode == "kill":
            return self._killed(fault, place), None
        self.injector.arm(fault.kind, place, ERRORS[fault.error], fault.mode)
        error: BaseException | None = None
        try:
            self.work()
        except BaseException as caught:  # noqa: BLE001 - which one it is will be judged
            error = caught
        return self.injector.disarm(), error

    def _killed(self, fault: Fault, place: int) -> int:
        """The same in a copy of this process, which ends at that call: more calls than ``place`` if it did."""
        child = os.fork()
        if not child:
            self.injector.arm(fault.kind, place, 0, "kill")
            try:
                self.work()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return place + 1 if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else place


class _JobTrial(Trial):
    """One job, and the file that an undisturbed run writes."""

    befores = ("a file", "no file")

    def __init__(self, job: Job, injector: Injector, folder: Path) -> None:
        super().__init__(job.name, injector, folder)
        self.job = job
        self.target = folder / job.file
        self.whole = self._undisturbed()
        if job.is_whole is None and self._undisturbed() != self.whole:
            self.tally.broken.append(f"{job.name}: two runs write two different files")

    def set(self, before: str) -> None:
        """An empty folder, or one with a file of that name."""
        for entry in self.folder.iterdir():
            entry.unlink()
        if before == "a file":
            self.target.write_bytes(PREVIOUS)

    def work(self) -> None:
        """Write the file."""
        self.job.write(self.target)

    def _undisturbed(self) -> bytes:
        self.set("no file")
        self.work()
        return self.target.read_bytes()

    def judged(self, fault: Fault, before: str, error: BaseException | None, *, is_last: bool) -> str:
        """What is wrong after a run; empty where every promise was kept."""
        found = self.target.read_bytes() if self.target.exists() else None
        previous = PREVIOUS if before == "a file" else None
        is_new = found is not None and found != PREVIOUS and self._is_whole(found)
        if not is_new and found != previous:
            return f"a partial file of {len(found or b'')} bytes is in the place of the whole one ({error!r})"
        left = [entry.name for entry in self.folder.iterdir() if entry != self.target]
        if left and fault.kind != "unlink" and fault.mode != "kill":
            return f"left {left}"
        if fault.mode == "kill":
            return self._next_run()
        if error is None and not is_new:
            return "no error, and no file"
        if error is not None and not isinstance(error, FileError):
            return f"{type(error).__name__} in the place of a FileError: {error}"
        if error is not None and self.job.file not in str(error):
            return f"the message does not name the file: {error}"
        if error is not None and is_new and "in its place" not in str(error):
            return f"failed, but the file was replaced: {error}"
        if error is not None and fault.is_passing:
            return f"what should only be tried again failed: {error}"
        return self._next_run()

    def _is_whole(self, found: bytes) -> bool:
        return found == self.whole if self.job.is_whole is None else self.job.is_whole(self.target)

    def _next_run(self) -> str:
        self.work()
        return "" if self._is_whole(self.target.read_bytes()) else "the next run writes something else"


def run(amount: int | None = None, seed: int = 0) -> int:
    """All jobs under the shim; ``amount`` takes so many of them only."""
    del seed
    with tempfile.TemporaryDirectory() as folder:
        library = compile_shim(Path(folder))
        if library is None:
            print("skipped: a C compiler on Linux is needed to come between libraries and the disk")
            return 0
        limit = [] if amount is None else ["--amount", str(amount)]
        return preloaded(library, [*limit, "--all"]).returncode


def preloaded(library: Path, arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `torture._faulted` in a process with the shim."""
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        SHIM: str(library),
        "SOURCE_DATE_EPOCH": "0",
        "MPLBACKEND": "agg",
    }
    return subprocess.run(
        [sys.executable, "-m", "torture._faulted", *arguments],
        env=environment,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        **options,
    )
