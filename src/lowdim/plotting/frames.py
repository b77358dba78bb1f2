"""Several embeddings of the same points in a row: those of an optimisation, or of a family."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..core.records import Floats

Frames = Sequence[tuple[float, Floats]]
"""Iteration (a whole number) or position, and embedding."""


def title_of(which: Any) -> str:
    """What a frame is called."""
    return f"iteration {which}" if isinstance(which, numbers.Integral) else f"position {which:g}"


def as_pictures(given: Any) -> dict[str, ArrayLike] | None:
    """Title and coordinates of each of several embeddings, or of the frames of one; None where there is one alone."""
    if isinstance(given, Mapping):
        return {str(name): each for name, each in given.items()}
    is_list = isinstance(given, (list, tuple)) and len(given) > 0
    if is_list and all(isinstance(pair, tuple) and len(pair) == 2 for pair in given):
        keys = [pair[0] for pair in given]
        if all(isinstance(key, numbers.Real) for key in keys) and all(
            hasattr(pair[1], "shape") for pair in given
        ):
            return {title_of(key): each for key, each in given}
    return None
