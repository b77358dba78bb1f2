"""Experiments of the papers that lowdim stands on, each with its figure, its table and an honest verdict."""

from __future__ import annotations

from .running import Verdict, catalogue, run
from .summary import write_summary

__all__ = ["Verdict", "catalogue", "run", "write_summary"]
