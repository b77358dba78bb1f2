"""The driver of the spectral estimators: a method, a solver, and the one way of `lowdim.methods.embed` through both."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self, cast

from sklearn.utils.metaestimators import available_if

from ...core.memory import available_memory
from ...core.records import Integers, PlannedStage, needed_bytes
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import Shards
from ...errors import InputError
from ...methods.base import Embedded, Method, OnGraph, Size, Solver
from ...methods.embed import embed
from ...neighbors.points import PAIRWISE, Points
from ...solvers.foreseen import sharpened
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.landmarks.lll import LLL
from ...solvers.named import names_landmarks, resolve_solver
from ...validation import check_neighbors
from ..base import Estimator
from ..coordinates import as_came, read_only
from ..shards.landmarks_over_shards import fit_to_shards, plan_over_shards
from .spectral_growth import grown, is_by_landmarks, shrunk

PATIENCE = 30.0
"""Seconds that an exact solution may always take."""

PRICE = 3.0
"""How many times the seconds of landmarks an exact solution is worth beyond that."""

UNSURE = 3.0
"""How many times as long as the shape of the data says an exact solution may take: more is worth a look at them."""

FEWEST_POINTS = 4
"""Points for each landmark below which landmarks are not worth their loss."""

MOST_LANDMARKS = 1000


def _asks_for_landmarks(model: SpectralEstimator) -> bool:
    """Whether the parameters ask for landmarks, with or without ``auto``."""
    return bool(names_landmarks(model.solver) or model._asks_for_landmarks)


def _check_width(method: Method, rows: Rows) -> None:
    """InputError where more neighbours are asked for than there are points: before a plan of their cost complains."""
    graph = getattr(method, "graph", None)
    if graph is not None and graph.n_neighbors is not None and method.metric not in PAIRWISE:
        check_neighbors(graph.n_neighbors, rows.n_rows, counts_itself=graph.counts_itself)


class SpectralEstimator(Estimator):
    """An estimator whose method is a spectral problem: a subclass says which method its parameters stand for."""

    _usual_landmarks: ClassVar[type[LandmarkSolver]] = LLL
    """The landmark solver that ``auto`` weighs against the exact solution."""

    solver: Any

    @abstractmethod
    def _method(self) -> Method:
        """The method that the parameters stand for."""

    def _method_for(self, rows: Rows) -> Method:
        """The method where the data decide part of it."""
        return self._method()

    def _embed(self, rows: Rows, run: Run) -> Embedded:
        method = self._method_for(rows)
        # The choice may depend on the memory that is free: a run that goes on keeps to the one that was made.
        why = run.choice("method", lambda: self._solver_for(rows, method)[1])
        solver = self._landmarks_for(rows, method) if why else resolve_solver(self)
        if why:
            run.chosen("method", type(solver).__name__, why)
        return embed(method, Points(rows, method.metric), solver, run)

    def _fit_shards(self, source: Shards, y: Any = None) -> Self:
        fitted: Self = fit_to_shards(self, source)
        return fitted

    def _plan_shards(self, source: Shards) -> list[PlannedStage]:
        return plan_over_shards(self, source)

    def _check_for_shards(self, source: Shards) -> None:
        """InputError, before any work, for parameters that rows in shards cannot have."""

    def _after_shards(self, embedded: Embedded, run: Run) -> Embedded:
        """What else a fit over shards makes of its embedding."""
        return embedded

    @available_if(_asks_for_landmarks)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit the first rows; rows of later calls are placed by the landmarks of that fit, and nothing moves.

        ``embedding_`` then holds the coordinates of the rows of this call, as after ``partial_fit`` of `PCA`. There
        where the solver has landmarks; ``update`` is there for all.
        """
        if not hasattr(self, "map_"):
            return self.fit(X, y)
        rows = self._check_input(X, reset=False)
        if not is_by_landmarks(self):
            raise InputError(
                f"This {type(self).__name__} was fitted without landmarks, so that more rows change all coordinates. "
                "Use update(X), which returns a new model."
            )
        self.__dict__.pop("component_labels_", None)
        self.embedding_ = read_only(as_came(self.map_.transform(rows, Run(workers=self._workers)), rows))
        return self

    def _usual_neighbors(self, n_points: int) -> int:
        graph = cast(OnGraph, self._method()).graph
        return min(graph.usual, max(1, n_points - 1))

    def _as_tried(self, chosen: Integers | None) -> dict[str, Any]:
        """Of a sample, which is small, without landmarks: they may be rows that it has not."""
        if chosen is None or not (self._asks_for_landmarks or names_landmarks(self.solver)):
            return {}
        return {"solver": "auto"} | ({"landmarks": None} if hasattr(self, "landmarks") else {})

    def _grown(self, before: Estimator, rows: Rows, run: Run) -> Embedded:
        return grown(self._embed, before, rows, run)

    def _shrunk(self, before: Estimator, kept: Integers, run: Run) -> Embedded:
        return shrunk(self._embed, before, kept, run)

    def _solver_for(self, rows: Rows, method: Method) -> tuple[Solver, str]:
        """The solver that will be used, and why it has landmarks where that was left to ``auto``."""
        _check_width(method, rows)
        solver = resolve_solver(self)
        if self._asks_for_landmarks or self.solver != "auto":
            return solver, ""
        size, landmarks = self._size(rows), self._landmarks_for(rows, method)
        count, exact = landmarks.n_landmarks, solver.costs(method, size)
        allowed = available_memory() if size.memory_limit is None else size.memory_limit
        needed, _ = needed_bytes(exact, limited=size.memory_limit is not None)
        if rows.n_rows >= FEWEST_POINTS * count and allowed is not None and needed > allowed:
            return (
                landmarks,
                f"exactly it would hold {needed / 1e9:.2g} GB, and {allowed / 1e9:.2g} GB are allowed",
            )
        seconds = sum(stage.seconds for stage in exact)
        if rows.n_rows <= FEWEST_POINTS * count or UNSURE * seconds <= PATIENCE:
            return solver, ""
        if method.falls_into_sums:
            exact = sharpened(exact, solver, method, self._size(rows, looks=True))
        seconds, price = (
            sum(stage.seconds for stage in stages) for stages in (exact, landmarks.costs(method, size))
        )
        if seconds > max(PATIENCE, PRICE * price):
            return landmarks, f"about {price:.2g} s with {count} landmarks, {seconds:.2g} s exactly"
        return solver, ""

    @property
    def _asks_for_landmarks(self) -> bool:
        return getattr(self, "landmarks", None) is not None

    def _landmarks_for(self, rows: Rows, method: Method) -> LandmarkSolver:
        """The landmark solver that ``auto`` may take."""
        return self._usual_landmarks(max(method.width + 2, min(MOST_LANDMARKS, rows.n_rows // FEWEST_POINTS)))

    def _size(self, rows: Rows, *, looks: bool = False) -> Size:
        workers = self._workers
        return Size(rows.n_rows, rows.n_columns, workers.memory_limit, rows, looks, workers.n_jobs)

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        method = self._method_for(rows)
        return self._solver_for(rows, method)[0].costs(method, self._size(rows))

    def _look(self, rows: Rows, stages: list[PlannedStage]) -> list[PlannedStage]:
        method = self._method_for(rows)
        return sharpened(stages, self._solver_for(rows, method)[0], method, self._size(rows, looks=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        words = [getattr(self, name, None) for name in ("metric", "affinity", "kernel")]
        tags.input_tags.pairwise = any(isinstance(word, str) and word in PAIRWISE for word in words)
        return tags
