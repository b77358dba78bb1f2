"""What a page is told first: the methods with their controls, what is explored and shown, and the states there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .answers import has_h5ad
from .catalogue import METHODS, class_of
from .controls import controls_of, limited
from .protocol import CONTENT, Block
from .settings import Setting
from .speed import marks

if TYPE_CHECKING:
    from .session import Session

MOST_NAMES = 20_000
"""Features that are named, for the search; others can be asked for by their exact name."""


def say_hello(session: Session) -> None:
    """The greeting, the points and columns, the states that are kept, and why there is nothing new."""
    session.outbox.say("hello", **hello(session))
    say_content(session)
    for state in session.strip.states:
        session.outbox.put_state(state)
    session.outbox.note("badge", text=session.badge, generation=session.generation)
    if session.failure:  # before this page came: nobody has read why there is no picture
        session.outbox.say("failed", generation=session.generation, message=session.failure)


def say_content(session: Session) -> None:
    """The points that are shown, with their columns."""
    shown, n_rows = session.shown, session.source.n_rows
    points = np.zeros((n_rows, 2)) if shown is None else np.asarray(shown, dtype=np.float64)
    content = session.source.content(points).packed(None)
    session.outbox.put(Block(CONTENT, content.encode("ascii"), session.generation))


def hello(session: Session) -> dict[str, Any]:
    """The greeting."""
    source, setting = session.source, session.setting
    n_rows = source.n_rows
    scale = session.quality.neighbour_distance()
    return {
        "title": source.title,
        "rows": n_rows,
        "all": source.n_all,
        "features": len(source.features),
        "methods": {name: (class_of(name).__doc__ or name).split("\n")[0] for name in METHODS},
        "controls": {
            name: [each.as_dict() for each in limited(controls_of(name), n_rows, scale)] for name in METHODS
        },
        "speed": marks(setting, session.rows.shape),
        "setting": {"method": setting.method, "parameters": dict(setting.parameters)},
        "usual": {name: dict(Setting.usual(name, n_rows).parameters) for name in METHODS},
        "generation": session.generation,
        "badge": session.badge,
        "axes": None if session.axes is None else list(session.axes),
        "columns": list(source.columns),
        "names": list(source.features[:MOST_NAMES]),
        "command": source.command is not None,
        "h5ad": has_h5ad(source),
        "paused": session.is_paused,
    }
