"""What every stage of a fit needs, as one value: events, workers, random numbers, and where results are kept.

A stage is a function that takes what it works on and ``run``. It is run by `Run.stage`, which tells of it, times it,
takes its result from a fit that shares it or from a run that was cut, and keeps it for those. The stage itself knows
nothing of this: a loop that can go on in its midst hands its state to `Run.iterate`, and one that goes over rows
hands them to `Run.fill` or `Run.pieces`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from .. import errors
from ..errors import LowdimWarning
from .events import Event, Events, Listener
from .parallel import map_blocks, row_blocks, shifted
from .places import Place, State
from .shared import Shared
from .streams import Streams

Value = TypeVar("Value")
Progress = TypeVar("Progress")
PIECE_BYTES = 1 << 26
"""Bytes of a piece: so many that a file for it costs little, so few that not much is lost with it."""


@dataclass(frozen=True, slots=True)
class Workers:
    """What the work runs on: threads, as ``n_jobs`` of the estimators, and the bytes that it may hold.

    No result depends on the number of threads. A ``memory_limit`` of None is what the machine has free.
    """

    n_jobs: int | None = None
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Where results are kept: ``place`` for a run that goes on after this one, ``shared`` for the fits beside it."""

    place: Place = field(default_factory=Place)
    shared: Shared = field(default_factory=Shared)


