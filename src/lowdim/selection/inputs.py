"""Labels, true coordinates and seeds of a sweep, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import DATA, listed, named, setting, shape
from ..core.records import Floats, Integers
from ..core.rules import Whole
from ..core.streams import make_generator
from ..errors import InputError
from ..metrics.inputs import check_labels, label_codes
from ..validation import check_block, take_entries


def read_labels(y: Any, n_rows: int, *, classes: bool) -> tuple[NDArray[Any] | None, Integers | None]:
    """Labels as an array and, where they must be classes, as codes."""
    if y is None:
        return None, None
    if classes:
        labels = check_labels("sweep", "y", y, n_rows)
        if labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels)):
            raise InputError(
                f"{named('y', 'sweep')} must hold classes (names or whole numbers) for "
                f"{setting('score', 'labels')}; got numbers such as {listed(labels[:3])}. Give coordinates that are "
                "known to be true as truth instead."
            )
        return labels, label_codes("sweep", "y", labels)[0]
    labels = take_entries(y, named("y", "sweep"))
    if labels.shape[:1] != (n_rows,):
        raise InputError(
            f"{named('y', 'sweep')} must hold one entry for each of the {n_rows} rows of {DATA}; got shape "
            f"{shape(labels.shape)}. Give as many as there are rows."
        )
    return labels, None


def read_truth(truth: Any, n_rows: int) -> Floats | None:
    """True coordinates, one row for each row of the data."""
    if truth is None:
        return None
    points = check_block(truth, named("truth"), at_least=1, flat=True)
    if points.n_rows != n_rows:
        raise InputError(
            f"{named('truth', 'sweep')} must hold coordinates for each of the {n_rows} rows of {DATA}; got shape "
            f"{shape(points.shape)}. Give a row for each."
        )
    return points.block(slice(None))


def resolve_seeds(seeds: Any, random_state: Any) -> tuple[int, ...]:
    """The seed of each repetition: as listed, or that of the estimator and the numbers after it."""
    if Whole(1).allows(seeds):
        if Whole(0).allows(random_state):
            return tuple(range(int(random_state), int(random_state) + int(seeds)))
        return tuple(make_generator(random_state).integers(2**31 - 1, size=int(seeds)).tolist())
    given = list(seeds) if isinstance(seeds, Sequence | np.ndarray) and not isinstance(seeds, str) else []
    if not given or not all(Whole(0).allows(seed) for seed in given) or len(set(given)) < len(given):
        raise InputError(
            f"{named('seeds', 'sweep')} must be a whole number >= 1, or different whole numbers >= 0 in a list; got "
            f"{seeds!r}. Use, for example, {setting('seeds', 5)}."
        )
    return tuple(int(seed) for seed in given)
