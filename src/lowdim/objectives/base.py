"""What the objectives share: attraction plus lambda times repulsion, put together once.

Sums over the points are NumPy's own, not products by BLAS, whose threads go on spinning after each and would take
the processors from the loops that follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np

from .. import kernels
from ..core.parallel import light_rows
from ..core.places import State
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from ..errors import InputError
from .attraction import Attraction
from .blocks import edge_blocks
from .cell_springs import CellSprings
from .density import Density
from .products import EdgeProduct, Product
from .protocol import Evaluation
from .repulsion.protocol import Engine, FrozenField
from .similarities import Similarity
from .springs import Springs
from .terms import Term


class NeighborObjective(ABC):
    """E(X) = E+(X) + lambda E-(X).

    Parameters
    ----------
    attraction
        E+, over the edges of a graph.
    engine
        Sums the repulsion, with the kernel of the objective.
    lam
        lambda.
    masses
        How many rows of the data each point stands for; None: one. The weights of the attraction hold the masses
        already. Copies of one point repel each other too, at the distance 0.

    A ``density`` is one more term, which is not multiplied by lambda and which second derivatives leave out.
    ``springs`` to where points were are one more term, of which the share ``hold`` counts; ``cell_springs`` to where
    groups of them were are another, with ``hold_of_cells``.
    ``opening`` is the same objective with a smoother repulsion, which costs less and takes the place of this one early.
    """

    density: Density | None = None
    opening: NeighborObjective | None = None
    springs: Springs | None = None
    hold: float = 0.0
    cell_springs: CellSprings | None = None
    hold_of_cells: float = 0.0

    def __init__(
        self, attraction: Attraction, engine: Engine, lam: float = 1.0, masses: Floats | None = None
    ) -> None:
        self.attraction = attraction
        self.engine = engine
        self.lam = lam
        self.masses = masses

    @cached_property
    def weights(self) -> Sparse:
        """Symmetric attractive weights W+ = w f'(0) at X = 0."""
        W, stiffness = self.attraction.weights, self.attraction.kernel.stiffness
        return W if stiffness == 1.0 else Sparse((stiffness * W.data, W.indices, W.indptr), shape=W.shape)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of W+."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.attraction.weights.shape[0])

    @cached_property
    def counts(self) -> Floats:
        """The masses as numbers, 1 where none were given."""
        return np.ones(self.weights.shape[0]) if self.masses is None else np.asarray(self.masses, np.float64)

    @property
    def run(self) -> Run:
        """Workers."""
        return self.attraction.run

    @property
    def kernel(self) -> Similarity:
        """The similarity of the repulsion."""
        return self.engine.kernel

    @cached_property
    def copies(self) -> Floats:
        """What the copies of a point add to the potential that it sees: (c - 1) K(0)."""
        return np.asarray(self.kernel.at_zero() * (self.counts - 1.0))

    def weighted(self, force: Floats) -> Floats:
        """The forces on the points, which are changed, times their masses."""
        return force if self.masses is None else self.weighed(force, self.counts)

    def weighed(self, force: Floats, weights: Floats) -> Floats:
        """The forces on the points, which are changed, times a weight each."""

        def weigh(rows: slice) -> None:
            kernels.embedding.forces.weigh(weights, rows.start, rows.stop, force)

        self.run.map(weigh, force.shape[0], block_rows=light_rows(force.shape[0], 3.0))
        return force

    def with_lambda(self, lam: float) -> Self:
        """The same objective at another lambda; everything else is shared."""
        other = copy(self)
        other.lam = lam
        return other

    def with_density(self, density: Density | None) -> Self:
        """The same objective with this term for densities, or with none."""
        other = copy(self)
        other.density = density
        return other

    def with_opening(self, opening: NeighborObjective) -> Self:
        """The same objective with another in its place early."""
        other = copy(self)
        other.opening = opening
        return other

    @property
    def has_late_terms(self) -> bool:
        """Whether it is another early."""
        return self.density is not None or self.opening is not None

    def early(self) -> NeighborObjective:
        """Without what counts late only: the densities, and the repulsion as it is in the end."""
        if self.opening is None:
            return self if self.density is None else self.with_density(None)
        other = copy(self.opening)
        other.lam, other.springs, other.hold = self.lam, self.springs, self.hold
        other.cell_springs, other.hold_of_cells = self.cell_springs, self.hold_of_cells
        return other

    def with_springs(self, springs: Springs) -> Self:
        """The same objective with points on springs, which count as soon as they are held."""
        other = copy(self)
        other.springs, other.cell_springs = springs, CellSprings.of(springs)
        return other

    def held(self, share: float, cells: float = 0.0) -> Self:
        """The same objective with so much of its springs, and of those of cells; itself where it has none."""
        if self.springs is None or (share, cells) == (self.hold, self.hold_of_cells):
            return self
        other = copy(self)
        other.hold, other.hold_of_cells = share, cells
        return other

    def sized(self, X: Floats, size: float) -> Floats:
        """The picture drawn to a share of the size that springs hold; as it is where it has none."""
        return X if self.springs is None else self.springs.sized(X, size)

    def state(self) -> State:
        """What of the evaluations so far the last digits of the next one depend on."""
        found = {"attraction": self.attraction.state(), "engine": self.engine.state()}
        return found if self.opening is None else found | {"opening": self.opening.engine.state()}

    def resume(self, state: State) -> None:
        """Go on from the state of another objective of the same points."""
        self.attraction.resume(state["attraction"])
        self.engine.resume(state["engine"])
        if self.opening is not None:
            self.opening.engine.resume(state["opening"])

    def freeze(self, X: Floats) -> FrozenField:
        """The field that pushes new points, of the points as they stand."""
        return self.engine.freeze(X, self.masses)

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """The gradient 4 (F+ - lambda F-) and that of the springs, and the value where it is asked for."""
        found = self._free(X, value=value)
        energy, gradient = found.value, found.gradient
        for springs, hold in ((self.springs, self.hold), (self.cell_springs, self.hold_of_cells)):
            if springs is not None and hold:
                stretched, pull = springs.evaluate(X)
                gradient += hold * pull
                energy = None if energy is None else energy + hold * stretched
        return Evaluation(energy, gradient)

    def _free(self, X: Floats, *, value: bool) -> Evaluation:
        """The same without springs."""
        energy, force = self.attraction.evaluate(X, value=value)
        if self.density is not None:
            more, drift = self.density.evaluate(X)
            force += drift
            energy = None if energy is None else energy + more
        if self.lam == 0.0:
            return Evaluation(energy, 4.0 * force)
        repulsive, push = self._repulsion(X)

        def join(rows: slice) -> None:
            kernels.embedding.forces.join(push, 4.0 * self.lam, rows.start, rows.stop, force)

        self.run.map(join, X.shape[0], block_rows=light_rows(X.shape[0], 3.0))
        return Evaluation(None if energy is None else energy + self.lam * repulsive, force)

    def diagonal(self, X: Floats) -> Floats:
        """4 D+ + 8 D^xx (N x d), with D+ at X = 0."""
        total = np.repeat(4.0 * self.degrees[:, None], X.shape[1], axis=1)
        for term in self._terms(X, positive=False):
            total += 8.0 * term.squares()
        return total if self.springs is None else total + self.hold * self.springs.stiffness[:, None]

    def curvature(self, X: Floats) -> Callable[[Floats], Floats]:
        """V -> 8 L^xx_ii V_i, column by column, at this X, from weights that are not negative."""
        terms = self._terms(X, positive=True)

        def apply(V: Floats) -> Floats:
            total = np.zeros(V.shape)
            if self.springs is not None:
                total += self.hold * self.springs.stiffness[:, None] * V
            for term in terms:
                total += 8.0 * term.apply(V)
            return total

        return apply

    def blocks(self, X: Floats, rows: Integers) -> Floats:
        """The d x d blocks of the Hessian of some points, M x d x d: 4 sum w I + 8 w^xx and what is of lower rank.

        All pairs are summed, whatever the engine: differences of its errors would drown the least curvatures.
        """
        total = edge_blocks(self.attraction, X, rows)
        return total if self.lam == 0.0 else total + self.lam * self._repulsive_blocks(X, rows)

    def hessian(self, X: Floats) -> Product:
        """V -> H V, the whole Hessian at this X, without densities and springs; of the objectives that know it."""
        attractive = EdgeProduct(self.attraction, X)
        if self.lam == 0.0:
            return attractive
        repulsive = self._repulsive_product(X)
        return lambda V: attractive(V) + self.lam * repulsive(V)

    def _repulsive_product(self, X: Floats) -> Product:
        """V -> H- V, of the objectives that know it."""
        raise InputError(f"The curvature of {type(self).__name__} is not known. Use another method.")

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """The blocks of E-, of the objectives that know them."""
        raise InputError(f"The curvature of {type(self).__name__} is not known. Use another method.")

    @abstractmethod
    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """E- and F-, minus a quarter of its gradient, in an array of its own."""

    @abstractmethod
    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """Terms of L^xx, lambda included; with ``positive`` no weight is negative."""
