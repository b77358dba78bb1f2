"""Pictures that go on from the one that is shown: neighbour embeddings whose parameters move.

A preview minimises the objective of the new parameters from the picture that there is, with momentum, and stands still
in the end near a minimum that need not be the one of a fit. Neighbours, and the pattern of their affinities, are found
once; a new perplexity rewrites the values on the pattern, a new lambda none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..affinities.entropic import FittedEntropic
from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..estimators.embedding_driver.neighbor_embedding import NeighborEmbedding
from ..neighbors.neighborhood import Neighborhood
from ..objectives.base import NeighborObjective
from ..optimize.momentum import Momentum
from ..optimize.schedules import STEADY, Course

MOST_STEPS = 160
"""Iterations of a preview, at most."""
AT_REST = 2e-5
"""Mean way of a point in an iteration, in half widths of the picture, below which it has come to rest."""
WIDEST = 100
"""Neighbours that the affinities of a preview have, at most: a fit of a larger perplexity has more."""
USUAL_WIDTH, USUAL_PERPLEXITY = 50, 30.0
"""Neighbours of a preview up to this perplexity, fewer than its fit has: it is weighed and moved in half the time."""
LIGHT = {
    "lam",
    "early_exaggeration",
    "learning_rate",
    "max_iter",
    "tolerance",
    "init",
    "random_state",
    "optimizer",
}
"""Parameters that leave the objective as it is, but for lambda."""
KERNEL = {
    *("min_dist", "spread", "repulsion_strength", "negative_sample_rate", "gamma", "objective", "repulsion"),
    *("negative_samples", "scaling", "gravity", "strong_gravity", "lin_log"),
}
"""Parameters that leave the affinities as they are."""


def can_go_on(model: Any) -> bool:
    """Whether a picture can go on from the one that is shown."""
    return (
        isinstance(model, NeighborEmbedding)
        and model._goes_on_warm
        and model.n_components >= 2
        and not model.density
        and model.metric not in ("precomputed", "graph")
    )


@dataclass(slots=True)
class Pattern:
    """Places of (P + P') / 2 in compressed rows, and where its values are found among those of P.

    ``there`` and ``back`` have for each entry (i, j) the places of p_j|i and of p_i|j in the neighbour lists, or one
    past their end, where there is a 0.
    """

    indptr: Integers
    indices: Integers
    there: Integers
    back: Integers

    @classmethod
    def of(cls, neighbors: Neighbors) -> Pattern:
        """The union of the lists and their transpose."""
        size, count = neighbors.n_points, neighbors.indices.size
        shape = (size, size)
        places = np.arange(1, count + 1, dtype=np.int32)
        there = Sparse((places, neighbors.indices.astype(np.int32), neighbors.indptr), shape=shape)
        back = Sparse(there.transpose().tocsr())
        there.sort_indices()
        ones = [
            Sparse((np.ones(count, np.int8), each.indices, each.indptr), shape=shape)
            for each in (there, back)
        ]
        union = Sparse(ones[0] + ones[1])
        union.sort_indices()
        indptr, indices = union.indptr.astype(np.int64), union.indices.astype(np.int64)
        return cls(indptr, indices, *(_spread(union, each, count) for each in (there, back)))

    def weights(self, values: Floats, run: Run) -> Sparse:
        """(P + P') / 2 of the values on the lists."""
        half = np.append(0.5 * values, 0.0)
        data = np.empty(self.indices.size)

        def gather(part: slice) -> None:
            np.take(half, self.there[part], out=data[part], mode="clip")
            data[part] += half[self.back[part]]

        run.map(gather, data.size)
        size = self.indptr.size - 1
        W = Sparse((data, self.indices, self.indptr), shape=(size, size))
        W.has_sorted_indices = True
        return W


def _spread(union: Sparse, part: Sparse, beyond: int) -> Integers:
    """For each entry of a union of two matrices the value of one of them, less 1, or what is beyond all of them."""
    rows = np.repeat(np.arange(union.shape[0], dtype=np.int64), np.diff(union.indptr))
    own_rows = np.repeat(np.arange(union.shape[0], dtype=np.int64), np.diff(part.indptr))
    whole, own = rows * union.shape[1] + union.indices, own_rows * union.shape[1] + part.indices
    found = np.full(union.nnz, beyond, np.int64)
    found[np.searchsorted(whole, own)] = part.data - 1
    return found


@dataclass(slots=True)
class Going:
    """Where a preview stands: its objective, what that was made from, and the state of the optimiser."""

    key: Any
    objective: NeighborObjective
    hood: Neighborhood


@dataclass(slots=True)
class Warm:
    """What previews of the same rows share."""

    rows: Rows
    _going: Going | None = None
    _pattern: tuple[Any, Pattern] | None = None
    _affinities: tuple[Any, Any] | None = None

    def go_on(
        self, model: Any, shown: Floats, run: Run, tell: Callable[[int, Floats], None], changed: set[str]
    ) -> Floats:
        """Minimise from what is shown until it is at rest; ``tell`` hears of every iteration, and may end it."""
        going = self._prepared(model, run)
        start = _start(going, model, shown)
        optimizer, course = Momentum(), self._course(model, going.objective, changed, run)
        state = optimizer.init(going.objective, start, run, course=course, value=False)
        for iteration in range(1, MOST_STEPS + 1):
            moved = optimizer.moved(state)
            if not np.isfinite(moved.X).all():
                break
            before, state = state, moved
            # Shown before its gradient is known, which the next picture needs: half a step sooner.
            tell(iteration, going.hood.points.expand(state.X))
            if iteration % 10 == 0 and _is_at_rest(before.X, state.X):
                break
            if iteration < MOST_STEPS:
                state = optimizer.evaluated(state, value=False)
        result: Floats = going.hood.points.expand(state.X)
        return result

    def prepare(self, model: Any, shown: Floats, run: Run) -> None:
        """Find what a preview of a model needs, so that the first one need not."""
        going = self._prepared(model, run)
        going.objective.evaluate(_start(going, model, shown), value=False)

    def _course(self, model: Any, objective: NeighborObjective, changed: set[str], run: Run) -> Course:
        """The method's own annealing; its exaggeration lays the picture out anew, so it is left out unless it moved."""
        annealing = model._usual_annealing(objective, 1, run.silent())
        if annealing is None:
            return STEADY
        exaggeration = annealing.exaggeration if "early_exaggeration" in changed else 1.0
        course: Course = replace(annealing, iterations=MOST_STEPS, exaggeration=exaggeration)
        return course

    def _prepared(self, model: Any, run: Run) -> Going:
        """The objective of a model, made from what is there of the last one."""
        values = {name: repr(value) for name, value in model.get_params(deep=False).items()}
        key = (type(model).__name__, *((n, v) for n, v in values.items() if n not in LIGHT))
        if self._going is not None and self._going.key == key:
            lam = _lambda_of(model, self._going.objective)
            objective = self._going.objective.with_lambda(lam)
            self._going = replace(self._going, objective=objective)
            return self._going
        hood = run.stage("neighbours", self._neighborhood, model)
        affinity_key = (type(model).__name__, *((n, v) for n, v in values.items() if n not in LIGHT | KERNEL))
        if self._affinities is None or self._affinities[0] != affinity_key:
            self._affinities = (affinity_key, run.stage("affinities", self._weigh, model, hood))
        W, fitted = self._affinities[1]
        # Where the repulsion is stiffer in the end, the smoother one of the beginning serves a preview.
        objective = model._objective_of(hood, W, fitted, run.silent()).early()
        self._going = Going(key, objective, hood)
        return self._going

    def _neighborhood(self, model: Any, run: Run) -> Neighborhood:
        """The neighbours of a preview; those of a perplexity are as many for every one, so that their places stay."""
        is_many, n_rows = self.rows.n_rows > 10 * WIDEST, self.rows.n_rows
        follows = hasattr(model, "perplexity") and model.n_neighbors is None
        if is_many and (follows or model._wanted_neighbors(n_rows) > WIDEST):
            is_usual = (model._known_perplexity or WIDEST) <= USUAL_PERPLEXITY
            model = _narrowed(model, USUAL_WIDTH if is_usual else WIDEST)
        return model._neighborhood(self.rows, run)  # type: ignore[no-any-return]

    def _weigh(self, model: Any, hood: Neighborhood, run: Run) -> tuple[Sparse, Any]:
        """The affinities; entropic ones on a pattern that is found once for each number of neighbours."""
        perplexity = model._known_perplexity
        if perplexity is None or getattr(model, "affinity", None) != "auto":
            W, fitted = model._affinities(hood, run)
            return W, fitted
        neighbors = hood.neighbors
        fitted = FittedEntropic(min(float(perplexity), 0.9 * int(neighbors.counts.min())), "average")
        key = (neighbors.indices.size, neighbors.indices[:: max(1, neighbors.indices.size // 1000)].tobytes())
        if self._pattern is None or self._pattern[0] != key:
            self._pattern = (key, Pattern.of(neighbors))
        return self._pattern[1].weights(fitted.conditional(neighbors, run.silent()), run), fitted


def _start(going: Going, model: Any, shown: Floats) -> Floats:
    """The picture that there is, in as many columns as are wanted, one row for all that are the same."""
    points = going.hood.points
    start = shown if points.duplicates is None else shown[points.duplicates.first]
    return start if start.shape[1] == model.n_components else _with_columns(start, model.n_components)


def _narrowed(model: Any, width: int) -> Any:
    """The same model with fewer neighbours."""
    from ..estimators.choosing.settled import with_values

    return with_values(model, {"n_neighbors": width})


def _lambda_of(model: Any, objective: NeighborObjective) -> float:
    return float(model.lam) if hasattr(model, "lam") else objective.lam


def _with_columns(X: Floats, count: int) -> Floats:
    """Fewer columns, or more, which are small and deterministic."""
    if X.shape[1] >= count:
        return np.ascontiguousarray(X[:, :count])
    more = np.random.default_rng(0).normal(size=(X.shape[0], count - X.shape[1]))
    return np.hstack([X, 0.01 * float(X.std()) * more])


def _is_at_rest(before: Floats, after: Floats) -> bool:
    half = float(np.ptp(after, axis=0).max()) / 2 or 1.0
    return float(np.abs(after - before).mean()) < AT_REST * half
