"""What is explored: the rows, what else is known of each of them, and how they are read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..core.records import Integers
from ..data.files.table import Table
from ..errors import InputError
from ..plotting.labels import Named
from ..plotting.labels import column as named_column
from ..plotting.page.content import Content
from ..validation import read_array

MOST_ROWS = 100_000
"""Rows up to which all of them move; of more, a sample."""
SAMPLE_ROWS = 50_000
"""Rows of the sample."""
MOST_COLUMNS = 40
"""Columns that a page has from the start; others come when they are asked for."""


@dataclass(frozen=True)
class Source:
    """Rows to explore, with their columns.

    Parameters
    ----------
    X
        The features, N x D.
    columns
        What is no feature, by name, one value for each row.
    feature_names
        Names of the D features; None: they are numbered.
    label
        The column that colours the picture at first.
    ids
        Names of the rows.
    title
        What the page is called.
    reading
        Lines of Python that make ``X``.
    command
        The beginning of the shell's line, ``lowdim embed FILE`` with its options; None where there is no file.
    flag_of
        The option of a parameter, for that line.
    table
        The file as it was read, for what is written beside coordinates.
    chosen
        The rows that are explored, of all those that ``whole`` has; None: all.
    """

    X: Any
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    label: str | None = None
    ids: NDArray[Any] | None = None
    title: str = "Explorer"
    reading: str = "X = ..."
    command: str | None = None
    flag_of: Callable[[str], str] = str
    table: Table | None = None
    chosen: Integers | None = None
    whole: Any = None

    @property
    def n_rows(self) -> int:
        """Rows that are explored."""
        return int(self.X.shape[0])

    @property
    def n_all(self) -> int:
        """Rows that there are."""
        return self.n_rows if self.whole is None else int(self.whole.n_rows)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        count = int(self.X.shape[1])
        return self.feature_names or tuple(f"feature {place}" for place in range(count))

    def sampled(self, seed: int = 0) -> Source:
        """A sample of the rows where there are too many to move all of them."""
        if self.n_rows <= MOST_ROWS:
            return self
        chosen = np.sort(np.random.default_rng(seed).choice(self.n_rows, SAMPLE_ROWS, replace=False))
        lines = (
            f"{self.reading}\n"
            f"rows = np.sort(np.random.default_rng({seed}).choice({self.n_rows}, {SAMPLE_ROWS}, replace=False))"
        )
        return replace(
            self,
            X=self.X[chosen],
            columns={name: values[chosen] for name, values in self.columns.items()},
            ids=None if self.ids is None else self.ids[chosen],
            reading=lines,
            command=None,
            chosen=chosen,
            whole=self,
        )

    def named(self, name: str) -> NDArray[Any]:
        """A column, or else a feature, by its name."""
        if name in self.columns:
            return self.columns[name]
        if name == "id" and self.ids is not None:
            return self.ids
        if name not in self.features:
            raise InputError(f"The data have no column {name[:60]!r}. Search for another.")
        values: Any = self.X[:, [self.features.index(name)]]
        dense = values.toarray() if isinstance(values, csr_array) else values
        return np.asarray(dense, dtype=np.float64).ravel()

    def content(self, points: NDArray[Any]) -> Content:
        """The points with the first columns, as a page has them."""
        columns = {
            name: named_column(values, name, name)
            for name, values in list(self.columns.items())[:MOST_COLUMNS]
        }
        label = columns.pop(self.label) if self.label in columns else Named()
        return Content.of(points, label, title=self.title, columns=columns, ids=self.ids)


def source_of(
    X: Any, labels: Any = None, *, columns: Mapping[str, Any] | None = None, title: str = ""
) -> Source:
    """Rows in any form that the estimators take, with labels and columns of the same length."""
    frame_names = getattr(X, "columns", None)
    rows = read_array(X, "X")
    names = tuple(map(str, frame_names)) if frame_names is not None else None
    given = {name: np.asarray(values) for name, values in (columns or {}).items()}
    label = None
    if labels is not None:
        label = "label"
        given = {label: np.asarray(labels)} | given
    for name, values in given.items():
        if values.shape != (rows.n_rows,):
            raise InputError(
                f"{name} must hold one value for each of the {rows.n_rows} rows; got {values.shape}. Give as many as "
                "there are rows, in their order."
            )
    return Source(rows.values, given, names, label, title=title or "Explorer")
