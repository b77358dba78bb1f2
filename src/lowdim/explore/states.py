"""The states that a session keeps: pictures with the settings that they came from and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats
from .protocol import THUMBNAIL, Frame
from .settings import Setting

MOST_STATES = 40
THUMBNAIL_POINTS = 2_000
"""Points of the small picture of a state."""


@dataclass(frozen=True, slots=True)
class State:
    """A picture that came to rest.

    ``settled``: it is what a fit makes from the standard start, and ``coordinates`` are the fit's own; ``shown`` are
    the same turned onto the picture before.
    """

    number: int
    setting: Setting
    coordinates: Floats
    shown: NDArray[np.floating]
    settled: bool
    iteration: int = 0
    recall: float | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For the page."""
        return {
            "state": self.number,
            "method": self.setting.method,
            "parameters": dict(self.setting.parameters),
            "settled": self.settled,
            "iteration": self.iteration,
            "recall": self.recall,
            "components": int(self.coordinates.shape[1]),
        }

    def thumbnail(self) -> Frame:
        """Every so many points, for a small picture."""
        step = max(1, len(self.shown) // THUMBNAIL_POINTS)
        return Frame(self.shown[::step, :2], self.number, kind=THUMBNAIL)


@dataclass(slots=True)
class Strip:
    """The states in the order in which they came; the oldest that are not settled go first."""

    states: list[State] = field(default_factory=list)
    _next: int = 1

    def add(
        self, setting: Setting, coordinates: Floats, shown: Floats, *, settled: bool, iteration: int
    ) -> State:
        """Keep a state, in half the bytes where it is only shown."""
        kept: Any = coordinates if settled else coordinates.astype(np.float32)
        state = State(self._next, setting, kept, np.asarray(shown, dtype=np.float32), settled, iteration)
        self._next += 1
        self.states.append(state)
        if len(self.states) > MOST_STATES:
            old = next((each for each in self.states[:-1] if not each.settled), self.states[0])
            self.states.remove(old)
        return state

    def judge(self, state: State, recall: float) -> None:
        """Note the recall of a state, where it is still kept."""
        places = [place for place, each in enumerate(self.states) if each.number == state.number]
        for place in places:
            self.states[place] = replace(state, recall=recall)

    def find(self, number: int) -> State:
        """A state by its number; a LookupError where it is gone."""
        for state in self.states:
            if state.number == number:
                return state
        raise LookupError(number)
