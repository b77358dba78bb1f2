"""Compiled loops of the eigensolvers: factors, bases, products."""

from __future__ import annotations

from ...core.parts import loading

__getattr__ = loading(__name__)
