"""Relations between the rows of data sets that follow one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.messages import named, value
from ..core.records import Integers
from ..errors import InputError

FORMS = (
    "Give for each two data sets that follow one another a dictionary from rows of the first to rows of the second, an "
    "array of such pairs (m x 2), or an array with the row of the second for each row of the first, -1 where there is "
    "none."
)


def check_relations(relations: Any, sizes: Sequence[int]) -> list[Integers]:
    """Pairs of related rows (m x 2) of each two data sets that follow one another.

    Parameters
    ----------
    relations
        One entry for each two: a dictionary, an array of pairs, or an array with an entry for each row of the first;
        None: rows of the same number are related.
    sizes
        Rows of the data sets.
    """
    name, steps = named("relations", "align"), len(sizes) - 1
    if relations is None:
        if len(set(sizes)) > 1:
            raise InputError(
                f"{name} must be given where the data sets have different numbers of rows; they have "
                f"{', '.join(map(str, sizes))}. {FORMS}"
            )
        return [np.repeat(np.arange(sizes[0]), 2).reshape(-1, 2) for _ in range(steps)]
    if isinstance(relations, Mapping | str) or not isinstance(relations, Sequence | np.ndarray):
        raise InputError(f"{name} must be a list with {steps} entries; got {value(relations)}. {FORMS}")
    if len(relations) != steps:
        raise InputError(
            f"{name} must have one entry fewer than there are data sets, {steps}; got {len(relations)}. {FORMS}"
        )
    return [_pairs(one, place, sizes[place], sizes[place + 1]) for place, one in enumerate(relations)]


def _pairs(relation: Any, place: int, before: int, after: int) -> Integers:
    """The pairs of one entry."""
    name = f"Entry {place} of {named('relations', 'align')}"
    if isinstance(relation, Mapping):
        given = np.array([[a, b] for a, b in relation.items()]).reshape(-1, 2)
    else:
        given = np.asarray(relation)
        if given.ndim == 1 and given.size == before and given.dtype.kind in "iu":
            given = np.column_stack([np.arange(before), given])[given != -1]
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"{name} must relate rows to rows; got {value(relation)}. {FORMS}")
    if given.size == 0:
        raise InputError(
            f"{name} relates no rows, so that nothing holds the two pictures together. Relate some, or fit them apart."
        )
    if given.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers, those of rows; got {value(relation)}. {FORMS}")
    for column, (n_rows, which) in enumerate(((before, place), (after, place + 1))):
        outside = given[(given[:, column] < 0) | (given[:, column] >= n_rows), column]
        if outside.size:
            raise InputError(
                f"{name} must name rows of data set {which} from 0 to {n_rows - 1}; got {outside[0]}. There is no such "
                "row."
            )
    return np.unique(given.astype(np.int64), axis=0)
