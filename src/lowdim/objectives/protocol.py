"""What every objective answers: all that a direction, a step or the loop may rely on.

E(X) = E+(X) + lambda E-(X), with gradient 4 L(w) X and Hessian 4 L(w) + 8 L^xx + lower-rank terms (Vladymyrov &
Carreira-Perpinan 2012, sec. 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..core.places import State
from ..core.records import Floats, Sparse


@dataclass(frozen=True, slots=True)
class Evaluation:
    """E and its gradient (N x d) at one X. ``value`` is None where it was not asked for."""

    value: float | None
    gradient: Floats


class Objective(Protocol):
    """An objective at one lambda."""

    lam: float

    @property
    def weights(self) -> Sparse:
        """Symmetric attractive weights W+ at X = 0; the spectral direction rests on their Laplacian L+."""
        ...

    @property
    def degrees(self) -> Floats:
        """Row sums of W+."""
        ...

    def with_lambda(self, lam: float) -> Objective:
        """The same objective at another lambda: the homotopy's, and exaggeration's, only step."""
        ...

    def early(self) -> Objective:
        """The same without the terms that count only late in a schedule; itself where there are none."""
        ...

    def held(self, share: float, cells: float = 0.0) -> Objective:
        """The same objective with so much of its springs to earlier places, of points and of cells."""
        ...

    def sized(self, X: Floats, size: float) -> Floats:
        """The picture drawn to a share of the size that springs hold; as it is where it has none."""
        ...

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """The gradient, and the value where it is asked for."""
        ...

    def diagonal(self, X: Floats) -> Floats:
        """4 D+ + 8 D^xx (N x d): the diagonal of the partial Hessian, not clipped."""
        ...

    def state(self) -> State:
        """What of the evaluations so far the last digits of the next one depend on, whatever lambda."""
        ...

    def resume(self, state: State) -> None:
        """Go on from the state of another objective of the same points."""
        ...

    def curvature(self, X: Floats) -> Callable[[Floats], Floats]:
        """V -> 8 L^xx_ii V_i, column by column, at a fixed X, from the parts of L^xx that are positive semidefinite."""
        ...


class Parted(Protocol):
    """An objective whose attraction has several parts."""

    def with_parts(self, weights: tuple[float, ...]) -> Objective:
        """The same objective with other weights of these parts."""
        ...
