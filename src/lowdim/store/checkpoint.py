"""A checkpoint: a folder with a file for every state that a run has kept, and a manifest that says of which run.

Every file is in the envelope of model files, with digests over every byte, and appears whole or not at all. The
manifest is written before any work, so that a disk that takes nothing is found out then. A place inside the work (see
`lowdim.core.places.Place`) has a file that is named after the way to it; the files of the places inside it go when it
has its final state.
"""

from __future__ import annotations

import glob
import json
import os
import platform
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..core.atomic import writing
from ..core.events import Events
from ..core.places import Place, State
from ..core.run import Run
from ..errors import CheckpointError, CheckpointWarning, FileError, FormatError
from .arrays import Broken
from .budget import PATIENCE, Budget
from .container import open_container, write_container
from .encoding import Decoder, Encoder
from .identity import Identity, text
from .lock import NAME as LOCK
from .lock import locked

FORMAT = 1
"""Number of the format that is written. A checkpoint of a greater number is refused."""
KIND = "lowdim-checkpoint"
MANIFEST = "manifest"
SUFFIX = ".state"
LEFT_OVER = ".*.part-*"
"""Names under which `writing` writes: a run that was killed may leave one."""
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn")
SMALL = 1 << 24
"""Bytes up to which a state that must wait is copied, so that nobody can change it."""
ANEW = "Name another folder, or remove this one to begin anew."


@contextmanager
def keeping(
    path: str | os.PathLike[str] | None, identity: Callable[[], Identity], events: Events
) -> Generator[Place]:
    """The place of a run in a folder, where it keeps what it does and finds what was kept; without one nothing is kept.

    Where the folder holds a finished run of another kind, it is replaced; an unfinished one is never touched.

    Parameters
    ----------
    path
        The folder; it is made if it is missing. None: nothing is kept.
    identity
        Says which run it is.
    events
        The stream.

    Raises
    ------
    CheckpointError
        The folder holds something else, an unfinished run of another kind, or is in use.
    FileError
        It cannot be made or written to, or its disk is full: found out before the work.
    """
    if path is None:
        yield Place()
        return
    folder = _opened(path)
    with locked(folder):
        checkpoint = Checkpoint(folder, identity(), events)
        try:
            yield CheckpointPlace(checkpoint, "")
        except KeyboardInterrupt:
            checkpoint.flush(now=True)
            raise
        checkpoint.finish()


def _opened(path: str | os.PathLike[str]) -> Path:
    """The folder, made if it is missing, and known to hold nothing but a checkpoint."""
    with _opening(path):
        folder = Path(path)
        folder.mkdir(exist_ok=True)
        names = {entry.name for entry in folder.iterdir()}
    foreign = sorted(name for name in names if name != LOCK and not Path(name).match(LEFT_OVER))
    if foreign and MANIFEST + SUFFIX not in names:
        raise CheckpointError(
            f"{path}: is a folder with other things in it ({foreign[0]}), not a checkpoint. Name a new folder."
        )
    return folder


@contextmanager
def _opening(path: str | os.PathLike[str]) -> Generator[None]:
    """What fails before the work names the folder."""
    try:
        yield
    except CheckpointError:
        raise
    except FileExistsError as error:
        raise CheckpointError(
            f"{path}: a checkpoint is a folder, and this is a file. Name another."
        ) from error
    except (OSError, ValueError) as error:  # a name with a null character
        reason = getattr(error, "strerror", None) or error
        advice = "" if isinstance(error, FileError) else ". Name another folder."
        failure = FileError(f"{path}: a checkpoint cannot be kept there: {reason}{advice}")
        failure.errno = getattr(error, "errno", None)
        raise failure from error


