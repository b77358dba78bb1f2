"""What goes over the wire: small messages in JSON up, messages and frames of positions or values down.

A frame is a header of 32 bytes and an array. Two frames may be under way without an answer; of those that would come
after them only the newest is kept, so that a slow reader sees fewer frames and never old ones.
"""

from __future__ import annotations

import json
import struct
from collections import deque
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

LARGEST_MESSAGE = 1 << 16
"""Bytes of a message from a page, at most."""
CREDIT = 2
"""Frames of positions that may be under way."""
MOST_WAITING = 512
"""Messages that may wait for a reader; one that is slower than that is gone."""
HEADER = struct.Struct("<BBHIIIfffI")
"""Kind, pane, unused, generation, sequence, number, centre x and y, half width, iteration."""
POSITIONS, THUMBNAIL, COLUMN, CONTENT, FILE = 1, 2, 3, 4, 5
STEPS = 32767

KINDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "set": {"generation": int, "method": str, "parameters": dict},
    "settle": {"generation": int},
    "ack": {"sequence": int},
    "pause": {},
    "resume": {},
    "stop": {},
    "axes": {"x": int, "y": int, "z": (int, type(None))},
    "column": {"name": str},
    "distances": {"row": int},
    "trust": {},
    "neighbours": {"row": int},
    "selection": {"mask": str},
    "restore": {"state": int, "pane": int},
    "export": {"what": str},
    "place": {},
}
"""Messages from a page, with the types of what they hold."""


class ProtocolError(InputError):
    """A message that no page of ours sends."""


