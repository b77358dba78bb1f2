"""Labels and the name they go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

Labels = ArrayLike | str | None
"""One for each point, or the name of the column that holds them."""


@dataclass(frozen=True, slots=True)
class Named:
    """Labels of the points; ``name`` is empty where nobody named them."""

    values: NDArray[Any] | None = None
    name: str = ""


def named(labels: Labels, columns: Mapping[str, ArrayLike] | None = None) -> Named:
    """Labels by the name of a column, or themselves; a series of a data frame brings its own name."""
    if labels is None:
        return Named()
    if isinstance(labels, str):
        known = {} if columns is None else columns
        if labels not in known:
            there = f"those given are {', '.join(map(str, known))}" if known else "none were given"
            raise InputError(f"labels: {labels!r} is none of the columns; {there}")
        return Named(np.asarray(known[labels]), labels)
    name = getattr(labels, "name", None)
    return Named(np.asarray(labels), name if isinstance(name, str) else "")
