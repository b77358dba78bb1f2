"""What a source keeps between two reads, and never hands on to another process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any


class Held:
    """The last few things that were opened or unpacked, for reads that go on where the last one ended.

    A pickle of it is empty: another process opens what it needs itself.

    Parameters
    ----------
    most
        How many are kept.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._things: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is kept under a key, else what ``make`` returns; one thread makes it while others wait."""
        with self._lock:
            if key not in self._things:
                # Room is made first: two row groups at once need not fit where one does.
                while len(self._things) >= self._most:
                    self._things.popitem(last=False)
                self._things[key] = make()
            self._things.move_to_end(key)
            return self._things[key]

    def __reduce__(self) -> Any:
        return Held, (self._most,)
