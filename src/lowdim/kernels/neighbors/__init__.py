"""Compiled loops of the neighbour search, of graphs and of ranks."""

from __future__ import annotations

from ...core.parts import loading

__getattr__ = loading(__name__)
