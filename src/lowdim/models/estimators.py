"""Fitted estimators: their parameters, and what the fit has left."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Certificate, Floats, Integers, Report
from ..errors import InputError
from ..estimators.base import Estimator
from ..estimators.choosing.settled import open_parameters
from ..estimators.coordinates import read_only
from ..maps.base import Map
from ..optimize.outcome import History
from ..spectral.linear.streaming import Sketch
from ..spectral.preimage import Preimage
from ..store.arrays import Broken
from ..store.consistency import check_model
from ..store.registry import Entry
from ..store.type_checks import fits

OUTPUT = "_sklearn_output_config"
"""Where scikit-learn's ``set_output`` keeps its choice."""
FITTED = re.compile(r"[a-z][a-z0-9_]*_")
TYPES: dict[str, Any] = {
    "embedding_": NDArray[np.floating[Any]],
    "embedding_shape_": tuple[int, int],
    "map_": Map,
    "report_": Report,
    "eigenvalues_": Floats,
    "certificate_": Certificate,
    "history_": History,
    "component_labels_": Integers,
    "labels_": Integers,
    "cluster_centers_": Floats,
    "components_": Floats,
    "mean_": Floats,
    "explained_variance_": Floats,
    "n_components_": int,
    "n_neighbors_": int | None,
    "perplexity_": float | None,
    "n_features_in_": int,
    "sketch_": Sketch,
    "preimage_": Preimage,
    "reconstruction_error_": float,
    "stress_": float,
    "normalized_stress_": float,
    "pivots_": Integers,
    "point_of_row_": Integers,
}
"""Fitted attributes on which methods or pictures rely."""


def entry(kind: type[Estimator]) -> Entry:
    """How estimators of a class are stored."""

    def make(parameters: dict[str, Any], attributes: dict[str, Any]) -> Estimator:
        model = kind(**parameters)
        model._check_parameters()
        for name, value in attributes.items():
            _check_attribute(kind, name, value)
            setattr(model, name, value)
        if not (attributes.keys() & {"embedding_", "embedding_shape_"} and "map_" in attributes):
            raise Broken(f"{kind.__name__} lacks its embedding or its map")
        if missing := [name for name in open_parameters(model) if f"{name}_" not in attributes]:
            raise Broken(f"{kind.__name__} lacks what was chosen for {missing[0]}")
        check_model(model)
        if "embedding_" in attributes:
            model.embedding_ = read_only(model.embedding_)  # the map shares its memory, as after the fit
        return model

    return Entry(_take, make, make)


def _take(model: Estimator) -> dict[str, Any]:
    parameters: dict[str, Any] = model.get_params(deep=False)
    attributes = {name: value for name, value in vars(model).items() if name not in parameters}
    if "embedding_" in attributes:
        attributes.pop("embedding_shape_", None)  # of an earlier fit, before it went on with `partial_fit`
    for name in attributes:
        if name != OUTPUT and not FITTED.fullmatch(name):
            raise InputError(
                f"{name} of {type(model).__name__} is no attribute that a fit leaves, so a model file has no place for "
                "it. Delete it before you save."
            )
    # Neither a function nor a folder of this machine is part of a model.
    private = {"callback": None, "checkpoint": None}
    return {"parameters": parameters | private, "attributes": attributes}


def _check_attribute(kind: type[Estimator], name: Any, value: Any) -> None:
    if name == OUTPUT:
        choices = {"transform": ("default", "pandas", "polars")}
        is_allowed = isinstance(value, dict) and all(v in choices.get(k, ()) for k, v in value.items())
    else:
        is_name = isinstance(name, str) and FITTED.fullmatch(name) is not None and not hasattr(kind, name)
        is_allowed = is_name and fits(value, TYPES.get(name, Any))
    if not is_allowed:
        raise Broken(f"{name} of {kind.__name__} is of type {type(value).__name__}, which it cannot be")
