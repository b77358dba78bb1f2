"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ... import validation
from ...core.messages import named, setting
from ...core.records import Floats, PlannedStage
from ...core.rules import ByItself, Either, Function, Nothing, OneOf, Real, Rule, Truth, Whole
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import Shards
from ...errors import InputError
from ...maps.extension import ExtensionMap
from ...methods.base import Embedded
from ...methods.kernel_pca import KernelComponents
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.landmarks.nystrom import Nystrom
from ...solvers.named import DENSE_SOLVER_RULE, LANDMARKS_RULE
from ...spectral.kernel_functions import KERNELS, OTHER_WORDS, Kernel
from ...spectral.preimage import Preimage, learn_preimage
from ..base import COMMON_RULES, parameters
from ..shards.over_shards import needs_all_rows
from ..spectral.spectral_driver import SpectralEstimator

_NO_WAY_BACK = (
    "inverse_transform of KernelPCA needs the way back to points, which this fit has not learned. Set "
    "fit_inverse_transform=True and fit again."
)


def _has_way_back(model: KernelPCA) -> bool:
    """Whether the way back is asked for or known."""
    return model.fit_inverse_transform or "preimage_" in vars(model)


@parameters
class KernelPCA(SpectralEstimator):
    """PCA in the space of a kernel: the leading eigenvectors of the centred kernel matrix H K H.

    Schoelkopf, Smola & Mueller (1998). Dense by nature: it holds the N x N kernel matrix, and says so before it begins
    where memory would not do.

    Parameters
    ----------
    n_components
        Dimensions of the embedding; None: all that the kernel matrix has. ``"auto"`` chooses them, by
        ``"auto:eigengap"`` or ``"auto:dimension"``: see docs/choosing.md.
    kernel
        ``"linear"``, ``"rbf"``, ``"poly"`` (or ``"polynomial"``), ``"sigmoid"``, ``"cosine"``, ``"laplacian"``, a
        function of two rows, or ``"precomputed"``.
    gamma
        Scale of rbf, poly, sigmoid and laplacian; None: 1 / number of columns.
    degree, coef0
        Of the polynomial and sigmoid kernels.
    landmarks
        Only the kernel values with these are computed (Nystrom; Williams & Seeger 2001). A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``), or a landmark solver: `Nystrom`,
        `LLL` or `LandmarkZ`, or its name. Rows in shards take `Nystrom` or `LandmarkZ`: see docs/scale.md.
    fit_inverse_transform
        Learn the way back to points too, for ``inverse_transform``: a ridge regression with the same kernel between
        coordinates (Bakir, Weston & Schoelkopf 2004), which takes another N x N array.
    alpha
        Ridge of that regression.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    gamma_ : float, ``gamma``, or what None stood for
    preimage_ : the way back to points, where it was learned
    n_components_ : int, what was chosen where ``n_components`` is ``"auto"``
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.KernelPCA(2, kernel="rbf", gamma=0.01).fit_transform(roll.data).shape
    (300, 2)
    """

    n_components: int | str | None = 2
    _: KW_ONLY
    kernel: str | Callable[..., float] = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    landmarks: Any = None
    solver: str | LandmarkSolver = "auto"
    fit_inverse_transform: bool = False
    alpha: float = 1.0

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "n_components": Either(Whole(1), ByItself("eigengap", "dimension"), Nothing()),
        "kernel": Either(OneOf(*KERNELS, *OTHER_WORDS, "precomputed"), Function()),
        "gamma": Either(Real(0), Nothing()),
        "degree": Whole(1),
        "coef0": Real(),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
        "fit_inverse_transform": Truth(),
        "alpha": Real(0),
    }
    _usual_landmarks: ClassVar[type[LandmarkSolver]] = Nystrom

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if self.kernel != "precomputed":
            return super()._check_input(X, reset=reset)
        rows = validation.check_pairwise(self, X, what="kernel values", reset=reset)
        values = rows.block(slice(None))
        if reset:
            validation.check_symmetric(values, what="kernel values")
        return Rows(values)

    @available_if(_has_way_back)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> Floats:
        """Points of the original space from coordinates, after a fit with ``fit_inverse_transform=True``."""
        check_is_fitted(self)
        learned: Preimage | None = vars(self).get("preimage_")
        if learned is None:
            raise NotFittedError(_NO_WAY_BACK)
        coordinates = validation.check_coordinates(X, self._n_features_out)
        return learned.points(coordinates, Run(workers=self._workers))

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            # Scikit-learn's own raises this error, which is an AttributeError too: `hasattr` says no.
            if name == "inverse_transform":
                raise NotFittedError(_NO_WAY_BACK)
            return super().__getattr__(name)

    def _method(self) -> KernelComponents:
        return KernelComponents(1 if self.n_components is None else self._n_components, self._kernel)

    def _method_for(self, rows: Rows) -> KernelComponents:
        if self.n_components is not None:
            return self._method()
        if self._asks_for_landmarks or self.solver not in ("auto", "exact", "dense", "lanczos"):
            raise InputError(
                f"{named('n_components')} of KernelPCA must be a whole number >= 1 with landmarks, which span no more "
                "dimensions than there are of them; got None."
            )
        return KernelComponents(max(1, rows.n_rows - 1), self._kernel, is_whole=True)

    @property
    def _kernel(self) -> Kernel:
        name = OTHER_WORDS.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        return Kernel(name, self.gamma, self.degree, self.coef0)

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise InputError(
                f"{named('fit_inverse_transform')} of KernelPCA needs points to learn the way back to them; got "
                f"{setting('kernel', 'precomputed')}. Give the points and the kernel's name, or "
                f"{setting('fit_inverse_transform', False)}."
            )
        embedded = super()._embed(rows, run)
        if self.n_components is None:
            embedded = _without_empty(embedded)
        kernel = self._kernel.resolved(rows.n_columns)
        attributes: dict[str, Any] = {"gamma_": kernel.gamma}
        if self.fit_inverse_transform:
            coordinates = np.ascontiguousarray(embedded.coordinates)
            attributes["preimage_"] = run.stage(
                "way back", learn_preimage, kernel, coordinates, rows, self.alpha
            )
        return replace(embedded, attributes={**embedded.attributes, **attributes})

    def _check_for_shards(self, source: Shards) -> None:
        if self.fit_inverse_transform:
            raise needs_all_rows(self, source, f"{setting('fit_inverse_transform', True)} does")
        if self.n_components is None:
            raise InputError(
                f"{named('n_components')} of KernelPCA must be a whole number >= 1 for rows in shards, of which only "
                "landmarks are ever together; got None."
            )

    def _after_shards(self, embedded: Embedded, run: Run) -> Embedded:
        gamma = self._kernel.resolved(self.n_features_in_).gamma
        return replace(embedded, attributes={**embedded.attributes, "gamma_": gamma})

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        stages = super()._plan_stages(rows)
        if self.fit_inverse_transform:
            # A Cholesky factor: N^3 / 3 multiplications at some 10^10 a second.
            stages = [*stages, PlannedStage("way back", rows.n_rows**3 / 3e10, 8 * rows.n_rows**2)]
        return stages


def _without_empty(embedded: Embedded) -> Embedded:
    """The coordinates that have a positive eigenvalue, at least one."""
    solution, map_ = embedded.solution, embedded.map
    assert solution is not None
    assert isinstance(map_, ExtensionMap)
    floor = np.finfo(np.float64).eps * solution.vectors.shape[0] * np.max(solution.values, initial=0.0)
    kept = max(1, int(np.sum(solution.values > floor)))
    return replace(
        embedded,
        coordinates=np.ascontiguousarray(embedded.coordinates[:, :kept]),
        map=replace(map_, projection=map_.projection[:kept], offset=map_.offset[:kept]),
        solution=replace(
            solution,
            values=solution.values[:kept],
            vectors=solution.vectors[:, :kept],
            residuals=solution.residuals[:kept],
        ),
    )
