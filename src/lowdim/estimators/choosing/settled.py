"""An estimator in which nothing is left open: the same, with values in the place of ``"auto"``."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from ...core.rules import is_open

OPEN = ("n_components", "perplexity", "n_neighbors")
"""Parameters that may be left open, in the order in which they are chosen."""

Kind = TypeVar("Kind")


def open_parameters(model: Any) -> list[str]:
    """The parameters that an estimator leaves open."""
    return [name for name in OPEN if is_open(getattr(model, name, None))]


def with_values(model: Kind, values: Mapping[str, Any]) -> Kind:
    """The same estimator, fitted or not, with other values of some parameters; it shares all else."""
    other = object.__new__(type(model))
    vars(other).update(vars(model), **values)
    return other


def with_defaults(model: Kind) -> Kind:
    """The same estimator with the defaults of what it leaves open."""
    own = signature(type(model)).parameters
    return with_values(model, {name: own[name].default for name in open_parameters(model)})


def chosen_values(model: Any) -> dict[str, Any]:
    """What the fit of an estimator has chosen."""
    return {name: vars(model)[f"{name}_"] for name in open_parameters(model)}


def as_fitted(model: Kind) -> Kind:
    """A fitted estimator with what its fit has chosen."""
    values = chosen_values(model)
    return with_values(model, values) if values else model


def closed(model: Any, name: str) -> Any:
    """The value of a parameter of an estimator in which it is not left open."""
    value = getattr(model, name)
    assert not is_open(value), f"{name} is still open"
    # Counts of rows and bytes follow from it, which NumPy's short integers do not hold.
    return value.item() if isinstance(value, np.generic) else value
