"""Several pictures minimised together, with springs between points of one and points of the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self, cast

import numpy as np
from scipy.sparse import block_diag, csr_array

from ..core.parallel import count_workers, map_blocks
from ..core.places import State
from ..core.records import Floats, Integers, Sparse
from .base import NeighborObjective
from .protocol import Evaluation, Parted
from .repulsion.protocol import Engine

SMALL = 10_000
"""Points of a picture up to which its loops are too short for threads of their own."""


@dataclass(frozen=True, slots=True)
class Links:
    """S(X) = 1/2 sum_l k_l |x_a(l) - x_b(l)|^2: springs between two points each, of rest length 0.

    Parameters
    ----------
    ends
        a and b (L x 2).
    stiffness
        k (L).
    n_points
        Points of all pictures together.
    """

    ends: Integers
    stiffness: Floats
    n_points: int

    @property
    def differences(self) -> Sparse:
        """The matrix B of x_a - x_b, L x N."""
        count = self.stiffness.size
        signs = np.tile([1.0, -1.0], count)
        return Sparse((signs, self.ends.ravel(), 2 * np.arange(count + 1)), shape=(count, self.n_points))

    @property
    def weights(self) -> Sparse:
        """W with 4 L(W) = B' K B, L the graph Laplacian: symmetric, N x N."""
        a, b = self.ends.T
        entries = np.tile(0.25 * self.stiffness, 2)
        shape = (self.n_points, self.n_points)
        return Sparse(csr_array((entries, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=shape))


class Linked:
    """E(X) = sum_t c_t E_t(X_t) + S(X): objectives of several pictures, whose points stand one after the other in X.

    c_t gives all pictures the mean degree of the one with the most points, so that one rate suits all: t-SNE's weights
    sum to 1 however many points there are.

    Parameters
    ----------
    parts
        E_t, all at one lambda.
    links
        S. It does not depend on lambda.
    """

    density: None = None

    def __init__(self, parts: Sequence[NeighborObjective], links: Links) -> None:
        self.parts = tuple(parts)
        self.links = links
        self.lam = self.parts[0].lam
        largest = max(self.parts, key=lambda part: part.size)
        self.size = largest.size
        self.engine: Engine = largest.engine
        usual = float(largest.degrees.mean())
        self.scales = tuple(usual / float(part.degrees.mean()) for part in self.parts)
        self._differences = links.differences

    @cached_property
    def bounds(self) -> tuple[slice, ...]:
        """Where the points of each picture stand."""
        ends = np.cumsum([part.size for part in self.parts]).tolist()
        return tuple(slice(end - part.size, end) for end, part in zip(ends, self.parts, strict=True))

    @cached_property
    def weights(self) -> Sparse:
        """W+ of all pictures, and of the springs between them: 4 L+ holds these exactly."""
        own = block_diag([c * part.weights for c, part in zip(self.scales, self.parts, strict=True)])
        return Sparse(csr_array(own) + self.links.weights)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of W+."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    def with_lambda(self, lam: float) -> Self:
        """The same at another lambda of all pictures."""
        other = self._of([part.with_lambda(lam) for part in self.parts])
        other.lam = lam
        return other

    def with_parts(self, weights: tuple[float, ...]) -> Self:
        """The same with other weights of the parts of each attraction."""
        changed = [cast(Parted, part).with_parts(weights) for part in self.parts]
        return self._of(cast(Sequence[NeighborObjective], changed))

    def _of(self, parts: Sequence[NeighborObjective]) -> Self:
        other = copy(self)
        other.parts = tuple(parts)
        return other

    @property
    def has_late_terms(self) -> bool:
        """Whether a part is another early."""
        return any(part.has_late_terms for part in self.parts)

    def early(self) -> Self:
        """Each part without what counts late only."""
        return self._of([part.early() for part in self.parts])

    def held(self, share: float, cells: float = 0.0) -> Self:
        """Itself: no point is held where it was."""
        return self

    def sized(self, X: Floats, size: float) -> Floats:
        """X as it is: no size is held."""
        return X

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """The gradient, and the value where it is asked for."""
        stretch = self._differences @ X
        pull = self.links.stiffness[:, None] * stretch
        gradient = np.asarray(self._differences.T @ pull)

        def one(place: slice) -> float:
            part, rows, scale = (each[place.start] for each in (self.parts, self.bounds, self.scales))
            found = part.evaluate(np.ascontiguousarray(X[rows]), value=value)
            gradient[rows] += scale * found.gradient
            return scale * (found.value or 0.0)

        values = self._of_each(one)
        return Evaluation(0.5 * float((stretch * pull).sum()) + sum(values) if value else None, gradient)

    def _of_each(self, one: Callable[[slice], float]) -> list[float]:
        """What comes of each picture, one after the other; beside each other where that shares the work out better.

        A picture that is worked on beside others has one thread: what it maps over its points stays in it.
        """
        n_jobs, sizes = self.parts[0].run.n_jobs, [part.size for part in self.parts]
        if max(sizes) > SMALL and max(sizes) * count_workers(n_jobs) > sum(sizes):
            return [one(slice(place, place + 1)) for place in range(len(sizes))]
        return map_blocks(one, len(sizes), n_jobs=n_jobs, block_rows=1)

    def diagonal(self, X: Floats) -> Floats:
        """4 D+ + 8 D^xx (N x d), with the springs."""
        own = [
            c * part.diagonal(X[rows])
            for c, part, rows in zip(self.scales, self.parts, self.bounds, strict=True)
        ]
        springs = np.bincount(
            self.links.ends.ravel(), np.repeat(self.links.stiffness, 2), minlength=self.links.n_points
        )
        return np.asarray(np.concatenate(own) + springs[:, None])

    def curvature(self, X: Floats) -> Callable[[Floats], Floats]:
        """V -> 8 L^xx_ii V_i of each picture; springs have none beyond 4 L+."""
        own = [part.curvature(X[rows]) for part, rows in zip(self.parts, self.bounds, strict=True)]

        def apply(V: Floats) -> Floats:
            pieces = zip(self.scales, own, self.bounds, strict=True)
            return np.concatenate([scale * bend(V[rows]) for scale, bend, rows in pieces])

        return apply

    def state(self) -> State:
        """What of the evaluations so far the last digits of the next one depend on."""
        return {str(place): part.state() for place, part in enumerate(self.parts)}

    def resume(self, state: State) -> None:
        """Go on from the state of another objective of the same points."""
        for place, part in enumerate(self.parts):
            part.resume(state[str(place)])
