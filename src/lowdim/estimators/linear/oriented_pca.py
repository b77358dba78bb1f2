"""Oriented principal component analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np

from ... import validation
from ...core.blas_threads import ONE_BLAS_THREAD
from ...core.messages import DATA, named
from ...core.parallel import count_workers
from ...core.records import PlannedStage
from ...core.rules import Real, Rule
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import InMemory, Shards, as_shards, comes_in_shards
from ...engine import tallying
from ...errors import InputError
from ...maps.linear import LinearMap
from ...methods.base import Embedded
from ...spectral.linear.choose import estimate
from ...spectral.linear.oriented import OrientedFit, oriented_from_moments, oriented_pca
from ...store.identity import Identity
from ..base import COMMON_RULES, Estimator, parameters
from ..shards.over_shards import tasks_of
from ..shards.shard_moments import moments_of_shards, plan_moments


@parameters
class OrientedPCA(Estimator):
    """max w'S_u w / w'S_v w: directions in which the signal u varies much and the noise v little.

    Diamantaras & Kung (1996). S_u and S_v are the covariances of the rows of ``X`` and of ``noise``; the directions
    are generalised eigenvectors, so that e_i'S_u e_j = e_i'S_v e_j = 0 for i != j. Without noise, S_v = I and this
    is PCA.

    Parameters
    ----------
    n_components
        Number of directions.
    ridge
        Added to the diagonal of S_v, as a share of its mean: needed where the noise does not fill the space.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    components_ : array (n_components, n_features)
    ratios_ : array (n_components,), signal over noise along each direction
    mean_ : array (n_features,)
    report_ : what was done, seconds per stage

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> signal, noise = rng.normal(size=(2, 100, 3)) * np.array([[[3, 1, 1]], [[6, 1, 1]]])
    >>> lowdim.OrientedPCA(1).fit(signal, noise=noise).embedding_.shape
    (100, 1)
    """

    n_components: int = 2
    _: KW_ONLY
    ridge: float = 1e-6

    _rules: ClassVar[Mapping[str, Rule]] = {**COMMON_RULES, "ridge": Real(0, closed=True)}

    def fit(self, X: Any, y: Any = None, *, noise: Any = None) -> Self:
        """Find the directions for the signal ``X`` against the rows of ``noise`` (same columns; None: white noise).

        Both may come in shards: see `lowdim.shards`.
        """
        if (of_noise := as_shards(noise)) is not None:
            self._check_parameters()
            of_signal = as_shards(X) or InMemory.of(validation.check_block(X, DATA).block(slice(None)))
            return self._fit_sources(of_signal, of_noise)
        self._noise = None if noise is None else validation.check_block(noise, named("noise"))
        try:
            super().fit(X, y)
        finally:
            del self._noise
        return self

    def fit_transform(self, X: Any, y: Any = None, *, noise: Any = None) -> Any:
        """Find the directions and return the coordinates of ``X``."""
        model = self.fit(X, y, noise=noise)
        return model.transform(X) if comes_in_shards(X) or comes_in_shards(noise) else model.embedding_.copy()

    @property
    def _keeps_rows(self) -> bool:
        return False

    def _identity(self, rows: Rows) -> Identity:
        identity = super()._identity(rows)
        noise = None if self._noise is None else self._noise.values
        return replace(identity, data={**identity.data, "noise": noise})

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        validation.check_components(self.n_components, min(rows.shape), "the smaller of samples and features")
        noise = self._noise
        if noise is not None:
            self._check_columns(noise.n_columns, rows.n_columns)
        fit = run.stage(
            "directions", oriented_pca, rows, noise, self.n_components, self.ridge, kept=OrientedFit
        )
        map_ = LinearMap(fit.mean, fit.directions)
        coordinates = run.stage("project", map_.transform, rows)
        attributes = {"components_": fit.directions, "mean_": fit.mean, "ratios_": fit.ratios}
        return Embedded(coordinates, map_, attributes=attributes, figures={"signal_to_noise": fit.ratios})

    def _fit_shards(self, source: Shards, y: Any = None) -> Self:
        noise = None if self._noise is None else InMemory.of(self._noise.block(slice(None)))
        return self._fit_sources(source, noise)

    def _fit_sources(self, signal: Shards, noise: Shards | None) -> Self:
        """``fit`` to rows in shards, of which nothing is kept."""
        recorder, events = self._listened_to()
        with events.stage("check"):
            validation.check_source(self, signal, reset=True, at_least=2)
            smaller = "the smaller of samples and features"
            validation.check_components(self.n_components, min(signal.shape), smaller)
            if noise is not None:
                self._check_columns(noise.n_features, signal.n_features)
            self._check_stages(self._plan_shards(signal))
        with tasks_of(self, events, X=signal, noise=noise) as (store, run), tallying() as tally:
            of_signal = run.stage("directions", moments_of_shards, "moments", signal, store)
            of_noise = None
            if noise is not None:
                of_noise = run.stage("noise", moments_of_shards, "noise-moments", noise, store)
        with ONE_BLAS_THREAD:
            fit = oriented_from_moments(of_signal, of_noise, self.n_components, self.ridge)
        embedded = Embedded(
            np.empty((0, fit.directions.shape[0])),
            LinearMap(fit.mean, fit.directions),
            attributes={"components_": fit.directions, "mean_": fit.mean, "ratios_": fit.ratios},
            figures={"signal_to_noise": fit.ratios, **tally.figures()},
        )
        self._leave(embedded, None, recorder, signal.shape)
        return self

    def _check_columns(self, of_noise: int, of_signal: int) -> None:
        if of_noise != of_signal:
            raise InputError(
                f"{named('noise')} must have the columns of {DATA}; got {of_noise} columns where {DATA} has "
                f"{of_signal}."
            )

    def _plan_shards(self, source: Shards) -> list[PlannedStage]:
        return [plan_moments(source, "directions", count_workers(self.n_jobs), "moments of blocks, merged")]

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        seconds, size = estimate("covariance", rows, self.n_components)
        return [PlannedStage("directions", 3 * seconds, 3 * size, "two covariances")]
