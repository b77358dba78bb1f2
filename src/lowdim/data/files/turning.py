"""Files whose columns are the points, as tables of genes and samples often are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...core.messages import named
from ...errors import InputError
from .table import Request, Table


def check_turned(request: Request, source: str) -> None:
    """An InputError where a label is asked for: a column of the file is a point then, and labels none."""
    if request.transpose and request.labels:
        raise InputError(
            f"{named('label')}: with {named('transpose')} the columns of {source} are the points, so that none of them "
            f"can be a label. Leave {named('label')} out, or the column with {named('drop')}."
        )


def turned(table: Table) -> Table:
    """The table with its columns as points: their names become the ids, and the ids the names of the features."""
    names = None if table.ids is None else tuple(unique(map(str, table.ids)))
    ids = None if table.feature_names is None else np.array(table.feature_names, dtype=object)
    X: Any = sparse.csr_array(table.X.T) if sparse.issparse(table.X) else table.X.T
    return replace(table, X=X, feature_names=names, ids=ids, columns={}, label=None, id_name="id")


def unique(names: Iterable[str]) -> list[str]:
    """Names of which no two are the same: later ones get -1, -2 and so on, as AnnData does it."""
    given = list(names)
    taken, found, count = set(given), [], dict.fromkeys(given, 0)
    seen: set[str] = set()
    for name in given:
        told = name
        while told in seen or (told != name and told in taken):
            count[name] += 1
            told = f"{name}-{count[name]}"
        seen.add(told)
        found.append(told)
    return found
