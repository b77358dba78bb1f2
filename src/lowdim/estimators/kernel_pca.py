"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

from .. import validation
from ..data.rows import Rows
from ..errors import InputError
from ..events import Events, Listener
from ..mapping.extension import extension_map
from ..messages import setting
from ..records import Floats, PlannedStage
from ..rules import Either, Function, Nothing, OneOf, Real, Rule, Whole
from ..spectral.kernel_functions import KERNELS, Kernel, cross_kernel, gram_matrix
from ..spectral.operators import GramRows
from ..spectral.recipes.gram import kernel_problem, scaled_coordinates, warn_of_empty_coordinates
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ
from ..spectral.reduce.lll import LLL
from ..spectral.reduce.nystrom import Nystrom
from ..spectral.solvers import solve
from . import costs
from .base import COMMON_RULES, Embedded
from .gram import embed_gram
from .landmarks import Points
from .shared import Shared
from .solvers import DENSE_SOLVER_RULE, LANDMARKS_RULE, Solver, solver_of
from .spectral import SpectralEstimator


@dataclass(frozen=True, slots=True)
class KernelValues:
    """Profile of a new point: its kernel values with the fitted points."""

    kernel: Kernel
    rows: Rows
    n_jobs: int | None = None

    def values(self, rows: Rows) -> Floats:
        """One row for each new point, one column for each fitted point."""
        return cross_kernel(self.kernel, rows, self.rows, n_jobs=self.n_jobs)


@dataclass(frozen=True, slots=True)
class GivenValues:
    """New points come as rows of kernel values with the fitted ones."""

    def values(self, rows: Rows) -> Floats:
        """The rows themselves."""
        return rows.block(slice(None))


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

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "kernel": Either(OneOf(*KERNELS, "precomputed"), Function()),
        "gamma": Either(Real(0), Nothing()),
        "degree": Whole(1),
        "coef0": Real(),
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
    }
    _landmark_solver: ClassVar[type[LandmarkSolver]] = Nystrom

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        landmarks: Any = None,
        solver: Solver = "auto",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if self.kernel != "precomputed":
            return super()._check_input(X, reset=reset)
        rows = validation.check_pairwise(self, X, what="kernel values", reset=reset)
        values = rows.block(slice(None))
        if reset:
            validation.check_symmetric(values, what="kernel values")
        return Rows(values)

    def _embed(self, rows: Rows, events: Events, shared: Shared) -> Embedded:
        solver = solver_of(self)
        if self.kernel == "precomputed" and isinstance(solver, LLL | LandmarkZ):
            raise InputError(
                f"{type(solver).__name__} needs points to rebuild each from its landmarks; got "
                f"{setting('kernel', 'precomputed')}. Use landmarks=..., or give the points and the kernel's name."
            )
        if self.kernel == "precomputed" and isinstance(solver, LandmarkSolver) and solver.choose != "random":
            raise InputError(
                f"{setting('choose', solver.choose)} needs distances between points; got "
                f"{setting('kernel', 'precomputed')}, whose values are none. Use {setting('choose', 'random')}, or "
                "give landmarks as indices."
            )
        return super()._embed(rows, events, shared)

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        n_rows = rows.n_rows
        validation.check_components(self.n_components, n_rows - 1, f"{n_rows} points span no more")
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0).resolved(rows.n_columns)
        kernel = kernel.about_origin(rows)
        if isinstance(solver, LandmarkSolver):
            gram = GramRows(n_rows, lambda block: self._values(kernel, rows, block), scale=1.0)
            return embed_gram(self, gram, Points.of_rows(self, rows), solver, events)
        with events.stage("kernel"):
            if self.kernel == "precomputed":
                profile: KernelValues | GivenValues = GivenValues()
                matrix = rows.block(slice(None)).copy()
            else:
                profile = KernelValues(kernel, rows, self.n_jobs)
                matrix = gram_matrix(
                    kernel, rows, n_jobs=self.n_jobs, done=lambda done: events.progress(done, n_rows)
                )
        with events.stage("solve"):
            problem, mean_profile = kernel_problem(matrix, events)
            generator = validation.make_generator(self.random_state)
            solution = solve(
                problem, self.n_components, solver=solver, rng=generator, events=events, n_jobs=self.n_jobs
            )
        warn_of_empty_coordinates(solution, events)
        map_ = extension_map(profile, solution.vectors, solution.values, mean_profile, scale=1.0)
        return Embedded(scaled_coordinates(solution), map_, solution)

    def _values(self, kernel: Kernel, rows: Rows, block: slice) -> Floats:
        return cross_kernel(kernel, Rows(rows.values[block]), rows, n_jobs=self.n_jobs)

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        if isinstance(solver, LandmarkSolver):
            return costs.gram_landmarks(rows.shape, solver, self.n_components)
        stages = [] if self.kernel == "precomputed" else [costs.pairwise("kernel", n_rows, n_columns)]
        return [*stages, costs.dense_lanczos(n_rows, self.n_components)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
