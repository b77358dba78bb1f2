"""Locally Linear Landmarks: every point is the affine combination of its nearest landmarks that best rebuilds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .configuration import LandmarkSolver


@dataclass(frozen=True, eq=False, repr=False)
class LLL(LandmarkSolver):
    """X = Z X~ with Z the reconstruction weights of each point on its K_Z nearest landmarks.

    Vladymyrov & Carreira-Perpinan (2013), "Locally Linear Landmarks for large-scale manifold learning". The landmark
    problem carries the affinities of all points: A~ = Z'AZ, B~ = Z'BZ. New points take the same weights.
    """

    __doc__ += (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "lll"
    restricts: ClassVar[bool] = True
