"""Which features put some points here and not there."""

from __future__ import annotations

from .record import Explanation

__all__ = ["Explanation"]
