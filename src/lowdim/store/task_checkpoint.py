"""A folder of task results that belongs to one run: the same call goes on from it, another one is refused."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..core.atomic import AnyPath
from ..core.events import Events
from ..core.system import processor
from ..errors import CheckpointError, CheckpointWarning, FileError, FormatError
from .checkpoint import ANEW, difference, libraries
from .identity import Identity
from .lock import NAME as LOCK
from .lock import locked
from .tasks import TaskStore

FORMAT = 2
MANIFEST = "manifest"
RESULT = "embedding.npy"
"""Where the coordinates of all rows lie in a checkpoint, beside the tasks."""


@contextmanager
def task_store(
    path: AnyPath | None, identity: Callable[[], Identity], events: Events
) -> Generator[TaskStore]:
    """A store for the tasks of a run: in a folder that a later run goes on from, or in one that goes with this run.

    Parameters
    ----------
    path
        The folder; it is made if it is missing. None: one among the temporary files of the system (TMPDIR).
    identity
        Says which run it is.
    events
        Told where a run goes on that was begun with other libraries or on another processor.

    Raises
    ------
    CheckpointError
        The folder holds something else, or another run, or is in use.
    FileError
        It cannot be made or written to, or its disk is full: found out before the work.
    """
    if path is None:
        root = tempfile.mkdtemp(prefix="lowdim-")
        try:
            yield TaskStore(root, is_lasting=False)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return
    root = str(_folder(path))
    store = TaskStore(root)
    with locked(Path(root)):
        _begin(store, identity(), events)
        yield store


def _folder(path: AnyPath) -> Path:
    """The folder, made if it is missing, and known to hold nothing but tasks."""
    try:
        folder = Path(path).resolve()
        folder.mkdir(exist_ok=True)
        names = {entry.name for entry in os.scandir(folder)}
    except FileExistsError as error:
        raise CheckpointError(
            f"{path}: a checkpoint is a folder, and this is a file. Name another."
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(
            f"{path}: a checkpoint cannot be kept there: {reason}. Name another folder."
        ) from error
    if MANIFEST not in names and (foreign := sorted(names - {LOCK})):
        raise CheckpointError(
            f"{path}: is a folder with other things in it ({foreign[0]}), not a checkpoint of work over shards. Name "
            "a new folder."
        )
    return folder


def _begin(store: TaskStore, identity: Identity, events: Events) -> None:
    """Compare with the manifest that is there, or write one."""
    texts = identity.texts() | {"lowdim": __version__}
    surroundings = libraries() | {"processor": processor()}
    if store.has(MANIFEST, 0):
        found = _manifest(store)
        if different := difference(found["texts"], texts):
            raise CheckpointError(f"{store.root}: holds a run with other settings: {different}. {ANEW}")
        if changed := difference(found["surroundings"], surroundings):
            events.warned(
                f"The checkpoint {store.root} was begun elsewhere: {changed}. The run goes on from it, but may end in "
                "other last digits than one that was never cut.",
                CheckpointWarning,
            )
        return
    manifest = {"format": FORMAT, "texts": texts, "surroundings": surroundings}
    store.put(MANIFEST, 0, {"text": np.frombuffer(json.dumps(manifest).encode(), np.uint8)})


def _manifest(store: TaskStore) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(store.get(MANIFEST, 0)["text"].tobytes())
    except FormatError as error:
        raise CheckpointError(f"{error} Nothing says which run the checkpoint is of.") from error
    if (own := found["format"]) != FORMAT:
        which, instead = ("a later", "Upgrade, or: ") if own > FORMAT else ("an earlier", "")
        raise CheckpointError(
            f"{store.root}: is a checkpoint in format {own} of {which} lowdim; this one knows {FORMAT}. {instead}{ANEW}"
        )
    return found