def parse(text: Any) -> dict[str, Any]:
    """A message from a page, checked for its form; what its values mean is for the session to judge."""
    if not isinstance(text, str) or len(text.encode(errors="replace")) > LARGEST_MESSAGE:
        raise ProtocolError(f"A message is a text of at most {LARGEST_MESSAGE} bytes.")
    try:
        message = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("A message is JSON.") from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise ProtocolError("A message is a table with its kind.")
    fields = KINDS.get(message["kind"])
    if fields is None or set(message) - {"kind"} != set(fields):
        raise ProtocolError("A message is one of " + ", ".join(KINDS) + ", with its own fields.")
    for name, kind in fields.items():
        value = message[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ProtocolError(f"{name} of a message is of another type.")
        if isinstance(value, int) and not 0 <= value < 2**31:
            raise ProtocolError(f"{name} of a message is out of bounds.")
    return message


def _refuse(constant: str) -> None:
    raise ValueError(constant)


@dataclass(frozen=True, slots=True)
class Frame:
    """Positions of all points at one time; packed when it is sent."""

    points: NDArray[np.floating]
    generation: int
    iteration: int = 0
    pane: int = 0
    kind: int = POSITIONS

    def packed(self, sequence: int) -> bytes:
        """Header, and x and y, or x, y and z, in 16 bits each within the frame's own bounds."""
        points = np.asarray(self.points, dtype=np.float64)
        # Column by column: along the short rows it takes ten times as long as all the rest.
        low = np.array([column.min(initial=np.inf) for column in points.T])
        high = np.array([column.max(initial=-np.inf) for column in points.T])
        centre, half = (low + high) / 2, float(max((high - low).max() / 2, 1e-300))
        steps = (points - centre) * (STEPS / half)
        np.rint(steps, out=steps)
        if not np.isfinite(half):
            steps = np.nan_to_num(steps)
        steps = steps.astype("<i2")
        place = (float(centre[0]), float(centre[1]), half)
        return header(self, sequence, len(points), place) + bytes(steps.data)


def header(
    frame: Any, sequence: int, number: int, place: tuple[float, float, float] = (0.0, 0.0, 1.0)
) -> bytes:
    """The header of a frame."""
    return HEADER.pack(
        frame.kind, frame.pane, 0, frame.generation, sequence, number, *place, min(frame.iteration, 2**32 - 1)
    )


@dataclass(frozen=True, slots=True)
class Block:
    """An array, or bytes, that is sent whole: a column's values, or the content of the page."""

    kind: int
    data: bytes
    generation: int = 0
    pane: int = 0
    iteration: int = 0

    def packed(self, sequence: int) -> bytes:
        """Header and bytes."""
        return header(self, sequence, len(self.data)) + self.data

    @classmethod
    def of_values(cls, values: NDArray[Any], request: int) -> Block:
        """The values of a column; their type is told in the message before."""
        ordered = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        return cls(COLUMN, ordered.tobytes(), request)


@dataclass(slots=True)
class Outbox:
    """What waits to be sent to one page: messages in order, of frames the newest of each pane.

    It is closed until a page comes, and from when it goes; what is said meanwhile nobody hears.
    """

    _messages: deque[str | Block] = field(default_factory=deque)
    _notes: dict[str, str] = field(default_factory=dict)
    _frames: dict[int, Frame] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)
    _sequence: int = 0
    _under_way: deque[int] = field(default_factory=deque)
    _closed: bool = True
    dropped: int = 0

    def say(self, kind: str, **content: Any) -> None:
        """A message."""
        self.put(json.dumps({"kind": kind} | content, allow_nan=False))

    def put(self, message: str | Block) -> None:
        """A message or a block, after those that wait."""
        with self._changed:
            if len(self._messages) >= MOST_WAITING:
                self._closed = True
            if not self._closed:
                self._messages.append(message)
            self._changed.notify_all()

    def note(self, kind: str, **content: Any) -> None:
        """A message of which only the newest counts: it takes the place of one of its kind that still waits."""
        with self._changed:
            if not self._closed:
                self._notes[kind] = json.dumps({"kind": kind} | content, allow_nan=False)
            self._changed.notify_all()

    def forget(self, *kinds: str) -> None:
        """Drop notes that still wait: what they tell of is over."""
        with self._changed:
            for kind in kinds:
                self._notes.pop(kind, None)

    def put_state(self, state: Any) -> None:
        """A state of the film-strip, and its small picture."""
        self.say("state", **state.as_dict())
        thumbnail = state.thumbnail()
        self.put(Block(THUMBNAIL, thumbnail.packed(0)[HEADER.size :], state.number))

    def show(self, frame: Frame) -> None:
        """A frame, in the place of an older one of its pane."""
        with self._changed:
            self.dropped += frame.pane in self._frames
            if not self._closed:
                self._frames[frame.pane] = frame
            self._changed.notify_all()

    def acknowledge(self, sequence: int) -> None:
        """A page has drawn a frame, and with it all before."""
        with self._changed:
            while self._under_way and self._under_way[0] <= sequence:
                self._under_way.popleft()
            self._changed.notify_all()

    def close(self) -> None:
        """No more is wanted."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def open(self) -> None:
        """A page has come; what waited for another is forgotten."""
        with self._changed:
            self._messages.clear()
            self._notes.clear()
            self._frames.clear()
            self._under_way.clear()
            self._closed = False

    def next(self, timeout: float | None = None) -> str | bytes | None:
        """What to send next, as soon as there is something; None: it is closed, or the time is over."""
        with self._changed:
            self._changed.wait_for(self._has_next, timeout)
            if self._closed or not self._has_next():
                self._messages.clear()
                return None
            self._sequence += 1
            if self._messages:
                message = self._messages.popleft()
                return message if isinstance(message, str) else message.packed(self._sequence)
            if self._notes:
                return self._notes.pop(next(iter(self._notes)))
            pane = min(self._frames)
            frame = self._frames.pop(pane)
            self._under_way.append(self._sequence)
            sequence = self._sequence
        return frame.packed(sequence)

    def _has_next(self) -> bool:
        return bool(
            self._closed or self._messages or self._notes or (self._frames and len(self._under_way) < CREDIT)
        )
