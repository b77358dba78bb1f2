"""Intrinsic dimension: how many coordinates the data needs, seen from its neighbourhoods."""

from __future__ import annotations

from .estimate import estimate_dimension
from .record import DimensionEstimate

__all__ = ["DimensionEstimate", "estimate_dimension"]
