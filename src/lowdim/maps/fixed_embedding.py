"""New points for neighbour embeddings: each is placed alone against the embedding as it stands.

At a minimum of E every fitted point x_n rests where the pull of its neighbours and the push of all others cancel. A new
point is placed where its own do:

    min_x  sum_m p_m f(|x - x_m|^2)  +  lambda c phi(x),       phi(x) = sum_m K(|x - x_m|^2),

with its affinities p to its nearest fitted points, f = -log K, and c the constant that makes a fitted point's own rest
the same condition (N / Z for t-SNE and symmetric SNE, 1 for the elastic embedding). SNE has log phi in the place of c
phi. The field phi is that of the fitted points and is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core.messages import DATA
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from ..data.rows import Rows, unmarked
from ..errors import InputError
from ..objectives.density import FrozenDensity
from ..objectives.repulsion.protocol import FrozenField
from ..objectives.similarities import Similarity
from .nystrom import Affinities, NeighborAffinities

MOST_STEPS = 100
SETTLED = 1e-4
"""A point has settled once a step moves it by less than this share of the kernel's width, which is 1."""


@dataclass(frozen=True, slots=True)
class FixedEmbeddingMap:
    """Places new points where pull and push cancel, each row alone.

    Parameters
    ----------
    affinities
        How a new point is tied to the fitted ones.
    embedding
        Coordinates of the fitted points.
    field
        Their field.
    kernel
        The similarity.
    strength
        lambda c.
    by_logarithm
        Whether the push is lambda log phi, and ``strength`` is lambda.
    density
        The term that keeps local radii, where the fit had one.
    """

    affinities: Affinities
    embedding: Floats
    field: FrozenField
    kernel: Similarity
    strength: float
    by_logarithm: bool = False
    density: FrozenDensity | None = None

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone; one that equals a fitted point takes that one's."""
        wanted = None
        if self.density is not None and isinstance(self.affinities, NeighborAffinities):
            weights, equal, radii = self.affinities.to_new_with_radii(rows, run)
            wanted = self.density.wanted(radii)
        else:
            weights, equal = self.affinities.to_new(rows, run)
        known = equal >= 0
        places = np.empty((rows.n_rows, self.embedding.shape[1]))
        places[known] = self.embedding[equal[known]]
        new = np.flatnonzero(~known)
        if new.size:
            tied = weights[new]
            if (alone := np.diff(tied.indptr) == 0).any():
                raise InputError(
                    f"{int(alone.sum())} rows of {DATA} have no affinity to any fitted point (the first is row "
                    f"{new[alone][0]}), so nothing says where they belong. Leave them out, or widen the affinity."
                )
            places[new] = self._place(Ties.of(tied, None if wanted is None else wanted[new]), run)
        return places

    def _place(self, ties: Ties, run: Run) -> Floats:
        """Scaled descent: a step of the pull's own curvature, longer while E falls, shorter where it does not."""
        everyone = np.arange(ties.n_rows)
        X = np.asarray(ties.weights @ self.embedding)
        nearest = self.embedding[ties.strongest]
        value, step = self._evaluate(X, ties, everyone, run)
        other, other_step = self._evaluate(nearest, ties, everyone, run)
        better = other < value
        X[better], value[better], step[better] = nearest[better], other[better], other_step[better]
        length, moving = np.ones(ties.n_rows), everyone
        for _ in range(MOST_STEPS):
            trial = X[moving] + length[moving, None] * step[moving]
            found, next_step = self._evaluate(trial, ties, moving, run)
            falls = found < value[moving]
            ahead = moving[falls]
            X[ahead], value[ahead], step[ahead] = trial[falls], found[falls], next_step[falls]
            length[ahead] = np.minimum(1.5 * length[ahead], 4.0)
            length[moving[~falls]] *= 0.3
            reach = length[moving] * np.sqrt((step[moving] ** 2).sum(axis=1))
            moving = moving[reach > SETTLED]
            if moving.size == 0:
                break
        return X

    def _evaluate(self, X: Floats, ties: Ties, rows: Integers, run: Run) -> tuple[Floats, Floats]:
        """The objective of some of the points at X, and their steps -gradient / (curvature of the pull)."""
        X = np.ascontiguousarray(X)
        energy, pull, curvature = np.empty(rows.size), np.empty_like(X), np.empty(rows.size)
        radial, W, embedding = self.kernel.radial, ties.weights, unmarked(self.embedding)

        def work(part: slice) -> None:
            kernels.embedding.attraction.on_new_points(
                radial, W.indptr, W.indices, W.data, embedding, rows, X, part.start, part.stop, energy, pull,
                curvature,
            )  # fmt: skip

        run.map(work, rows.size)
        if self.density is not None and ties.wanted is not None:
            self.density.add(radial, W, embedding, rows, X, ties.wanted, energy, pull, run)
        field = self.field.at(X, run)
        if self.by_logarithm:
            phi = np.maximum(field.potential, np.finfo(np.float64).tiny)
            push, energy = self.strength * field.force / phi[:, None], energy + self.strength * np.log(phi)
        else:
            push, energy = self.strength * field.force, energy + self.strength * field.potential
        return energy, np.asarray((push - pull) / curvature[:, None])


@dataclass(frozen=True, slots=True)
class Ties:
    """Affinities of new points, rows of sum 1, the fitted point that each is tied to most, and the radius wanted."""

    weights: Sparse
    strongest: Integers
    wanted: Floats | None = None

    @classmethod
    def of(cls, affinities: Sparse, wanted: Floats | None = None) -> Ties:
        """Rows scaled to the sum 1."""
        counts = np.diff(affinities.indptr)
        starts = affinities.indptr[:-1].astype(np.int64)
        totals = np.add.reduceat(affinities.data, starts)
        data = affinities.data / np.repeat(totals, counts)
        # Of several as strong the one with the least index.
        is_strongest = affinities.data == np.repeat(np.maximum.reduceat(affinities.data, starts), counts)
        names = np.where(is_strongest, affinities.indices, affinities.shape[1]).astype(np.int64)
        strongest = np.minimum.reduceat(names, starts)
        indptr, indices = affinities.indptr.astype(np.int64), affinities.indices.astype(np.int64)
        return cls(csr_array((data, indices, indptr), shape=affinities.shape), strongest, wanted)

    @property
    def n_rows(self) -> int:
        """Number of new points."""
        return int(self.weights.shape[0])
