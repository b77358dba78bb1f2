"""The `solver` parameter: an eigensolver by name, or a landmark solver, by name or configured."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..errors import InputError
from ..messages import in_python, named, setting
from ..rules import Either, Instance, Nothing, OneOf, Rule, Whole
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ
from ..spectral.reduce.lll import LLL
from ..spectral.reduce.nystrom import Nystrom
from ..spectral.reduce.variational_nystrom import VariationalNystrom
from ..spectral.solvers import SOLVERS

LANDMARK_SOLVERS: dict[str, type[LandmarkSolver]] = {
    kind.name: kind for kind in (LLL, LandmarkZ, Nystrom, VariationalNystrom)
}

Solver = str | LandmarkSolver

SOLVER_RULE: Rule = Either(
    OneOf("auto", "exact", *SOLVERS, *LANDMARK_SOLVERS), Instance(*LANDMARK_SOLVERS.values())
)
DENSE_SOLVER_RULE: Rule = Either(
    OneOf("auto", "exact", *SOLVERS, LLL.name, LandmarkZ.name, Nystrom.name),
    Instance(LLL, LandmarkZ, Nystrom),
)
"""For methods of a dense matrix, whose columns are no basis that would save work."""

LANDMARKS_RULE: Rule = Either(Whole(2), Instance(np.ndarray, list, tuple), Nothing())


def resolve_solver(solver: Any) -> Solver:
    """The configured landmark solver that a name stands for, checked; the names of eigensolvers as they are."""
    if isinstance(solver, str):
        kind = LANDMARK_SOLVERS.get(solver)
        return solver if kind is None else kind()
    solver.check()
    return solver  # type: ignore[no-any-return]


def solver_of(estimator: Any) -> Solver:
    """The solver of an estimator; ``landmarks`` given to one that has that parameter is short for `Nystrom`."""
    landmarks = getattr(estimator, "landmarks", None)
    if landmarks is None:
        return resolve_solver(estimator.solver)
    if estimator.solver not in ("auto", "nystrom"):
        raise InputError(
            f"{named('landmarks', type(estimator).__name__)} belongs to {setting('solver', 'auto')} or 'nystrom'; "
            f"got it with {setting('solver', estimator.solver)}. "
            f"{in_python('Put the landmarks into the solver, as in LLL(landmarks=...).', 'Give one of them.')}"
        )
    if isinstance(landmarks, numbers.Integral):
        return resolve_solver(Nystrom(int(landmarks)))
    return resolve_solver(Nystrom(landmarks=landmarks))
