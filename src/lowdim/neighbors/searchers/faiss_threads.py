"""Calling faiss with a number of threads of its own.

OpenMP keeps the number of threads per calling thread, and its helpers for as long as that thread lives. A call with
several threads is made from a thread that lives only for it, and they end with it, so that a process forked later does
not wait for them; a call with one thread needs no helpers, and sets the number back.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import TypeVar

from ...errors import MissingExtraError
from ...parallel import count_workers

Result = TypeVar("Result")


def load_faiss() -> ModuleType:
    """The faiss module."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(
            "This search needs faiss: pip install faiss-cpu, or use search='blocked'."
        ) from error
    module: ModuleType = faiss
    return module


def call_with_threads(function: Callable[[], Result], n_jobs: int | None) -> Result:
    """The result of a function that calls faiss, with as many threads as ``n_jobs`` asks for."""
    faiss, workers = load_faiss(), count_workers(n_jobs)

    def call() -> Result:
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(workers)
        try:
            return function()
        finally:
            faiss.omp_set_num_threads(before)

    if workers == 1:
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
