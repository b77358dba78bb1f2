"""How a neighbour embedding grows: E + rho S from a picture that there is, S the springs to the old places, rho -> 0.

Points that are new are placed by the map of the model; then all are minimised together, at first with the old ones held
where they were. The springs choose which of the minima near by is taken and are gone in the end, so that old points
stay unless the data move them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.messages import in_python, named
from ...core.records import Components, Duplicates, Floats, Integers, Neighbors, Sparse
from ...core.run import Run
from ...data.duplicates import find_duplicates
from ...data.rows import Rows
from ...errors import InputError
from ...maps.fixed_embedding import FixedEmbeddingMap, Without
from ...maps.nystrom import GivenAffinities, NeighborAffinities
from ...methods.base import Embedded
from ...neighbors.growth import add_points, keep_points, search_for, stacked
from ...neighbors.index import Index
from ...neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ...neighbors.points import Points
from ...objectives.base import NeighborObjective
from ...objectives.springs import Springs
from ...optimize.loop import minimise
from ...optimize.momentum import Momentum
from ...optimize.outcome import Outcome
from ...optimize.schedules import Annealing, Later, Schedule
from ..metric import metric_of
from ..shifts import describe_shift
from .embedding_schedule import FEW_POINTS, LATE_STEP, WIDER, choose_optimizer, make_release, make_unfolding

if TYPE_CHECKING:
    from .neighbor_embedding import NeighborEmbedding

STIFFNESS = 4.0
"""Stiffness of a spring to begin with, in degrees of its point: that of its own attraction where all are together."""

STARTS = 6
"""Nearest neighbours whose places are tried for a point that may be stuck."""
FAR = 0.005
"""Widths of the picture that a point must come away from its place to be put elsewhere: less, it finds alone."""
ROUNDS = 2
"""How often all points are looked at: some can go only where others have gone."""
HEAP = 2.0
"""Widths of the kernel from the centre, root mean square, at which a picture is unfolded again."""
MANY = 0.02
"""Share of new points from which a picture is unfolded again: fewer find room among the others as these stand."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that there is: its distinct points, their places and neighbours, and the point of every row."""

    rows: Rows
    places: Floats
    neighbors: Neighbors
    point_of_row: Integers

    @classmethod
    def of(cls, model: Any, run: Run) -> Picture:
        """That of a fitted model, or an InputError that says what it lacks.

        A model file has no neighbour lists, which are larger than all else: they are searched for as the fit did.
        """
        map_ = model.map_
        assert isinstance(map_, FixedEmbeddingMap)
        name = type(model).__name__
        if not isinstance(map_.affinities, NeighborAffinities) or model.metric == "precomputed":
            raise InputError(
                f"This {name} was fitted to a matrix between points, and rows of new points alone say nothing of how "
                f"these are tied to each other. Fit again to the matrix of all points"
                f"{in_python(', with the old coordinates and those of transform as ' + named('init'))}."
            )
        if any(stage.name == "targets" for stage in model.report_.stages):
            raise InputError(
                f"This {name} was fitted with y, which a model does not hold: without it the picture would be another. "
                "Fit again to all rows with all of y."
            )
        rows = map_.affinities.lookup.index.rows
        group = getattr(model, "point_of_row_", None)
        if group is None:
            group = np.arange(rows.n_rows)
            if model.report_.figures["duplicates_collapsed"]:
                raise InputError(
                    f"Some rows of this {name} are copies of others, and it does not hold which: its file is of an "
                    "older lowdim, or was written without the embedding. Fit it again, or save it with its embedding."
                )
        lists = getattr(model, "neighbor_lists_", None)
        if lists is None:
            points = _points(rows, metric_of(model), group)
            lists = run.stage("known neighbours", _searched, model, points)
        return cls(rows, map_.embedding, lists, group)


def grown(model: NeighborEmbedding, before: Any, added: Rows, run: Run) -> Embedded:
    """The picture of a model and of new rows with it."""
    picture = Picture.of(before, run)
    n_old = picture.rows.n_rows
    everything = stacked(picture.rows, added)
    found = find_duplicates(everything, n_jobs=run.n_jobs)
    rows = everything.select(found.first) if found.n_collapsed else everything
    group = np.concatenate([picture.point_of_row, found.group[n_old:]])
    points = _points(rows, metric_of(model), group)
    hood = run.stage("neighbours", _with_more, model, points, picture)
    fresh = rows.select(np.arange(n_old, rows.n_rows))
    placed = run.stage("place", _placed, before.map_, fresh, hood.neighbors)
    start = np.concatenate([picture.places, placed])
    return _settled(model, hood, start, n_old, run, added.n_rows)


