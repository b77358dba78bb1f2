"""Calling faiss in the thread that calls it, and in no other.

Its threads of OpenMP would outlive the search, and a process forked later would wait for them for ever: blocks of rows
go to our own threads instead, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ...errors import MissingExtraError
from ...messages import setting


def load_faiss() -> ModuleType:
    """The faiss module."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(
            f"This search needs faiss: pip install faiss-cpu, or use {setting('search', 'blocked')}."
        ) from error
    module: ModuleType = faiss
    return module


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for faiss; OpenMP keeps the number for each calling thread by itself, so that nobody else sees it."""
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
