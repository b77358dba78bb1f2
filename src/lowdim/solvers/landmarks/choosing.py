"""Choosing landmarks: L points that carry the whole data set.

Rows are read in blocks, whatever holds them, and never copied whole. The same seed gives the same landmarks whatever
the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ... import validation
from ...core.messages import DATA, named, setting
from ...core.parallel import row_blocks
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.duplicates import find_duplicates
from ...data.rows import Rows
from ...errors import InputError
from ...neighbors import build_index
from ...neighbors.metrics.general import parameters_from_data
from ...neighbors.points import Points
from .configuration import CHOICES, LandmarkSolver
from .sampling.farthest import farthest_points
from .sampling.k_means import k_means_centres
from .sampling.thinned import thinned_points

Metric = str | Callable[..., float]
SEARCHED_ROWS = 1 << 16
"""Data points that are indexed at a time when the nearest ones of a few landmarks are looked for."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """L points that carry the data.

    ``rows`` are the points (L x D); where the data is a matrix between points, the matrix between the landmarks
    (L x L). ``indices`` says which points of the data they are, None where they are none of them (centres of
    k-means, points given by the user).
    """

    rows: Rows
    indices: Integers | None

    @property
    def size(self) -> int:
        """L."""
        return self.rows.n_rows


def choose_landmarks(
    rows: Rows,
    solver: LandmarkSolver,
    *,
    metric: Metric,
    pairwise: bool,
    place_of_row: Integers | None = None,
    run: Run,
) -> Landmarks:
    """The landmarks that a solver asks for.

    Parameters
    ----------
    rows
        The points, or the square matrix between them.
    solver
        Says how many, chosen how, or which: see `LandmarkSolver`.
    metric
        Metric of the points.
    pairwise
        Whether ``rows`` is a matrix between the points.
    place_of_row
        For each row of the user's data its place among ``rows``, -1 where it is not among them; None: the same.
        Landmarks given as indices are rows of the user's data; those that are not among ``rows`` are left out.
    run
        Events, workers and random numbers.
    """
    if solver.landmarks is not None:
        return _given(rows, solver.landmarks, pairwise, place_of_row)
    if solver.choose not in CHOICES:
        raise InputError(
            f"{named('choose')} must be one of {', '.join(map(repr, CHOICES))}; got {solver.choose!r}."
        )
    count = solver.n_landmarks
    if count >= rows.n_rows:
        why = f"there are no more than n_landmarks={count}"
        run.chosen("landmarks", f"all {rows.n_rows} points", why)
        return _at(rows, np.arange(rows.n_rows), pairwise)
    points = Points(rows, metric)
    if solver.choose != "random" and not points.has_distances:
        raise InputError(
            f"{setting('choose', solver.choose)} needs the distances between points; got "
            f"{without_distances(points)}. Use {setting('choose', 'random')}, or give {named('landmarks')} as indices."
        )
    if solver.choose == "k-means":
        if pairwise:
            raise InputError(
                f"{setting('choose', 'k-means')} needs points, which can be averaged; {DATA} is a matrix between "
                f"points. Use {setting('choose', 'farthest')} or 'random'."
            )
        return Landmarks(k_means_centres(rows, count, metric, run=run), None)
    if solver.choose == "random":
        chosen = run.random("landmarks").choice(rows.n_rows, count, replace=False, shuffle=False)
    elif solver.choose == "farthest":
        chosen = farthest_points(rows, count, metric, pairwise=pairwise, run=run)
    else:
        chosen = thinned_points(rows, count, metric, pairwise=pairwise, run=run)
    return _at(rows, np.sort(chosen), pairwise)


def without_distances(points: Points) -> str:
    """What came where the distances of all points to each other are needed, and cannot be had."""
    return (
        "a sparse matrix that does not hold them all" if points.is_graph else "kernel values, which are none"
    )


def snap_to_points(landmarks: Landmarks, rows: Rows, *, metric: Metric, run: Run) -> Integers:
    """The data point nearest to each landmark, no point twice: where two want the same one, the nearer takes it."""
    if landmarks.indices is not None:
        return landmarks.indices
    chosen = np.full(landmarks.size, -1, np.int64)
    taken = np.zeros(0, np.int64)
    k = 4
    while (open_ := np.flatnonzero(chosen < 0)).size:
        k = min(2 * k, rows.n_rows)
        wanting = landmarks.rows.select(open_)
        points, distances = _nearest_points(wanting, rows, k, metric, run=run)
        owners = np.repeat(open_, points.shape[1])
        used = set(taken.tolist())
        for place in np.lexsort((owners, distances.ravel())):
            owner, point = int(owners[place]), int(points.ravel()[place])
            if chosen[owner] < 0 and point not in used:
                chosen[owner] = point
                used.add(point)
        taken = chosen[chosen >= 0]
    return chosen


def _nearest_points(wanting: Rows, rows: Rows, k: int, metric: Metric, run: Run) -> tuple[Integers, Floats]:
    """The k nearest data points of a few rows, the data indexed some rows at a time."""
    parameters = parameters_from_data(metric, rows)
    points, distances = np.zeros((wanting.n_rows, 0), np.int64), np.zeros((wanting.n_rows, 0))
    for block in row_blocks(rows.n_rows, min(SEARCHED_ROWS, max(1024, rows.block_rows(1 << 28)))):
        part = Rows(rows.values[block])
        index = build_index(
            part,
            metric,
            search="exact",
            metric_params=parameters,
            n_queries=wanting.n_rows,
            run=run,
        )
        found = index.query(wanting, min(k, part.n_rows), run.silent())
        points = np.hstack((points, found.indices.reshape(wanting.n_rows, -1) + block.start))
        distances = np.hstack((distances, found.distances.reshape(wanting.n_rows, -1)))
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        points, distances = np.take_along_axis(points, order, 1), np.take_along_axis(distances, order, 1)
    return points, distances


def _at(rows: Rows, indices: Integers, pairwise: bool) -> Landmarks:
    """Landmarks that are points of the data."""
    part = rows.select(indices)
    return Landmarks(Rows(part.values[:, indices]) if pairwise else part, indices)


def _given(rows: Rows, given: Any, pairwise: bool, place_of_row: Integers | None) -> Landmarks:
    """Landmarks as the user gave them: indices of rows, or points."""
    taken = validation.take(validation.loaded(given), named("landmarks")).values
    values: Any = csr_array(taken) if issparse(taken) else taken  # type: ignore[call-overload]
    if values.ndim not in (1, 2):
        raise InputError(
            f"{named('landmarks')} must be indices of rows of {DATA} (one dimension) or points (two); got an array of "
            f"{values.ndim} dimensions."
        )
    if values.shape[0] == 0:
        raise InputError(
            f"{named('landmarks')} must name at least one point; got none. Give some, or set {named('n_landmarks')} "
            "instead."
        )
    if values.ndim == 1:
        return _given_indices(rows, values, pairwise, place_of_row)
    return Landmarks(_given_points(rows, values, pairwise), None)


def _given_indices(
    rows: Rows, given: np.ndarray[Any, Any], pairwise: bool, place_of_row: Integers | None
) -> Landmarks:
    if given.dtype.kind not in "iu":
        raise InputError(
            f"{named('landmarks')} must be whole numbers, the indices of rows of {DATA}, or a two-dimensional array of "
            f"points; got numbers of type {given.dtype}. Give np.flatnonzero(mask) for a mask."
        )
    n_rows = rows.n_rows if place_of_row is None else place_of_row.size
    outside = given[(given < 0) | (given >= n_rows)]
    if outside.size:
        raise InputError(
            f"{named('landmarks')} must be indices of rows of {DATA}, from 0 to {n_rows - 1}; got {int(outside[0])}. "
            "Leave out what is outside the data."
        )
    values, counts = np.unique(given, return_counts=True)
    if values.size < given.size:
        raise InputError(
            f"{named('landmarks')} must be different rows of {DATA}; got row {int(values[counts > 1][0])} more than "
            "once. Give np.unique(landmarks)."
        )
    wanted = values.astype(np.int64)
    places = wanted if place_of_row is None else place_of_row[wanted]
    wanted, places = wanted[places >= 0], places[places >= 0]
    if not places.size:
        raise InputError(
            f"{named('landmarks')} must name some of the {rows.n_rows} points of each component that is embedded "
            f"alone; got none of this one. Give more, or set {named('n_landmarks')} instead."
        )
    order = np.argsort(places, kind="stable")
    wanted, places = wanted[order], places[order]
    group = places if pairwise else find_duplicates(rows.select(places)).group
    first, later = _equal_pair(group)
    if later:
        raise InputError(
            f"{named('landmarks')} must be different points; rows {wanted[first]} and {wanted[later]} of {DATA} are "
            "equal. Leave one of them out."
        )
    return _at(rows, places, pairwise)


def _given_points(rows: Rows, given: Any, pairwise: bool) -> Rows:
    if pairwise:
        raise InputError(
            f"{named('landmarks')} must be indices of rows where {DATA} is a matrix between points: there are no "
            f"points to add to; got an array of shape {given.shape}. Give one-dimensional indices."
        )
    if given.shape[1] != rows.n_columns:
        raise InputError(
            f"landmarks given as points must have the {rows.n_columns} columns of {DATA}; got {given.shape[1]}. Give "
            "points in the same coordinates, or indices of rows in one dimension."
        )
    is_sparse = isinstance(given, csr_array)
    if not np.all(np.isfinite(given.data if is_sparse else given)):
        raise InputError(
            "landmarks given as points must be finite; got NaN or infinity. Leave these points out."
        )
    if is_sparse != rows.is_sparse:
        given = csr_array(given) if rows.is_sparse else given.toarray()
    points = Rows(given)
    first, later = _equal_pair(find_duplicates(points).group)
    if later:
        raise InputError(
            f"{named('landmarks')} must be different points; points {first} and {later} of those given are equal. "
            "Leave one of them out."
        )
    return points


def _equal_pair(group: Integers) -> tuple[int, int]:
    """The first place that repeats a group and the place it repeats; (0, 0) where there is none."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse] != np.arange(group.size))
    return (int(first[inverse[again[0]]]), int(again[0])) if again.size else (0, 0)
