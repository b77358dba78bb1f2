"""A series of data sets in pictures that can be laid on top of each other: springs between related rows.

E(X_1, ..., X_T) = sum_t c_t E_t(X_t) + 1/2 sum k |x_(t, i) - x_(t+1, j)|^2 over related rows i of t and j of t + 1, all
minimised together (Dadu et al. 2023 have such a term beside UMAP's). Each picture ends as the model of its own data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from ...affinities import FittedAffinity
from ...core.events import Events
from ...core.messages import named, setting, shape, value
from ...core.places import Place
from ...core.records import Floats, Integers
from ...core.rules import Real, Rule
from ...core.run import Run, Store
from ...data.rows import Rows
from ...errors import InputError, LowdimError
from ...neighbors.neighborhood import Neighborhood
from ...objectives.base import NeighborObjective
from ...objectives.linked import Linked, Links
from ...optimize.outcome import Outcome
from ...store.checkpoint import keeping
from ...validation import check_block, check_parameters, check_relations
from ..choosing.settled import open_parameters
from ..coordinates import as_came
from ..recorder import Recorder
from .neighbor_embedding import NeighborEmbedding

_OWNER = "align"
_RULES: dict[str, Rule] = {"strength": Real(0.0, closed=True)}


def align(
    estimator: Any,
    series: Iterable[Any],
    relations: Any = None,
    *,
    strength: float = 0.05,
    starts: Iterable[Any] | None = None,
) -> list[Any]:
    """Fit a neighbour embedding to each of several data sets, with springs between rows that are related.

    Parameters
    ----------
    estimator
        A neighbour embedding, such as ``TSNE()`` or ``UMAP()``; it is not changed. With a ``checkpoint`` the same call
        goes on from there after it was killed, to the same pictures.
    series
        The data sets, in their order. They may have different rows, and different columns.
    relations
        Which rows are the same, or belong together, in two data sets that follow one another: a list with one entry
        fewer than there are data sets. An entry is a dictionary from rows of the first to rows of the second, an array
        of such pairs (m x 2), or an array with the row of the second for each row of the first, -1 where there is none.
        None: rows of the same number are related.
    strength
        Stiffness of a spring, in sums of the weights of its two points (their geometric mean): 0 has no springs, and
        each data set the picture of its own fit. The more, the nearer related rows are to each other, and the slower
        the pictures unfold: above 5 raise ``max_iter``.
    starts
        Where to start: coordinates for each data set, a row for each of its rows, or None for those that ``init`` of
        the estimator is to start. Those that are given are taken as they are. None: ``init`` starts all.

    Returns
    -------
    list
        A fitted model for each data set, which can `transform`, be saved and updated as any other.
        ``report_.figures`` has ``median_gap``, the median distance of related rows over the width of the picture.

    Notes
    -----
    Before they are minimised, each start that was not given is turned onto the one before by its related rows.
    docs/growth.md has more.

    Examples
    --------
    >>> import lowdim
    >>> first = lowdim.datasets.swiss_roll(200, random_state=0).data
    >>> later = first + 0.1
    >>> models = lowdim.align(lowdim.TSNE(perplexity=10, max_iter=50), [first, later])
    >>> [model.embedding_.shape for model in models]
    [(200, 2), (200, 2)]
    """
    _check_estimator(estimator)
    check_parameters(_OWNER, {"strength": strength}, _RULES)
    given = _check_series(series)
    if len(given) < 2:
        raise InputError(
            f"{named('series', _OWNER)} must hold two data sets or more; got {len(given)}. Fit one alone with fit."
        )
    if left := open_parameters(estimator):
        raise InputError(
            f"{named(left[0], type(estimator).__name__)} must be a number for align, so that all pictures are of one "
            f"kind; got {value(getattr(estimator, left[0]))}. Fit one of the data sets with it, and give what was "
            f"chosen: {left[0]}_ of the model."
        )
    models = [clone(estimator) for _ in given]
    for model in models:
        model._check_parameters()
    rows = [_checked(model, X, place) for place, (model, X) in enumerate(zip(models, given, strict=True))]
    pairs = check_relations(relations, [one.n_rows for one in rows])
    given_starts = _check_starts(starts, rows, models[0].n_components)
    for model, one in zip(models, rows, strict=True):
        model._check_memory(one)
    listened = [model._listened_to() for model in models]
    identity = models[0]._identity(rows[0])
    identity = replace(
        identity,
        what=f"align {identity.what}",
        parameters={**identity.parameters, "strength": float(strength)},
        data={"series": [one.values for one in rows], "relations": pairs, "starts": given_starts},
    )
    with keeping(estimator.checkpoint, lambda: identity, listened[0][1]) as place:
        parts = zip(models, rows, listened, given_starts, strict=True)
        slices = [Slice.opened(*part, place.inside("series", number)) for number, part in enumerate(parts)]
        _fit_together(slices, _as_points(slices, pairs), float(strength), place)
    return models


def _check_starts(starts: Any, rows: list[Rows], n_components: int) -> list[Floats | None]:
    """The coordinates that were given to start from, None where there are none."""
    if starts is None:
        return [None] * len(rows)
    each = None if isinstance(starts, str | Mapping) or not isinstance(starts, Iterable) else list(starts)
    if each is None or len(each) != len(rows):
        raise InputError(
            f"{named('starts', _OWNER)} must be a list with coordinates, or None, for each of the {len(rows)} data "
            f"sets; got {value(starts) if each is None else len(each)}. Give one for each."
        )
    found: list[Floats | None] = []
    for place, (start, one) in enumerate(zip(each, rows, strict=True)):
        if start is None:
            found.append(None)
            continue
        block = check_block(start, f"starts[{place}]", at_least=1, flat=True)
        if block.shape != (one.n_rows, n_components):
            raise InputError(
                f"starts[{place}] must have a row for each row of series[{place}] and {named('n_components')} columns, "
                f"{shape((one.n_rows, n_components))}; got {shape(block.shape)}. Give as many, or None."
            )
        found.append(np.array(block.block(slice(None))))
    return found


def _check_series(series: Any) -> list[Any]:
    """The data sets; one table is none."""
    is_table = len(getattr(series, "shape", ())) == 2
    if is_table or not isinstance(series, Iterable) or isinstance(series, str | Mapping):
        kind = "one table" if is_table else value(series)
        raise InputError(
            f"{named('series', _OWNER)} must be a list of data sets, points as rows in each; got {kind}. Give "
            "[january, february], say."
        )
    return list(series)


def _checked(model: NeighborEmbedding, X: Any, place: int) -> Rows:
    """The rows of a data set; what is wrong with them says in which."""
    try:
        return model._check_input(X, reset=True)
    except LowdimError as error:
        raise type(error)(f"series[{place}]: {error}") from error


def _check_estimator(estimator: Any) -> None:
    kind = type(estimator).__name__
    if not isinstance(estimator, NeighborEmbedding) or type(estimator)._embed is not NeighborEmbedding._embed:
        raise InputError(
            f"{named('estimator', _OWNER)} must be a neighbour embedding, such as TSNE() or UMAP(), whose points "
            f"springs can pull; got {kind if hasattr(estimator, 'fit') else value(estimator)}. Use one of those, or "
            "fit each data set alone and lay the pictures on top of each other with procrustes."
        )
    refused: dict[str, tuple[Any, Any]] = {
        "density": (estimator.density, 0),
        "init": (None if isinstance(estimator.init, str) else estimator.init, "auto"),
    }
    instead = {"density": "", "init": f", and give {named('starts', _OWNER)}"}
    for name, (got, usual) in refused.items():
        if got is not None and not (np.ndim(got) == 0 and got == 0):
            raise InputError(
                f"{named(name)} of the {kind} is not known to {_OWNER}: one for all data sets has no meaning; got "
                f"{setting(name, got)}. Use {setting(name, usual)}{instead[name]}."
            )


@dataclass(frozen=True, slots=True)
class Slice:
    """One of the data sets on its way: its neighbours, objective, start and path of lambda."""

    model: NeighborEmbedding
    rows: Rows
    recorder: Recorder
    events: Events
    run: Run
    hood: Neighborhood
    fitted: FittedAffinity | None
    objective: NeighborObjective
    start: Floats
    is_given: bool
    lambdas: list[float]

    @classmethod
    def opened(
        cls,
        model: NeighborEmbedding,
        rows: Rows,
        listened: tuple[Recorder, Events],
        given: Floats | None,
        place: Place,
    ) -> Slice:
        """All that a fit does before it minimises."""
        recorder, events = listened
        run = model._run(events, place, Store())
        hood = model._neighborhood(rows, run)
        W, fitted = run.stage("affinities", model._affinities, hood)
        start = run.stage("start", model._start, given, hood, W)
        objective = model._objective_of(hood, W, fitted, run)
        lambdas = run.stage("path", model._path, objective)
        model._check_minimum(objective, lambdas)
        is_given = given is not None
        return cls(model, rows, recorder, events, run, hood, fitted, objective, start, is_given, lambdas)

    def closed(self, outcome: Outcome, gap: float) -> None:
        """Leave the model as a fit does, with its own part of what was minimised."""
        objective = self.objective.with_lambda(self.lambdas[-1])
        found = objective.evaluate(outcome.X)
        norm = float(np.sqrt(np.square(found.gradient).sum()))
        own = replace(outcome, value=float(found.value or 0.0), gradient_norm=norm, phases=())
        map_ = self.run.stage("map", self.model._make_map, self.hood, self.fitted, objective, own.X)
        embedded = self.model._embedded(self.hood, objective, own, map_)
        embedded = replace(embedded, figures=dict(embedded.figures) | {"median_gap": gap})
        coordinates = as_came(embedded.coordinates, self.rows)
        self.model._leave(embedded, coordinates, self.recorder, self.rows.shape)


def _as_points(slices: list[Slice], pairs: list[Integers]) -> list[Integers]:
    """Relations between distinct points: rows that are copies of each other share theirs."""
    found = []
    for first, second, related in zip(slices, slices[1:], pairs, strict=False):
        columns = []
        for one, rows in ((first, related[:, 0]), (second, related[:, 1])):
            copies = one.hood.points.duplicates
            columns.append(rows if copies is None else copies.group[rows])
        found.append(np.unique(np.column_stack(columns), axis=0))
    return found


def _turned(slices: list[Slice], pairs: list[Integers]) -> list[Floats]:
    """The starts, each turned or mirrored onto the one before by its related points (Schoenemann 1966).

    One that was given stays as it is.
    """
    starts = [slices[0].start]
    for one, related in zip(slices[1:], pairs, strict=True):
        if one.is_given:
            starts.append(one.start)
            continue
        before, here = starts[-1][related[:, 0]], one.start[related[:, 1]]
        left, _, right = np.linalg.svd((here - here.mean(axis=0)).T @ (before - before.mean(axis=0)))
        starts.append(one.start @ (left @ right))
    return starts


def _fit_together(slices: list[Slice], pairs: list[Integers], strength: float, place: Place) -> None:
    """Minimise all pictures with the springs between them, and close each."""
    parts = [one.objective for one in slices]
    offsets = np.cumsum([0, *(part.size for part in parts)])
    ends = np.concatenate(
        [related + offsets[[number, number + 1]] for number, related in enumerate(pairs)]
        if strength
        else [np.zeros((0, 2), np.int64)]
    )
    linked = Linked(parts, Links(ends[:0], np.zeros(0), int(offsets[-1])))
    # A point is held by its neighbours with 4 times its degree, where all are together.
    stiffness = 4.0 * strength * np.sqrt(linked.degrees[ends[:, 0]] * linked.degrees[ends[:, 1]])
    linked = Linked(parts, Links(ends, stiffness, int(offsets[-1])))
    starts = _turned(slices, pairs) if strength else [one.start for one in slices]
    first = slices[0]
    listeners = (one.recorder for one in slices[1:])
    run = first.model._run(first.events.heard_by(*listeners), place, Store())
    # The path that begins where the least lambda is critical is slow enough for all.
    lambdas = min((one.lambdas for one in slices), key=lambda path: path[0])
    outcome = run.stage(
        "optimise",
        first.model._minimise,
        cast(NeighborObjective, linked),
        np.concatenate(starts),
        lambdas,
    )
    for number, (one, rows) in enumerate(zip(slices, linked.bounds, strict=True)):
        own = outcome.X[rows]
        frames = tuple((iteration, X[rows]) for iteration, X in outcome.frames)
        gap = _gap(outcome.X, linked.bounds, pairs, number)
        one.closed(replace(outcome, X=np.ascontiguousarray(own), frames=frames), gap)


def _gap(X: Floats, bounds: tuple[slice, ...], pairs: list[Integers], place: int) -> float:
    """Median distance of a picture's points from those related to them in the pictures beside it, in its widths."""
    apart = []
    for first in (place - 1, place):
        if 0 <= first < len(pairs):
            a, b = pairs[first].T
            apart.append(np.linalg.norm(X[bounds[first]][a] - X[bounds[first + 1]][b], axis=1))
    width = float(np.ptp(X[bounds[place]], axis=0).max()) or 1.0
    return float(np.median(np.concatenate(apart))) / width
