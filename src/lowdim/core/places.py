"""Places where states of a run are kept, for one that goes on where it was cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

State = Mapping[str, Any]
"""What is kept: arrays, sparse matrices, numbers, texts, lists and tables of these, and records of model files."""


class Place:
    """A place for one state, with places inside it. This one keeps nothing; that of a checkpoint does.

    A place that has its final state no longer needs what the places inside it hold.
    """

    is_active: bool = False
    name: str = ""

    def inside(self, name: str, key: object = "") -> Place:
        """The place of a part of the work: the same whenever a run comes to the same part again."""
        return self

    def find(self) -> State | None:
        """What a run before this one left here."""
        return None

    def save_progress(self, state: Callable[[], State], *, now: bool = False) -> None:
        """A state on the way: it is written from time to time, or ``now``."""

    def save_result(
        self, state: Callable[[], State], *, size: int | None = None, seconds: float = float("inf")
    ) -> None:
        """The final state, which took some ``seconds`` to make: one that is made sooner than written is not taken.

        One whose ``size`` in bytes is said is large: it is taken at once if that costs little, or never.
        """

    def mark_unfinished(self) -> None:
        """Say that the run ends before its time, so that the next one goes on."""
