"""What stages have done, kept for a run that goes on where this one was cut.

`once` wraps a stage, `pieces` and `map_pieces` stages that go over rows, and a loop asks the place inside its stage
itself (see `lowdim.places.Place`). A run that goes on takes the same way through the code as the one before: what it
finds kept it takes over, with the choices and warnings of that time and the random numbers used up, and does the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

import numpy as np

from . import errors
from .events import Event, Events
from .parallel import map_blocks, row_blocks, shifted
from .places import Place, State

Value = TypeVar("Value")
PIECE_BYTES = 1 << 26
"""Bytes of a piece: so many that a file for it costs little, so few that not much is lost with it."""


def once(
    events: Events,
    name: str,
    make: Callable[[], Value],
    *,
    keeper: Place | None = None,
    key: object = "",
    rng: np.random.Generator | None = None,
    kind: type[Value] | None = None,
    is_whole: Callable[[Value], bool] = lambda value: True,
    is_choice: bool = False,
) -> Value:
    """What ``make`` returns, or what it returned in a run before this one.

    Parameters
    ----------
    events
        Choices and warnings go through it: they are kept too, and told again.
    name
        Name of the stage.
    make
        Does the work. What it keeps itself on the way is of no more use once it is done.
    keeper
        Where to keep it; None: where the stream is.
    key
        What it is made from, where the name alone does not say.
    rng
        Random numbers that ``make`` uses up.
    kind
        Class of what it returns where that is a record; its fields are kept.
    is_whole
        Whether what came out is to be kept; what was cut short is not.
    is_choice
        Whether it might come out otherwise another time, so that it is kept however soon it was made.
    """
    keeper = events.keeper if keeper is None else keeper
    if not keeper.is_active:
        return make()
    place = keeper.inside(name, key)
    found = place.find()
    if found is not None:
        if found["by"] == events.keeper.name:
            # What several fits share is told by the one that made it.
            for note in found["heard"]:
                _tell(events, note)
        if rng is not None:
            rng.bit_generator.state = found["random"]
        return kind(**found["value"]) if kind is not None else found["value"]
    heard: list[Event] = []
    began = time.perf_counter()
    before = events.keeper, events.listeners
    events.keeper, events.listeners = place, (*events.listeners, heard.append)
    try:
        value = make()
    finally:
        events.keeper, events.listeners = before
        took = time.perf_counter() - began
    if is_whole(value):
        state = {
            "value": _plain(value, kind),
            "heard": [[e.kind, e.message, dict(e.data)] for e in heard if _is_to_tell(e)],
            "random": None if rng is None else rng.bit_generator.state,
            "by": events.keeper.name,
        }
        place.save_result(lambda: state, seconds=float("inf") if is_choice else took)
    return value


def _is_to_tell(event: Event) -> bool:
    """Whether an event says something of the result: what became of a checkpoint is no matter for a later run."""
    return event.kind == "chosen" or (
        event.kind == "warned" and event.data["category"] != errors.CheckpointWarning.__name__
    )


def _plain(value: Any, kind: type | None) -> Any:
    return value if kind is None else {part.name: getattr(value, part.name) for part in fields(value)}


def _tell(events: Events, note: list[Any]) -> None:
    kind, message, data = note
    if kind == "chosen":
        events.chosen(**data)
    else:
        events.warned(message, getattr(errors, data["category"]))


def pieces(
    events: Events, name: str, n_rows: int, width: int, make: Callable[[slice], State]
) -> Iterator[tuple[slice, State]]:
    """The work over rows a piece at a time, those left out that a run before this one did; all at once unless kept.

    Parameters
    ----------
    events
        Its keeper has the pieces.
    name
        Name of the stage.
    n_rows
        Rows to cover.
    width
        Bytes of what is made for a row.
    make
        Makes a piece.
    """
    keeper = events.keeper
    each = max(1, PIECE_BYTES // max(1, width)) if keeper.is_active else max(1, n_rows)
    for part in row_blocks(n_rows, each):
        place = keeper.inside(name, part.start)
        found = place.find()
        if found is None:
            found = made = make(part)
            place.save_result(lambda made=made: made, size=width * (part.stop - part.start))  # type: ignore[misc]
        yield part, found


def map_pieces(
    function: Callable[[slice], None],
    n_rows: int,
    *,
    give: Callable[[slice], State],
    take: Callable[[slice, State], None],
    name: str,
    width: int,
    block_rows: int,
    n_jobs: int | None,
    keeper: Place,
    done: Callable[[int], None],
) -> None:
    """Call ``function`` on every row block in parallel; what it fills is kept a piece at a time.

    A piece is kept as soon as its blocks are done, while other threads are at work on the next: none waits for another.

    Parameters
    ----------
    function
        Fills the rows of a block; no two of them share any.
    n_rows
        Rows to cover.
    give, take
        The state of a piece that is filled, and the filling of a piece from a state.
    name
        Name of the stage.
    width
        Bytes of what is filled for a row.
    block_rows
        Rows in a block.
    n_jobs
        Threads, as in the estimators.
    keeper
        Has the pieces.
    done
        Called in the calling thread with the number of rows finished so far.
    """
    blocks: list[slice] = []
    waiting: list[tuple[Place, slice, slice]] = []
    for piece in row_blocks(n_rows, max(1, PIECE_BYTES // max(1, width))):
        place = keeper.inside(name, piece.start)
        found = place.find()
        if found is not None:
            take(piece, found)
            continue
        first = len(blocks)
        blocks += (shifted(block, piece.start) for block in row_blocks(piece.stop - piece.start, block_rows))
        waiting.insert(0, (place, piece, slice(first, len(blocks))))
    is_done = np.zeros(len(blocks), bool)
    missing = sum(block.stop - block.start for block in blocks)

    def work(which: slice) -> None:
        function(blocks[which.start])
        is_done[which.start] = True

    def keep(count: int) -> None:
        done(n_rows - missing * (len(blocks) - count) // max(1, len(blocks)))
        while waiting and is_done[waiting[-1][2]].all():
            place, piece, _ = waiting.pop()
            place.save_result(partial(give, piece), size=width * (piece.stop - piece.start))

    map_blocks(work, len(blocks), n_jobs=n_jobs, block_rows=1, done=keep)
