"""Rows in blocks, duplicates, data sets."""

from __future__ import annotations

from ..core.parts import loading

__getattr__ = loading(__name__)
