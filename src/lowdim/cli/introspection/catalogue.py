"""The methods of lowdim and the parts that they are put together from, by the names that people type."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ... import _HOMES
from .docstring import first_paragraph, words_in
from .signature import (
    REQUIRED,
    Parameter,
    method_of_class,
    parameters_of_class,
    parameters_of_function,
)
from .source import Definition, bases, find, syntax_of

PART_HOMES = {"solver": "spectral.reduce.", "affinity": "affinities", "repulsion": "embedding.repulsion."}
"""Where the classes live that a parameter takes configured objects of."""
_USUAL_DATA = {"self", "X", "y"}
_LANDMARKS = "SpectralEstimator"
"""The base of the methods whose ``solver`` may be one of landmarks."""


@dataclass(frozen=True, slots=True)
class Method:
    """An estimator: the name to type, its class, and what it is called in prose."""

    name: str
    class_name: str
    title: str

    @property
    def definition(self) -> Definition:
        """Its class in the source."""
        return _definition(_HOMES[self.class_name], self.class_name)

    @property
    def parameters(self) -> list[Parameter]:
        """What it is made with."""
        return parameters_of_class(self.definition)

    @property
    def data(self) -> list[Parameter]:
        """Further data that ``fit`` takes, such as a sample of the noise."""
        fit = method_of_class(self.definition, "fit")
        return [] if fit is None else [p for p in parameters_of_function(fit) if p.name not in _USUAL_DATA]

    def parts(self, parameter: str) -> dict[str, Part]:
        """The configured objects that one of its parameters takes, by name; none for most."""
        if parameter == "solver" and not is_kind_of(self.definition, _LANDMARKS):
            return {}
        return parts_of(parameter)

    def choices(self, parameter: Parameter) -> tuple[str, ...]:
        """Words that a parameter takes: those that its description quotes, and the parts that it has."""
        if {"int", "float"} & parameter.kinds:
            return ()
        return tuple(dict.fromkeys([*words_in(parameter.text), *self.parts(parameter.name)]))

    @property
    def summary(self) -> str:
        """What its class's docstring opens with: usually the formula."""
        assert isinstance(self.definition.node, ast.ClassDef)
        return first_paragraph(ast.get_docstring(self.definition.node) or "")


@dataclass(frozen=True, slots=True)
class Part:
    """A configured object that a parameter takes: its name there, its class, and the fields that can be set."""

    name: str
    class_name: str
    fields: tuple[Parameter, ...]


@cache
def methods() -> dict[str, Method]:
    """Every estimator that needs nothing but data."""
    found = {}
    for class_name, home in _HOMES.items():
        if not home.startswith("estimators."):
            continue
        module = ast.get_docstring(syntax_of(home)) or ""
        method = Method(kebab(class_name), class_name, first_paragraph(module).rstrip("."))
        if all(parameter.default is not REQUIRED for parameter in method.parameters):
            found[method.name] = method
    return found


def find_method(name: str) -> Method | None:
    """The method that a person means: t-SNE, tSNE and tsne are one."""
    wanted = re.sub(r"[\W_]", "", name.lower())
    return next((m for m in methods().values() if m.name.replace("-", "") == wanted), None)


@cache
def parts_of(parameter: str) -> dict[str, Part]:
    """The configured objects that a parameter takes, by name; none for most."""
    if parameter == "optimizer":
        return _optimizers()
    prefix = PART_HOMES.get(parameter)
    classes = [name for name, home in _HOMES.items() if prefix and home.startswith(prefix)]
    return {kebab(name): _part(kebab(name), _definition(_HOMES[name], name)) for name in classes}


def function_parameters(module: str, name: str) -> list[Parameter]:
    """What a function of lowdim takes."""
    return parameters_of_function(_definition(module, name))


def constant(module: str, name: str) -> Any:
    """The value of a constant that is written out in the source."""
    node = _definition(module, name).node
    assert isinstance(node, ast.Assign)
    return ast.literal_eval(node.value)


def kebab(name: str) -> str:
    """LaplacianEigenmaps as laplacian-eigenmaps, KernelPCA as kernel-pca, LLL as lll."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _optimizers() -> dict[str, Part]:
    """The named optimisers; what can be set of a descent is what its direction has."""
    table = _definition("optimize.named", "OPTIMIZERS").node
    assert isinstance(table, ast.AnnAssign)
    assert isinstance(table.value, ast.Dict)
    found = {}
    for key, value in zip(table.value.keys, table.value.values, strict=True):
        assert isinstance(key, ast.Constant)
        name = str(key.value)
        classes = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
        found[name] = _part(name, _definition("optimize.named", classes[-1]))
    return found


def _part(name: str, found: Definition) -> Part:
    assert isinstance(found.node, ast.ClassDef)
    simple = {"int", "float", "str", "bool", "None", "Any", "Literal", "Symmetry"}
    fields = tuple(field for field in parameters_of_class(found) if field.kinds <= simple)
    return Part(name, found.node.name, fields)


def _definition(module: str, name: str) -> Definition:
    found = find(module, name)
    assert found is not None
    return found


def is_kind_of(found: Definition, class_name: str) -> bool:
    """Whether a class of that name is among the bases."""
    return any(getattr(b.node, "name", "") == class_name or is_kind_of(b, class_name) for b in bases(found))
