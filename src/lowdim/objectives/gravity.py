"""A pull of every point towards the middle of the picture, and the field with it for new points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run
from .blocks import outer
from .repulsion.protocol import Field, FrozenField


@dataclass(frozen=True, slots=True)
class Gravity:
    """g sum m_i r_i, or if ``strong`` g / 2 sum m_i r_i^2, r_i the distance to the mean of all points.

    A point is pulled by g m, whatever its distance, or by g m r (Jacomy et al. 2014, sec. "Gravity"). r is
    sqrt(r^2 + ``softening``), so that it is smooth at the middle.
    """

    strength: float
    strong: bool
    softening: float

    def energy(self, Y: Floats) -> Floats:
        """g r or g r^2 / 2 of places around the middle."""
        squares = np.einsum("nd,nd->n", Y, Y)
        return np.asarray(
            self.strength * (0.5 * squares if self.strong else np.sqrt(squares + self.softening))
        )

    def pull(self, Y: Floats) -> Floats:
        """g or g / r: times Y it is the gradient of the energy."""
        squares = np.einsum("nd,nd->n", Y, Y)
        return np.asarray(
            np.full(Y.shape[0], self.strength)
            if self.strong
            else self.strength / np.sqrt(squares + self.softening)
        )

    def evaluate(self, X: Floats, masses: Floats) -> tuple[float, Floats]:
        """The energy of all points, and its gradient: the mean moves with the points."""
        Y = X - X.mean(axis=0)
        gradient = (masses * self.pull(Y))[:, None] * Y
        return float(np.sum(masses * self.energy(Y))), np.asarray(gradient - gradient.mean(axis=0))

    def blocks(self, X: Floats, masses: Floats, rows: Integers) -> Floats:
        """Second derivatives by some of the points, M x d x d.

        y_j = x_j - mean moves by delta_ij - 1 / N as x_i does: with H_j that of m h(y_j), the block of i is
        (1 - 2 / N) H_i + sum_j H_j / N^2.
        """
        Y, N = X - X.mean(axis=0), X.shape[0]
        pull = masses * self.pull(Y)
        each = pull[:, None, None] * np.eye(X.shape[1])
        if not self.strong:
            bend = pull / (np.einsum("nd,nd->n", Y, Y) + self.softening)
            each = each - bend[:, None, None] * outer(Y)
        return np.asarray((1.0 - 2.0 / N) * each[rows] + each.sum(axis=0) / N**2)


@dataclass(frozen=True, slots=True)
class CentralField:
    """A field, and gravity towards a place: what pushes and pulls a new point.

    ``strength`` is g in units of the field: gravity adds g r, or g r^2 / 2, to the potential.
    """

    field: FrozenField
    centre: Floats
    strength: float
    strong: bool
    softening: float

    def at(self, places: Floats, run: Run) -> Field:
        """Potential and force at new places, each place alone."""
        found = self.field.at(places, run)
        gravity, Y = Gravity(self.strength, self.strong, self.softening), places - self.centre
        force = found.force - 0.5 * gravity.pull(Y)[:, None] * Y
        return Field(found.potential + gravity.energy(Y), force)
