"""Compiled loops of the neighbour search, of graphs and of ranks."""

from __future__ import annotations

from ..lazy import modules_of

__getattr__ = modules_of(__name__)
