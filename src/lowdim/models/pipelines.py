"""Pipelines of scikit-learn: stored as the list of their steps, estimators of lowdim and scalers before them.

The folder of a ``memory`` belongs to the machine and to the fit, and is no part of a model.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sklearn.pipeline import Pipeline

from ..store.arrays import Broken
from ..store.registry import ESTIMATORS, SCALERS, Entry, name_of


def _take(pipeline: Pipeline) -> dict[str, Any]:
    return {"steps": [(name, step) for name, step in pipeline.steps], "verbose": bool(pipeline.verbose)}


def _make(steps: list[tuple[str, Any]], verbose: bool) -> Pipeline:
    if not steps or len({name for name, _ in steps}) < len(steps):
        raise Broken("a pipeline has no steps, or two of one name")
    kinds = [name_of(type(step)) for _, step in steps]
    if kinds[-1] not in ESTIMATORS or any(kind not in (*ESTIMATORS, *SCALERS) for kind in kinds):
        raise Broken("a step of a pipeline is no estimator")
    for (_, one), (name, following) in pairwise(steps):
        width = _width(one)
        if getattr(following, "n_features_in_", width) != width:
            raise Broken(
                f"step {name!r} of a pipeline takes another number of columns than the one before it gives"
            )
    return Pipeline(steps, verbose=verbose)


def _width(step: Any) -> int:
    """Columns that a step gives: coordinates, or of a scaler as many as it takes."""
    if hasattr(step, "embedding_"):
        return int(step.embedding_.shape[1])
    return int(step.embedding_shape_[1] if hasattr(step, "embedding_shape_") else step.n_features_in_)


ENTRY = Entry(_take, _make, _make)
"""How a pipeline is stored."""
