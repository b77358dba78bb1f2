"""Compiled loops of weights on a graph: shortest paths, entropic affinities, local fits and their sums."""

from __future__ import annotations

from ..lazy import modules_of

__getattr__ = modules_of(__name__)
