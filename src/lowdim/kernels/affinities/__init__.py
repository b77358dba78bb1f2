"""Compiled loops of weights on a graph: shortest paths, entropic affinities, local fits and their sums."""

from __future__ import annotations

from ...core.parts import loading

__getattr__ = loading(__name__)
