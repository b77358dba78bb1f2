"""What the library says of itself, as the table of options that the program reads: ``make options`` writes it.

Importing the estimators takes longer than any ``--help`` may, so the program reads ``table.json`` instead. A test holds
the table against the classes: run ``make options`` after a change of a parameter, a rule or a docstring.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import lowdim

from ...core.messages import hyphenated
from ...core.plugins import refused
from ...core.rules import Either, OneOf, Rule
from .table import kinds_of
from .wording import USUAL_WEIGHT, flag_of

TABLE = Path(__file__).with_name("table.json")

FUNCTIONS = ("score", "sweep", "plot")
"""Functions of `lowdim` that are commands."""
_USUAL_DATA = {"self", "X", "y"}
_SIMPLE = {"int", "float", "str", "bool", "None", "Any", "Literal", "Symmetry"}
"""Types of the fields that can be typed."""
_PYTHON_ONLY = (
    "a function of two rows, ",
    "Generator, RandomState, ",
    " or True",
    ", or those of a function",
    ", or a configured object of lowdim.optimize",
    ", or Exact, BarnesHut, FFT with their own tolerance",
    "Gaussian, Entropic, Binary, SelfTuning or their names ",
    " in frames_",
    " where coarse is None",
)
"""Phrases of docstrings about what cannot be typed."""
_IN_THE_SHELL = {
    r"\bX holds": "DATA holds",
    r"\bWhat y of fit holds": "What --target holds",
    r"\bHow much y counts.*": f"How much --target counts against the data, from 0 to 1 (default: {USUAL_WEIGHT})",
    r"Nystrom\(\.\.\.\)": "nystrom",
    r"the estimator's random_state": "--seed",
    r"\((True|False)\)|\bTrue, False\b": lambda found: found[0].lower(),
}
"""What is said otherwise to somebody who types, by what it is in a docstring."""
_NAMES = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)(?: :.*)?")
_SECTIONS_WITHOUT_PARAMETERS = ("Attributes", "Examples", "Notes", "Raises", "Returns", "Yields")
_SEE = re.compile(r"As in [^`]*`(?:lowdim\.)?([\w.]+)`")

Entry = dict[str, Any]


def main() -> None:
    """Write the table."""
    TABLE.write_text(as_text(), encoding="utf-8")


def as_text() -> str:
    """The table as it stands in its file."""
    return json.dumps(describe(), indent=1, ensure_ascii=False) + "\n"


def describe() -> dict[str, Any]:
    """The methods, the parts that they are put together from, functions that are commands, and formats."""
    from ...data import files

    parts = _parts()
    return {
        "methods": {hyphenated(kind.__name__): _method(kind, parts) for kind in _estimators()},
        "parts": parts,
        "functions": {name: _parameters(getattr(lowdim, name), {}) for name in FUNCTIONS},
        "formats": {"embedding": list(files.WRITABLE), "data": list(files.SUFFIXES)},
    }


def _parts() -> dict[str, dict[str, Entry]]:
    """The configured objects that parameters take."""
    from ...affinities.names import NAMES as AFFINITIES
    from ...estimators.embedding_driver.repulsion_and_optimizer import REPULSIONS
    from ...solvers.named import LANDMARK_SOLVERS

    owners: Mapping[str, Mapping[str, Any]] = {
        "solver": LANDMARK_SOLVERS,
        "affinity": AFFINITIES,
        "repulsion": REPULSIONS,
    }
    parts = {
        owner: {name: _part(owner, kind) for name, kind in kinds.items()} for owner, kinds in owners.items()
    }
    parts["optimizer"] = {name: _optimizer(name) for name in _optimizers()}
    return parts


def describe_added(name: str) -> Entry:
    """The same of a method that another package adds."""
    from ...estimators.base import Estimator

    kind = getattr(lowdim, name)
    if not (isinstance(kind, type) and issubclass(kind, Estimator)):
        raise refused("method", name, kind, "a class that is derived from lowdim.estimators.base.Estimator")
    return _method(kind, _parts())


def _estimators() -> list[Any]:
    """Every estimator that needs nothing but data."""
    from sklearn.base import BaseEstimator

    found = [getattr(lowdim, name) for name in lowdim._HOMES]
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    empty = inspect.Parameter.empty
    return [
        kind
        for kind in kinds
        if all(p.default is not empty for p in inspect.signature(kind).parameters.values())
    ]


def _method(kind: Any, parts: Mapping[str, Mapping[str, Entry]]) -> Entry:
    rules: Mapping[str, Rule] = kind._rules
    taken = {
        owner: [name for name in known if _takes(rules.get(owner), name, known[name])]
        for owner, known in parts.items()
        if owner in inspect.signature(kind).parameters
    }
    fit = _parameters(kind.fit, {}) if "fit" in vars(kind) else []
    return {
        "class": kind.__name__,
        "title": _first_paragraph(import_module(kind.__module__).__doc__).rstrip("."),
        "summary": _first_paragraph(kind.__doc__),
        "parameters": _parameters(kind, rules),
        "data": [entry for entry in fit if entry["name"] not in _USUAL_DATA],
        "parts": {owner: names for owner, names in taken.items() if names},
    }


def _takes(rule: Rule | None, name: str, part: Entry) -> bool:
    """Whether a rule allows a part: by its name, or as an object of its class."""
    kind = getattr(lowdim, part["class"], None)
    return rule is not None and (rule.allows(name) or (kind is not None and rule.allows(kind())))


def _part(owner: str, kind: Any) -> Entry:
    fields = _parameters(kind, getattr(kind, "_rules", {}), owner)
    return {
        "class": kind.__name__,
        "fields": [field for field in fields if kinds_of(field["type"]) <= _SIMPLE],
    }


def _optimizers() -> Mapping[str, Any]:
    from ...optimize.named import OPTIMIZERS

    return OPTIMIZERS


def _optimizer(name: str) -> Entry:
    """A named optimiser; what can be set of a descent is what its direction has."""
    usual: Any = _optimizers()[name]()
    kind = type(getattr(usual, "direction", usual))
    fields = _parameters(kind, {}, "optimizer")
    return {
        "class": kind.__name__,
        "fields": [field for field in fields if kinds_of(field["type"]) <= _SIMPLE],
    }


def _parameters(callable_: Any, rules: Mapping[str, Rule], owner: str = "") -> list[Entry]:
    """Name, type, default, description and words of each parameter."""
    known = inspect.signature(callable_).parameters
    flags = {name: flag_of(name, owner) for name in known}
    texts = _texts(callable_)
    found = []
    for name, parameter in known.items():
        text = texts.get(name, "")
        while match := _SEE.match(text):
            text = _texts(_seen(match[1])).get(name, "")
        entry: Entry = {"name": name, "type": _annotation(parameter.annotation)}
        if parameter.default is not inspect.Parameter.empty:
            entry["default"] = parameter.default if _is_plain(parameter.default) else repr(parameter.default)
        entry["help"] = help_text(text, flags, entry.get("default"))
        entry["choices"] = _choices(rules.get(name), text)
        found.append(entry)
    return found


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool | None)


def _choices(rule: Rule | None, text: str) -> list[str]:
    """Words that a parameter takes: those of its rule, or else those that its description quotes."""
    rules = rule.rules if isinstance(rule, Either) else (rule,)
    words = [name for one in rules if isinstance(one, OneOf) for name in one.names]
    return words or list(dict.fromkeys(re.findall(r'``"([^"`]+)"``', text)))


def _seen(path: str) -> Any:
    """The class that a description sends its reader to: by its path, or by its name in ``import lowdim``."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"lowdim.{module}") if module else lowdim, name)


