"""Base of the spectral estimators: one ``solver`` parameter, exact or by landmarks, chosen by cost if left open."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from .. import validation
from ..data.rows import Rows
from ..events import Events
from ..keeping import once
from ..memory import available_memory
from ..records import PlannedStage, needed_bytes
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ
from ..spectral.reduce.nystrom import Nystrom
from .base import Embedded, Estimator, Map
from .by_solver import embed_by_solver
from .shared import Shared
from .solvers import Solver, solver_of

PATIENCE = 30.0
"""Seconds that an exact solution may always take."""

PRICE = 3.0
"""How many times the seconds of landmarks an exact solution is worth beyond that."""


class SpectralEstimator(Estimator):
    """An estimator whose method is a spectral problem: it says how to embed the whole, and what each solver costs."""

    _alone: ClassVar[tuple[type[LandmarkSolver], ...]] = (LandmarkZ, Nystrom)
    """Landmark solvers that need nothing of the method but to embed the landmarks alone."""

    _landmark_solver: ClassVar[type[LandmarkSolver]]
    """The landmark solver that ``auto`` weighs against the exact solution."""

    solver: Any

    def _embed(self, rows: Rows, events: Events, shared: Shared) -> Embedded:
        # The choice may depend on the memory that is free: a run that goes on keeps to the one that was made.
        why = once(events, "method", lambda: self._solver_for(rows)[1], is_choice=True)
        solver = self._usual_landmarks(rows) if why else solver_of(self)
        if why:
            events.chosen("method", type(solver).__name__, why)
        return embed_by_solver(self, rows, solver, events, shared)

    def _solver_for(self, rows: Rows) -> tuple[Solver, str]:
        """The solver that will be used, and why where it was left to ``auto``."""
        solver = solver_of(self)
        if solver != "auto":
            return solver, ""
        landmarks = self._usual_landmarks(rows)
        size = landmarks.n_landmarks
        exact, fewer = self._stages(rows, "exact"), self._stages(rows, landmarks)
        limit = validation.parse_bytes(self.memory_limit)
        allowed = available_memory() if limit is None else limit
        needed, _ = needed_bytes(exact, limited=limit is not None)
        seconds, price = (sum(stage.seconds for stage in stages) for stages in (exact, fewer))
        if rows.n_rows >= 4 * size and allowed is not None and needed > allowed:
            return (
                landmarks,
                f"exactly it would hold {needed / 1e9:.2g} GB, and {allowed / 1e9:.2g} GB are allowed",
            )
        if rows.n_rows > 4 * size and seconds > max(PATIENCE, PRICE * price):
            return landmarks, f"about {price:.2g} s with {size} landmarks, {seconds:.2g} s exactly"
        return "auto", ""

    def _usual_landmarks(self, rows: Rows) -> LandmarkSolver:
        """The landmark solver that ``auto`` may take."""
        return self._landmark_solver(max(self._n_coordinates + 2, min(1000, rows.n_rows // 4)))

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        return self._stages(rows, self._solver_for(rows)[0])

    @abstractmethod
    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        """The method on all rows by an eigensolver, or its problem restricted to landmarks."""

    @abstractmethod
    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        """The stages of a fit by a solver, with their estimated cost."""

    def _finish_map(self, map_: Map) -> Map:
        """What a method does to coordinates that are combinations of its own."""
        return map_

    @property
    def _n_coordinates(self) -> int:
        """Coordinates that a fit makes."""
        return int(self.n_components)
