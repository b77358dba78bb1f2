"""The intrinsic dimension by several methods, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.messages import DATA, named, setting
from ...core.rules import Either, Function, Jobs, Nothing, OneOf, Real, Rule, Whole
from ...core.streams import make_generator
from ...data.shards import comes_in_shards
from ...errors import InputError
from ...neighbors.metrics import MetricName
from ...validation import check_neighbors, check_parameters
from ..drawn_shards import Drawn, refuse_pairwise, size_of
from ..inputs import check_points
from ..sampling import Sample, sample_size
from ..score_results import Estimate
from .local_pca import local_pca
from .maximum_likelihood import maximum_likelihood
from .record import DimensionEstimate
from .surroundings import Surroundings, different_rows, look_around
from .two_nearest import two_nearest

METHODS: dict[str, Callable[[Surroundings], Estimate | None]] = {
    "mle": maximum_likelihood,
    "two-nn": two_nearest,
    "local-pca": local_pca,
}
MANY_ROWS = 5_000
"""Points that are looked at where there are more."""

_OWNER = "estimate_dimension"
_RULES: dict[str, Rule] = {
    "method": OneOf("auto", *METHODS),
    "n_neighbors": Whole(3),
    "metric": Either(MetricName("graph"), Function()),
    "sample": Either(OneOf("auto", "all"), Whole(2)),
    "confidence": Real(0.0, high=1.0),
    "n_jobs": Either(Nothing(), Jobs()),
}


def estimate_dimension(
    X: Any,
    *,
    method: str = "auto",
    n_neighbors: int = 30,
    metric: str | Callable[..., float] = "euclidean",
    sample: int | str = "auto",
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = -1,
) -> DimensionEstimate:
    """How many coordinates the data needs, seen from the neighbourhoods of its points.

    Parameters
    ----------
    X
        The data (N x D): dense, memory-mapped or sparse, of any number type, or in shards, of which at most 50,000 rows
        are drawn; with ``metric="precomputed"`` the distances of all points to all (N x N, dense). Copies of a point
        are left out.
    method
        ``"mle"``: maximum likelihood of the distances to the nearest neighbours (Levina & Bickel 2005, averaged as by
        MacKay & Ghahramani 2005). ``"two-nn"``: the ratio of the first two (Facco et al. 2017). ``"local-pca"``:
        directions in which neighbourhoods extend (Fukunaga & Olsen 1971). ``"auto"``: all three and their median.
    n_neighbors
        Neighbours that ``"mle"`` and ``"local-pca"`` look at: more show a larger scale, above noise; too many reach
        over bends. ``"local-pca"`` needs at least two or three times the dimension.
    metric
        A metric name, a function of two rows, or ``"precomputed"``. It should be a length: squared distances have half
        the dimension, so that of ``"sqeuclidean"``, ``"cosine"`` and ``"correlation"`` the square roots are used.
    sample
        Points to look at, each with its neighbours among all: a number, ``"all"``, or ``"auto"``: all, but no more than
        5,000.
    confidence
        Of the intervals: what another draw of points from the same distribution would give. They do not cover
        the bias: ``"mle"`` and ``"two-nn"`` find too little above some five dimensions, where all data has edges.
    random_state
        Draws the sample.
    n_jobs
        Threads; the result does not depend on it.

    Returns
    -------
    DimensionEstimate
        ``dimension``, the estimate of each method with its interval, and whether they ``agree``.

    Examples
    --------
    >>> import lowdim
    >>> from lowdim import datasets
    >>> found = lowdim.estimate_dimension(datasets.swiss_roll(1000, random_state=0).data)
    >>> found.dimension, found.agree, round(found["mle"], 1)
    (2, True, 1.9)
    """
    given = {"method": method, "n_neighbors": n_neighbors, "metric": metric, "sample": sample}
    check_parameters(_OWNER, given | {"confidence": confidence, "n_jobs": n_jobs}, _RULES)
    pairwise = metric == "precomputed"
    notes: list[str] = []
    if comes_in_shards(X):
        if pairwise:
            raise refuse_pairwise(_OWNER)
        among = Drawn.of(*size_of(X), random_state)
        X = among.take(_OWNER, "X", X)
        if len(X) < among.n_rows:
            notes.append(f"{len(X):,} of {among.n_rows:,} rows were drawn; neighbours are those among them.")
    rows, collapsed = different_rows(
        check_points(_OWNER, X, pairwise=pairwise), pairwise=pairwise, n_jobs=n_jobs
    )
    check_neighbors(n_neighbors, rows.n_rows, collapsed)
    rng = make_generator(random_state)
    size = min(rows.n_rows, sample_size(_OWNER, sample, rows.n_rows + collapsed, auto=MANY_ROWS))
    drawn = Sample.draw(rows.n_rows, size, confidence, rng)
    around, touching = look_around(rows, metric, n_neighbors, drawn, rng, n_jobs)
    if around.neighbors.n_rows < 2:
        raise InputError(
            f"{named('X', _OWNER)} must hold points apart from each other; all but {around.neighbors.n_rows} of "
            f"{size} have another at distance zero under {setting('metric', metric)}. Use another metric, or scale "
            f"{DATA} up."
        )
    if touching:
        notes.append(f"{touching:,} points with another at distance zero were left out.")
    estimates, unused = _run(method, around)
    return DimensionEstimate(
        estimates=estimates,
        n_points=rows.n_rows,
        n_rows=size,
        n_neighbors=n_neighbors,
        n_collapsed=collapsed,
        confidence=drawn.confidence,
        notes=(*notes, *unused),
    )


def _run(method: str, around: Surroundings) -> tuple[dict[str, Estimate], list[str]]:
    """Estimates of the methods asked for; one that cannot be used is an error if it was named, else a note."""
    estimates: dict[str, Estimate] = {}
    notes: list[str] = []
    for name in METHODS if method == "auto" else (method,):
        found = METHODS[name](around)
        if found is not None:
            estimates[name] = found
            continue
        why = "the nearest neighbours are equally far from nearly all points, as on a grid"
        if method != "auto":
            raise InputError(
                f"method of {_OWNER} must be one that suits the data; got {name!r}, but {why}. Use 'local-pca', or "
                f"more {named('n_neighbors')}."
            )
        notes.append(f"{name} gave nothing: {why}.")
    return estimates, notes
