"""Spectral estimators by landmarks over rows in shards: which settings can, and what the others say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import validation
from ...core.blas_threads import ONE_BLAS_THREAD
from ...core.messages import named, setting
from ...core.parallel import count_workers
from ...core.places import Place
from ...core.records import PlannedStage, format_bytes
from ...core.run import Store
from ...data.shards import Shards
from ...engine import tallying
from ...errors import InputError, MemoryLimitError
from ...methods.base import WayOverShards
from ...neighbors.metrics import MappedMetric, resolve_metric
from ...neighbors.points import KERNEL, PAIRWISE
from ...sharded.costs import held_by_blocks, planned_alone, planned_sums
from ...sharded.fit_alone import ShardedAlone
from ...sharded.fit_lll import ShardedLLL
from ...sharded.layout import Layout
from ...sharded.place import Output
from ...sharded.summands import check_summands, summands_of
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.named import LANDMARK_SOLVERS, resolve_solver
from ...store.identity import Identity
from ...store.task_checkpoint import RESULT, task_store
from .over_shards import needs_all_rows

USUAL_LANDMARKS, FEWEST_POINTS = 1000, 4
"""Landmarks that ``auto`` takes of rows in shards, which no exact solver can hold, and points for each at least."""
PREFERRED = ("lll", "nystrom", "landmark-z")
"""What ``auto`` takes: the first that a method has."""
FROM_DATA = ("seuclidean", "mahalanobis")
"""Metrics with parameters that are those of the rows, where none are given."""
MOST_IN_MEMORY = 1 << 30
"""Bytes of coordinates that a model may hold in memory; more are in the folder of its checkpoint."""


def fit_to_shards(estimator: Any, source: Shards, layout: Layout | None = None) -> Any:
    """``fit`` of a spectral estimator by landmarks, over shards.

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
    method, solver, way = _settings(estimator, source)
    estimator._check_stages(plan_over_shards(estimator, source, layout))
    validation.check_source(estimator, source, reset=True, at_least=2)
    recorder, events = estimator._listened_to()
    run = estimator._run(events, Place(), Store())
    if _is_open(estimator):
        run.chosen("method", type(solver).__name__, "rows in shards are solved by landmarks alone")
    dtype = np.dtype(np.float32 if source.dtype == np.float32 else np.float64)
    _check_room(estimator, source.n_samples * method.width * dtype.itemsize)

    def identity() -> Identity:
        given = {**estimator.get_params(deep=False), "layout": layout}
        return Identity(type(estimator).__name__, given, {"X": source.digest()})

    with task_store(estimator.checkpoint, identity, events) as store, ONE_BLAS_THREAD, tallying() as tally:
        path = None if estimator.checkpoint is None else Path(store.root) / RESULT
        held = held_by_blocks(source, layout, method, solver)
        fit: ShardedLLL | ShardedAlone = ShardedAlone(source, solver, layout, store, method, held=held)
        if way == "sums":
            summands = summands_of(method, source, run)
            fit = ShardedLLL(source, solver, layout, store, method, method.graph, summands, held=held)
        found = fit.embed(Output(method.width, dtype, path), run)
        found = replace(found, figures={**found.figures, **tally.figures()})
        embedded = estimator._after_shards(found, run)
        estimator._leave(embedded, embedded.coordinates, recorder, source.shape)
    return estimator


def plan_over_shards(estimator: Any, source: Shards, layout: Layout | None = None) -> list[PlannedStage]:
    """The stages of that fit, with their estimated cost."""
    method, solver, way = _settings(estimator, source)
    cut = Layout(source.n_samples) if layout is None else layout
    workers = estimator._workers
    threads = count_workers(workers.n_jobs)
    if way == "sums":
        return planned_sums(source, cut, method, solver, threads, workers.memory_limit)
    return planned_alone(source, cut, method, solver, threads, workers.memory_limit)


def _is_open(estimator: Any) -> bool:
    """Whether the solver is left to the library."""
    return estimator.solver == "auto" and not estimator._asks_for_landmarks


