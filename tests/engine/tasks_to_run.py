"""Tasks for the tests of the engine, in a module that other processes can import."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lowdim.errors import InputError
from lowdim.store.tasks import TaskStore


def called(number: int) -> None:
    """What a test of one process puts in its place is called by the numbers that are to call."""


@dataclass(frozen=True)
class Square:
    """Leaves the square of its number; some numbers fail, or kill their process, the first so many times."""

    name: str = "square"
    calling: tuple[int, ...] = ()
    failing: tuple[int, ...] = ()
    killing: tuple[int, ...] = ()
    refusing: tuple[int, ...] = ()
    times: int = 1

    def __call__(self, store: TaskStore, number: int) -> None:
        if number in self.calling:
            called(number)
        if number in self.refusing:
            raise InputError("X must be otherwise.")
        if number in (*self.failing, *self.killing):
            marks = Path(store.root) / "marks"
            marks.mkdir(exist_ok=True)
            if len(list(marks.glob(f"{number}-*"))) < self.times:
                (marks / f"{number}-{len(list(marks.iterdir()))}").touch()
                if number in self.killing:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise RuntimeError("no luck")
        store.put(self.name, number, {"value": np.array(number**2)})
