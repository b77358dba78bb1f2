"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from ... import validation
from ...core.messages import DATA, setting
from ...core.records import PlannedStage
from ...core.rules import Rule
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import Shards
from ...errors import InputError
from ...maps.linear import LinearMap
from ...methods.base import Embedded, Method
from ...methods.classical_mds import Scaling
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.landmarks.nystrom import Nystrom
from ...solvers.named import DENSE_SOLVER_RULE, LANDMARKS_RULE
from ...spectral.linear.choose import choose_solver, estimate, fit_pca
from ...spectral.linear.result import LinearFit
from ...spectral.signs import leading_signs
from ..base import COMMON_RULES, parameters
from ..choosing.words import components_rule
from ..graphs import METRIC_RULES
from ..metric import metric_of
from ..spectral.spectral_driver import SpectralEstimator


@parameters
class ClassicalMDS(SpectralEstimator):
    """max tr X'BX, B = -1/2 H D2 H: coordinates whose inner products are nearest to those of the distances.

    Torgerson (1952). Of Euclidean distances it is PCA, and is computed so, without any N x N matrix. For any other
    metric it is dense by nature: it holds the N x N distances, and says so before it begins where memory would not
    do. New points go by the extension of Gower (1968).

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"`` or ``"auto:eigengap"``: see
        docs/choosing.md.
    metric
        Name of a metric, a function of two rows, or ``"precomputed"`` (X holds all distances, dense).
    metric_params
        As in `LaplacianEigenmaps`.
    landmarks
        Landmark MDS (de Silva & Tenenbaum 2004): only the distances to these are needed. A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``: these form the distances always),
        or a landmark solver: `Nystrom` (landmark MDS), `LLL` or `LandmarkZ`, or its name. Rows in shards take `Nystrom`
        or `LandmarkZ`: see docs/scale.md.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    n_components_ : int, what was chosen where ``n_components`` is ``"auto"``
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.ClassicalMDS(2, metric="manhattan").fit_transform(roll.data).shape
    (300, 2)
    """

    n_components: int | str = 2
    _: KW_ONLY
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    landmarks: Any = None
    solver: str | LandmarkSolver = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        **METRIC_RULES,
        "n_components": components_rule("eigengap"),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
    }
    _usual_landmarks: ClassVar[type[LandmarkSolver]] = Nystrom
    _spans_columns: ClassVar[bool] = True

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if self.metric != "precomputed":
            return super()._check_input(X, reset=reset)
        rows = validation.check_pairwise(self, X, what="distances", reset=reset)
        validation.check_dense(rows, "ClassicalMDS needs the distances of all pairs")
        return validation.check_distances(rows, what="distances", reset=reset)

    def _method(self) -> Method:
        return Scaling(self._n_components, metric_of(self))

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        # Of Euclidean distances the eigenvectors are known without the N x N matrix: it is another problem, that of the
        # columns, and no solver of this one. See docs/architecture.md.
        return self._embed_by_pca(rows, run) if self._is_pca else super()._embed(rows, run)

    @property
    def _keeps_rows(self) -> bool:
        return not self._is_pca

    @property
    def _is_pca(self) -> bool:
        is_euclidean = metric_of(self) in ("euclidean", "l2")
        return is_euclidean and self.landmarks is None and self.solver in ("auto", "exact")

    def _embed_by_pca(self, rows: Rows, run: Run) -> Embedded:
        validation.check_components(self._n_components, rows.n_rows - 1, f"{rows.n_rows} points span no more")
        validation.check_components(
            self._n_components, rows.n_columns, f"Euclidean distances span the columns of {DATA}"
        )
        run.chosen("method", "PCA", "classical MDS of Euclidean distances is PCA, without the N x N matrix")
        fit = run.stage("directions", fit_pca, rows, self._n_components, "auto", kept=LinearFit)

        def project(run: Run) -> Embedded:
            signs = leading_signs(LinearMap(fit.mean, fit.components).transform(rows, run))
            map_ = LinearMap(fit.mean, fit.components * signs[:, None])
            values = fit.explained_variance * (fit.n_samples - 1)
            found = {"eigenvalues": values}
            return Embedded(
                map_.transform(rows, run), map_, attributes={"eigenvalues_": values}, figures=found
            )

        return run.stage("project", project)

    def _check_for_shards(self, source: Shards) -> None:
        if self._is_pca:
            raise InputError(
                "ClassicalMDS of Euclidean distances is PCA, which goes over shards: use PCA, whose coordinates are "
                f"the same, or landmark MDS, {setting('solver', 'nystrom')}."
            )

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        if not self._is_pca:
            return super()._plan_stages(rows)
        chosen, why = choose_solver(rows, self._n_components, self._workers.memory_limit)
        seconds, size = estimate(chosen, rows, self._n_components)
        return [PlannedStage("directions", seconds, size, f"PCA by {chosen}: {why}")]
