"""Parts of a package that load when they are named, so that ``lowdim.data.shards.write`` needs no import of its own."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def loading(package: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for the package of this name that imports its modules when they are asked for."""

    def submodule(name: str) -> Any:
        unknown = AttributeError(f"module {package!r} has no attribute {name!r}")
        if name.startswith("_"):
            raise unknown
        try:
            return import_module(f".{name}", package)
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":  # the part is there, and something that it needs is not
                raise
            raise unknown from None

    return submodule
