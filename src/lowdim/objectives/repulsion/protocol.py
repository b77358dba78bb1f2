"""What every repulsion engine answers: sums over all other points, however they are computed.

A configuration (`Exact`, `BarnesHut`, `FFT`) is what a user gives; ``start`` makes the engine that runs, which may keep
what it can use again from one evaluation to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ...core.places import State
from ...core.records import Floats
from ...core.run import Run
from ..similarities import Similarity


@dataclass(frozen=True, slots=True)
class Field:
    """Potential and force at the points, each without the point's own share.

    ``potential[n]`` is sum_m c_m K_0(D_nm), ``force[n]`` is sum_m c_m K_1(D_nm) (x_n - x_m), which is -1/2 of the
    potential's gradient.
    """

    potential: Floats
    force: Floats


class FrozenField(Protocol):
    """The field of fixed points, for new ones."""

    def at(self, places: Floats, run: Run) -> Field:
        """Potential and force at new places, each place alone: any batching gives the same rows."""
        ...


class Engine(Protocol):
    """A running repulsion engine, for one kernel and one number of points."""

    kernel: Similarity
    is_exact: ClassVar[bool]
    """Whether its sums are exact to rounding."""

    def field(self, X: Floats, charges: Floats | None = None) -> Field:
        """The field of the points at the points; ``charges`` c_m are 1 unless given, and never negative."""
        ...

    def fields(self, X: Floats, charges: Sequence[Floats | None]) -> list[Field]:
        """The field of each of several charges; what depends on the points alone is done once."""
        ...

    def sums(self, X: Floats, charges: Floats, order: int) -> Floats:
        """sum_{m != n} K_order(D_nm) c_m for each column of ``charges`` (N x C), of either sign."""
        ...

    def bends(self, X: Floats, charges: Floats) -> Floats:
        """sum_{m != n} (2 K_1 - 4 K_2 u u') c_m, u = x_n - x_m, for charges that are vectors (N x d)."""
        ...

    def freeze(self, X: Floats, charges: Floats | None = None) -> FrozenField:
        """The field of the points as it stands, for new points."""
        ...

    def state(self) -> State:
        """What of the evaluations so far the last digits of the next one depend on."""
        ...

    def resume(self, state: State) -> None:
        """Go on from the state of another engine."""
        ...


class Stateless:
    """Base of the engines that compute every time the same from the same points."""

    __slots__ = ()

    def state(self) -> State:
        """Nothing."""
        return {}

    def resume(self, state: State) -> None:
        """Nothing to do."""


class Repulsion(Protocol):
    """A configured engine: what the parameter ``repulsion`` of an estimator holds."""

    name: ClassVar[str]
    """What a user types."""
    most_components: ClassVar[int | None]
    """Dimensions that it serves at most; None: any number."""

    def cost(self, n_points: int) -> tuple[float, str]:
        """Estimated seconds of one evaluation, and in a few words what they go to."""
        ...

    def start(self, kernel: Similarity, n_points: int, n_components: int, run: Run) -> Engine:
        """The engine that runs; InputError where it cannot serve so many dimensions."""
        ...
