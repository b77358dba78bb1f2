"""What can go wrong, as types: each message names the parameter, what came and what to do."""

from __future__ import annotations

from typing import Self

from .core.messages import Language, parts_of, python, said


class Spoken:
    """What an error and a warning of lowdim have in common: a message that can be said in another language.

    ``str`` is the message in the words of the library. See `lowdim.core.messages` for how a message names parameters.
    """

    def __init__(self, *args: object) -> None:
        self.parts = parts_of(args[0]) if args and isinstance(args[0], str) else ()
        plain = (said(self.parts), *args[1:]) if self.parts else args
        super().__init__(*plain)

    def said(self, language: Language = python) -> str:
        """The message in a language."""
        return said(self.parts, language) if self.parts else str(self)


class LowdimError(Spoken, Exception):
    """Base of every error that lowdim raises on purpose."""


class InputError(LowdimError, ValueError):
    """A parameter or the data cannot be used as given."""


class InputTypeError(LowdimError, TypeError):
    """A parameter or the data is of a type that cannot be used."""


class NotFiniteError(InputError):
    """The data holds NaN or infinite entries; the message names the first by row and column."""


class DisconnectedError(InputError):
    """The neighbour graph falls apart and ``on_disconnected`` does not say what to do about it."""


class ConvergenceError(LowdimError, RuntimeError):
    """No solver reached a usable solution; the message holds residuals and what to try."""


class NumericalError(LowdimError, ArithmeticError):
    """A stage made numbers that cannot be handed on; the message names the stage, the likely cause and what to try."""


class MemoryLimitError(LowdimError, MemoryError):
    """The work would need more memory than ``memory_limit`` (or the machine) allows."""

    def __new__(cls, *args: object) -> Self:
        """As every other error: that of MemoryError, found by name, refuses classes whose first base is not it.

        Dask makes errors that way again which come back from its workers.
        """
        return Exception.__new__(cls, *args)


class MissingExtraError(LowdimError, ImportError):
    """An optional dependency is needed and not installed."""


class PluginError(LowdimError, ImportError):
    """What another package adds to lowdim cannot be used; the message names that package."""


class ForkedError(LowdimError, RuntimeError):
    """A library below cannot go on in a forked process; the message says what can."""


class WorkersError(LowdimError, RuntimeError):
    """Processes or machines that were to share the work failed or are gone; the message says what to do."""


class FileError(LowdimError, OSError):
    """A file cannot be read or written; the message names it, what is wrong and what to do."""


class FormatError(FileError, ValueError):
    """A file's contents are not what they should be."""


class CheckpointError(FileError, ValueError):
    """A checkpoint belongs to another run, is in use, or its folder is none; the message says what to do."""


class MissingDataError(FileError, FileNotFoundError):
    """A data set is not on this machine and cannot be had; the message says where to put which file."""


class LowdimWarning(Spoken, UserWarning):
    """Base of every warning that lowdim gives: something for the user to act on."""


class ConvergenceWarning(LowdimWarning):
    """A solution was returned whose residual is above the tolerance."""


class DisconnectedWarning(LowdimWarning):
    """The neighbour graph was disconnected and has been dealt with as ``on_disconnected`` says."""


class DataWarning(LowdimWarning):
    """The data has a property that limits what the result can mean."""


class CheckpointWarning(LowdimWarning):
    """A part of a checkpoint cannot be read or written; the run goes on without it."""


class MemoryLimitWarning(LowdimWarning):
    """The work held more than ``memory_limit``, which was foreseen to do; it goes on."""


class InterruptedWarning(LowdimWarning):
    """The user interrupted the work; what was returned is the best so far."""


class Stop(Exception):
    """Raise from a callback, at an ``iteration`` event, to end the optimisation and keep the best so far.

    Examples
    --------
    >>> import lowdim
    >>> import warnings
    >>> def enough(event):
    ...     if event.stage == "optimise" and event.data.get("iteration", 0) >= 20:
    ...         raise lowdim.Stop
    >>> digits = lowdim.datasets.load("digits").data[:200]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     model = lowdim.TSNE(callback=enough).fit(digits)
    >>> model.n_iter_ < 750
    True
    """
