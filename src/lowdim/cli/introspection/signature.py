"""Parameters of classes and functions: name, type, default and description."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from .docstring import descriptions
from .source import Definition, bases, find, text_of

REQUIRED = object()
"""The default of a parameter that has none."""

_SEE = re.compile(r"As in [^`]*`(?:lowdim\.)?([\w.]+)`")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as its signature and docstring have it."""

    name: str
    type: str
    default: Any
    text: str

    @property
    def kinds(self) -> set[str]:
        """The types that it takes, apart: ``int | None`` is int and None."""
        return {part.strip() for part in re.sub(r"\[.*?\]", "", self.type).split("|")}


def parameters_of_class(found: Definition) -> list[Parameter]:
    """What a class is made with, in the order of its signature."""
    texts = _texts(found)
    return [_parameter(found, *piece, texts) for piece in _pieces(found)]


def parameters_of_function(found: Definition) -> list[Parameter]:
    """What a function takes, in the order of its signature."""
    assert isinstance(found.node, ast.FunctionDef)
    texts = descriptions(ast.get_docstring(found.node, clean=False) or "")
    return [_parameter(found, *piece, texts) for piece in _arguments(found.node)]


def method_of_class(found: Definition, name: str) -> Definition | None:
    """A method that the class itself defines."""
    for node in getattr(found.node, "body", []):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return Definition(found.module, node)
    return None


def _pieces(found: Definition) -> list[tuple[str, str, Any]]:
    """Name, type and default of each parameter: of the constructor, of a dataclass's fields, or of a base's."""
    constructor = method_of_class(found, "__init__")
    if constructor is not None:
        assert isinstance(constructor.node, ast.FunctionDef)
        return _arguments(constructor.node)[1:]
    pieces = [piece for base in bases(found) for piece in _pieces(base)]
    if _is_dataclass(found.node):
        pieces += _fields(found.node)
    return pieces


def _arguments(function: ast.FunctionDef) -> list[tuple[str, str, Any]]:
    given = function.args
    ordered = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [
        *[None] * (len(ordered) - len(given.defaults)),
        *given.defaults,
        *given.kw_defaults,
    ]
    return [
        (argument.arg, _source(argument.annotation), _literal(default))
        for argument, default in zip([*ordered, *given.kwonlyargs], defaults, strict=True)
    ]


def _fields(node: ast.stmt) -> list[tuple[str, str, Any]]:
    """The fields of a dataclass that it is made with."""
    fields = []
    for line in getattr(node, "body", []):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        name, kind = line.target.id, _source(line.annotation)
        if not name.startswith("_") and not kind.startswith("ClassVar"):
            fields.append((name, kind, _literal(line.value)))
    return fields


def _is_dataclass(node: ast.stmt) -> bool:
    return any("dataclass" in ast.unparse(mark) for mark in getattr(node, "decorator_list", []))


def _source(node: ast.expr | None) -> str:
    return "Any" if node is None else ast.unparse(node)


def _literal(node: ast.expr | None) -> Any:
    """The value of a default; its source where it is no literal."""
    if node is None:
        return REQUIRED
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _texts(found: Definition) -> dict[str, str]:
    """Descriptions in the docstrings of a class: what it says itself counts before what its bases say."""
    assert isinstance(found.node, ast.ClassDef)
    texts: dict[str, str] = {}
    for base in reversed(bases(found)):
        texts |= _texts(base)
    for line in found.node.body:
        if isinstance(line, ast.AugAssign) and isinstance(line.value, ast.Name):
            texts |= descriptions(text_of(find(found.module, line.value.id)))
    return texts | descriptions(ast.get_docstring(found.node, clean=False) or "")


def _parameter(found: Definition, name: str, kind: str, default: Any, texts: dict[str, str]) -> Parameter:
    text = texts.get(name, "")
    while match := _SEE.match(text):
        other = _seen(match[1])
        text = _texts(other).get(name, "") if other else ""
    return Parameter(name, kind, default, text)


def _seen(path: str) -> Definition | None:
    """The class that a description sends its reader to: by its path, or by its name in ``import lowdim``."""
    from ... import _HOMES

    module, _, name = path.rpartition(".")
    return find(module or _HOMES[name], name)
