"""Where tasks run: what `using` says, else a client of Dask that is there already, else threads of this process."""

from __future__ import annotations

import sys
from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from ..core.messages import value as quoted
from ..errors import InputError, MissingExtraError, WorkersError
from .executor import OnExecutor
from .task import Mapper
from .threads import Threads

_CHOSEN: ContextVar[Mapper | None] = ContextVar("_CHOSEN", default=None)


@contextmanager
def using(workers: Any) -> Generator[None]:
    """Run the stages of fits over shards, and the fits of sweeps, on these workers.

    No result depends on them. Whatever they are, they must see the same folder: that of ``checkpoint``, or the
    temporary files of this machine.

    Parameters
    ----------
    workers
        A `distributed.Client`, the address of a scheduler of Dask (``"tcp://..."``), an executor of
        `concurrent.futures`, or a number of threads of this process.

    Examples
    --------
    >>> import lowdim
    >>> with lowdim.using(2):
    ...     pass
    """
    with _opened(workers) as mapper:
        token = _CHOSEN.set(mapper)
        try:
            yield
        finally:
            _CHOSEN.reset(token)


def is_using() -> bool:
    """Whether workers were asked for by `using`."""
    return _CHOSEN.get() is not None


def mapper_for(n_jobs: int | None) -> Mapper:
    """What runs the tasks of a stage now; ``n_jobs`` threads where nothing else was asked for."""
    chosen = _CHOSEN.get()
    if chosen is not None:
        return chosen
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            client = distributed.default_client()
        except ValueError:
            return Threads(n_jobs)
        from .on_dask import OnDask

        return OnDask(client)
    return Threads(n_jobs)


@contextmanager
def _opened(workers: Any) -> Generator[Mapper]:
    if isinstance(workers, int) and not isinstance(workers, bool) and workers >= 1:
        yield Threads(workers)
    elif isinstance(workers, Executor):
        yield OnExecutor(workers)
    elif isinstance(workers, str) and "://" in workers:
        with _client(workers) as client:
            from .on_dask import OnDask

            yield OnDask(client)
    elif _is_client(workers):
        from .on_dask import OnDask

        yield OnDask(workers)
    else:
        raise InputError(
            "workers must be a distributed.Client, the address of a scheduler such as 'tcp://10.0.0.1:8786', a "
            f"concurrent.futures.Executor or a number of threads >= 1; got {quoted(workers)}."
        )


def _is_client(workers: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)


@contextmanager
def _client(address: str) -> Generator[Any]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise MissingExtraError(
            f"Workers at {address} need Dask: pip install 'lowdim[dask]', or give a number of threads."
        ) from error
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkersError(
            f"No scheduler of Dask answers at {address}: {error}. Start one (dask scheduler), or check the address."
        ) from error
    with client:
        yield client
