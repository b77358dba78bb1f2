"""Definitions found in the source of lowdim, without importing it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, a function or an assignment, and the module in which it stands."""

    module: str
    node: ast.stmt


@cache
def syntax_of(module: str) -> ast.Module:
    """The syntax tree of a module, named from within lowdim: ``estimators.isomap``."""
    return ast.parse(_file_of(module).read_text(encoding="utf-8"))


def find(module: str, name: str) -> Definition | None:
    """Where a name that a module uses is defined, followed through its imports; None where it is not lowdim's own."""
    for node in syntax_of(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return Definition(module, node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node):
            return Definition(module, node)
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return find(_absolute(module, node), alias.name)
    return None


def bases(found: Definition) -> list[Definition]:
    """The base classes of a class that lowdim itself defines, in their order."""
    assert isinstance(found.node, ast.ClassDef)
    named = [find(found.module, base.id) for base in found.node.bases if isinstance(base, ast.Name)]
    return [base for base in named if base is not None]


def text_of(found: Definition | None) -> str:
    """The text that a name stands for; empty where it is no text."""
    value = getattr(found and found.node, "value", None)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _file_of(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that a relative import means."""
    is_package = _file_of(module).name == "__init__.py"
    parts = module.split(".")
    home = parts[: len(parts) - node.level + is_package]
    return ".".join([*home, *(node.module or "").split(".")]).strip(".")
