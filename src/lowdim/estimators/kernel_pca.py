"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from .. import validation
from ..data.rows import Rows
from ..methods.kernel_pca import KernelComponents
from ..rules import Either, Function, Nothing, OneOf, Real, Rule, Whole
from ..spectral.kernel_functions import KERNELS, Kernel
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.nystrom import Nystrom
from .base import COMMON_RULES, parameters
from .solvers import DENSE_SOLVER_RULE, LANDMARKS_RULE
from .spectral import SpectralEstimator


@parameters
class KernelPCA(SpectralEstimator):
    """PCA in the space of a kernel: the leading eigenvectors of the centred kernel matrix H K H.

    Schoelkopf, Smola & Mueller (1998). Dense by nature: it holds the N x N kernel matrix, and says so before it begins
    where memory would not do.

    Parameters
    ----------
    n_components
        Dimensions of the embedding.
    kernel
        ``"linear"``, ``"rbf"``, ``"poly"``, ``"sigmoid"``, ``"cosine"``, ``"laplacian"``, a function of two rows, or
        ``"precomputed"``.
    gamma
        Scale of rbf, poly, sigmoid and laplacian; None: 1 / number of columns.
    degree, coef0
        Of the polynomial and sigmoid kernels.
    landmarks
        Only the kernel values with these are computed (Nystrom; Williams & Seeger 2001). A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``), or a landmark solver: `Nystrom`,
        `LLL` or `LandmarkZ`, or its name.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.KernelPCA(2, kernel="rbf", gamma=0.01).fit_transform(roll.data).shape
    (300, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str | Callable[..., float] = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    landmarks: Any = None
    solver: str | LandmarkSolver = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "kernel": Either(OneOf(*KERNELS, "precomputed"), Function()),
        "gamma": Either(Real(0), Nothing()),
        "degree": Whole(1),
        "coef0": Real(),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
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

    def _method(self) -> KernelComponents:
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0)
        return KernelComponents(self.n_components, kernel)
