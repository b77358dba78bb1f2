"""Compiled loops of the eigensolvers: factors, bases, products."""

from __future__ import annotations

from ..lazy import modules_of

__getattr__ = modules_of(__name__)
