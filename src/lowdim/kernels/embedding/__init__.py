"""Compiled loops of attraction, repulsion and steps of the neighbour embeddings."""

from __future__ import annotations

from ..lazy import modules_of

__getattr__ = modules_of(__name__)
