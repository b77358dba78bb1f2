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
from typing import Literal, Protocol

import numpy as np

from ..data.rows import Rows
from ..records import Floats
from .nystrom import Affinities

MOST_STEPS = 100
SETTLED = 1e-4
"""A point has settled once a step moves it by less than this share of the kernel's width, which is 1."""


class Push(Protocol):
    """Potential and force of the fitted points."""

    @property
    def potential(self) -> Floats:
        """phi at each place."""
        ...

    @property
    def force(self) -> Floats:
        """-1/2 of its gradient."""
        ...


class PushField(Protocol):
    """The field of the fitted points at any place."""

    def at(self, places: Floats) -> Push:
        """Each place alone."""
        ...


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
        ``"gaussian"`` or ``"student"``.
    strength
        lambda c.
    by_logarithm
        Whether the push is lambda log phi, and ``strength`` is lambda.
    """

    affinities: Affinities
    embedding: Floats
    field: PushField
    kernel: Literal["gaussian", "student"]
    strength: float
    by_logarithm: bool = False

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of new points, each row alone; one that equals a fitted point takes that one's."""
        weights, equal = self.affinities.to_new(rows)
        known = equal >= 0
        places = np.empty((rows.n_rows, self.embedding.shape[1]))
        places[known] = self.embedding[equal[known]]
        new = np.flatnonzero(~known)
        if new.size:
            places[new] = self._place(*self._padded(weights[new]))
        return places

    def _padded(self, weights: object) -> tuple[Floats, Floats]:
        """Affinities (n x k, rows of sum 1) and coordinates (n x k x d) of the neighbours, padded with nothing."""
        indptr, indices, data = weights.indptr, weights.indices, weights.data  # type: ignore[attr-defined]
        counts = np.diff(indptr)
        inside = np.arange(max(1, counts.max(initial=1))) < counts[:, None]
        p = np.zeros(inside.shape)
        members = np.zeros(inside.shape, dtype=np.int64)
        p[inside], members[inside] = data, indices
        totals = p.sum(axis=1, keepdims=True)
        return p / np.where(totals > 0, totals, 1.0), self.embedding[members]

    def _place(self, p: Floats, neighbors: Floats) -> Floats:
        """Scaled descent: a step of the pull's own curvature, longer while E falls, shorter where it does not."""
        X = (p[:, :, None] * neighbors).sum(axis=1)
        nearest = neighbors[np.arange(p.shape[0]), p.argmax(axis=1)]
        value, step = self._evaluate(X, p, neighbors)
        other, other_step = self._evaluate(nearest, p, neighbors)
        better = other < value
        X[better], value[better], step[better] = nearest[better], other[better], other_step[better]
        length = np.ones(p.shape[0])
        moving = np.arange(p.shape[0])
        for _ in range(MOST_STEPS):
            trial = X[moving] + length[moving, None] * step[moving]
            found, next_step = self._evaluate(trial, p[moving], neighbors[moving])
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

    def _evaluate(self, X: Floats, p: Floats, neighbors: Floats) -> tuple[Floats, Floats]:
        """The objective of each point, and its step -gradient / (curvature of the pull)."""
        apart = X[:, None, :] - neighbors
        D = (apart**2).sum(axis=2)
        slope = p / (1.0 + D) if self.kernel == "student" else p
        pull = (slope[:, :, None] * apart).sum(axis=1)
        energy = (p * (np.log1p(D) if self.kernel == "student" else D)).sum(axis=1)
        field = self.field.at(X)
        if self.by_logarithm:
            phi = np.maximum(field.potential, np.finfo(np.float64).tiny)
            push, energy = self.strength * field.force / phi[:, None], energy + self.strength * np.log(phi)
        else:
            push, energy = self.strength * field.force, energy + self.strength * field.potential
        return energy, np.asarray((push - pull) / slope.sum(axis=1, keepdims=True))
