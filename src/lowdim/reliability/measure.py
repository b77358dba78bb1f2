"""How far to believe a picture, a point at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.messages import DATA, named, setting
from ..core.records import Floats, Integers
from ..core.rules import Either, Function, Jobs, Nothing, OneOf, Real, Rule, Whole
from ..core.run import Run
from ..core.streams import make_generator
from ..data.rows import Rows
from ..errors import InputError
from ..metrics.distance_tables import Distances, MappedDistances, close_distances, distances_between
from ..metrics.inputs import check_embedding, check_labels, check_points, label_codes, read_points
from ..metrics.sampling import ALL_ROWS, Sample, sample_size
from ..neighbors.metrics import MAPPED, MetricName, metric_name
from ..validation import check_parameters
from .clusters import ClusterTable, between_clusters
from .distortion import distortion
from .faithfulness import REFERENCES, Faithfulness, faithfulness, ranks_of_shown
from .lists import Lists, look_up
from .models import check_model, check_own_rows, list_width
from .nulls import spread_out
from .record import Trust
from .stability import Stability, measure_stability

SCALES = (15, 50, 150)
_OWNER = "trust"
_ALL, _SAMPLED = 100_000, 20_000
_RULES: dict[str, Rule] = {
    "metric": Either(MetricName("graph"), Function()),
    "sample": Either(OneOf("auto", "all"), Whole(2)),
    "level": Real(0.0, high=1.0),
    "move": Real(0.0),
    "n_jobs": Either(Nothing(), Jobs()),
}


def trust(
    X: Any,
    embedding: ArrayLike,
    model: Any = None,
    *,
    labels: ArrayLike | None = None,
    scales: Iterable[int] | None = None,
    metric: str | Callable[..., float] | None = None,
    sample: int | str = "auto",
    level: float = 0.05,
    move: float = 0.5,
    random_state: Any = 0,
    n_jobs: int | None = -1,
) -> Trust:
    """How far to believe the picture, one row a point: faithful, stable, distorted; and which clusters are to scale.

    Faithfulness and distortion are measured of every embedding. With the ``model`` that made it, so is stability: where
    a small move of a point's row would send it elsewhere, the map is torn. With ``labels`` distances between clusters
    are compared.

    Parameters
    ----------
    X
        The data (N x D), or, with ``metric="precomputed"``, distances: of all points to all (N x N), or sparse with the
        neighbours of each point that are known, as many as the largest of ``scales`` or more.
    embedding
        Coordinates of the same points (N x d), compared by Euclidean distance.
    model
        The fitted estimator that made the embedding, from this process or loaded. None: stability is not measured.
    labels
        A label for each point. None: distances between clusters are not compared.
    scales
        Numbers of neighbours at which recall and trustworthiness are measured, the smallest first in the result. None:
        15, 50 and 150, those below a quarter of the points.
    metric
        Distance in the data: a metric name, a function of two rows, or ``"precomputed"``. None: the model's, or
        Euclidean.
    sample
        Points to look at: a number, ``"all"``, or ``"auto"``: all up to 100,000, above that 20,000. What was not looked
        at is NaN.
    level
        False discovery rate at which a point counts as better placed than at random.
    move
        How far a row is moved to see where it lands: a share of the median distance to the nearest neighbours of the
        first scale.
    random_state
        Draws the sample and the points by which ranks are estimated.
    n_jobs
        Threads; the result does not depend on it.

    Returns
    -------
    Trust
        A column for each measure, ``summary()``, ``to_frame()``; it can be given to `lowdim.plot`.

    Notes
    -----
    Recall is exact. The null of its p-value is a point put at a random place of the picture, whose neighbours kept are
    hypergeometric; the least p-value over the scales, times their number, is adjusted for many points (Benjamini &
    Hochberg 1995). Trustworthiness is exact up to 5,000 points; above, ranks beyond the known neighbours are estimated
    by 1,000 reference points. docs/trust.md says what each figure means and what may be concluded.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> points = np.random.default_rng(0).standard_normal((200, 5)) * [4, 3, 1, 0.3, 0.1]
    >>> found = lowdim.trust(points, points[:, :2])
    >>> found.recall.shape, round(float(found.mean_recall), 2), int(found.doubtful.sum())
    ((200,), 0.82, 0)
    """
    is_own = metric is None and _has_own_metric(model)
    metric = _metric_of(model) if metric is None else metric
    given = {"metric": metric, "sample": sample, "level": level, "move": move, "n_jobs": n_jobs}
    check_parameters(_OWNER, given, _RULES)
    rows = _check_data(X, metric)
    points = check_embedding(_OWNER, embedding, rows.n_rows)
    ks = _check_scales(scales, rows.n_rows)
    known = None if labels is None else check_labels(_OWNER, "labels", labels, rows.n_rows)
    check_model(model, rows, points)
    model = getattr(model, "_settled", model)
    if model is not None and not _is_pairwise(metric):
        check_own_rows(_OWNER, model, rows)
    auto = _SAMPLED if rows.n_rows > _ALL else rows.n_rows
    size = sample_size(_OWNER, sample, rows.n_rows, auto=auto)
    rng, run = make_generator(random_state), Run.of(n_jobs=n_jobs)
    drawn = Sample.draw(rows.n_rows, size, 0.95, rng)
    chosen = None if size == rows.n_rows else np.sort(drawn.rows)
    width = max(ks[-1], list_width(model, rows.n_rows))
    lists = look_up(rows, points, chosen, width, metric, run)
    near = faithfulness(lists, ks, _ranks(rows, metric, lists, rng, run))
    stable = (
        Stability()
        if model is None
        else measure_stability(model, rows, points, lists, ks, float(move), is_own, run)
    )
    table = None if known is None else _clusters(known, rows, points, metric, drawn, rng, n_jobs)
    return _recorded(lists, ks, points, near, stable, table, drawn, metric_name(metric), float(level))


def _metric_of(model: Any) -> Any:
    """The metric of a model; of one that has none, and of one of a graph, which has no distances, Euclidean."""
    metric = getattr(model, "metric", "euclidean")
    return "euclidean" if isinstance(metric, str) and metric == "graph" else metric


def _is_pairwise(metric: Any) -> bool:
    """Whether the data are distances between points and not points."""
    return isinstance(metric, str) and metric == "precomputed"


def _has_own_metric(model: Any) -> bool:
    """Whether distances by the model's metric, as `_metric_of` gives it, are those between its points."""
    pairwise = getattr(model, "metric", "euclidean") in ("graph", "precomputed")
    return not pairwise and getattr(model, "metric_params", None) is None


