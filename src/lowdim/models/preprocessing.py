"""scikit-learn's transformers that bring columns or rows to one scale: they may stand before lowdim's steps in a file.

Each is a few numbers for every column. They are stored as estimators are, by their parameters and by what the fit has
left; a file can hold no other class, and of these no other parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from ..core.records import Floats, Integers
from ..errors import InputError
from ..store.arrays import Broken
from ..store.registry import Entry
from ..store.type_checks import fits
from .estimators import FITTED, OUTPUT

Values = Floats | None
Counted = float | Floats | Integers


KINDS = {
    kind.__name__: kind for kind in (MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler)
}
"""The classes by their names in files."""


@dataclass(frozen=True, slots=True)
class Form:
    """The types of a transformer's parameters, and of what its fit leaves: of arrays a number for each column."""

    parameters: dict[str, Any]
    attributes: dict[str, Any]


FORMS = {
    "StandardScaler": Form(
        {"copy": bool, "with_mean": bool, "with_std": bool},
        {"mean_": Values, "var_": Values, "scale_": Values, "n_samples_seen_": Counted},
    ),
    "MinMaxScaler": Form(
        {"feature_range": tuple[float, float], "copy": bool, "clip": bool},
        {
            "min_": Floats,
            "scale_": Floats,
            "data_min_": Floats,
            "data_max_": Floats,
            "data_range_": Floats,
            "n_samples_seen_": Counted,
        },
    ),
    "MaxAbsScaler": Form(
        {"copy": bool, "clip": bool}, {"scale_": Floats, "max_abs_": Floats, "n_samples_seen_": Counted}
    ),
    "RobustScaler": Form(
        {
            "with_centering": bool,
            "with_scaling": bool,
            "quantile_range": tuple[float, float],
            "copy": bool,
            "unit_variance": bool,
        },
        {"center_": Values, "scale_": Values},
    ),
    "Normalizer": Form({"norm": Literal["l1", "l2", "max"], "copy": bool}, {}),
}
"""What a file holds of each."""


def entry(name: str) -> Entry:
    """How the transformer of a name is stored."""
    kind, form = KINDS[name], FORMS[name]

    def make(parameters: dict[str, Any], attributes: dict[str, Any]) -> Any:
        for key, value in parameters.items():
            if not (key in form.parameters and fits(value, form.parameters[key])):
                raise Broken(f"{name} has no {key} of type {type(value).__name__}")
        scaler = kind(**parameters)
        n_columns = attributes.get("n_features_in_")
        if type(n_columns) is not int or n_columns < 1 or not form.attributes.keys() <= attributes.keys():
            raise Broken(f"{name} lacks what its fit has left")
        for key, value in attributes.items():
            if not _may_have(kind, form, key, value, n_columns):
                raise Broken(
                    f"{key} of {name} is of type {type(value).__name__}, or of a length that it cannot have"
                )
            setattr(scaler, key, value)
        return scaler

    return Entry(_take, make, make)


def _take(scaler: Any) -> dict[str, Any]:
    name = type(scaler).__name__
    parameters: dict[str, Any] = scaler.get_params(deep=False)
    attributes = {key: value for key, value in vars(scaler).items() if key not in parameters}
    form, n_columns = FORMS[name], int(scaler.n_features_in_)
    for key, value in parameters.items():
        if not (key in form.parameters and fits(value, form.parameters[key])):
            raise InputError(
                f"{key}={value!r} of {name} is none that a model file holds. Fit it with another."
            )
    for key, value in attributes.items():
        if not _may_have(type(scaler), form, key, value, n_columns):
            raise InputError(
                f"{key} of {name} is no attribute that a fit leaves, so a model file has no place for it. Delete it "
                "before you save."
            )
    return {"parameters": parameters, "attributes": attributes}


def _may_have(kind: type, form: Form, key: Any, value: Any, n_columns: int) -> bool:
    """Whether an attribute is one that a fit leaves, or that was added beside it, and fits the number of columns."""
    if key == OUTPUT:
        return isinstance(value, dict) and all(
            name == "transform" and choice in ("default", "pandas", "polars")
            for name, choice in value.items()
        )
    is_name = isinstance(key, str) and FITTED.fullmatch(key) is not None and not hasattr(kind, key)
    if not (is_name and fits(value, form.attributes.get(key, Any))):
        return False
    is_by_column = isinstance(value, np.ndarray) and (key in form.attributes or key == "feature_names_in_")
    return not is_by_column or value.shape == (n_columns,)
