"""Methods, metrics and file formats that other packages add, by entry points of their metadata.

A package names them in the groups ``lowdim.methods``, ``lowdim.metrics`` and ``lowdim.formats``. Names are read when a
name is not one of lowdim's own; the code behind a name is imported when that name is used, and never before.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from ..errors import PluginError

Kind = Literal["method", "metric", "format"]


@cache
def plugins(kind: Kind) -> dict[str, tuple[EntryPoint, ...]]:
    """What installed packages add of a kind, by name: more than one where packages take the same name."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=f"lowdim.{kind}s"):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return dict(sorted(found.items()))


def load_plugin(kind: Kind, name: str) -> Any:
    """The object that a package adds by this name.

    Raises
    ------
    PluginError
        It cannot be imported, or two packages have the name; the message says which packages.
    """
    first, *others = plugins(kind)[name]
    if others:
        packages = " and ".join(package_of(entry) for entry in (first, *others))
        raise PluginError(
            f"The {kind} {name!r} is added by {packages}, and only one can be meant. Uninstall all but one of them."
        )
    try:
        return first.load()
    except Exception as error:
        raise PluginError(
            f"The {kind} {name!r} of {package_of(first)} cannot be loaded from {first.value}: "
            f"{type(error).__name__}: {error}. Update that package, or uninstall it."
        ) from error


def package_of(entry: EntryPoint) -> str:
    """The package that adds something, with its version."""
    return f"the package {entry.dist.name} {entry.dist.version}" if entry.dist else "a package without a name"


def refused(kind: Kind, name: str, found: object, wanted: str) -> PluginError:
    """The error for an object that is not what its kind must be."""
    package = package_of(plugins(kind)[name][0])
    return PluginError(
        f"The {kind} {name!r} of {package} must be {wanted}; it is {type(found).__name__} {found!r:.60}. Update "
        "that package, or uninstall it."
    )
