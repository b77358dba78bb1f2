"""What the library says of itself, read from its source: importing it would take longer than any ``--help`` may."""

from __future__ import annotations

from .catalogue import Method, Part, constant, find_method, function_parameters, methods, parts_of
from .signature import REQUIRED, Parameter

__all__ = [
    "REQUIRED",
    "Method",
    "Parameter",
    "Part",
    "constant",
    "find_method",
    "function_parameters",
    "methods",
    "parts_of",
]
