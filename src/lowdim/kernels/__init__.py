"""Compiled loops: free functions on arrays, with no checks and no classes, cached on disk after their first use.

``from lowdim import kernels`` costs nothing; a module of it, and Numba with it, loads at the first use of its name.
Every kernel works on the block of rows that it is given and releases the interpreter lock: ``lowdim.parallel`` maps
it over all blocks.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no kernels named {name!r}") from None
