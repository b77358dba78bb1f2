"""How true an embedding is to the data, by every measure that applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..core.messages import DATA, named, setting
from ..core.messages import value as quoted
from ..core.parallel import map_blocks
from ..core.records import Floats
from ..core.rules import Either, Function, Jobs, Nothing, OneOf, Real, Rule, Whole
from ..core.streams import make_generator
from ..data.rows import Rows
from ..data.shards import comes_in_shards
from ..errors import InputError
from ..neighbors.geometry import stored_entries
from ..neighbors.metrics import MAPPED, MetricName, metric_name
from ..validation import check_neighbors, check_parameters, missing
from .correlations import Correlations
from .distance_tables import Distances, MappedDistances, RanksAsked, View, distances_between, rows_in_view
from .drawn_shards import Drawn, refuse_pairwise, size_of
from .inputs import check_embedding, check_labels, check_points, label_codes
from .neighbor_accuracy import UNKNOWN, NeighborAccuracy
from .point_pairs import PointPairs
from .recall import Recall
from .sampling import Sample, sample_size
from .score_results import MEASURES, Scores
from .trustworthiness import Trustworthiness

_RULES: dict[str, Rule] = {
    "n_neighbors": Whole(1),
    "metric": Either(MetricName("graph"), Function()),
    "sample": Either(OneOf("auto", "all"), Whole(2)),
    "confidence": Real(0.0, high=1.0),
    "n_jobs": Either(Nothing(), Jobs()),
}
_MANY_ROWS, _FEW_ROWS, _PAIRS = 2_000, 500, 100_000_000
_NARROW, _TWICE = 128, 1_628
"""Columns up to which a pair costs the same, most of it for putting it in order, and at which it costs twice that."""


class Family(Protocol):
    """Measures that follow from the same numbers of each row."""

    @property
    def names(self) -> tuple[str, ...]:
        """The measures, as `Scores` names them."""
        ...

    def of_rows(self, view: View) -> Floats:
        """The numbers of each row of a view, b x m."""
        ...

    def results(self, values: Floats, sample: Sample) -> dict[str, Any]:
        """Fields of `Scores` from the numbers of all sampled rows; a measure that does not apply is left out."""
        ...


def score(
    X: Any,
    embedding: ArrayLike,
    y: ArrayLike | None = None,
    *,
    n_neighbors: int = 15,
    metric: str | Callable[..., float] = "euclidean",
    measures: str | Iterable[str] | None = None,
    sample: int | str = "auto",
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = -1,
) -> Scores:
    """Quality of an embedding: neighbours kept, distances kept, labels told; with confidence intervals.

    Each sampled point is compared with all others: its distances to all N points in the data and in the embedding are
    computed and both are put in order, some rows at a time, never N x N. Without sampling the values are exact and the
    intervals have no width; only ``recall_area`` is, beyond 5,000 points, known to 1e-4 alone, since ranks far from the
    first ones are taken from a histogram of the distances. Beyond 5,000 points of 128 columns or more, Euclidean
    distances come from products in single precision with a bound on what rounding does; wherever a rank could depend on
    it they are measured in double precision, so that ranks stay exact. The correlations are then known to 1e-6. Rows in
    double precision are held in single precision too while they are compared, if that takes no more than a gigabyte.

    Parameters
    ----------
    X
        The data (N x D): dense, memory-mapped or sparse, of any number type, or in shards, of which at most 50,000 rows
        are drawn and compared with each other; with ``metric="precomputed"`` the
        distances of all points to all (N x N, dense).
    embedding
        Coordinates of the same points (N x d), compared by Euclidean distance.
    y
        A class label for each point; with it ``neighbor_accuracy`` is measured. None or NaN where one is not known:
        such a point is not asked and does not vote.
    n_neighbors
        Neighbours k that trustworthiness, continuity, recall and accuracy look at.
    metric
        Distance in the data: a metric name, a function of two rows, or ``"precomputed"``.
    measures
        Some of ``"trustworthiness"``, ``"continuity"``, ``"neighbor_recall"``, ``"recall_area"``, ``"pearson"``,
        ``"spearman"``, ``"distance_correlation"``, ``"residual_variance"``, ``"neighbor_accuracy"``; None: all that
        apply. Without the first four and the last nothing is put in order, which is most of the work.
    sample
        Points to compare with all others: a number, ``"all"``, or ``"auto"``: all up to 5,000, above that 2,000, and
        fewer past 50,000 points, down to 500 from 200,000 on; where rows have more than 128 columns fewer still, at
        worst half as many from 1,628 columns on. The intervals say what that costs. ``spearman`` and
        ``distance_correlation`` look at the pairs among the first 2,000 of them.
    confidence
        How often an interval covers the value that all points would give.
    random_state
        Draws the sample.
    n_jobs
        Threads; the result does not depend on it.

    Returns
    -------
    Scores
        A field for each measure: a number with ``low`` and ``high``. Also ``recall_curve``.

    Notes
    -----
    A point is not its own neighbour, whatever its distance to itself: its index is left out, as in scikit-learn. Copies
    of it are neighbours at distance zero. Points that the embedding shows at one distance come in the order of their
    index, so that nothing is gained by drawing points on top of each other. Points at one distance in the data come in
    the order in which the embedding shows them: which of two equally near points is shown nearer is no mistake.
    (scikit-learn's ``trustworthiness`` leaves the order of both to an unstable sort; without ties it is the same
    number.)

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> points = np.random.default_rng(0).standard_normal((200, 5)) * [4, 3, 1, 0.3, 0.1]
    >>> scores = lowdim.score(points, points[:, :2])
    >>> round(scores.trustworthiness, 3), scores["continuity"].low == scores["continuity"].high
    (0.989, True)
    >>> sampled = lowdim.score(points, points[:, :2], measures="continuity", sample=100)
    >>> sampled.continuity.low < scores.continuity < sampled.continuity.high
    True
    """
    given = {
        "n_neighbors": n_neighbors,
        "metric": metric,
        "sample": sample,
        "confidence": confidence,
        "n_jobs": n_jobs,
    }
    check_parameters("score", given, _RULES)
    n_all = 0
    if comes_in_shards(X) or comes_in_shards(embedding):
        if metric == "precomputed":
            raise refuse_pairwise("score")
        among = Drawn.of(*size_of(X), random_state)
        n_all, numbers = among.n_rows, among.numbers
        X, embedding = among.take("score", "X", X), among.take("score", "embedding", embedding)
        y = None if y is None else check_labels("score", "y", y, n_all, partly=True)[numbers]
    rows = check_points("score", X, pairwise=metric == "precomputed")
    points = check_embedding("score", embedding, rows.n_rows)
    check_neighbors(n_neighbors, rows.n_rows)
    size = sample_size("score", sample, rows.n_rows, auto=_sampled_rows(rows, metric))
    wanted = _wanted(measures, has_labels=y is not None)
    labelled: list[Family] = [] if y is None else [_of_labels(y, rows.n_rows)]
    drawn = Sample.draw(rows.n_rows, size, confidence, make_generator(random_state))
    data = distances_between(rows, metric, n_jobs, may_round=True)
    shown = MappedDistances(Rows(points), MAPPED["euclidean"], n_jobs)
    ranks = RanksAsked(rows.n_rows, n_neighbors)
    families = _families(wanted, data, shown, drawn, ranks, n_jobs) + labelled
    found = _measure(families, data, shown, drawn, ranks, n_jobs)
    _check_found(measures, wanted, found)
    return Scores(
        n_points=rows.n_rows,
        n_rows=drawn.size,
        n_pairs=next((family.n_pairs for family in families if isinstance(family, PointPairs)), 0),
        n_neighbors=n_neighbors,
        metric=metric_name(metric),
        confidence=float(confidence),
        n_all=n_all or rows.n_rows,
        **{name: value for name, value in found.items() if name in wanted or name == "recall_curve"},
    )


def _sampled_rows(rows: Rows, metric: str | Callable[..., float]) -> int:
    """Rows that "auto" draws of many points: those that make _PAIRS pairs with all others, within limits.

    Where rows are wide these are fewer pairs, at worst half as many, so that the score does not take much longer.
    """
    columns = 0 if metric == "precomputed" else stored_entries(rows) / rows.n_rows
    price = min(2.0, 1.0 + max(0.0, columns - _NARROW) / (_TWICE - _NARROW))
    return min(_MANY_ROWS, max(_FEW_ROWS, int(_PAIRS / price) // rows.n_rows))


def _families(
    wanted: set[str], data: Distances, shown: Distances, drawn: Sample, ranks: RanksAsked, n_jobs: int | None
) -> list[Family]:
    """The families that hold what is wanted of distances and neighbours."""
    families: list[Family] = []
    if wanted & set(Trustworthiness.names):
        families.append(Trustworthiness(drawn.n_points, ranks.n_neighbors))
    if wanted & set(Recall.names):
        families.append(Recall(ranks, drawn.n_points))
    if wanted & set(Correlations.names):
        families.append(Correlations(data, shown, drawn))
    if wanted & set(PointPairs.names):
        families.append(PointPairs(drawn, wanted, n_jobs))
    return families


def _of_labels(y: ArrayLike, n_points: int) -> NeighborAccuracy:
    """The family of measures that need labels."""
    labels = check_labels("score", "y", y, n_points, partly=True)
    is_known = ~missing(labels)
    codes = np.full(n_points, UNKNOWN)
    codes[is_known], n_classes = label_codes("score", "y", labels[is_known])
    if n_classes == 1:
        raise InputError(
            f"{named('y', 'score')} must hold at least two classes; all labels are equal. Leave {named('y')} out."
        )
    if n_classes == np.count_nonzero(is_known):
        raise InputError(
            f"{named('y', 'score')} must hold class labels; got {n_classes} different values for as many points. "
            f"Give classes, for example bins of {named('y')}, or leave it out."
        )
    return NeighborAccuracy(codes, n_classes)


def _measure(
    families: list[Family],
    data: Distances,
    shown: Distances,
    drawn: Sample,
    ranks: RanksAsked,
    n_jobs: int | None,
) -> dict[str, Any]:
    """Fields of `Scores`: every family looks at every view, then at what all views gave."""
    size = rows_in_view(drawn.n_points, drawn.size)
    # Room is used again: the system would hand out every page of a new array empty, and with a wait.
    rooms: list[Floats] = []

    def look(part: slice) -> list[Floats]:
        try:
            tables = rooms.pop()
        except IndexError:
            tables = np.empty((2, size, drawn.n_points))
        view = View(data, shown, drawn.rows, part, ranks, tables)
        found = [family.of_rows(view) for family in families]
        rooms.append(tables)
        return found

    parts = map_blocks(look, drawn.size, n_jobs=n_jobs, block_rows=size)
    found: dict[str, Any] = {}
    for place, family in enumerate(families):
        found |= family.results(np.concatenate([part[place] for part in parts]), drawn)
    return found


def _wanted(measures: str | Iterable[str] | None, *, has_labels: bool) -> set[str]:
    """Names of the measures that were asked for."""
    if measures is None:
        return set(MEASURES)
    names = [measures] if isinstance(measures, str) else list(measures)
    for name in names:
        check_parameters("score", {"measures": name}, {"measures": OneOf(*MEASURES)})
    if not names:
        raise InputError(
            f"{named('measures', 'score')} must name at least one measure; got none. Give {quoted(None)} for all "
            "that apply."
        )
    if "neighbor_accuracy" in names and not has_labels:
        raise InputError(
            f"{named('y', 'score')} must hold the labels that {setting('measures', 'neighbor_accuracy')} needs; got "
            f"none. Give {named('y')}, or leave that measure out."
        )
    return set(names)


def _check_found(measures: str | Iterable[str] | None, wanted: set[str], found: dict[str, Any]) -> None:
    missing = sorted(wanted - set(found))
    if measures is not None and missing:
        raise InputError(
            f"{named('measures', 'score')} must apply to the data; got {missing[0]!r}, but all distances of {DATA}, or "
            "all of the embedding, are equal, so that nothing can correlate. Leave it out."
        )
