"""How far to believe each point of what is shown: `lowdim.trust`, measured beside the session's own thread.

It takes seconds where there are many rows, and sliders are not to wait for it. So a thread of its own measures, one
picture at a time, and the session's thread tells the page what it has found.
"""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..reliability import Trust, trust
from .quality import metric_of
from .worker import FAILURES

if TYPE_CHECKING:
    from .session import Session
    from .states import State

MOST_POINTS = 5_000
"""Points that are looked at, each against all others."""
PREFIX = "trust: "
"""Begins the names of its columns: the data may have some of the same name."""
NOT_LOOKED_AT = "not looked at"


class Trusting:
    """The measuring of one session: nothing, or one picture at a time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_busy = False

    def measure(self) -> None:
        """Measure the picture that came to rest last; where one is being measured, that is done after it."""
        if self._is_busy:
            return
        state = self._latest()
        self._is_busy = True
        Thread(target=self._work, args=(state,), name="lowdim explorer's trust", daemon=True).start()

    def take(self, number: int, found: Trust | str) -> Trust | None:
        """What was found of a state, if that is still the one to speak of; else the newer one is measured."""
        self._is_busy = False
        if number != self._latest().number:
            self.measure()
            return None
        if isinstance(found, str):
            raise InputError(found)
        return found

    def _latest(self) -> State:
        judged = self._session.faithfulness
        if judged is None:
            raise InputError("No picture has come to rest yet: trust is that of one that has.")
        return self._session.strip.find(judged[0])

    def _work(self, state: State) -> None:
        found: Trust | str
        try:
            found = measured(self._session, state)
        except FAILURES as error:
            found = str(error) or type(error).__name__
        self._session.ask("trusted", {"state": state.number, "found": found})


def measured(session: Session, state: State) -> Trust:
    """Trust of a state: with its model, where the picture is that model's own."""
    coordinates = np.asarray(state.coordinates, dtype=np.float64)
    model = session.model
    is_own = model is not None and np.array_equal(np.asarray(model.embedding_), coordinates)
    return trust(
        session.source.X,
        coordinates,
        model if is_own else None,
        metric=metric_of(state.setting),
        sample=min(MOST_POINTS, session.source.n_rows),
    )


def values_of(found: Trust, name: str) -> tuple[NDArray[Any], bool]:
    """A column for the page, and whether it is a quantity; what has no end is shown as the largest that has one."""
    values = found[name]
    if name == "verdict":
        return np.where(values == "", NOT_LOOKED_AT, values).astype(str), False
    finite = values[np.isfinite(values)]
    return np.where(np.isinf(values), finite.max(initial=0.0), values), True
