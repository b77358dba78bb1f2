"""Similarities of the embedding: kernels K(D) of the squared distance D, one file each.

A new one is a class of `Similarity` with its slopes; attraction, repulsion engines, curvature and the map of new points
take the object as it is. One that models are to hold has its name in `BY_NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .base import Similarity, Slopes
from .gaussian import GAUSSIAN, Gaussian
from .logarithm import Logarithm
from .logarithmic_spring import LogarithmicSpring
from .offset_logarithm import OffsetLogarithm
from .power import Power
from .rounded_logarithm import RoundedLogarithm
from .sampled_logarithm import SampledLogarithm
from .saturating import Saturating
from .shifted_student import ShiftedStudent
from .student import STUDENT, Student

BY_NAME: Mapping[str, type[Similarity]] = {
    kind.name: kind
    for kind in (
        Gaussian,
        Student,
        Power,
        RoundedLogarithm,
        SampledLogarithm,
        OffsetLogarithm,
        ShiftedStudent,
        Saturating,
        Logarithm,
        LogarithmicSpring,
    )
}
"""The similarities that a model file may name."""

__all__ = [
    "BY_NAME",
    "GAUSSIAN",
    "STUDENT",
    "Gaussian",
    "Logarithm",
    "LogarithmicSpring",
    "OffsetLogarithm",
    "Power",
    "RoundedLogarithm",
    "SampledLogarithm",
    "Saturating",
    "ShiftedStudent",
    "Similarity",
    "Slopes",
    "Student",
]
