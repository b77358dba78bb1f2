"""The options of a method: one for each of its parameters, and for each field of the parts that were chosen."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .introspection import REQUIRED, Method, Parameter, find_method, methods
from .parser import Parser
from .translate import flag_of, help_text
from .usage import UsageError, nearest
from .values import convert, placeholder

DEFAULT_METHOD = "tsne"
SHORT = {"n_components": "-d", "n_neighbors": "-k"}
HIDDEN = {"callback", "verbose"}
"""Parameters that the command line sees to itself."""
RUNNING = {"random_state", "n_jobs", "memory_limit", "checkpoint"}
"""Parameters of every method, shown in a group of their own."""
OWNERS = ("solver", "affinity", "repulsion", "optimizer")
"""Parameters that take configured objects."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was typed so far: the method, and the part that each of its parameters names."""

    method: Method
    parts: Mapping[str, str]

    def flags(self) -> dict[str, str]:
        """The option of each parameter and field, by its name in the library."""
        named = {p.name: flag_of(p.name) for p in self.method.parameters}
        for owner, name in self.parts.items():
            part = self.method.parts(owner).get(name)
            if part is not None:
                named = {f.name: flag_of(f.name, owner) for f in part.fields} | named
        return named


def choose(arguments: Sequence[str]) -> Chosen:
    """Look for the method and its parts among the arguments, before the parser knows its options."""
    scout = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    scout.add_argument("-m", "--method", nargs="?")
    for owner in OWNERS:
        scout.add_argument(f"--{owner}", nargs="?")
    found, _ = scout.parse_known_args(list(arguments))
    name = found.method or DEFAULT_METHOD
    method = find_method(name)
    if method is None:
        hint = nearest(name, methods()) or f" There are {', '.join(methods())}."
        raise UsageError(f"there is no method {name!r}.{hint} 'lowdim embed --help' says what each is for.")
    return Chosen(method, {owner: part.lower() for owner in OWNERS if (part := getattr(found, owner))})


def add_method(parser: Parser, chosen: Chosen) -> None:
    """Give a parser the options of the chosen method."""
    flags = chosen.flags()
    method = chosen.method
    own = parser.add_argument_group(f"options of {method.name}")
    running = parser.add_argument_group("running")
    parser.words["--method"] = tuple(methods())
    for parameter in method.parameters:
        if parameter.name not in HIDDEN:
            group = running if parameter.name in RUNNING else own
            _add(group, _with_parts(method, parameter), flags, short=SHORT.get(parameter.name))
            parser.words[flag_of(parameter.name)] = method.choices(parameter)
    for parameter in method.data:
        text = f"file with the {parameter.name}, in any format that DATA has"
        own.add_argument(flag_of(parameter.name), dest=f"data:{parameter.name}", metavar="FILE", help=text)
    taken = set(parser.flags())
    for owner, name in chosen.parts.items():
        part = method.parts(owner).get(name)
        if part is None or not part.fields:
            continue
        group = parser.add_argument_group(f"options of --{owner} {name}")
        for field in part.fields:
            if flag_of(field.name, owner) not in taken:
                _add(group, field, flags, owner=owner)
    parser.explain = partial(_explain, chosen)


def add_parameters(parser: Parser, title: str, parameters: Sequence[Parameter]) -> None:
    """Options for parameters of a function."""
    group = parser.add_argument_group(title)
    flags = {parameter.name: flag_of(parameter.name) for parameter in parameters}
    for parameter in parameters:
        _add(group, parameter, flags, short=SHORT.get(parameter.name))


def _with_parts(method: Method, parameter: Parameter) -> Parameter:
    """The same, with the parts that have options of their own named in its description."""
    names = [name for name, part in method.parts(parameter.name).items() if part.fields]
    if not names:
        return parameter
    more = (
        f" With options of their own: {', '.join(names)} (--{parameter.name} {names[0]} --help shows them)."
    )
    return replace(parameter, text=parameter.text + more)


def _add(
    group: Any, parameter: Parameter, flags: Mapping[str, str], *, owner: str = "", short: str | None = None
) -> None:
    assert parameter.default is not REQUIRED
    names = [short, flag_of(parameter.name, owner)] if short else [flag_of(parameter.name, owner)]
    text = help_text(parameter.text, flags, parameter.default).replace("%", "%%")
    place = f"{owner or 'own'}:{parameter.name}"
    if parameter.kinds == {"bool"}:
        group.add_argument(
            *names, dest=place, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text
        )
        return
    group.add_argument(
        *names,
        dest=place,
        metavar=placeholder(parameter),
        type=partial(convert, parameter=parameter),
        default=argparse.SUPPRESS,
        help=text,
    )


def _explain(chosen: Chosen, flag: str) -> str:
    """Where an option belongs that the chosen method does not have."""
    method = chosen.method
    for owner in OWNERS:
        having = [
            name
            for name, part in method.parts(owner).items()
            if any(flag_of(field.name, owner) == flag for field in part.fields)
        ]
        if having:
            return f" It belongs to --{owner} {' or '.join(having)}: name that too."
    others = [m.name for m in methods().values() if any(flag_of(p.name) == flag for p in m.parameters)]
    return f" The method {method.name} has none; {', '.join(others)} have it." if others else ""
