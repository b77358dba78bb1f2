"""Files in and out: read a table of points, write an embedding of it."""

from __future__ import annotations

from .embedding import read_embedding
from .reading import SUFFIXES, read
from .table import Table
from .writing import WRITABLE, write_embedding

__all__ = ["SUFFIXES", "WRITABLE", "Table", "read", "read_embedding", "write_embedding"]
