"""What the fits of a sweep have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .places import Place

Value = TypeVar("Value")
Arrays = tuple[NDArray[Any], ...]


@dataclass(slots=True)
class Shared:
    """Results that fits on the same rows share: for each stage what it was made from, and what came out.

    ``widest`` is the largest number of neighbours that any of the fits will ask for: they are searched for at once.
    ``place`` is where the fits together keep what is long in the making. ``is_repeated`` says that several of them will
    come with the same neighbours. ``plans`` holds, for each kind of work, the
    arrays that it was last done on and, where that was more than once, what `plan` made of them.
    """

    widest: int = 0
    results: dict[Hashable, tuple[Hashable, Any]] = field(default_factory=dict)
    place: Place = field(default_factory=Place)
    is_repeated: bool = False
    plans: dict[str, tuple[Arrays, Any]] = field(default_factory=dict)

    def plan(self, name: str, given: Arrays, make: Callable[[], Value]) -> Value | None:
        """What ``make`` returns for these arrays; None at the first time that one of the fits comes with them.

        For what pays only where it is used again, as where each entry of a sum comes from: a fit alone, and a sweep
        in which no two points have the same arrays, never make it. Where it is known that they will come again it is
        made at once. Arrays are compared by what they hold.
        """
        held = self.plans.get(name)
        is_new = held is None or not _are_same(held[0], given)
        if is_new and not self.is_repeated:
            self.plans[name] = (given, None)
            return None
        if held is None or is_new or held[1] is None:
            held = self.plans[name] = (given, make())
        return cast(Value, held[1])


def _are_same(first: Arrays, second: Arrays) -> bool:
    """Whether arrays hold the same, pair by pair."""
    return len(first) == len(second) and all(
        one is other or np.array_equal(one, other) for one, other in zip(first, second, strict=True)
    )