def shrunk(model: NeighborEmbedding, before: Any, kept: Integers, run: Run) -> Embedded:
    """The picture of a model with only some of its rows."""
    picture = Picture.of(before, run)
    left, group = np.unique(picture.point_of_row[kept], return_inverse=True)
    points = _points(picture.rows.select(left), metric_of(model), group)
    hood = run.stage("neighbours", _with_fewer, model, points, picture, left)
    return _settled(model, hood, picture.places[left], left.size, run, kept.size - picture.point_of_row.size)


def _searched(model: NeighborEmbedding, points: Points, run: Run) -> Neighbors:
    """The neighbour lists of a fit to these points."""
    n_rows = points.n_points if points.duplicates is None else points.duplicates.group.size
    return find_neighborhood(points, model._graph_of(n_rows), run, components=False).neighbors


def _points(rows: Rows, metric: Any, group: Integers) -> Points:
    """Distinct points, and the rows that they stand for."""
    if group.size == rows.n_rows:
        return Points(rows, metric)
    _, first, copies = np.unique(group, return_index=True, return_counts=True)
    return Points(rows, metric, Duplicates(first, group, copies.astype(np.float64)), group)


def _with_more(model: NeighborEmbedding, points: Points, picture: Picture, run: Run) -> Neighborhood:
    graph, k = _graph(model, points, picture)
    if k is None:
        return find_neighborhood(points, graph, run, components=False)
    index = search_for(points.rows, points.metric, model.search, k, run)
    if points.n_points == picture.rows.n_rows:
        return known_neighborhood(points, graph, index, picture.neighbors.first(k))
    new = points.rows.select(np.arange(picture.rows.n_rows, points.n_points))
    added = search_for(new, points.metric, model.search, k, run.silent())
    lists = run.stage("search", add_points, picture.neighbors, index, k, added, kept=Neighbors)
    return known_neighborhood(points, graph, index, lists)


def _with_fewer(
    model: NeighborEmbedding, points: Points, picture: Picture, left: Integers, run: Run
) -> Neighborhood:
    graph, k = _graph(model, points, picture)
    if k is None:
        return find_neighborhood(points, graph, run, components=False)
    index = search_for(points.rows, points.metric, model.search, k, run)
    lists = run.stage("search", keep_points, picture.neighbors, left, index, k, kept=Neighbors)
    return known_neighborhood(points, graph, index, lists)


def _graph(model: NeighborEmbedding, points: Points, picture: Picture) -> tuple[Graph, int | None]:
    """The graph that is asked for, and its neighbours if known lists are long enough for it."""
    n_rows = points.n_points if points.duplicates is None else points.duplicates.group.size
    graph = model._graph_of(n_rows)
    k = min(graph.width, points.n_points - 1)
    return graph, k if int(picture.neighbors.counts.min()) >= k else None


def known_neighborhood(points: Points, graph: Graph, index: Index, lists: Neighbors) -> Neighborhood:
    """The neighbourhood of points whose nearest are known."""
    n_points = lists.n_rows
    everyone = Components(np.zeros(n_points, np.int64), np.array([n_points]))
    return Neighborhood(points, graph, index, lists, everyone)


def _placed(map_: FixedEmbeddingMap, rows: Rows, lists: Neighbors, run: Run) -> Floats:
    """New points by the map, which finds their neighbours among the old ones on their lists."""
    if rows.n_rows == 0:
        return np.zeros((0, map_.embedding.shape[1]))
    assert isinstance(map_.affinities, NeighborAffinities)
    run, starts = run.silent(), lists.indptr[-rows.n_rows - 1 :]
    places = slice(starts[0], starts[-1])
    indices, distances = lists.indices[places].astype(np.int64), lists.distances[places].astype(np.float64)
    own = Neighbors(starts - starts[0], indices, distances, lists.n_points, lists.recall)
    return map_.transform_near(map_.affinities.lookup.of_known(own, rows, run), run)


def _settled(
    model: NeighborEmbedding, hood: Neighborhood, start: Floats, n_old: int, run: Run, change: int
) -> Embedded:
    """All points minimised together, those that were there held at first; the picture put where the old one was."""
    W, fitted = run.stage("affinities", model._affinities, hood)
    objective = model._objective_of(hood, W, fitted, run)
    if model.density:
        radii = run.stage("radii", model._radii, W, hood)
        objective = objective.with_density(model._density_of(objective, W, radii, run))
    del W
    outcome = _minimised(model, hood, objective, _springs(objective, start, n_old), run)
    map_ = run.stage("map", model._make_map, hood, fitted, objective, outcome.X)
    embedded = model._embedded(hood, objective, outcome, map_)
    figures: dict[str, Any] = {"rows_added" if change >= 0 else "rows_removed": abs(change)}
    figures |= describe_shift(start[:n_old], outcome.X[:n_old])
    return replace(embedded, figures=dict(embedded.figures) | figures)


