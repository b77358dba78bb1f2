"""Embeddings of the same points beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.messages import named
from ..core.records import Floats, Integers
from ..core.rules import Either, Function, Jobs, Nothing, Rule, Whole
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError, InputTypeError
from ..metrics.inputs import check_embedding, check_points
from ..metrics.neighbor_recall import neighbor_recall
from ..metrics.procrustes import procrustes
from ..neighbors import build_index
from ..neighbors.metrics import MetricName
from ..validation import check_neighbors, check_numbers, check_parameters
from .comparison import Comparison

_OWNER = "compare"
_RULES: dict[str, Rule] = {
    "n_neighbors": Whole(1),
    "metric": Either(MetricName("graph"), Function()),
    "n_jobs": Either(Nothing(), Jobs()),
}


def compare(
    X: Any,
    embeddings: Mapping[str, ArrayLike],
    *,
    n_neighbors: int = 15,
    metric: str | Callable[..., float] = "euclidean",
    n_jobs: int | None = -1,
) -> Comparison:
    """Embeddings of the same points beside each other: what they agree on, and which points moved.

    Parameters
    ----------
    X
        The data (N x D), or distances with ``metric="precomputed"``; see `lowdim.metrics.neighbor_recall`.
    embeddings
        Name of each embedding and its coordinates (N x d), two or more. All are turned onto the first; one with fewer
        dimensions than another is taken as flat.
    n_neighbors
        Neighbours k of each point that are looked at.
    metric
        Distance in the data: a metric name, a function of two rows, or ``"precomputed"``.
    n_jobs
        Threads; the result does not depend on it.

    Returns
    -------
    Comparison
        Of every pair the agreement of neighbours of each point, the error after Procrustes alignment and how far each
        point is from its place; ``summary()``, ``to_frame()``, ``plot(path)``.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [4, 3, 1, 0.3, 0.1]
    >>> found = lowdim.compare(X, {"first two": X[:, :2], "turned": -X[:, [1, 0]], "others": X[:, 3:]})
    >>> found.agreement.mean(axis=1).round(2).tolist(), found.error.round(2).tolist()
    ([1.0, 0.07, 0.07], [0.0, 0.99, 0.99])
    """
    check_parameters(_OWNER, {"n_neighbors": n_neighbors, "metric": metric, "n_jobs": n_jobs}, _RULES)
    _check_names(embeddings)
    n_points = check_points(_OWNER, X).n_rows
    check_neighbors(n_neighbors, n_points)
    pictures = {str(name): _checked(name, points, n_points) for name, points in embeddings.items()}
    recall = [
        neighbor_recall(X, points, n_neighbors, metric=metric, n_jobs=n_jobs) for points in pictures.values()
    ]
    shown = [_shown(points, n_neighbors, n_jobs) for points in pictures.values()]
    wide = _of_one_width(list(pictures.values()))
    pairs = list(combinations(range(len(wide)), 2))
    found = [procrustes(wide[second], wide[first]) for first, second in pairs]
    moved = [
        np.linalg.norm(one.aligned - wide[first], axis=1) / _width(wide[first])
        for one, (first, _) in zip(found, pairs, strict=True)
    ]
    aligned = [wide[0], *(one.aligned for one, (first, _) in zip(found, pairs, strict=True) if first == 0)]
    return Comparison(
        names=tuple(pictures),
        n_points=n_points,
        n_neighbors=n_neighbors,
        recall=np.array(recall),
        agreement=np.array([_shared(shown[first], shown[second]) for first, second in pairs]),
        error=np.array([one.error for one in found]),
        moved=np.array(moved),
        aligned=tuple(aligned),
    )


def _check_names(embeddings: Any) -> None:
    is_mapping = isinstance(embeddings, Mapping)
    if not is_mapping or len(embeddings) < 2:
        got = f"{len(embeddings)} of them" if is_mapping else f"a {type(embeddings).__name__}"
        raise InputError(
            f"{named('embeddings', _OWNER)} must map two or more names to embeddings; got {got}. Give "
            '{"name": embedding, "other": other}.'
        )


def _checked(name: Any, points: ArrayLike, n_points: int) -> Floats:
    try:
        found = check_embedding(_OWNER, points, n_points)
        check_numbers(Rows(found), named("embedding"))
        return found
    except (InputError, InputTypeError) as error:
        raise type(error)(f"embeddings[{str(name)!r}]: {error}") from error


def _shown(points: Floats, k: int, n_jobs: int | None) -> Integers:
    run = Run.of(n_jobs=n_jobs)
    index = build_index(Rows(points), search="exact", n_neighbors=k, run=run)
    return index.query(None, k, run).indices.reshape(-1, k)


def _shared(first: Integers, second: Integers) -> Floats:
    """Share of the entries of each row that two lists have in common."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(axis=1) / first.shape[1])


def _of_one_width(pictures: list[Floats]) -> list[Floats]:
    widest = max(points.shape[1] for points in pictures)
    return [np.pad(points, ((0, 0), (0, widest - points.shape[1]))) for points in pictures]


def _width(points: Floats) -> float:
    """Root mean square distance to the mean."""
    return float(np.sqrt(np.square(points - points.mean(axis=0)).sum(axis=1).mean()))
