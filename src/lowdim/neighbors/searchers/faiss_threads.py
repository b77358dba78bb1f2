"""Calling faiss with a number of threads of its own.

OpenMP keeps the number of threads per calling thread: set in a thread that lives only for the call, it
changes nothing for anybody else.
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
    faiss = load_faiss()

    def call() -> Result:
        faiss.omp_set_num_threads(count_workers(n_jobs))
        return function()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
