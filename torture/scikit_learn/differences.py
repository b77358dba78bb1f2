"""Tests of scikit-learn that lowdim fails by convention, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

DIFFERENCES: Mapping[str, str] = {}
"""Test, with ``*`` for anything and all its parameters where none are given, and the reason."""
