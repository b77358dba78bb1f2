"""What UMAP's sampled optimiser minimises in expectation (Damrich & Hamprecht 2021), in full batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import pair_blocks
from .products import PairProduct, Product
from .repulsion.protocol import Engine, FrozenField
from .terms import DenseTerm, Term, attractive_edges


class UMAP(NeighborObjective):
    """E(X) = sum mu_ij log(1 + a D^b) + lambda m / (2 N) sum d_i r(D_ik), d_i = sum_j mu_ij.

    The sampled optimiser takes an edge with probability mu_ij and moves both of its ends, and draws m points k against
    i, which it pushes away from k alone. Its expected step on i is 4 times

        -sum_j mu_ij f'(D_ij) (x_i - x_j)  +  lambda m d_i / (2 N) sum_k r_1(D_ik) (x_i - x_k),

    with f = log(1 + a D^b) and r_1 = -r'. The weights d_i are not symmetric, so that this is no gradient: as
    ``faithful`` it takes the gradient's place. Otherwise the gradient is that of E, in which a pair counts with
    (d_i + d_k) / 2: two fields of charges, the one of 1 and the other of d.

    Attraction and engine have kernels of their own, whose -log is f and which is r (`RoundedLogarithm`).

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective.
    negatives
        m, points drawn against each end of an edge.
    noise
        How likely the rows of a point are drawn, up to a factor; None: all rows alike. LargeVis has d^(3/4).
    faithful
        Whether the expected step of the sampled optimiser takes the gradient's place.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        *,
        negatives: float = 5.0,
        noise: Floats | None = None,
        faithful: bool = False,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.negatives = negatives
        self.noise = noise
        self.faithful = faithful

    @cached_property
    def charges(self) -> Floats:
        """d_i, of all the rows that a point stands for together."""
        return np.asarray(self.attraction.weights.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def drawn(self) -> Floats:
        """How likely each point is drawn, up to a factor: the number of its rows unless there is a noise."""
        return self.counts if self.noise is None else self.noise

    @cached_property
    def rate(self) -> float:
        """m / (2 N), N the number of rows, or the sum of the noise."""
        return self.negatives / (2.0 * float(self.drawn.sum()))

    @cached_property
    def copies(self) -> Floats:
        """What the copies of a point add to the potential that it sees."""
        return np.asarray(self.kernel.at_zero() * (self.drawn - self.drawn / self.counts))

    def freeze(self, X: Floats) -> FrozenField:
        """The push on a new point with d = 1: of what is drawn against it, and of those against which it is drawn."""
        if self.noise is None:
            return super().freeze(X)
        shared = self.charges * (float(self.drawn.sum()) / float(self.charges.sum()))
        return self.engine.freeze(X, 0.5 * (self.drawn + shared))

    @cached_property
    def _rates(self) -> Floats:
        """m d_i / (2 N)."""
        return self.rate * self.charges

    @cached_property
    def _of_copies(self) -> float:
        """What the copies of the points add to sum d_i phi_i."""
        return float(np.sum(self.charges * self.copies))

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """m / (2 N) sum d_i phi_i, and the force, symmetric or faithful."""
        own = self.masses if self.noise is None else self.noise
        field, *others = self.engine.fields(X, [own] if self.faithful else [own, self.charges])
        energy = self.rate * (float(np.einsum("n,n->", self.charges, field.potential)) + self._of_copies)
        if self.faithful:
            return energy, self.weighed(field.force, self._rates)
        force = self.weighed(field.force, 0.5 * self._rates)
        force += self.weighed(others[0].force, 0.5 * self.rate * self.drawn)
        return energy, force

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """m / (2 N) times the curvature of what pushes i, d_i sum c_k r, and of what i pushes, c_i sum d_k r.

        As ``faithful`` the first counts twice, in the place of the second: the derivative of the expected step.
        """
        d, drawn = self.charges, self.drawn
        if self.faithful:
            own = pair_blocks(self.kernel, X, drawn[:, None], rows, self.run)[:, 0]
            return np.asarray(2.0 * self.rate * d[rows, None, None] * own)
        both = pair_blocks(self.kernel, X, np.column_stack([drawn, d]), rows, self.run)
        factors = np.stack([d[rows], drawn[rows]], axis=1)
        return np.asarray(self.rate * np.einsum("nc,ncab->nab", factors, both))

    def _repulsive_product(self, X: Floats) -> Product:
        """m / (2 N) times what pushes i, d_i sum c_k r, and what i pushes, c_i sum d_k r; of E, faithful or not."""
        d, drawn = self.charges[:, None], self.drawn[:, None]
        own, others = PairProduct(self.engine, X, self.drawn), PairProduct(self.engine, X, self.charges)
        return lambda V: self.rate * (d * own(V) + drawn * others(V))

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """lambda m (d_i + d_k) r_2 / (4 N) between all points, and on edges mu f'', if ``positive`` where above 0."""
        scale, d, drawn = 0.5 * self.lam * self.rate, self.charges[:, None], self.drawn[:, None]

        def product(C: Floats) -> Floats:
            width = C.shape[1]
            sums = self.engine.sums(X, np.hstack([drawn * C, d * C]), 2)
            return np.asarray(scale * (d * sums[:, :width] + drawn * sums[:, width:]))

        bound = 0.0 if positive else None
        return (DenseTerm(X, product), attractive_edges(X, self.attraction, self.counts, bound))
