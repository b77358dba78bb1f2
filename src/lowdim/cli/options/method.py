"""The options of a method: one for each of its parameters, and for each field of the parts that were chosen."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..parser import Parser
from ..usage import UsageError, nearest
from .table import REQUIRED, Method, Parameter, added_methods, find_method, methods
from .values import convert, placeholder
from .wording import flag_of

DEFAULT_METHOD = "tsne"
SHORT = {"n_components": "-d", "n_neighbors": "-k"}
HIDDEN = {"callback", "verbose"}
"""Parameters that the command line sees to itself."""
RUNNING = {"random_state", "n_jobs", "memory_limit", "checkpoint"}
"""Parameters of every method, shown in a group of their own."""
OWNERS = ("solver", "affinity", "repulsion", "optimizer")
"""Parameters that take configured objects."""
ELSEWHERE = {
    "diffmap": " Diffusion maps are called diffusion-map here.",
    "phate": " PHATE is not part of lowdim; the nearest to it here is diffusion-map.",
    "trimap": " TriMap is not part of lowdim; the nearest to it here is tsne.",
    "pacmap": " PaCMAP is not part of lowdim yet; the nearest to it here is tsne.",
    "smacof": " SMACOF is what mds does.",
    "isomds": " Non-metric MDS is mds with --no-metric-mds.",
    "ltsa": " LTSA is a variant of lle: --method lle --variant ltsa.",
    "hessian": " It is a variant of lle: --method lle --variant hessian.",
}
"""Methods that people ask for and that have another name here, or none yet."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was typed so far: the method, whether it was named, and the part that each of its parameters names."""

    method: Method
    parts: Mapping[str, str]
    is_named: bool


def choose(arguments: Sequence[str]) -> Chosen:
    """Look for the method and its parts among the arguments: they decide which options there are."""
    named = _value_of(arguments, "--method", "-m")
    name = named or DEFAULT_METHOD
    method = find_method(name)
    if method is None:
        wanted = re.sub(r"[\W_]", "", name.lower())
        known = [*methods(), *added_methods()]
        hint = ELSEWHERE.get(wanted) or nearest(name, known) or f" There are {', '.join(known)}."
        raise UsageError(f"there is no method {name!r}.{hint} 'lowdim embed --help' says what each is for.")
    parts = {owner: _value_of(arguments, f"--{owner}") for owner in OWNERS}
    return Chosen(method, {owner: part.lower() for owner, part in parts.items() if part}, named is not None)


def _value_of(arguments: Sequence[str], flag: str, short: str | None = None) -> str | None:
    """The value that is given to an option, the last time that it is given."""
    found = None
    for place, word in enumerate(arguments):
        if word in (flag, short):
            following = next(iter(arguments[place + 1 :]), "")
            found = following if not following.startswith("-") else found
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
        elif short and word.startswith(short) and not word.startswith("--"):
            found = word[len(short) :].removeprefix("=")
    return found or None


def add_choice(parser: Parser, names: str = "see 'lowdim embed --help'") -> None:
    """Give a parser the option that chooses the method."""
    parser.add_argument("-m", "--method", metavar="NAME", help=f"{names} (default: {DEFAULT_METHOD})")


def add_method(parser: Parser, chosen: Chosen) -> None:
    """Give a parser the options of the chosen method, and what it parses the choice."""
    method = chosen.method
    own = parser.add_argument_group(f"options of {method.name}")
    running = parser.add_argument_group("running")
    parser.words["--method"] = (*methods(), *added_methods())
    for parameter in method.parameters:
        if parameter.name not in HIDDEN:
            group = running if parameter.name in RUNNING else own
            _add(group, _with_parts(method, parameter), short=SHORT.get(parameter.name))
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
                _add(group, field, owner=owner)
    parser.explain = partial(_explain, chosen)
    parser.set_defaults(chosen=chosen)


def add_parameters(parser: Parser, title: str, parameters: Sequence[Parameter]) -> None:
    """Options for parameters of a function."""
    group = parser.add_argument_group(title)
    for parameter in parameters:
        _add(group, parameter, short=SHORT.get(parameter.name))


def _with_parts(method: Method, parameter: Parameter) -> Parameter:
    """The same, with the parts that have options of their own named in its description."""
    names = [name for name, part in method.parts(parameter.name).items() if part.fields]
    if not names:
        return parameter
    more = (
        f"; with options of their own: {', '.join(names)} (--{parameter.name} {names[0]} --help shows them)"
    )
    return replace(parameter, help=parameter.help + more)


def _add(group: Any, parameter: Parameter, *, owner: str = "", short: str | None = None) -> None:
    assert parameter.default is not REQUIRED
    names = [short, flag_of(parameter.name, owner)] if short else [flag_of(parameter.name, owner)]
    text = parameter.help.replace("%", "%%")
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
    if own := _own_name(method, flag):
        return f" It is called {flag_of(own)} here."
    others = [m.name for m in methods().values() if any(flag_of(p.name) == flag for p in m.parameters)]
    return f" The method {method.name} has none; {', '.join(others)} have it." if others else ""


def _own_name(method: Method, flag: str) -> str:
    """The parameter of a method that has another name in other libraries; empty where there is none."""
    from ...estimators.foreign_names import FOREIGN_NAMES

    known = {parameter.name for parameter in method.parameters}
    names = FOREIGN_NAMES.get(flag.removeprefix("--").replace("-", "_"), ())
    return next((own for own, _ in names if own in known), "")