def _check_data(X: Any, metric: Any) -> Rows:
    pairwise = _is_pairwise(metric)
    rows = read_points(_OWNER, DATA, X)
    if not (pairwise and rows.is_sparse):
        return check_points(_OWNER, X, pairwise=pairwise)
    if rows.n_rows != rows.n_columns:
        raise InputError(
            f"{named('X', _OWNER)} must be square with {setting('metric', 'precomputed')}; got {rows.n_rows} x "
            f"{rows.n_columns}. Give the known distances of the points to each other, or the points themselves."
        )
    return rows


def _check_scales(scales: Iterable[int] | None, n_points: int) -> tuple[int, ...]:
    """Different numbers of neighbours, ascending."""
    if scales is None:
        usual = tuple(k for k in SCALES if 4 * k <= n_points)
        return usual or (max(1, (n_points - 1) // 4),)
    given: list[Any] = (
        [scales] if isinstance(scales, str) or not isinstance(scales, Iterable) else list(scales)
    )
    rule = Whole(1)
    wrong = [k for k in given if not rule.allows(k)]
    if wrong or not given:
        got = repr(wrong[0]) if wrong else "none"
        raise InputError(
            f"{named('scales', _OWNER)} must be numbers of neighbours, whole and >= 1; got {got}. 15, 50 and 150 "
            "are usual."
        )
    if max(given) >= n_points - 1:
        raise InputError(
            f"{named('scales', _OWNER)} must be below the number of other points, {n_points - 1}; got {max(given)}. "
            "Give smaller scales, or more points."
        )
    return tuple(sorted({int(k) for k in given}))


def _ranks(rows: Rows, metric: Any, lists: Lists, rng: np.random.Generator, run: Run) -> Floats | None:
    """Ranks of those shown; None where only some distances are known."""
    if _is_pairwise(metric) and rows.is_sparse:
        return None
    n_points = rows.n_rows
    if n_points <= ALL_ROWS:
        return ranks_of_shown(lists, distances_between(rows, metric, 1), np.arange(n_points), run)
    references: Integers = np.sort(rng.permutation(n_points)[:REFERENCES])
    return ranks_of_shown(lists, close_distances(rows, metric, run), references, run)


def _clusters(
    labels: Any,
    rows: Rows,
    points: Floats,
    metric: Any,
    drawn: Sample,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> ClusterTable:
    if _is_pairwise(metric) and rows.is_sparse:
        raise InputError(
            f"{named('labels', _OWNER)} need distances between all points, and {DATA} holds only those of neighbours. "
            f"Give the data themselves, or leave {named('labels')} out."
        )
    codes, _ = label_codes(_OWNER, "labels", labels)

    def measured(some: Integers) -> tuple[Distances, Distances]:
        data = _among(rows, some, metric)
        shown = MappedDistances(Rows(points[some]), MAPPED["euclidean"], n_jobs)
        return distances_between(data, metric, n_jobs), shown

    return between_clusters(labels, codes, measured, drawn.quantile, rng)


def _among(rows: Rows, some: Integers, metric: Any) -> Rows:
    """The data of some points alone; of given distances those between them."""
    chosen = rows.select(some)
    return Rows(np.asarray(chosen.values)[:, some]) if _is_pairwise(metric) else chosen


def _recorded(
    lists: Lists,
    ks: tuple[int, ...],
    points: Floats,
    near: Faithfulness,
    stable: Stability,
    table: ClusterTable | None,
    drawn: Sample,
    metric: str,
    level: float,
) -> Trust:
    """Everything at the places of all points."""
    n_points, stretched = lists.n_points, distortion(lists, points)

    def whole(values: Floats | None) -> Floats | None:
        return None if values is None else spread_out(values, lists.rows, n_points)

    trusted = near.trustworthiness
    return Trust(
        n_points=n_points,
        n_rows=lists.rows.size,
        scales=ks,
        metric_name=metric,
        level=level,
        recall_at=spread_out(near.recall, lists.rows, n_points),
        p_value_at=spread_out(near.p_values, lists.rows, n_points),
        p_value=spread_out(near.p_value, lists.rows, n_points),
        q_value=spread_out(near.q_value, lists.rows, n_points),
        trustworthiness_at=whole(trusted),
        mean_recall=drawn.mean(near.recall[:, 0]),
        mean_trustworthiness=None if trusted is None else drawn.mean(trusted[:, 0]),
        dual=whole(stretched.dual),
        distortion=whole(stretched.ratio),
        magnification=whole(stretched.magnification),
        singularity=whole(stable.singularity),
        perturbation=whole(stable.perturbation),
        axes=stable.axes,
        clusters=table,
        notes=stable.notes,
    )
