"""Imports point one way, and `import lowdim` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import lowdim

PACKAGE = Path(lowdim.__file__).parent

# Each package may import from the packages before it, and from itself.
ORDER = [
    {"core"},
    {"kernels"},
    {"data"},
    {"validation"},
    {"neighbors"},
    {"affinities"},
    {"objectives"},
    {"spectral", "metrics"},
    {"maps"},
    {"methods"},
    {"eigen"},
    {"solvers", "linear"},
    {"optimize"},
    {"reliability"},
    {"explanation"},
    {"plotting"},
    {"store"},
    {"engine"},
    {"sharded"},
    {"estimators"},
    {"selection"},
    {"models"},
    {"scanpy"},
    {"explore"},
    {"cli"},
    {"__main__"},
]
RANK = {package: place for place, packages in enumerate(ORDER) for package in packages}


# Folders that are so much of their own that they have a place of their own.
APART = {("solvers", "eigen"): "eigen", ("spectral", "linear"): "linear"}


def package_of(path: Path) -> str:
    return named_package(path.relative_to(PACKAGE).with_suffix("").parts)


def named_package(parts: tuple[str, ...]) -> str:
    # The errors are a part of the core, and the data sets one of the data, that people import by their own names.
    return APART.get(parts[:2], {"errors": "core", "datasets": "data"}.get(parts[0], parts[0]))


def imported_packages(path: Path) -> set[str]:
    """Packages of lowdim that a file imports, wherever in the file it does so."""
    package = ("lowdim", *path.relative_to(PACKAGE).parts[:-1])
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            whole = (*base, *(node.module.split(".") if node.module else ()))
            if whole[:1] == ("lowdim",):
                found |= {named_package((*whole[1:], alias.name)) for alias in node.names}
        elif isinstance(node, ast.Import):
            inside = [a.name.split(".") for a in node.names if a.name.startswith("lowdim.")]
            found |= {named_package(tuple(parts[1:])) for parts in inside}
    return found


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {other}, which comes after {package}"
        for path in FILES
        for package in [package_of(path)]
        for other in imported_packages(path) & set(RANK)
        if other != package and RANK[other] >= RANK[package]
    ]
    assert wrong == []


def test_every_package_has_its_place() -> None:
    assert {package_of(path) for path in FILES} == set(RANK)


def test_files_and_functions_stay_small() -> None:
    long_files, long_functions = [], []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 400:
            long_files.append(path.name)
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                first = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
                if node.end_lineno - first > 60:
                    long_functions.append(f"{path.name}:{node.name}")
    assert long_files == []
    assert long_functions == []


def test_import_is_light() -> None:
    code = "import sys, lowdim; print('\\n'.join(sorted(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"sklearn", "numba", "matplotlib", "scipy", "pandas", "pyamg", "pyarrow", "pynndescent"}
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize("name", sorted(set(lowdim.__all__) - {"__version__"}))
def test_every_public_name_loads(name: str) -> None:
    assert getattr(lowdim, name) is not None
    assert name in dir(lowdim)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'TSNEE'"):
        _ = lowdim.TSNEE
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lowdim.kernels.nothing


def test_names_are_imported_from_datasets_as_they_are_called():
    code = (
        "from lowdim.datasets import swiss_roll; import lowdim, lowdim.data.datasets as home; "
        "assert lowdim.datasets is home and home.swiss_roll is swiss_roll"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
