"""Compiled loops of attraction, repulsion and steps of the neighbour embeddings."""

from __future__ import annotations

from ...core.parts import loading

__getattr__ = loading(__name__)