class Checkpoint:
    """An open checkpoint.

    Parameters
    ----------
    folder
        Where it is.
    identity
        The run that it belongs to.
    events
        Told of what cannot be read or written.
    """

    def __init__(self, folder: Path, identity: Identity, events: Events) -> None:
        self.folder = folder
        self.budget = Budget()
        self.is_cut = False
        self._events = events
        self._visits: dict[str, int] = {}
        self._waiting: dict[str, _Packed] = {}
        self._has_failed = False
        self._manifest: dict[str, Any] = {
            "texts": identity.texts() | {"lowdim": __version__},
            "libraries": libraries() | {"machine": platform.machine()},
            "finished": False,
        }
        with _opening(folder):
            self._clear(LEFT_OVER)
            self._begin()

    def visit(self, stem: str) -> str:
        """The name of a place; one that is come to again has another each time."""
        count = self._visits[stem] = self._visits.get(stem, 0) + 1
        return stem if count == 1 else f"{stem}~{count}"

    def read(self, stem: str) -> State | None:
        """The state of a place; None where there is none or it is damaged."""
        path = self._path(stem)
        if not os.access(path, os.F_OK):
            return None
        try:
            return _read(path)
        except FileError as error:
            self._events.warned(f"{error} That part is done again.", CheckpointWarning)
            return None

    def hold(self, stem: str, state: State, seconds: float) -> None:
        """Write a final state as soon as that costs little, if it is worth it."""
        packed = _Packed(state)
        if not self.budget.is_worth(packed.size, seconds):
            return
        self._waiting[stem] = packed if self.budget.allows(packed.size) else packed.settled()
        self.flush()

    def write(self, stem: str, packed: _Packed, *, final: bool) -> None:
        """Write a state; a final one takes the place of all inside. What fails is warned of, once."""
        with self.budget.spending(packed.size), self._going_on():
            packed.write(self._path(stem))
            if final:
                self._waiting = {
                    other: held for other, held in self._waiting.items() if not other.startswith(f"{stem}.")
                }
                self._clear(f"{glob.escape(stem)}.*{SUFFIX}")

    @contextmanager
    def _going_on(self) -> Generator[None]:
        """A disk that fails is no reason to lose the run."""
        try:
            yield
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                self._events.warned(f"{error} The run goes on without keeping this.", CheckpointWarning)

    def flush(self, *, now: bool = False) -> None:
        """Write what waits, the smallest first, as far as the budget goes; ``now``, as far as patience does."""
        patience = PATIENCE
        for stem, packed in sorted(self._waiting.items(), key=lambda item: item[1].size):
            patience -= self.budget.estimate(packed.size)
            if not (self.budget.allows(packed.size) or (now and patience > 0)):
                return
            if self._waiting.pop(stem, None) is not None:
                self.write(stem, packed, final=True)

    def finish(self) -> None:
        """Mark the run as finished, unless it was cut."""
        self.flush(now=self.is_cut)
        if not (self.is_cut or self._manifest["finished"]):
            with self._going_on():
                _Packed(self._manifest | {"finished": True}).write(self._path(MANIFEST))

    def _begin(self) -> None:
        """Write the manifest: the one that is there where the run goes on, else a new one in the place of all."""
        found = self._found()
        if found is not None:
            self._manifest = found
            if found["finished"]:
                return  # nothing is at risk: its result can be had from a full disk too
        packed = _Packed(self._manifest)
        with self.budget.spending(packed.size), writing(self._path(MANIFEST)) as temporary:
            packed.fill(temporary)
            if found is None:
                # States of a run before go once there is room for the new manifest, and before it says they are its.
                self._clear("[!.]*" + SUFFIX)

    def _found(self) -> dict[str, Any] | None:
        """The manifest of a run to go on from: one that says the same as this run's; None where there is none."""
        path = self._path(MANIFEST)
        if not path.exists():
            return None
        try:
            found = _read(path)
        except FormatError as error:
            raise CheckpointError(
                f"{error} So nothing says which run the checkpoint is of. {ANEW}"
            ) from error
        wanted = self._manifest
        different = difference(found["texts"], wanted["texts"])
        if different and not found["finished"]:
            raise CheckpointError(
                f"{self.folder}: holds an unfinished run with other settings: {different}. {ANEW}"
            )
        if different:
            return None
        if changed := difference(found["libraries"], wanted["libraries"]):
            self._events.warned(
                f"The checkpoint {self.folder} was begun elsewhere: {changed}. The run goes on from it, but may end in "
                "other last digits than one that was never cut.",
                CheckpointWarning,
            )
        return found

    def _path(self, stem: str) -> Path:
        return self.folder / (stem + SUFFIX)

    def _clear(self, pattern: str) -> None:
        """Remove files; never the manifest, so that what is left of them has one."""
        for path in self.folder.glob(pattern):
            if path.stem == MANIFEST:
                continue
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FileError(f"{path}: cannot be removed: {error.strerror}. Remove it.") from error


