"""One process at a time: a lock that ends with the process that holds it, however that ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..core.system import lock
from ..errors import CheckpointError, FileError

NAME = "lock"


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the lock of a folder.

    Raises
    ------
    CheckpointError
        Another process, or another fit of this one, holds it.
    FileError
        The folder cannot be written to.
    """
    try:
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(
            f"{folder}: a checkpoint cannot be kept there: {error.strerror}. Name another folder."
        ) from error
    try:
        _take(descriptor, folder)
        yield
    finally:
        with suppress(OSError):  # nothing was written to it, and a run that is done is not to be lost
            os.close(descriptor)


def _take(descriptor: int, folder: Path) -> None:
    try:
        lock(descriptor)
    except ImportError:
        return  # a system without locks, as Python in a browser is
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            return  # a disk without locks: what can be done is done
        raise CheckpointError(
            f"{folder}: the checkpoint is in use by another run. Wait for its end, or name another folder."
        ) from error