def _texts(described: Any) -> dict[str, str]:
    """Descriptions in the docstrings of a function or class: what a class says itself counts before its bases."""
    if not isinstance(described, type):
        return descriptions(described.__doc__ or "")
    texts: dict[str, str] = {}
    for kind in reversed(described.__mro__):
        if kind is described or kind.__module__.startswith("lowdim"):
            texts |= descriptions(kind.__doc__ or "")
    return texts


def descriptions(docstring: str) -> dict[str, str]:
    """The text that belongs to each parameter, on one line.

    A parameter is a name, or several with commas, on a line of its own, and its text is indented below.
    """
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = inspect.cleandoc(docstring).splitlines()
    is_open = True
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following and not following.strip("-") and line.strip():
            is_open, current = line.strip() not in _SECTIONS_WITHOUT_PARAMETERS, None
        elif not line.startswith(" "):
            match = _NAMES.fullmatch(line) if is_open and following.startswith("    ") else None
            current = [] if match else None
            if match and current is not None:
                found |= dict.fromkeys(match[1].split(", "), current)
        elif current is not None:
            current.append(line.strip())
    return {name: " ".join(words) for name, words in found.items()}


def _first_paragraph(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())


def help_text(text: str, flags: Mapping[str, str], default: object) -> str:
    """A description for a terminal: options for parameters, no marks of code, no Python words, and the default."""
    text = re.sub(r"`+([^`]*)`+", r"\1", text)
    for phrase in _PYTHON_ONLY:
        text = text.replace(phrase, "")
    for name, flag in sorted(flags.items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<![\w-]){name}=", f"{flag} ", text)
        if "_" in name:
            text = re.sub(rf"(?<![\w-]){name}(?!\w)", flag, text)
    text = re.sub(r'"([^"]*)"', r"\1", text)
    text = re.sub(r"\bor None\b", "or none", text).replace("True or False", "true or false")
    if default is None:
        text = re.sub(r"\b[Nn]one:", "default:", text)
    else:
        text = re.sub(r"\bNone:", "none:", text)
        shown = str(default).lower() if isinstance(default, bool) else default
        text = text if "(default)" in text or shown == "" else f"{text.rstrip('.')} (default: {shown})"
    for words, said in _IN_THE_SHELL.items():
        text = re.sub(words, said, text)
    return text


if __name__ == "__main__":
    main()
