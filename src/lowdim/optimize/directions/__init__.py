"""Directions of descent, one file each: each solves B p = -g with its own B."""

from __future__ import annotations

from .conjugate_gradient import ConjugateGradient
from .diagonal_hessian import DiagonalHessian
from .fixed_point import FixedPoint
from .gradient import GradientDescent
from .limited_memory import LimitedMemory
from .partial_hessian import PartialHessian
from .spectral import SpectralDirection

__all__ = [
    "ConjugateGradient",
    "DiagonalHessian",
    "FixedPoint",
    "GradientDescent",
    "LimitedMemory",
    "PartialHessian",
    "SpectralDirection",
]
