"""The points that a map holds, and the same map with coordinates that point the other way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.records import Floats
from ..data.rows import Rows
from .base import Map
from .extension import ExtensionMap
from .locally_linear import LocallyLinearMap
from .nystrom import NystromMap


def rows_of(map_: Map) -> Rows | None:
    """The fitted points of a map that holds all of them; None where it does not, or only those of its parts."""
    part: Any = map_
    for name in ("affinities", "profile"):
        part = getattr(part, name, part)
    if hasattr(part, "lookup"):
        return part.lookup.index.rows  # type: ignore[no-any-return]
    found = getattr(part, "rows", None)
    return found if isinstance(found, Rows) else None


def turned(map_: Map, signs: Floats) -> Map | None:
    """The map whose coordinates are those of this one times ``signs``; None for a kind that does not allow it."""
    if isinstance(map_, ExtensionMap):
        return replace(map_, projection=signs[:, None] * map_.projection, offset=signs * map_.offset)
    if isinstance(map_, LocallyLinearMap | NystromMap):
        return replace(map_, embedding=map_.embedding * signs)
    return None