class CheckpointPlace(Place):
    """A place in a checkpoint, named after the way to it."""

    is_active = True

    def __init__(self, checkpoint: Checkpoint, stem: str) -> None:
        self._checkpoint = checkpoint
        self.name = stem

    def inside(self, name: str, key: object = "") -> CheckpointPlace:
        """The place of a part of the work."""
        step = re.sub(r"[^a-z0-9]+", "-", name.lower())
        if key != "":
            step += f"-{key}" if type(key) is int else f"-{sha256(text(key).encode()).hexdigest()[:8]}"
        return CheckpointPlace(
            self._checkpoint, self._checkpoint.visit(f"{self.name}.{step}" if self.name else step)
        )

    def find(self) -> State | None:
        """What a run before this one left here."""
        return self._checkpoint.read(self.name)

    def save_progress(self, state: Callable[[], State], *, now: bool = False) -> None:
        """A state on the way: it is taken every few seconds and where that costs little, or ``now``."""
        checkpoint, budget = self._checkpoint, self._checkpoint.budget
        checkpoint.flush(now=now)
        if not (now or budget.is_due):
            return
        packed = _Packed(state())
        if not (now or budget.allows(packed.size)):
            budget.wait(packed.size)
            return
        checkpoint.write(self.name, packed, final=False)
        budget.rest()

    def save_result(
        self, state: Callable[[], State], *, size: int | None = None, seconds: float = float("inf")
    ) -> None:
        """The final state."""
        if size is None:
            self._checkpoint.hold(self.name, state(), seconds)
        elif self._checkpoint.budget.allows(size):
            self._checkpoint.write(self.name, _Packed(state()), final=True)

    def mark_unfinished(self) -> None:
        """Say that the run ends before its time."""
        self._checkpoint.is_cut = True


class _Packed:
    """A state as arrays and a text."""

    def __init__(self, state: State) -> None:
        encoder = Encoder("checkpoint")
        node = encoder.encode(dict(state), "")
        document = {"objects": encoder.objects, "state": node}
        self._text = json.dumps(document, separators=(",", ":"), allow_nan=False)
        self._arrays = encoder.pool.arrays
        self.size = len(self._text) + sum(array.nbytes for array in self._arrays.values())

    def settled(self) -> _Packed:
        """The same, which nobody can change; a large one is left to those who hand it in, and they do not."""
        if self.size <= SMALL:
            self._arrays = {name: array.copy() for name, array in self._arrays.items()}
        return self

    def write(self, path: Path) -> None:
        """Write it to a file, which is there whole or not at all."""
        with writing(path) as temporary:
            self.fill(temporary)

    def fill(self, path: Path) -> None:
        """Write it to a file that has no name of its own yet."""
        metadata = {"format": KIND, "version": str(FORMAT), "lowdim": __version__, "model": self._text}
        write_container(path, self._arrays, metadata)


def _read(path: Path) -> dict[str, Any]:
    """The state in a file, its arrays in memory."""
    with open_container(path, KIND) as file:
        file.format_number(FORMAT)
        try:
            document = json.loads(file.header.metadata["model"])
            decoder = Decoder({name: np.array(array) for name, array in file.arrays().items()}, Run())
            decoder.decode_objects(document["objects"])
            state = decoder.decode(document["state"])
        except (Broken, ValueError, KeyError, TypeError, RecursionError) as error:
            raise file.damaged(f"its state cannot be read ({error})") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"{path}: holds no state.")
    return state


@cache
def libraries() -> dict[str, str]:
    """Versions of the libraries whose sums a result hangs on."""
    return {name: version(name) for name in LIBRARIES}


def difference(found: dict[str, str], wanted: dict[str, str]) -> str:
    """What was and what is, of the first few entries that differ."""
    names = [name for name in {**found, **wanted} if found.get(name) != wanted.get(name)]
    shown = [
        f"{name} was {found.get(name, 'not there')}, is {wanted.get(name, 'not there')}" for name in names[:3]
    ]
    return "; ".join(shown) + (f"; and {len(names) - 3} more" if len(names) > 3 else "")
