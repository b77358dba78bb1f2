"""Pipelines of scikit-learn whose steps are estimators of lowdim: stored as the list of their steps.

The folder of a ``memory`` belongs to the machine and to the fit, and is no part of a model.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sklearn.pipeline import Pipeline

from ..store.arrays import Broken
from ..store.registry import ESTIMATORS, Entry, name_of


def _take(pipeline: Pipeline) -> dict[str, Any]:
    return {"steps": [(name, step) for name, step in pipeline.steps], "verbose": bool(pipeline.verbose)}


def _make(steps: list[tuple[str, Any]], verbose: bool) -> Pipeline:
    if not steps or len({name for name, _ in steps}) < len(steps):
        raise Broken("a pipeline has no steps, or two of one name")
    if any(name_of(type(step)) not in ESTIMATORS for _, step in steps):
        raise Broken("a step of a pipeline is no estimator")
    for (_, one), (name, following) in pairwise(steps):
        shape = one.embedding_.shape if hasattr(one, "embedding_") else one.embedding_shape_
        if getattr(following, "n_features_in_", shape[1]) != shape[1]:
            raise Broken(
                f"step {name!r} of a pipeline takes another number of columns than the one before it gives"
            )
    return Pipeline(steps, verbose=verbose)


ENTRY = Entry(_take, _make, _make)
"""How a pipeline is stored."""
