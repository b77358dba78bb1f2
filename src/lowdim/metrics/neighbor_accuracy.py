"""Labels told by the nearest neighbours: leave-one-out accuracy, error on a test set, and the same on sampled rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..core.messages import named
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..errors import InputError
from ..neighbors import build_index
from .distance_tables import View
from .inputs import check_labels, label_codes, read_points
from .sampling import Sample
from .score_results import Estimate

_BLOCK_ENTRIES = 1 << 22
UNKNOWN = -1
"""The code of a label that is missing."""


def neighbor_accuracy(
    embedding: ArrayLike, labels: ArrayLike, k: int = 10, *, n_jobs: int | None = None
) -> float:
    """Share of points whose label is the commonest among their ``k`` nearest others.

    Parameters
    ----------
    embedding
        The points (N x d), or N numbers.
    labels
        A label for each point, of any type; NaN is not allowed.
    k
        Neighbours that vote. A tie goes to the smallest label, as in scikit-learn's classifier; of equally near points
        the first ones vote.
    n_jobs
        Threads.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.metrics.neighbor_accuracy([0.0, 0.1, 0.2, 5.0, 5.1, 5.3], ["a", "a", "a", "b", "b", "b"], k=2)
    1.0
    """
    rows = read_points("neighbor_accuracy", "embedding", embedding, flat=True)
    names = check_labels("neighbor_accuracy", "labels", labels, rows.n_rows)
    codes, n_classes = label_codes("neighbor_accuracy", "labels", names)
    _check_voters("neighbor_accuracy", k, rows.n_rows - 1)
    run = Run.of(n_jobs=n_jobs)
    index = build_index(rows, search="exact", run=run)
    neighbors = index.query(None, k, run).indices.reshape(-1, k)
    return float(_hits(codes, neighbors, codes, n_classes).mean())


def nearest_neighbor_error(
    train: ArrayLike,
    train_labels: ArrayLike,
    test: ArrayLike,
    test_labels: ArrayLike,
    k: int = 1,
    *,
    n_jobs: int | None = None,
) -> float:
    """Share of test points whose label is not the commonest among their ``k`` nearest training points.

    Parameters
    ----------
    train, test
        The points of both sets (N x d and M x d, or numbers), dense or sparse.
    train_labels, test_labels
        A label for each point, of any one type. A test label that no training point has is always an error.
    k
        Training points that vote, as in `neighbor_accuracy`.
    n_jobs
        Threads.

    Examples
    --------
    >>> from lowdim import metrics
    >>> metrics.nearest_neighbor_error([0.0, 1.0, 2.0], ["a", "b", "b"], [0.2, 0.9, 1.8, 0.1], ["a", "b", "b", "b"])
    0.25
    """
    owner = "nearest_neighbor_error"
    points, queries = (
        read_points(owner, "train", train, flat=True),
        read_points(owner, "test", test, flat=True),
    )
    if points.n_columns != queries.n_columns:
        raise InputError(
            f"{named('test', owner)} must have as many columns as train; got {queries.n_columns} and "
            f"{points.n_columns}. Map both by the same model."
        )
    known = check_labels(owner, "train_labels", train_labels, points.n_rows)
    asked = check_labels(owner, "test_labels", test_labels, queries.n_rows)
    if ("U" in known.dtype.kind + asked.dtype.kind) and known.dtype.kind != asked.dtype.kind:
        raise InputError(
            f"test_labels of {owner} must be of the type of train_labels; got {asked.dtype} and {known.dtype}. "
            "Convert one of them."
        )
    _check_voters(owner, k, points.n_rows)
    codes, n_classes = label_codes(owner, "test_labels", np.concatenate((known, asked)))
    run = Run.of(n_jobs=n_jobs)
    neighbors = build_index(points, search="exact", run=run).query(queries, k, run).indices.reshape(-1, k)
    hits = _hits(codes[: known.size], neighbors, codes[known.size :], n_classes)
    return float(1.0 - hits.mean())


class NeighborAccuracy:
    """Share of points whose label is the commonest among the others that are shown nearest (leave-one-out).

    A point whose label is not known, of the code UNKNOWN, is not asked and does not vote.
    """

    names = ("neighbor_accuracy",)

    def __init__(self, codes: Integers, n_classes: int) -> None:
        self.codes, self.n_classes = codes, n_classes

    def of_rows(self, view: View) -> Floats:
        """1 where the neighbours tell the label of a row, 0 where not, NaN where it is not known."""
        truth = self.codes[view.points]
        hits: Floats = _hits(self.codes, view.orders.nearest, truth, self.n_classes)
        return np.where(truth == UNKNOWN, np.nan, hits)[:, None]

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate]:
        """The share of rows that are told, of those whose label is known; nothing where these are fewer than two."""
        is_known = ~np.isnan(values[:, 0])
        if np.count_nonzero(is_known) < 2:
            return {}
        asked = replace(sample, rows=sample.rows[is_known], n_points=np.count_nonzero(self.codes != UNKNOWN))
        return {"neighbor_accuracy": asked.share(values[is_known, 0])}


def _hits(codes: Integers, neighbors: Integers, truth: Integers, n_classes: int) -> Floats:
    """1.0 where the commonest code among the neighbours of a row is the true one, else 0.0."""
    hits = np.empty(truth.size)
    for part in row_blocks(truth.size, max(1, _BLOCK_ENTRIES // n_classes)):
        hits[part] = _commonest(codes[neighbors[part]], n_classes) == truth[part]
    return hits


def _commonest(codes: Integers, n_classes: int) -> Integers:
    """The known code that occurs most often in each row; none of them where there is none."""
    n_rows, width = codes.shape[0], n_classes + 1  # the first column is for what is not known
    places = codes + 1 + width * np.arange(n_rows)[:, None]
    votes = np.bincount(places.ravel(), minlength=n_rows * width).reshape(n_rows, width)[:, 1:]
    commonest: Integers = np.where(votes.any(axis=1), votes.argmax(axis=1), n_classes)
    return commonest


def _check_voters(owner: str, k: int, available: int) -> None:
    if not 1 <= k <= available:
        raise InputError(
            f"{named('k', owner)} must be a whole number from 1 to {available}, the points that can vote; got "
            f"{k!r}. Use a smaller k, or give more points."
        )
