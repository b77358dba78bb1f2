"""What several fits on the same rows can share: neighbours searched once at the largest k, landmark weights once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from ..places import Place

Value = TypeVar("Value")


@dataclass(slots=True)
class Shared:
    """Results kept by what they were made from. A fit of its own has an empty one; a sweep hands one to all its fits.

    ``widest`` is the largest number of neighbours that any of the fits will ask for: they are searched for at once.
    ``keeper`` is where the fits together keep what is long in the making, for a run that goes on after this one.
    """

    widest: int = 0
    kept: dict[Hashable, object] = field(default_factory=dict)
    keeper: Place = field(default_factory=Place)

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What was made under this key, made now if it was not."""
        if key not in self.kept:
            self.kept[key] = make()
        return cast(Value, self.kept[key])

    def latest(self, name: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """What was made last under this name, if for the same key: for what is too large to keep for every key."""
        held = self.kept.get(name)
        if not isinstance(held, tuple) or held[0] != key:
            held = (key, make())
            self.kept[name] = held
        return cast(Value, held[1])
