"""Rows that are read a range at a time, because all of them need not fit into memory."""

from __future__ import annotations

from .base import InMemory, MemoryMapped, Shards
from .opening import as_shards, comes_in_shards, shards
from .writers import write

__all__ = ["InMemory", "MemoryMapped", "Shards", "as_shards", "comes_in_shards", "shards", "write"]
