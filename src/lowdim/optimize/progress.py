"""Where an optimisation stands between two iterations: a value, and all that the rest of it depends on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..core.places import State
from ..core.records import Floats
from .outcome import History, Outcome, Reason, Row
from .protocol import Standing, kept

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Log(Generic[Entry]):
    """Entries that are only ever added: a value, though the list is shared with the logs before it."""

    entries: list[Entry] = field(default_factory=list)
    count: int = 0

    def plus(self, entry: Entry) -> Log[Entry]:
        """The log with one more entry."""
        entries = self.entries if len(self.entries) == self.count else self.entries[: self.count]
        entries.append(entry)
        return Log(entries, self.count + 1)

    def all(self) -> list[Entry]:
        """The entries."""
        return self.entries[: self.count]


class Known(NamedTuple):
    """An X at which E is known."""

    iteration: int
    X: Floats
    value: float
    norm: float
    extent: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an optimisation stands.

    Parameters
    ----------
    phase
        Which phase of the schedule.
    state
        State of the optimiser.
    memory
        What of the evaluations so far the last digits of the next one depend on: ``state`` of the objective.
    iteration, evaluations, recoveries
        Counts of this phase.
    seconds, began
        Seconds since the start of the first phase, now and when this phase began.
    best
        The lowest E of this phase.
    recent
        Iteration, E and extent of X over the window in which convergence is judged.
    rows
        History of this phase.
    frames
        Iteration and X of all phases, where they are recorded.
    passed
        What became of the phases before.
    reason
        Why this phase ended; None while it goes on.
    """

    phase: int
    state: Standing
    memory: State
    iteration: int = 0
    evaluations: int = 0
    recoveries: int = 0
    seconds: float = 0.0
    began: float = 0.0
    best: Known | None = None
    recent: tuple[tuple[int, float, float], ...] = ()
    rows: Log[Row] = field(default_factory=Log)
    frames: Log[tuple[int, Floats]] = field(default_factory=Log)
    passed: tuple[Outcome, ...] = ()
    reason: Reason | None = None

    @property
    def spent(self) -> int:
        """Iterations of the phases before."""
        return sum(outcome.iterations for outcome in self.passed)

    def pack(self) -> State:
        """As arrays, numbers and texts by name."""
        named = {part.name: getattr(self, part.name) for part in fields(self)}
        return named | {
            "state": kept(self.state),
            "best": None if self.best is None else tuple(self.best),
            "rows": np.array(self.rows.all(), np.float64).reshape(-1, 5),
            "frames": self.frames.all(),
            "passed": [_packed(outcome) for outcome in self.passed],
        }

    @classmethod
    def unpack(cls, found: State, state: Standing) -> Progress:
        """From what `pack` gave, and the state of the optimiser."""
        rows: list[Row] = [(int(i), s, value, int(e), lam) for i, s, value, e, lam in found["rows"].tolist()]
        changed: dict[str, Any] = {
            "state": state,
            "best": None if found["best"] is None else Known(*found["best"]),
            "rows": Log(rows, len(rows)),
            "frames": Log(found["frames"], len(found["frames"])),
            "passed": tuple(_unpacked(outcome) for outcome in found["passed"]),
        }
        return cls(**{**found, **changed})


def _packed(outcome: Outcome) -> dict[str, Any]:
    """The outcome of one phase; it holds no others and no frames of its own."""
    named = {part.name: getattr(outcome, part.name) for part in fields(outcome)}
    return named | {"history": {part.name: getattr(outcome.history, part.name) for part in fields(History)}}


def _unpacked(found: State) -> Outcome:
    named: dict[str, Any] = {**found, "history": History(**found["history"])}
    return Outcome(**named)
