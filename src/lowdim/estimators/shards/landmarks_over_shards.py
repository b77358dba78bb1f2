"""Spectral estimators by locally linear landmarks over rows in shards: which settings can, and what the others say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import validation
from ...core.messages import named, setting
from ...core.parallel import count_workers
from ...core.places import Place
from ...core.records import PlannedStage, format_bytes
from ...core.run import Store
from ...data.shards import Shards
from ...engine.task import ONE_BLAS_THREAD
from ...errors import InputError, MemoryLimitError
from ...neighbors.metrics import MappedMetric, resolve_metric
from ...neighbors.points import PAIRWISE
from ...sharded.costs import planned
from ...sharded.fit_lll import ShardedLLL
from ...sharded.layout import Layout
from ...sharded.place import Output
from ...sharded.summands import check_summands, has_sums, summands_of
from ...solvers.landmarks.lll import LLL
from ...solvers.named import resolve_solver
from ...store.identity import Identity
from ...store.task_checkpoint import RESULT, task_store
from .over_shards import needs_all_rows

USUAL_LANDMARKS = 1000
"""Landmarks that ``auto`` takes of rows in shards, which no exact solver can hold."""
MOST_IN_MEMORY = 1 << 30
"""Bytes of coordinates that a model may hold in memory; more are in the folder of its checkpoint."""


def fit_to_shards(estimator: Any, source: Shards, layout: Layout | None = None) -> Any:
    """``fit`` of a spectral estimator by locally linear landmarks, over shards.

    Parameters
    ----------
    estimator
        Its parameters are checked.
    source
        The rows.
    layout
        How they are cut; None: as usual.
    """
    layout = Layout(source.n_samples) if layout is None else layout
    method, solver = _settings(estimator, source)
    estimator._check_stages(plan_over_shards(estimator, source, layout))
    validation.check_source(estimator, source, reset=True, at_least=2)
    recorder, events = estimator._listened_to()
    run = estimator._run(events, Place(), Store())
    if estimator.solver == "auto":
        run.chosen("method", "LLL", "rows in shards are solved by landmarks alone")
    dtype = np.dtype(np.float32 if source.dtype == np.float32 else np.float64)
    _check_room(estimator, source.n_samples * method.width * dtype.itemsize)

    def identity() -> Identity:
        given = {**estimator.get_params(deep=False), "layout": layout}
        return Identity(type(estimator).__name__, given, {"X": source.digest()})

    with task_store(estimator.checkpoint, identity, events) as store, ONE_BLAS_THREAD:
        path = None if estimator.checkpoint is None else Path(store.root) / RESULT
        fit = ShardedLLL(source, solver, layout, store, method, method.graph, summands_of(method, run))
        embedded = estimator._after_shards(fit.embed(Output(method.width, dtype, path), run), run)
        estimator._leave(embedded, embedded.coordinates, recorder, source.shape)
    return estimator


def plan_over_shards(estimator: Any, source: Shards, layout: Layout | None = None) -> list[PlannedStage]:
    """The stages of that fit, with their estimated cost."""
    method, solver = _settings(estimator, source)
    cut = Layout(source.n_samples) if layout is None else layout
    return planned(source, cut, method, solver, count_workers(estimator.n_jobs))


def _settings(estimator: Any, source: Shards) -> tuple[Any, LLL]:
    """Method and solver; an InputError where they cannot go over shards."""
    method = estimator._method()
    if not has_sums(method):
        raise needs_all_rows(estimator, source)
    solver: Any = resolve_solver(estimator)
    if estimator.solver == "auto":
        solver = LLL(max(method.width + 2, min(USUAL_LANDMARKS, source.n_samples // 4)))
    if not solver.goes_over_shards:
        raise needs_all_rows(estimator, source, f"{setting('solver', estimator.solver)} does")
    _check_method(estimator, method, solver, source)
    return method, solver


def _check_method(estimator: Any, method: Any, solver: LLL, source: Shards) -> None:
    """InputError for settings that need all rows at once."""
    owner = type(estimator).__name__
    if method.metric in PAIRWISE or not isinstance(resolve_metric(method.metric), MappedMetric):
        raise needs_all_rows(
            estimator,
            source,
            f"{setting('metric', estimator.metric)} has no coordinates that cells can be made of",
        )
    if method.graph.radius is not None:
        raise InputError(
            f"{named('radius', owner)} gives lists of any length, which are not merged over shards; got "
            f"{setting('radius', method.graph.radius)}. Use {named('n_neighbors')}."
        )
    validation.check_neighbors(method.graph.width, source.n_samples, 0)
    check_summands(method)
    filters = {name: getattr(solver, name) for name in ("smooth", "polish", "certify")}
    for name, given in filters.items():
        if given:
            raise InputError(
                f"{named(name, 'LLL')} needs the graph of all points at once, which shards never have; got "
                f"{setting(name, given, 'LLL')}. Leave it 0, and take more landmarks."
            )
    if solver.landmarks is None and solver.choose != "random":
        raise InputError(
            f"{setting('choose', solver.choose, 'LLL')} looks at all rows at once, which shards never have. Use "
            f"{setting('choose', 'random', 'LLL')}, or give {named('landmarks')}."
        )
    _check_landmarks(solver.landmarks, source)


def _check_landmarks(given: Any, source: Shards) -> None:
    """InputError for landmarks that are neither row numbers nor points."""
    if given is None:
        return
    points = np.asarray(given)
    if points.ndim == 2 and points.shape[1] == source.n_features and np.isfinite(points).all():
        return
    is_numbers = points.ndim == 1 and points.dtype.kind in "iu" and points.size > 0
    if not (is_numbers and points.min() >= 0 and points.max() < source.n_samples):
        raise InputError(
            f"{named('landmarks', 'LLL')} must be numbers of rows from 0 to {source.n_samples - 1}, or points with "
            f"{source.n_features} finite columns; got an array of {points.dtype} with shape {points.shape}."
        )


def _check_room(estimator: Any, size: int) -> None:
    """MemoryLimitError, before the work, where the coordinates should not be in memory and there is no other place."""
    if estimator.checkpoint is None and size > MOST_IN_MEMORY:
        raise MemoryLimitError(
            f"The coordinates of all rows would take {format_bytes(size)}. Give {named('checkpoint')}, a folder: they "
            "are then in a file there, and read from it as they are used."
        )
