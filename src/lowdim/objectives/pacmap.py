"""PaCMAP (Wang et al. 2021), its further pairs in expectation."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from ..core.places import State
from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import edge_blocks, pair_blocks
from .protocol import Evaluation
from .repulsion.protocol import Engine
from .terms import DenseTerm, Term, attractive_edges


class PaCMAP(NeighborObjective):
    """E(X) = w_NB sum_near (1 + D) / (11 + D) + w_MN sum_mid (1 + D) / (10001 + D) + lambda n_FP / N sum 1 / (2 + D).

    The sums run over near pairs, over mid-near pairs and over all ordered pairs (Wang et al. 2021, eq. 1): n_FP further
    pairs of each point, which the original draws, have the last sum as their expectation. At the end of the schedule
    w_NB = 1 and w_MN = 0, and that is the objective unless ``with_parts`` says other weights.

    Attraction and engine have kernels of their own (`Saturating`, `ShiftedStudent`).

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective; the attraction is that of the near pairs.
    middle
        That of the mid-near pairs.
    further
        n_FP.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        *,
        middle: Attraction,
        further: float = 20.0,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.middle = middle
        self.further = further
        self.parts = (1.0, 0.0)

    @property
    def rate(self) -> float:
        """n_FP / N, N the number of rows."""
        return self.further / float(self.counts.sum())

    def with_parts(self, weights: tuple[float, ...]) -> Self:
        """The same objective with other weights (w_NB, w_MN)."""
        other = copy(self)
        other.parts = (weights[0], weights[1])
        return other

    def state(self) -> State:
        """What of the evaluations so far the last digits of the next one depend on."""
        return {**super().state(), "middle": self.middle.state()}

    def resume(self, state: State) -> None:
        """Go on from the state of another objective of the same points."""
        super().resume(state)
        self.middle.resume(state["middle"])

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """The gradient, and the value where it is asked for."""
        near, middle = self.parts
        if near != 1.0:
            # All but the near pairs over their weight, and then all times it.
            scaled = (
                self.with_lambda(self.lam / near).with_parts((1.0, middle / near)).evaluate(X, value=value)
            )
            return Evaluation(None if scaled.value is None else near * scaled.value, near * scaled.gradient)
        found = super().evaluate(X, value=value)
        if middle == 0.0:
            return found
        energy, force = self.middle.evaluate(X, value=value)
        force *= 4.0 * middle
        total = None if energy is None or found.value is None else found.value + middle * energy
        return Evaluation(total, found.gradient + force)

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """n_FP / N times the sums of K over all pairs."""
        field = self.engine.field(X, self.masses)
        energy = self.rate * float(np.sum(self.counts * (field.potential + self.copies)))
        return energy, self.rate * self.weighted(field.force)

    def blocks(self, X: Floats, rows: Integers) -> Floats:
        """The blocks of the Hessian: near pairs, mid-near ones where they count, and all as further ones."""
        near, middle = self.parts
        found = near * edge_blocks(self.attraction, X, rows) + self.lam * self._repulsive_blocks(X, rows)
        return found + middle * edge_blocks(self.middle, X, rows) if middle else found

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of n_FP / N sum K, in which every pair counts twice."""
        own = pair_blocks(self.kernel, X, self.counts[:, None], rows, self.run)[:, 0]
        return np.asarray(2.0 * self.rate * self.counts[rows, None, None] * own)

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """lambda n_FP / N K_2 between all points, and f'' of near and mid-near pairs, if ``positive`` where above 0."""
        (near, middle), scale, masses = self.parts, self.lam * self.rate, self.counts[:, None]

        def product(C: Floats) -> Floats:
            return scale * masses * self.engine.sums(X, masses * C, 2)

        terms: list[Term] = [DenseTerm(X, product)]
        bound = 0.0 if positive else None
        for weight, part in ((near, self.attraction), (middle, self.middle)):
            if weight:
                terms.append(Weighted(weight, attractive_edges(X, part, self.counts, bound)))
        return terms


class Weighted:
    """A term of L^xx times a number."""

    def __init__(self, weight: float, term: Term) -> None:
        self._weight = weight
        self._term = term

    def squares(self) -> Floats:
        """The diagonal of each L^xx_ii, as columns (N x d)."""
        return self._weight * self._term.squares()

    def apply(self, V: Floats) -> Floats:
        """L^xx_ii V_i, column by column."""
        return self._weight * self._term.apply(V)
