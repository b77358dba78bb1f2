"""ForceAtlas2 (Jacomy et al. 2014): springs along the edges, charges that grow with the degree, and gravity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import pair_blocks
from .gravity import CentralField, Gravity
from .protocol import Evaluation
from .repulsion.protocol import Engine, FrozenField
from .terms import DenseTerm, Term, attractive_edges


class ForceAtlas2(NeighborObjective):
    """E(X) = sum w f(D) - lambda sum m_i m_j log(eps + D) + 4 g sum m_i r_i, m_i = edges of i + 1.

    E is four times the energy whose forces are w d along an edge (f = D), or w log(1 + d) (f as in
    `LogarithmicSpring`), lambda m_i m_j / d between two points, and g m_i towards the middle, or lambda g m_i r_i if it
    is strong (Jacomy et al. 2014, eqs. 1 to 3). Sums are over ordered pairs. The engine has K = -1/2 log(eps + D).

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective.
    charges
        m_i, of all rows that a point stands for together.
    gravity
        g.
    strong
        Whether gravity grows with the distance.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        *,
        charges: Floats,
        gravity: float = 1.0,
        strong: bool = False,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.charges = charges
        self.gravity = gravity
        self.strong = strong

    @property
    def central(self) -> Gravity:
        """Gravity as it counts in E."""
        strength = 4.0 * self.gravity * (self.lam if self.strong else 1.0)
        return Gravity(strength, self.strong, self.kernel.width**2)

    def freeze(self, X: Floats) -> FrozenField:
        """The field of the charges, and gravity, in the same units."""
        field = self.engine.freeze(X, self.charges)
        if not self.gravity:
            return field
        strength = self.gravity if self.strong else self.gravity / self.lam
        return CentralField(field, X.mean(axis=0), strength, self.strong, self.kernel.width**2)

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """The gradient, and the value where it is asked for."""
        found = super().evaluate(X, value=value)
        if not self.gravity:
            return found
        energy, gradient = self.central.evaluate(X, self.charges)
        return Evaluation(None if found.value is None else found.value + energy, found.gradient + gradient)

    def diagonal(self, X: Floats) -> Floats:
        """4 D+ + 8 D^xx and gravity's own, but for what its mean moves."""
        found = super().diagonal(X)
        if not self.gravity:
            return found
        Y = X - X.mean(axis=0)
        pull = (self.charges * self.central.pull(Y))[:, None]
        if self.strong:
            return np.asarray(found + pull)
        squares = np.einsum("nd,nd->n", Y, Y)[:, None] + self.kernel.width**2
        return np.asarray(found + pull * (1.0 - Y * Y / squares))

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """2 sum m_i m_j K, and its force."""
        field = self.engine.field(X, self.charges)
        # Of the rows that a point stands for each repels the others, at the distance 0.
        together = self.kernel.at_zero() * (self.charges - self.charges / self.counts)
        energy = 2.0 * float(np.sum(self.charges * (field.potential + together)))
        return energy, 2.0 * self.charges[:, None] * field.force

    def blocks(self, X: Floats, rows: Integers) -> Floats:
        """The blocks of the Hessian, gravity with them."""
        found = super().blocks(X, rows)
        return found + self.central.blocks(X, self.charges, rows) if self.gravity else found

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of 2 sum m_i m_j K, in which every pair counts twice."""
        own = pair_blocks(self.kernel, X, self.charges[:, None], rows, self.run)[:, 0]
        return np.asarray(4.0 * self.charges[rows, None, None] * own)

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """2 lambda m_i m_j K_2 between all points, and w f'' on edges, if ``positive`` where above 0."""
        charges = self.charges[:, None]

        def product(C: Floats) -> Floats:
            return 2.0 * self.lam * charges * self.engine.sums(X, charges * C, 2)

        bound = 0.0 if positive else None
        return (DenseTerm(X, product), attractive_edges(X, self.attraction, self.counts, bound))
