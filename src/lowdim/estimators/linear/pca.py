"""Principal component analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import validation
from ...core.blas_threads import ONE_BLAS_THREAD
from ...core.messages import named
from ...core.parallel import count_workers
from ...core.records import Floats, PlannedStage
from ...core.rules import ByItself, Either, Nothing, OneOf, Real, Rule, Truth, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import Shards
from ...engine import tallying
from ...errors import InputError
from ...maps.linear import LinearMap
from ...methods.base import Embedded
from ...spectral.linear.choose import SOLVERS, Solver, check_likeliest, choose_solver, estimate, fit_pca
from ...spectral.linear.covariance import components_of
from ...spectral.linear.probabilistic import Density
from ...spectral.linear.result import LinearFit, require_count
from ...spectral.linear.streaming import Sketch, sketch_capacity, sketch_rows
from ..base import COMMON_RULES, Estimator, parameters
from ..coordinates import as_came, read_only
from ..shards.over_shards import tasks_of
from ..shards.shard_moments import moments_of_shards, plan_moments, sketch_of_shards
from ..shifts import describe_shift

DENSE_SOLVERS = ("covariance", "snapshot")
"""Solvers that hold a square matrix of the columns or of the rows."""


class FittedPCA:
    """What a fit leaves, by scikit-learn's names; apart from `PCA`, whose own fields are its parameters."""

    components_: Floats
    mean_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    singular_values_: Floats
    noise_variance_: float
    n_components_: int
    n_samples_seen_: int


