"""Modules of compiled loops that load when they are first named: Numba is not imported before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of a package whose modules load at the first use of their names."""

    def load(name: str) -> ModuleType:
        try:
            return import_module(f".{name}", package)
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
            raise AttributeError(f"module {package!r} has no kernels named {name!r}") from None

    return load