def _settings(estimator: Any, source: Shards) -> tuple[Any, LandmarkSolver, WayOverShards]:
    """Method, solver and the way of both over shards; an InputError where there is none."""
    estimator._check_for_shards(source)
    method = estimator._method()
    ways = {name: kind().way_over_shards(method) for name, kind in LANDMARK_SOLVERS.items()}
    able = tuple(name for name, way in ways.items() if way is not None)
    if not able:
        raise needs_all_rows(estimator, source)
    words = [name for name in ("affinity", "kernel", "metric") if hasattr(estimator, name)]
    if method.metric in (*PAIRWISE, KERNEL):
        given = next(name for name in words if getattr(estimator, name) in PAIRWISE)
        raise needs_all_rows(
            estimator, source, f"{setting(given, getattr(estimator, given))} is about pairs of rows"
        )
    solver: Any = resolve_solver(estimator)
    if _is_open(estimator):
        first = next(name for name in PREFERRED if name in able)
        solver = LANDMARK_SOLVERS[first](
            max(method.width + 2, min(USUAL_LANDMARKS, source.n_samples // FEWEST_POINTS))
        )
    way = solver.way_over_shards(method)
    if way is None:
        asked = setting("solver", getattr(solver, "name", estimator.solver))
        why = f"{named('landmarks')} is short for {asked}, which" if estimator._asks_for_landmarks else asked
        raise needs_all_rows(estimator, source, f"{why} does", able)
    _check_metric(estimator, method, solver, way, source)
    if way == "sums":
        _check_graph(estimator, method, source)
        check_summands(method)
    _check_solver(solver, source)
    return method, solver, way


def _check_metric(
    estimator: Any, method: Any, solver: LandmarkSolver, way: WayOverShards, source: Shards
) -> None:
    """InputError for a metric or a kernel that rows in shards cannot have."""
    if way == "sums" and not isinstance(resolve_metric(method.metric), MappedMetric):
        raise needs_all_rows(
            estimator,
            source,
            f"{setting('metric', estimator.metric)} has no coordinates that cells can be made of",
            ("landmark-z",),
        )
    if method.metric in FROM_DATA:
        raise InputError(
            f"{setting('metric', estimator.metric)} takes its parameters from all rows, which shards never have "
            f"together. Give them as {named('metric_params')}."
        )
    functions = [name for name in ("kernel", "metric") if callable(getattr(estimator, name, None))]
    if functions and not solver.places_by_weights:
        raise InputError(
            f"{setting(functions[0], getattr(estimator, functions[0]))} is a function, and the maps of Nystrom that "
            f"are kept for the workers hold no code. Use one by its name, or {setting('solver', 'landmark-z')}."
        )


def _check_graph(estimator: Any, method: Any, source: Shards) -> None:
    """InputError for lists of neighbours that cannot be merged."""
    if method.graph.radius is not None:
        raise InputError(
            f"{named('radius', type(estimator).__name__)} gives lists of any length, which are not merged over "
            f"shards; got {setting('radius', method.graph.radius)}. Use {named('n_neighbors')}."
        )
    validation.check_neighbors(method.graph.width, source.n_samples, 0)


def _check_solver(solver: LandmarkSolver, source: Shards) -> None:
    """InputError for what a solver would do with all rows at once."""
    owner = type(solver).__name__
    filters = {name: getattr(solver, name) for name in ("smooth", "polish", "certify")}
    for name, given in filters.items():
        if given:
            raise InputError(
                f"{named(name, owner)} needs the graph of all points at once, which shards never have; got "
                f"{setting(name, given, owner)}. Leave it 0, and take more landmarks."
            )
    if solver.landmarks is None and solver.choose != "random":
        raise InputError(
            f"{setting('choose', solver.choose, owner)} looks at all rows at once, which shards never have. Use "
            f"{setting('choose', 'random', owner)}, or give {named('landmarks')}."
        )
    _check_landmarks(solver.landmarks, source, owner)


def _check_landmarks(given: Any, source: Shards, owner: str) -> None:
    """InputError for landmarks that are neither row numbers nor points."""
    if given is None:
        return
    points = np.asarray(given)
    if points.ndim == 2 and points.shape[1] == source.n_features and np.isfinite(points).all():
        return
    is_numbers = points.ndim == 1 and points.dtype.kind in "iu" and points.size > 0
    if not (is_numbers and points.min() >= 0 and points.max() < source.n_samples):
        raise InputError(
            f"{named('landmarks', owner)} must be numbers of rows from 0 to {source.n_samples - 1}, or points with "
            f"{source.n_features} finite columns; got an array of {points.dtype} with shape {points.shape}."
        )


def _check_room(estimator: Any, size: int) -> None:
    """MemoryLimitError, before the work, where the coordinates should not be in memory and there is no other place."""
    if estimator.checkpoint is None and size > MOST_IN_MEMORY:
        raise MemoryLimitError(
            f"The coordinates of all rows would take {format_bytes(size)}. Give {named('checkpoint')}, a folder: they "
            "are then in a file there, and read from it as they are used."
        )
