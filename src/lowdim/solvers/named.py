"""The `solver` parameter: an eigensolver by name, or a landmark solver, by name or configured."""

from __future__ import annotations

import numbers
from typing import Any

from ..core.messages import setting
from ..core.rules import Array, Either, Instance, Nothing, OneOf, Rule, Whole
from ..errors import InputError
from ..methods.base import Solver
from .eigen import SOLVERS
from .exact import Exact
from .landmarks.configuration import LandmarkSolver
from .landmarks.landmark_z import LandmarkZ
from .landmarks.lll import LLL
from .landmarks.nystrom import Nystrom
from .landmarks.variational_nystrom import VariationalNystrom

LANDMARK_SOLVERS: dict[str, type[LandmarkSolver]] = {
    kind.name: kind for kind in (LLL, LandmarkZ, Nystrom, VariationalNystrom)
}

SOLVER_RULE: Rule = Either(
    OneOf("auto", "exact", *SOLVERS, *LANDMARK_SOLVERS), Instance(*LANDMARK_SOLVERS.values())
)
_FOR_DENSE = {name: kind for name, kind in LANDMARK_SOLVERS.items() if kind.takes_dense}
DENSE_SOLVER_RULE: Rule = Either(
    OneOf("auto", "exact", *SOLVERS, *_FOR_DENSE), Instance(*_FOR_DENSE.values())
)
"""For methods of a dense matrix: the columns of one are no basis that would save work."""

LANDMARKS_RULE: Rule = Either(Whole(2), Array(), Nothing())


def names_landmarks(solver: Any) -> bool:
    """Whether what a user gave as ``solver`` is one of landmarks, by its name or configured."""
    return isinstance(solver, LandmarkSolver) or (isinstance(solver, str) and solver in LANDMARK_SOLVERS)


def resolve_solver(estimator: Any) -> Solver:
    """The solver of an estimator, checked; ``landmarks`` of an estimator is short for `Nystrom`."""
    landmarks, solver = getattr(estimator, "landmarks", None), estimator.solver
    if landmarks is not None:
        if solver not in ("auto", "nystrom"):
            raise InputError(
                f"landmarks of {type(estimator).__name__} belongs to {setting('solver', 'auto')} or 'nystrom'; got it "
                f"with {setting('solver', solver)}. Put the landmarks into the solver, as in LLL(landmarks=...)."
            )
        number = isinstance(landmarks, numbers.Integral)
        solver = Nystrom(int(landmarks)) if number else Nystrom(landmarks=landmarks)
    elif isinstance(solver, str):
        kind = LANDMARK_SOLVERS.get(solver)
        if kind is None:
            return Exact(solver)
        solver = kind()
    solver.check()
    return solver  # type: ignore[no-any-return]
