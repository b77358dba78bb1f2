"""Solvers of the spectral problems: one file each, called by ``solve``."""

from __future__ import annotations

from .auto import SOLVERS, solve

__all__ = ["SOLVERS", "solve"]
