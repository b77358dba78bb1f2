"""The methods of lowdim and the parts that they are put together from, by the names that people type.

Read from a table that `describe` writes from the classes themselves, so that a help page needs no import of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...core.messages import hyphenated
from ...core.plugins import package_of, plugins

REQUIRED = object()
"""The default of a parameter that has none."""


def kinds_of(annotation: str) -> set[str]:
    """The types that an annotation names, apart and without modules: ``int | os.PathLike`` is int and PathLike."""
    return {part.strip().rpartition(".")[2] for part in re.sub(r"\[.*?\]", "", annotation).split("|")}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name and type in the library, its default, its line of help and the words that it takes."""

    name: str
    type: str
    default: Any = None
    help: str = ""
    choices: tuple[str, ...] = ()

    @property
    def kinds(self) -> set[str]:
        """The types that it takes, apart: ``int | None`` is int and None."""
        return kinds_of(self.type)


@dataclass(frozen=True, slots=True)
class Part:
    """A configured object that a parameter takes: its name there, its class, and the fields that can be set."""

    name: str
    class_name: str
    fields: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """An estimator: the name to type, its class, what it is called in prose, and what can be set of it.

    ``data`` are further data that ``fit`` takes, such as a sample of the noise; ``part_names`` the configured objects
    that a parameter takes, by their names.
    """

    name: str
    class_name: str
    title: str
    summary: str
    parameters: tuple[Parameter, ...]
    data: tuple[Parameter, ...]
    part_names: Mapping[str, Sequence[str]]

    def parts(self, parameter: str) -> dict[str, Part]:
        """The configured objects that one of its parameters takes, by name; none for most."""
        known = parts_of(parameter)
        return {name: known[name] for name in self.part_names.get(parameter, ())}

    def choices(self, parameter: Parameter) -> tuple[str, ...]:
        """Words that a parameter takes, and the parts that it has."""
        if {"int", "float"} & parameter.kinds:
            return ()
        return tuple(dict.fromkeys([*parameter.choices, *self.part_names.get(parameter.name, ())]))


@cache
def methods() -> dict[str, Method]:
    """Every estimator that needs nothing but data."""
    return {
        name: Method(
            name,
            entry["class"],
            entry["title"],
            entry["summary"],
            _parameters(entry["parameters"]),
            _parameters(entry["data"]),
            entry["parts"],
        )
        for name, entry in _table()["methods"].items()
    }


def find_method(name: str) -> Method | None:
    """The method that a person means: t-SNE, tSNE and tsne are one."""
    wanted = re.sub(r"[\W_]", "", name.lower())
    own = next((m for m in methods().values() if m.name.replace("-", "") == wanted), None)
    added = next((name for name in plugins("method") if re.sub(r"[\W_]", "", name.lower()) == wanted), "")
    return own or (_described(added) if added else None)


@cache
def _described(name: str) -> Method:
    """A method that another package adds, as its class says of itself."""
    from .describe import describe_added

    entry = describe_added(name)
    parameters, data = _parameters(entry["parameters"]), _parameters(entry["data"])
    return Method(hyphenated(name), name, entry["title"], entry["summary"], parameters, data, entry["parts"])


def added_methods() -> dict[str, str]:
    """Names of the methods that other packages add, and their packages; nothing of them is imported."""
    return {hyphenated(name): package_of(entries[0]) for name, entries in plugins("method").items()}


@cache
def parts_of(parameter: str) -> dict[str, Part]:
    """The configured objects that a parameter takes, by name; none for most."""
    known = _table()["parts"].get(parameter, {})
    return {name: Part(name, part["class"], _parameters(part["fields"])) for name, part in known.items()}


@cache
def owner_of(class_name: str) -> str:
    """The parameter that takes objects of a class; empty where there is none, as for the estimators themselves."""
    owners = (
        o for o, parts in _table()["parts"].items() if class_name in (p["class"] for p in parts.values())
    )
    return next(owners, "")


@cache
def owner_of_field(name: str) -> str:
    """The parameter whose objects have a field that no method and no function has as a parameter; else empty."""
    everywhere = [
        *(m.parameters for m in methods().values()),
        *map(function_parameters, _table()["functions"]),
    ]
    if any(name == parameter.name for parameters in everywhere for parameter in parameters):
        return ""
    owners = (
        owner
        for owner in _table()["parts"]
        if any(field.name == name for part in parts_of(owner).values() for field in part.fields)
    )
    return next(owners, "")


def function_parameters(name: str) -> tuple[Parameter, ...]:
    """What a function of lowdim takes."""
    return _parameters(_table()["functions"][name])


def formats(what: str) -> tuple[str, ...]:
    """Suffixes of the files that ``data`` can be read from and an ``embedding`` can be written to."""
    own = tuple(_table()["formats"][what])
    return (*own, *(f".{name}" for name in plugins("format"))) if what == "data" else own


def _parameters(entries: Sequence[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(e["name"], e["type"], e.get("default", REQUIRED), e["help"], tuple(e["choices"]))
        for e in entries
    )


@cache
def _table() -> Any:
    return json.loads(Path(__file__).with_name("table.json").read_text(encoding="utf-8"))
