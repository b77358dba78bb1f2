"""Principal component analysis."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..data.rows import Rows
from ..errors import InputError
from ..events import Events, Listener
from ..keeping import once
from ..mapping.linear import LinearMap
from ..parallel import row_blocks
from ..records import Floats, PlannedStage
from ..rules import Either, Nothing, OneOf, Real, Rule, Truth, Whole
from ..spectral.linear.choose import SOLVERS, Solver, choose_solver, estimate, fit_pca
from ..spectral.linear.result import LinearFit
from ..spectral.linear.streaming import Sketch, sketch_block_rows, sketch_capacity
from .base import COMMON_RULES, Embedded, Estimator, as_came, read_only
from .shared import Shared

DENSE_SOLVERS = ("covariance", "snapshot")
"""Solvers that hold a square matrix of the columns or of the rows."""


class PCA(Estimator):
    """max tr W'CW  s.t.  W'W = I: the directions of largest variance, C the covariance of the rows.

    Every solver walks over blocks of rows, so that integer images and memory maps are never copied whole.

    Parameters
    ----------
    n_components
        Number of directions; a share of the variance in (0, 1); or None for all.
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
    mean_, explained_variance_, explained_variance_ratio_, singular_values_ : as in scikit-learn
    n_components_, n_samples_seen_ : int
    report_ : what was done and chosen, seconds per stage

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.datasets import load_digits
    >>> lowdim.PCA(2).fit_transform(load_digits().data).shape
    (1797, 2)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "n_components": Either(Whole(1), Real(0, high=1), Nothing()),
        "solver": OneOf("auto", *SOLVERS),
        "whiten": Truth(),
    }

    def __init__(
        self,
        n_components: float | None = 2,
        *,
        solver: Literal["auto"] | Solver = "auto",
        whiten: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.whiten = whiten
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def partial_fit(self, X: Any, y: Any = None) -> PCA:
        """Take in one more block of rows; the directions are those of all rows so far.

        ``embedding_`` then holds the coordinates of the rows of this call.
        """
        self._check_parameters()
        first = not hasattr(self, "sketch_")
        rows = validation.check_rows(self, X, reset=first, at_least=1)
        count = self._count
        if count is None:
            raise InputError(
                f"n_components of PCA must be a whole number for partial_fit; got {self.n_components!r}. The rows "
                "to come are not known, so neither is their share of variance."
            )
        if first:
            validation.check_components(count, rows.n_columns, "the number of features")
            capacity = sketch_capacity(count, rows.n_columns)
            self.sketch_ = Sketch.empty(rows.n_columns, capacity)
        for block in row_blocks(rows.n_rows, sketch_block_rows(self.sketch_.capacity)):
            self.sketch_ = self.sketch_.update(rows.block(block))
        fit = self.sketch_.fit(count)
        for name, value in self._attributes(fit).items():
            setattr(self, name, value)
        self.map_ = self._map(fit)
        self.embedding_ = read_only(as_came(self.map_.transform(rows), rows))
        return self

    @property
    def _keeps_rows(self) -> bool:
        return False

    def inverse_transform(self, X: Any) -> Floats:
        """Points of the original space from coordinates."""
        check_is_fitted(self)
        coordinates = np.asarray(X, dtype=np.float64)
        if coordinates.ndim != 2 or coordinates.shape[1] != self.n_components_:
            raise InputError(
                f"X of inverse_transform must have {self.n_components_} columns, one for each coordinate; got shape "
                f"{coordinates.shape}."
            )
        if self.whiten:
            coordinates = coordinates * self._spread(self.explained_variance_)
        return np.asarray(coordinates @ self.components_ + self.mean_)

    @property
    def _count(self) -> int | None:
        """The number of components, where a number was given rather than a share or None."""
        return int(self.n_components) if Whole(1).allows(self.n_components) else None

    def _embed(self, rows: Rows, events: Events, shared: Shared) -> Embedded:
        if self._count is not None:
            validation.check_components(self._count, min(rows.shape), "the smaller of samples and features")
        generator = validation.make_generator(self.random_state)
        with events.stage("directions"):
            limit = validation.parse_bytes(self.memory_limit)
            fit = once(
                events,
                "directions",
                lambda: fit_pca(
                    rows,
                    self.n_components,
                    self.solver,
                    generator=generator,
                    events=events,
                    memory_limit=limit,
                ),
                kind=LinearFit,
            )
        map_ = self._map(fit)
        with events.stage("project"):
            coordinates = map_.transform(rows)
        figures: dict[str, Any] = {
            "explained_variance_ratio": fit.explained_variance_ratio,
            "passes": fit.passes,
        }
        if fit.residuals is not None:
            figures["residuals"] = fit.residuals
        return Embedded(coordinates, map_, attributes=self._attributes(fit), figures=figures)

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
            choose_solver(rows, self.n_components, limit)
            if self.solver == "auto"
            else (self.solver, "asked for")
        )
        seconds, size = estimate(solver, rows, width)
        projected = 2.0 * n_rows * n_columns * width
        return [
            PlannedStage("directions", seconds, size, f"{solver}: {why}", certain=solver in DENSE_SOLVERS),
            PlannedStage("project", projected / 2e10, 8 * n_rows * width),
        ]