@dataclass(frozen=True, slots=True)
class Run:
    """What a stage is given: whom it tells, on what it works, what it draws, and where its results are kept.

    Parameters
    ----------
    events
        Told of stages, choices, warnings and progress.
    workers
        Threads, and the bytes that they may hold.
    streams
        Random numbers by the kind of stage.
    store
        What is kept.
    """

    events: Events = field(default_factory=Events)
    workers: Workers = field(default_factory=Workers)
    streams: Streams = field(default_factory=Streams)
    store: Store = field(default_factory=Store)

    @classmethod
    def of(cls, random_state: Any = 0, n_jobs: int | None = None) -> Run:
        """A run that tells nobody and keeps nothing."""
        return cls(workers=Workers(n_jobs), streams=Streams(random_state))

    @property
    def n_jobs(self) -> int | None:
        """Threads."""
        return self.workers.n_jobs

    def anew(self) -> Run:
        """The same workers and the same random numbers from their beginning; it tells nobody and keeps nothing."""
        return Run(workers=self.workers, streams=self.streams.anew())

    def random(self, stream: str) -> np.random.Generator:
        """Random numbers for a kind of stage: one of `STREAMS`."""
        return self.streams[stream]

    def chosen(self, what: str, choice: str, why: str) -> None:
        """Record a decision that was left to ``auto``."""
        self.events.chosen(what, choice, why)

    def warned(self, message: str, category: type[LowdimWarning]) -> None:
        """Warn the user."""
        self.events.warned(message, category)

    def progress(self, done: int, total: int) -> None:
        """Say how much of the stage is done."""
        self.events.progress(done, total)

    def unshared(self) -> Run:
        """The same run for other points than those that its fits share results of."""
        return replace(self, store=replace(self.store, shared=Shared()))

    def heard_by(self, *listeners: Listener) -> Run:
        """The same run, with more listeners to what it tells."""
        return replace(self, events=self.events.heard_by(*listeners))

    def silent(self) -> Run:
        """The same workers and random numbers for work inside a stage that is told of and kept by that stage alone."""
        return Run(Events(), self.workers, self.streams)

    def stage(
        self,
        name: str,
        function: Callable[..., Value],
        *arguments: Any,
        key: Hashable = None,
        latest: bool = False,
        kept: type | None = None,
        is_whole: Callable[[Value], bool] = lambda value: True,
    ) -> Value:
        """Run a stage: ``function(*arguments, run=...)``, or take what it returned before.

        Parameters
        ----------
        name
            Name of the stage, in events, reports and checkpoints.
        function
            The stage.
        arguments
            What it works on.
        key
            What decides the result, where fits on the same rows share it. None: it is this fit's alone.
        latest
            Share the result of the last key only: it is too large to be held for every one.
        kept
            Class of a result that a run after this one may take over: a record of arrays and numbers, which is kept by
            its fields, or an array, number, text, tuple, list or table. None: it is made again, from what is kept
            inside the stage.
        is_whole
            Whether what came out is to be kept; what was cut short is not.
        """
        call = partial(function, *arguments)
        with self.events.stage(name):
            if key is None:
                return self._kept(self.store.place, name, "", call, kept, is_whole)
            shared = self.store.shared
            slot: Hashable = (name,) if latest else (name, key)
            held = shared.results.get(slot)
            if held is None or held[0] != key:
                value = self._kept(shared.place, name, key, call, kept, is_whole)
                held = shared.results[slot] = (key, value)
            return cast(Value, held[1])

    def choice(self, name: str, make: Callable[[], Value], *, key: Hashable = None) -> Value:
        """What ``make`` returns, or what it returned in the run that this one goes on from.

        For what might come out otherwise another time, as what depends on the memory that is free: it is kept however
        soon it was made. With a ``key`` it is kept for all fits that share.
        """
        where = self.store.place if key is None else self.store.shared.place

        def call(run: Run) -> Value:
            return make()

        return self._kept(where, name, "" if key is None else key, call, object, seconds=float("inf"))

    def _kept(
        self,
        where: Place,
        name: str,
        key: object,
        call: Callable[..., Value],
        kept: type | None,
        is_whole: Callable[[Value], bool] = lambda value: True,
        seconds: float | None = None,
    ) -> Value:
        """What a call returns, or what it returned in a run before this one, told and drawn as then."""
        if not where.is_active:
            return call(run=self)
        place = where.inside(name, key)
        # Inside of what fits share their places are the same: their seeds tell them apart.
        by = f"{self.store.place.name} seed {self.streams.seed}"
        found = None if kept is None else place.find()
        if found is not None:
            if found["by"] == by:
                # What several fits share is told by the one that made it, and drawn from its streams.
                for note in found["heard"]:
                    self._tell(note)
                self.streams.restore(found["random"])
            return cast(Value, _again(found["value"], kept))
        heard: list[Event] = []
        began = time.perf_counter()
        inner = replace(self.heard_by(heard.append), store=replace(self.store, place=place))
        value = call(run=inner)
        if kept is not None and is_whole(value):
            state = {
                "value": _plain(value),
                "heard": [[e.kind, e.message, dict(e.data)] for e in heard if _is_to_tell(e)],
                "random": self.streams.state(),
                "by": by,
            }
            took = time.perf_counter() - began if seconds is None else seconds
            place.save_result(lambda: state, seconds=took)
        return value

    def _tell(self, note: list[Any]) -> None:
        kind, message, data = note
        if kind == "chosen":
            self.chosen(**data)
        else:
            self.warned(message, getattr(errors, data["category"]))

    def iterate(
        self,
        name: str,
        start: Callable[[], Progress],
        step: Callable[[Progress], Progress],
        done: Callable[[Progress], bool],
        *,
        key: object = "",
        pack: Callable[[Progress], State] | None = None,
        unpack: Callable[[State], Progress] | None = None,
        in_place: bool = True,
    ) -> Progress:
        """Step from state to state until it is done; a run that goes on takes up the last state that was kept.

        Parameters
        ----------
        name, key
            Which loop of the stage.
        start
            The first state.
        step
            The next state.
        done
            Whether a state is the last.
        pack, unpack
            A state as arrays, numbers and texts by name, and the state of these; None: it is that itself.
        in_place
            Whether a step changes the arrays of the state before. Where it leaves that as it is, states are values: an
            interrupt, or a listener that stops the work, keeps the last one before it goes on to the caller, the run
            counts as unfinished, and so is the last state of all kept.
        """
        place = self.store.place.inside(name, key)
        found = place.find()
        if found is None:
            state = start()
        else:
            state = cast(Progress, found) if unpack is None else unpack(found)

        def packed(state: Progress) -> State:
            return cast(State, state) if pack is None else pack(state)

        began = time.perf_counter()
        try:
            while not done(state):
                state = step(state)
                place.save_progress(partial(packed, state))
        except (KeyboardInterrupt, errors.Stop):
            if not in_place:
                place.mark_unfinished()
                place.save_progress(partial(packed, state), now=True)
            raise
        if not in_place:
            place.save_result(partial(packed, state), seconds=time.perf_counter() - began)
        return state

    def map(
        self,
        function: Callable[[slice], Value],
        n_rows: int,
        *,
        block_rows: int | None = None,
        done: Callable[[int], None] | None = None,
    ) -> list[Value]:
        """Call ``function`` on every row block, in parallel: see `lowdim.core.parallel.map_blocks`."""
        return map_blocks(function, n_rows, n_jobs=self.n_jobs, block_rows=block_rows, done=done)

    def fill(
        self,
        function: Callable[[slice], None],
        n_rows: int,
        *,
        name: str,
        width: int,
        block_rows: int,
        give: Callable[[slice], State],
        take: Callable[[slice, State], None],
        done: Callable[[int], None] | None = None,
    ) -> None:
        """Call ``function`` on every row block in parallel; what it fills is kept a piece at a time.

        A piece is kept as soon as its blocks are done, while other threads are at work on the next: none waits for
        another.

        Parameters
        ----------
        function
            Fills the rows of a block; no two of them share any.
        n_rows
            Rows to cover.
        name
            Which rows of the stage.
        width
            Bytes of what is filled for a row.
        block_rows
            Rows in a block.
        give, take
            The state of a piece that is filled, and the filling of a piece from a state.
        done
            Called in the calling thread with the number of rows finished so far; None: it is told as progress.
        """
        tell = (lambda count: self.progress(count, n_rows)) if done is None else done
        blocks: list[slice] = []
        waiting: list[tuple[Place, slice, slice]] = []
        for piece in row_blocks(n_rows, max(1, PIECE_BYTES // max(1, width))):
            place = self.store.place.inside(name, piece.start)
            found = place.find()
            if found is not None:
                take(piece, found)
                continue
            first = len(blocks)
            blocks += (
                shifted(block, piece.start) for block in row_blocks(piece.stop - piece.start, block_rows)
            )
            waiting.insert(0, (place, piece, slice(first, len(blocks))))
        is_done = np.zeros(len(blocks), bool)
        missing = sum(block.stop - block.start for block in blocks)

        def work(which: slice) -> None:
            function(blocks[which.start])
            is_done[which.start] = True

        def keep(count: int) -> None:
            tell(n_rows - missing * (len(blocks) - count) // max(1, len(blocks)))
            while waiting and is_done[waiting[-1][2]].all():
                place, piece, _ = waiting.pop()
                place.save_result(partial(give, piece), size=width * (piece.stop - piece.start))

        map_blocks(work, len(blocks), n_jobs=self.n_jobs, block_rows=1, done=keep)

    def pieces(
        self, name: str, n_rows: int, width: int, make: Callable[[slice], State]
    ) -> Iterator[tuple[slice, State]]:
        """The work over rows a piece at a time, those left out that a run before this one did.

        Parameters
        ----------
        name
            Which rows of the stage.
        n_rows
            Rows to cover.
        width
            Bytes of what is made for a row.
        make
            Makes a piece.
        """
        where = self.store.place
        each = max(1, PIECE_BYTES // max(1, width)) if where.is_active else max(1, n_rows)
        for part in row_blocks(n_rows, each):
            place = where.inside(name, part.start)
            found = place.find()
            if found is None:
                found = made = make(part)
                place.save_result(lambda made=made: made, size=width * (part.stop - part.start))  # type: ignore[misc]
            yield part, found


def _is_to_tell(event: Event) -> bool:
    """Whether an event says something of the result: what became of a checkpoint is no matter for a later run."""
    return event.kind == "chosen" or (
        event.kind == "warned" and event.data["category"] != errors.CheckpointWarning.__name__
    )


def _plain(value: Any) -> Any:
    """A record by its fields; anything else as it is."""
    return {part.name: getattr(value, part.name) for part in fields(value)} if is_dataclass(value) else value


def _again(value: Any, kept: type | None) -> Any:
    """The record of fields that were kept; anything else as it is."""
    return kept(**value) if kept is not None and is_dataclass(kept) else value
