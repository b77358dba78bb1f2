"""1 / (1 + D), the similarity of t-SNE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import kernels
from ...core.records import Floats
from .base import Similarity, Slopes

POWER = 5
"""Power of the near part: the far part has four continuous derivatives in squared distance."""


@dataclass(frozen=True, slots=True)
class Student(Similarity):
    """K = 1 / (1 + D), f = log(1 + D); K_1 = K^2, K_2 = 2 K^3."""

    name: ClassVar[str] = "student"

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """j! / (1 + D)^(j + 1)."""
        factor = (1.0, 1.0, 2.0)[order]
        return np.asarray(factor / (1.0 + D) ** (order + 1))

    def energy(self, D: Floats) -> Floats:
        """log(1 + D)."""
        return np.asarray(np.log1p(D))

    def pull(self, D: Floats) -> Floats:
        """K."""
        return np.asarray(1.0 / (1.0 + D))

    def relief(self, D: Floats) -> Floats:
        """K^2."""
        return np.asarray(1.0 / (1.0 + D) ** 2)

    @property
    def radial(self) -> Any:
        """Code of its own."""
        return kernels.embedding.radial_student.Student()

    def far(self, U: float) -> Slopes:
        """The Taylor polynomial at U within the reach, in closed form."""
        return FarStudent(U)

    def near(self, U: float) -> Any:
        """K ((U - u) / (1 + U))^POWER, which does not cancel."""
        return kernels.embedding.radial_student.StudentNear(float(U), POWER)

    @property
    def plane_loop(self) -> Callable[..., float]:
        """Eight edges at a time."""
        loop: Callable[..., float] = kernels.embedding.radial_student.student_plane
        return loop


@dataclass(frozen=True, slots=True)
class FarStudent:
    """The Taylor polynomial of 1 / (1 + u) at u = U within the reach, the kernel itself beyond it."""

    U: float

    def __call__(self, D: Floats, order: int) -> Floats:
        """(-d/du)^order of it."""
        K, c, p = 1.0 / (1.0 + D), 1.0 / (1.0 + self.U), POWER
        t = np.clip((self.U - D) * c, 0.0, None)
        if order == 0:
            return np.asarray(K * (1 - t**p))
        if order == 1:
            return np.asarray(K * (K - t ** (p - 1) * (K * t + p * c)))
        near = t ** (p - 2) * (2 * (K * t) ** 2 + 2 * p * K * c * t + p * (p - 1) * c * c)
        return np.asarray(K * (2 * K * K - near))


STUDENT = Student()
