"""Files that are there whole or not at all: the one way in which lowdim writes."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from ..errors import FileError
from .messages import setting
from .system import flush

AnyPath = str | os.PathLike[str]

_TAIL = 40
"""Characters of the wanted name that the temporary name keeps: enough for the suffixes, never too long for a disk."""


@contextmanager
def writing(
    path: AnyPath, *, force: bool = True, inputs: Iterable[AnyPath] = (), lasting: bool = True
) -> Generator[Path]:
    """A temporary path beside ``path`` to write to; at the end of the block it takes the wanted name.

    The file is flushed to the disk before it is moved and the folder after, so that a crash leaves the old file or the
    new one. Windows cannot flush a folder: there a crash of the machine may bring the old file back. Whatever is raised
    inside the block, the temporary file goes and an old file stays as it was.

    Parameters
    ----------
    path
        The wanted name; a symbolic link is followed.
    force
        Whether a file that is there may be replaced.
    inputs
        Files that must never be written over.
    lasting
        Whether it must outlive a crash of the machine; one that need not is written quicker.

    Raises
    ------
    FileError
        The file cannot be written: see `check_target`, or what the system said.
    """
    target = check_target(path, force=force, inputs=inputs)
    temporary = target.with_name(f".{secrets.token_hex(4)}.part-{target.name[-_TAIL:]}")
    try:
        yield temporary
        _settle(temporary, target, path, lasting)
    except BaseException as error:
        _discard(temporary, error)
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise _failure(path, error) from error
        raise


def _discard(temporary: Path, error: BaseException) -> None:
    """Remove a file that came to nothing; where even that fails, the error says so."""
    try:
        temporary.unlink(missing_ok=True)
    except OSError as another:
        error.add_note(f"{temporary} could not be removed either ({another.strerror}). Delete it.")


def check_target(path: AnyPath, *, force: bool = False, inputs: Iterable[AnyPath] = ()) -> Path:
    """Whether a file may be written to, asked before the work that leads to it.

    Parameters
    ----------
    path
        The wanted name.
    force
        Whether a file that is there may be replaced.
    inputs
        Files that must never be written over; names of what does not exist, such as "-", are passed by.

    Returns
    -------
    Path
        The name with symbolic links followed: the file that writing would make or replace.

    Raises
    ------
    FileError
        The folder is missing or cannot be written to, the file is there and ``force`` is off, it is no plain file, or
        it is one of the inputs.
    """
    try:
        target = Path(path).resolve()
        if target.is_symlink():  # Python raises the error itself up to 3.12
            raise OSError(errno.ELOOP, "a circle of symbolic links")
        folder = target.parent
        if not folder.is_dir():
            raise _error(errno.ENOENT, f"{path}: the folder {folder} does not exist. Make it first.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise _error(errno.EACCES, f"{path}: the folder {folder} cannot be written to. Write elsewhere.")
        found = _status(target)
        same = found and any(_is_same(target, other) for other in inputs)
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links; a name with a null character
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be written to: {error}. Choose another name.") from error
    if found is None:
        return target
    if stat.S_ISDIR(found.st_mode):
        raise _error(errno.EISDIR, f"{path}: is a folder. Name a file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise _error(errno.EINVAL, f"{path}: is no plain file, so it cannot be replaced. Name a plain file.")
    if same:
        raise _error(errno.EEXIST, f"{path}: is read as well; an input is never written over. Name another.")
    if not force:
        raise _error(
            errno.EEXIST,
            f"{path}: is there already. Replace it with {setting('force', True)}, or name another.",
        )
    return target


def _status(path: Path) -> os.stat_result | None:
    """What the system says of a file, None where there is none; ``Path.exists`` hides errors from Python 3.14 on."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_same(target: Path, other: AnyPath) -> bool:
    return Path(other).exists() and target.samefile(other)


def _settle(temporary: Path, target: Path, path: AnyPath, lasting: bool) -> None:
    """Flush the file, give it the permissions of the one it replaces, move it, flush the folder."""
    if not temporary.is_file():
        raise FileError(f"{path}: nothing was written.")
    if target.exists():
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    if lasting:
        flush(temporary)
    temporary.replace(target)
    if not lasting:
        return
    try:
        flush(target.parent)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network disks cannot flush a folder
            raise _error(
                error.errno or errno.EIO,
                f"{path}: is written and in its place, but the disk did not confirm it: {error.strerror}. "
                "Check the disk.",
            ) from error


def _failure(path: AnyPath, error: OSError) -> FileError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _error(error.errno, f"{path}: the disk is full. Free some space or write elsewhere.")
    return _error(error.errno, f"{path}: cannot be written: {error.strerror or error}. Write elsewhere.")


def _error(number: int | None, message: str) -> FileError:
    """An error that a program can tell apart by its ``errno`` and a person by its message."""
    error = FileError(message)
    error.errno = number
    return error