@parameters
class PCA(Estimator, FittedPCA):
    """max tr W'CW  s.t.  W'W = I: the directions of largest variance, C the covariance of the rows.

    Every solver walks over blocks of rows, so that integer images and memory maps are never copied whole.

    Parameters
    ----------
    n_components
        Number of directions; a share of the variance in (0, 1), whose fewest directions are kept; ``"mle"`` for the
        number that the rows themselves speak for (Minka 2000); or None for all. ``"auto"`` chooses it: by
        ``"auto:hard-threshold"``, singular values above noise (Gavish & Donoho 2014), or by ``"auto:mle"``.
    solver
        ``"auto"`` picks by shape and says why. ``"covariance"``: the D x D covariance. ``"snapshot"``: the N x N
        inner products, for far fewer samples than columns. ``"randomized"``: block Krylov iteration to a stated
        residual (Musco & Musco 2015). ``"streaming"``: one pass, as ``partial_fit`` (Ross et al. 2008).
    whiten
        Scale the coordinates to variance 1.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    components_ : array (n_components, n_features), rows of length 1, signs fixed
    mean_, explained_variance_, explained_variance_ratio_, singular_values_, noise_variance_ : as in scikit-learn
    n_components_, n_samples_seen_ : int
    sketch_ : what ``partial_fit`` goes on from, after it or ``solver="streaming"``
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.datasets import load_digits
    >>> lowdim.PCA(2).fit_transform(load_digits().data).shape
    (1797, 2)
    """

    n_components: float | str | None = 2
    _: KW_ONLY
    solver: Literal["auto"] | Solver = "auto"
    whiten: bool = False

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "n_components": Either(
            Whole(1), Real(0, high=1), OneOf("mle"), ByItself("hard-threshold", "mle"), Nothing()
        ),
        "solver": OneOf("auto", *SOLVERS),
        "whiten": Truth(),
    }

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in one more block of rows; the directions are those of all rows so far, of a fit before it too.

        Of a fit by another solver than ``"streaming"`` only the components are still known; what it left out counts in
        the total variance. ``embedding_`` then holds the coordinates of the rows of this call.
        """
        self._check_parameters()
        first = not hasattr(self, "map_")
        rows = validation.check_rows(self, X, reset=first, at_least=1)
        count = self._count
        if count is None:
            raise InputError(
                f"{named('n_components', 'PCA')} must be a whole number for partial_fit; got {self.n_components!r}. "
                "The rows to come are not known, so neither is their share of variance."
            )
        validation.check_components(count, rows.n_columns, "the number of features")
        self.sketch_ = sketch_rows(
            self._sketch_so_far(count, rows.n_columns), rows, Run(workers=self._workers)
        )
        fit = self.sketch_.fit(count)
        for name, value in self._attributes(fit).items():
            setattr(self, name, value)
        self.map_ = self._map(fit)
        self.embedding_ = read_only(as_came(self.map_.transform(rows, Run(workers=self._workers)), rows))
        return self

    def _grown(self, before: Estimator, rows: Rows, run: Run) -> Embedded:
        """The moments of all rows; those that were there by their coordinates, which is all that is known of them."""
        assert isinstance(before, PCA)
        count = before.n_components_
        sketch = run.stage(
            "directions", sketch_rows, before._sketch_so_far(count, rows.n_columns), rows, kept=Sketch
        )
        fit = sketch.fit(count)
        signs = np.where((fit.components * before.components_).sum(axis=1) < 0, -1.0, 1.0)
        fit = replace(fit, components=signs[:, None] * fit.components)
        map_ = self._map(fit)
        known = before.embedding_.astype(np.float64)
        if self.whiten:
            known = known * self._spread(before.explained_variance_)
        turn = before.components_ @ map_.components.T
        old = known @ turn + (before.mean_ - fit.mean) @ map_.components.T
        coordinates = np.concatenate([old, run.stage("project", map_.transform, rows)])
        figures: dict[str, Any] = {
            "explained_variance_ratio": fit.explained_variance_ratio,
            "rows_added": rows.n_rows,
            **describe_shift(before.embedding_.astype(np.float64), old),
        }
        attributes = self._attributes(fit) | {"sketch_": sketch}
        return Embedded(coordinates, map_, attributes=attributes, figures=figures)

    def _sketch_so_far(self, count: int, n_columns: int) -> Sketch:
        if hasattr(self, "sketch_"):
            return self.sketch_
        capacity = sketch_capacity(count, n_columns)
        if not hasattr(self, "map_"):
            return Sketch.empty(n_columns, capacity)
        total = float(self.explained_variance_.sum())
        total += self.noise_variance_ * (min(self.n_samples_seen_, n_columns) - self.n_components_)
        fit = LinearFit(self.mean_, self.components_, self.explained_variance_, total, self.n_samples_seen_)
        return Sketch.of_fit(fit, capacity)

    def get_covariance(self) -> Floats:
        """The covariance W' diag(l - s) W + s I of the density that PCA fits to the rows (Tipping & Bishop 1999)."""
        return self._density.covariance()

    def get_precision(self) -> Floats:
        """The inverse of the covariance."""
        return self._density.precision()

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of each row under the Gaussian density of probabilistic PCA (Tipping & Bishop 1999)."""
        check_is_fitted(self)
        return self._density.log_density(self._check_input(X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows; the larger, the better they fit."""
        return float(self.score_samples(X).mean())

    @property
    def _density(self) -> Density:
        check_is_fitted(self)
        return Density(self.mean_, self.components_, self.explained_variance_, self.noise_variance_)

    def inverse_transform(self, X: Any) -> Floats:
        """Points of the original space from coordinates."""
        check_is_fitted(self)
        coordinates = validation.check_coordinates(X, self.n_components_)
        if self.whiten:
            coordinates = coordinates * self._spread(self.explained_variance_)
        return np.asarray(coordinates @ self.components_ + self.mean_)

    @property
    def _count(self) -> int | None:
        """The number of components, where a number was given rather than a share or None."""
        given: Any = self.n_components
        return int(given) if Whole(1).allows(given) else None

    @property
    def _keeps_rows(self) -> bool:
        return False

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        if self._count is not None:
            validation.check_components(self._count, min(rows.shape), "the smaller of samples and features")
        extra: dict[str, Any] = {}
        if self.solver == "streaming":
            count = require_count(self._n_components, self.solver)
            empty = Sketch.empty(rows.n_columns, sketch_capacity(count, rows.n_columns))
            sketch = run.stage("directions", sketch_rows, empty, rows, kept=Sketch)
            fit, extra = sketch.fit(count), {"sketch_": sketch}
        else:
            fit = run.stage("directions", fit_pca, rows, self._n_components, self.solver, kept=LinearFit)
        map_ = self._map(fit)
        coordinates = run.stage("project", map_.transform, rows)
        figures: dict[str, Any] = {
            "explained_variance_ratio": fit.explained_variance_ratio,
            "passes": fit.passes,
        }
        if fit.residuals is not None:
            figures["residuals"] = fit.residuals
        return Embedded(coordinates, map_, attributes=self._attributes(fit) | extra, figures=figures)

    def _fit_shards(self, source: Shards, y: Any = None) -> Self:
        """``fit`` to rows in shards, of which nothing is kept: ``transform`` gives their coordinates."""
        if self.solver in ("snapshot", "randomized"):
            raise InputError(
                f"{named('solver', 'PCA')} must be 'auto', 'covariance' or 'streaming' for rows in shards; got "
                f"{self.solver!r}, which goes over all rows many times. Give one of these, or load the rows with "
                "numpy.asarray where they fit into memory."
            )
        recorder, events = self._listened_to()
        with events.stage("check"):
            validation.check_source(self, source, reset=True, at_least=2)
            if self._count is not None:
                smaller = "the smaller of samples and features"
                validation.check_components(self._count, min(source.shape), smaller)
            check_likeliest(self._n_components, source.shape)
            self._check_stages(self._plan_shards(source))
        extra: dict[str, Any] = {}
        took: dict[str, int] = {}
        if self.solver == "streaming":
            count = require_count(self._n_components, self.solver)
            capacity = sketch_capacity(count, source.n_features)
            run = Run(events, self._workers)
            sketch = run.stage("directions", sketch_of_shards, source, capacity)
            fit, extra = sketch.fit(count), {"sketch_": sketch}
        else:
            with tasks_of(self, events, X=source) as (store, run), tallying() as tally:
                gathered = run.stage("directions", moments_of_shards, "moments", source, store)
            took = tally.figures()
            with ONE_BLAS_THREAD:
                fit = components_of(gathered, self._n_components)
        embedded = Embedded(
            np.empty((0, fit.components.shape[0])),
            self._map(fit),
            attributes=self._attributes(fit) | extra,
            figures={"explained_variance_ratio": fit.explained_variance_ratio, "passes": 1, **took},
        )
        self._leave(embedded, None, recorder, source.shape)
        return self

    def _plan_shards(self, source: Shards) -> list[PlannedStage]:
        if self.solver == "streaming":
            rows = Rows(np.broadcast_to(np.zeros((), source.dtype), source.shape))
            seconds, size = estimate("streaming", rows, self._count or min(source.shape))
            return [PlannedStage("directions", seconds, size, "streaming: one pass, row by row")]
        workers = count_workers(self.n_jobs)
        note = f"moments of blocks, merged; solver='streaming' needs no {source.n_features} x {source.n_features}"
        return [plan_moments(source, "directions", workers, note)]

    def _map(self, fit: LinearFit) -> LinearMap:
        if not self.whiten:
            return LinearMap(fit.mean, fit.components)
        return LinearMap(fit.mean, fit.components / self._spread(fit.explained_variance)[:, None])

    def _spread(self, variance: Floats) -> Floats:
        """Standard deviation of each coordinate; one without variance is left as it is."""
        floor = np.finfo(np.float64).eps * np.max(variance, initial=0.0)
        return np.sqrt(np.where(variance > floor, variance, 1.0))

    def _attributes(self, fit: LinearFit) -> dict[str, Any]:
        return {
            "components_": fit.components,
            "mean_": fit.mean,
            "explained_variance_": fit.explained_variance,
            "explained_variance_ratio_": fit.explained_variance_ratio,
            "singular_values_": fit.singular_values,
            "noise_variance_": fit.noise_variance,
            "n_components_": fit.components.shape[0],
            "n_samples_seen_": fit.n_samples,
        }

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        width = self._count or min(n_rows, n_columns)
        limit = validation.parse_bytes(self.memory_limit)
        solver, why = (
            choose_solver(rows, self._n_components, limit)
            if self.solver == "auto"
            else (self.solver, "asked for")
        )
        seconds, size = estimate(solver, rows, width)
        projected = 2.0 * n_rows * n_columns * width
        return [
            PlannedStage("directions", seconds, size, f"{solver}: {why}", certain=solver in DENSE_SOLVERS),
            PlannedStage("project", projected / 2e10, 8 * n_rows * width),
        ]
