"""New points for neighbour embeddings: each is placed alone against the embedding as it stands.

At a minimum of E every fitted point x_n rests where the pull of its neighbours and the push of all others cancel. A new
point is placed where its own do:

    min_x  sum_m p_m f(|x - x_m|^2)  +  lambda c phi(x),       phi(x) = sum_m K(|x - x_m|^2),

with its affinities p to its nearest fitted points, f = -log K, and c the constant that makes a fitted point's own rest
the same condition (N / Z for t-SNE and symmetric SNE, 1 for the elastic embedding). SNE has log phi in the place of c
phi. The field phi is that of the fitted points and is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..affinities import FittedAffinity
from ..affinities.entropic import FittedEntropic
from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..objectives.density import FrozenDensity
from ..objectives.repulsion.protocol import Field, FrozenField
from ..objectives.similarities import Similarity
from .nystrom import Affinities, NeighborAffinities, check_tied

MOST_STEPS = 100
SETTLED = 1e-4
"""A point has settled once a step moves it by less than this share of the kernel's width, which is 1."""

SETTLED_AGAIN = 1e-3
"""The same of a fitted point that is placed again, of which the way is asked and not the place."""

TIES = 10.0
"""Perplexity below which new points keep that of the fitted ones."""


def ties_of_new(n_neighbors: int, fitted: FittedAffinity, kernel: Similarity) -> tuple[int, FittedAffinity]:
    """Neighbours and affinity of a new point: a third of the perplexity where the pull of the kernel fades.

    The nearest then place a point all but alone, and in a third of the time. Under a Gaussian the pull grows: with
    fewer neighbours a copy of a fitted point would come to rest elsewhere.
    """
    if not kernel.pull_fades or not isinstance(fitted, FittedEntropic) or fitted.perplexity <= TIES:
        return n_neighbors, fitted
    perplexity = max(TIES, fitted.perplexity / 3)
    return ceil(n_neighbors * perplexity / fitted.perplexity), replace(fitted, perplexity=perplexity)


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
        if isinstance(self.affinities, NeighborAffinities):
            return self.transform_near(self.affinities.lookup.query(rows, run), run)
        return self._placed(*self.affinities.to_new(rows, run), None, run)

    def transform_near(self, neighbors: Neighbors, run: Run) -> Floats:
        """The same of points whose nearest fitted ones are known."""
        assert isinstance(self.affinities, NeighborAffinities)
        if self.density is None:
            return self._placed(*self.affinities.among(neighbors, run), None, run)
        weights, equal, radii = self.affinities.among_with_radii(neighbors, run)
        return self._placed(weights, equal, self.density.wanted(radii), run)

    def _placed(self, weights: Sparse, equal: Integers, wanted: Floats | None, run: Run) -> Floats:
        """Where points with these ties rest, those that equal a fitted one at its place."""
        known = equal >= 0
        places = np.empty((equal.size, self.embedding.shape[1]))
        places[known] = self.embedding[equal[known]]
        new = np.flatnonzero(~known)
        if new.size:
            check_tied(known | (np.diff(weights.indptr) > 0), "the affinity")
            places[new] = self._place(Ties.of(weights[new], None if wanted is None else wanted[new]), run)
        return places

    def place_again(self, affinities: Sparse, starts: Integers, without: Without, run: Run) -> Floats:
        """Where fitted points come to rest as if each were new, with other affinities and without its own push.

        ``affinities`` are taken as they are: how much they sum to says how strong the pull is. Each point goes down
        from its own place, and from the lowest of the mean of its ties and the places of the fitted points ``starts``
        (n x s); the lower end of the two is taken.
        """
        pulled, places = self._tied(affinities, starts)
        lowest = self._lowest(places, pulled, run, without)
        first, value = self._descend(self.embedding[without.points], pulled, run, without)
        second, other = self._descend(lowest, pulled, run, without)
        return np.where((other < value)[:, None], second, first)

    def lower_places(self, affinities: Sparse, starts: Integers, without: Without, run: Run) -> Floats:
        """Where fitted points rest lower than they lie: down from the lowest of the starts of `place_again`.

        A point that lies lower than all of them keeps its place.
        """
        pulled, places = self._tied(affinities, starts)
        own = self.embedding[without.points]
        found = self._lowest([own, *places], pulled, run, without)
        lower = np.flatnonzero((found != own).any(axis=1))
        if lower.size:
            some = replace(pulled, weights=pulled.weights[lower], strongest=pulled.strongest[lower])
            apart = replace(without, points=without.points[lower])
            found[lower] = self._descend(found[lower], some, run, apart)[0]
        return found

    def _tied(self, affinities: Sparse, starts: Integers) -> tuple[Ties, list[Floats]]:
        """Ties as strong as they are given, and where to start: the mean of the ties, and the places of some points."""
        ties = Ties.of(affinities)
        entries = (affinities.data, ties.weights.indices, ties.weights.indptr)
        pulled = replace(ties, weights=csr_array(entries, shape=affinities.shape))
        places = [np.asarray(ties.weights @ self.embedding), *(self.embedding[some] for some in starts.T)]
        return pulled, places

    def _place(self, ties: Ties, run: Run) -> Floats:
        """Down from the mean of the ties, or from the strongest where that is lower."""
        starts = [np.asarray(ties.weights @ self.embedding), self.embedding[ties.strongest]]
        return self._descend(self._lowest(starts, ties, run), ties, run)[0]

    def _lowest(self, starts: list[Floats], ties: Ties, run: Run, without: Without | None = None) -> Floats:
        """The start of each row where its objective is lowest, the first of several."""
        everyone = np.arange(ties.n_rows)
        X = starts[0].copy()
        value, _ = self._evaluate(X, ties, everyone, run, without)
        for place in starts[1:]:
            other, _ = self._evaluate(place, ties, everyone, run, without)
            better = other < value
            X[better], value[better] = place[better], other[better]
        return X

    def _descend(
        self, start: Floats, ties: Ties, run: Run, without: Without | None = None
    ) -> tuple[Floats, Floats]:
        """Scaled descent: a step of the pull's own curvature, longer while E falls, shorter where it does not."""
        everyone, X = np.arange(ties.n_rows), start.copy()
        settled = SETTLED if without is None else SETTLED_AGAIN
        value, step = self._evaluate(X, ties, everyone, run, without)
        length, moving = np.ones(ties.n_rows), everyone
        for _ in range(MOST_STEPS):
            trial = X[moving] + length[moving, None] * step[moving]
            found, next_step = self._evaluate(trial, ties, moving, run, without)
            falls = found < value[moving]
            ahead = moving[falls]
            X[ahead], value[ahead], step[ahead] = trial[falls], found[falls], next_step[falls]
            length[ahead] = np.minimum(1.5 * length[ahead], 4.0)
            length[moving[~falls]] *= 0.3
            reach = length[moving] * np.sqrt((step[moving] ** 2).sum(axis=1))
            moving = moving[reach > settled]
            if moving.size == 0:
                break
        return X, value

    def _evaluate(
        self, X: Floats, ties: Ties, rows: Integers, run: Run, without: Without | None = None
    ) -> tuple[Floats, Floats]:
        """The objective of some of the points at X, and their steps -gradient / (curvature of the pull)."""
        X = np.ascontiguousarray(X)
        energy, pull, curvature = np.empty(rows.size), np.empty_like(X), np.empty(rows.size)
        radial, W, embedding = self.kernel.radial, ties.weights, self.embedding

        def work(part: slice) -> None:
            kernels.embedding.new_points.on_new_points(
                radial, W.indptr, W.indices, W.data, embedding, rows, X, part.start, part.stop, energy, pull,
                curvature,
            )  # fmt: skip

        run.map(work, rows.size)
        if self.density is not None and ties.wanted is not None:
            self.density.add(radial, W, embedding, rows, X, ties.wanted, energy, pull, run)
        field = self.field.at(X, run)
        if without is not None:
            field = without.taken_from(field, X, rows, self.embedding)
        if self.by_logarithm:
            phi = np.maximum(field.potential, np.finfo(np.float64).tiny)
            push, energy = self.strength * field.force / phi[:, None], energy + self.strength * np.log(phi)
        else:
            push, energy = self.strength * field.force, energy + self.strength * field.potential
        return energy, np.asarray((push - pull) / curvature[:, None])


@dataclass(frozen=True, slots=True)
class Without:
    """Fitted points that are placed as if they were new: what each adds to the field is taken from it.

    ``points`` has the fitted point of each row, ``kernel`` is that of the field and ``masses`` are those of the fitted
    points, 1 where None.
    """

    points: Integers
    kernel: Similarity
    masses: Floats | None

    def taken_from(self, field: Field, X: Floats, rows: Integers, embedding: Floats) -> Field:
        """The field at places of some rows, without each row's own point."""
        own = self.points[rows]
        v = X - embedding[own]
        D, charges = np.einsum("ni,ni->n", v, v), 1.0 if self.masses is None else self.masses[own]
        potential = field.potential - charges * self.kernel.bounded(D, 0)
        return Field(potential, field.force - (charges * self.kernel.bounded(D, 1))[:, None] * v)


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
