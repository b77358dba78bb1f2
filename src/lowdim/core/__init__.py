"""What every package stands on: records, events, rules of parameters, messages, threads, and the run of a stage."""

from __future__ import annotations

from .parts import loading

__getattr__ = loading(__name__)