def _minimised(
    model: NeighborEmbedding, hood: Neighborhood, objective: NeighborObjective, springs: Springs, run: Run
) -> Outcome:
    """E from the anchors of the springs, in their frame: unfolded again, or held and let go."""
    begun, unfolding = springs.anchors, None
    usual = model._usual_annealing(objective, 1, run.silent())
    if model._relocates and objective.density is None:
        if (added := (springs.stiffness == 0.0).mean()) >= MANY:
            annealing = choose_optimizer(usual or model.optimizer, objective, run.silent())[1]
            size = (1.0 - added) ** -WIDER if objective.size > FEW_POINTS and added < 1.0 else 1.0
            unfolding = make_unfolding(
                objective.lam, annealing, size, tolerance=model.tolerance, max_seconds=model.max_seconds
            )
        for _ in range(ROUNDS if unfolding is None else 0):
            begun = run.stage("relocate", _relocated, model, hood, objective, begun)
        springs.stiffness[(begun != springs.anchors).any(axis=1)] = 0.0
    if unfolding is not None:
        begun = _drawn_small(begun)
    outcome = run.stage(
        "optimise", _released, model, objective.with_springs(springs), begun, unfolding, usual
    )
    X = outcome.X
    if unfolding is not None and len(outcome.phases) < len(unfolding.phases):
        X = springs.sized(X, 1.0)  # It was left while it was small.
    return replace(outcome, X=X - springs.frame(X)[1])


def _drawn_small(X: Floats) -> Floats:
    """The picture with a root mean square of distances from its centre of two widths of the kernel."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred * (HEAP / (np.sqrt(np.square(centred).sum(axis=1).mean()) or 1.0)))


def _springs(objective: NeighborObjective, start: Floats, n_old: int) -> Springs:
    stiffness = STIFFNESS * objective.degrees
    stiffness[n_old:] = 0.0
    return Springs(start, stiffness)


def _relocated(
    model: NeighborEmbedding, hood: Neighborhood, objective: NeighborObjective, X: Floats, run: Run
) -> Floats:
    """Points that are stuck far from where they would rest lower, put there; all others stay.

    Each is looked at alone, as a new point without itself. A point whose neighbours have come to lie elsewhere has no
    way there downhill through the others: what carries it across in a fit is the exaggeration at its beginning.
    """
    strength, by_logarithm = model._strength(objective, X)
    kernel = objective.attraction.kernel
    map_ = FixedEmbeddingMap(GivenAffinities(), X, objective.freeze(X), kernel, strength, by_logarithm)
    # A point is pulled by N times its weights, N the number of rows; one that stands for several by each alike.
    W, rows = objective.attraction.weights, float(objective.counts.sum())
    each = np.repeat(rows / objective.counts, np.diff(W.indptr))
    pulls = Sparse((W.data * each, W.indices, W.indptr), shape=W.shape)
    count = min(STARTS, int(hood.neighbors.counts.min()))
    near = hood.neighbors.first(count).indices.reshape(-1, count)
    without = Without(np.arange(X.shape[0]), objective.kernel, objective.masses)
    places = map_.lower_places(pulls, near, without, run)
    far = np.linalg.norm(places - X, axis=1) > FAR * float(np.ptp(X, axis=0).max())
    return np.where(far[:, None], places, X)


def _released(
    model: NeighborEmbedding,
    objective: NeighborObjective,
    start: Floats,
    unfolding: Schedule | None,
    usual: Annealing | None,
    run: Run,
) -> Outcome:
    optimizer, annealing = choose_optimizer(usual or model.optimizer, objective, run)
    if annealing is not None and annealing is usual:
        annealing = replace(annealing, rate=min(annealing.rate, model._steady_rate))
    schedule = unfolding or make_release(
        objective.lam,
        annealing,
        tolerance=model.tolerance,
        max_iter=model.max_iter,
        max_seconds=model.max_seconds,
    )
    if objective.density is not None and isinstance(optimizer, Momentum):
        # The picture has its densities already: they count all the time, with the short steps that they ask for.
        most = LATE_STEP * model._attractive_kernel.width
        phases = tuple(replace(phase, course=Later(phase.course, 0, most)) for phase in schedule.phases)
        schedule = replace(schedule, phases=phases)
    return minimise(objective, start, optimizer, schedule, model.record, run)
