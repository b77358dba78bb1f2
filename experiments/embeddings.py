"""Neighbour embeddings: affinities of objects and digits, objectives, and the optimisers that are compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import lowdim
from lowdim.affinities import Entropic
from lowdim.core.records import Sparse
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors.build import build_index
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.base import NeighborObjective
from lowdim.objectives.elastic import ElasticEmbedding
from lowdim.objectives.protocol import Objective
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.protocol import Repulsion
from lowdim.objectives.similarities import GAUSSIAN, STUDENT
from lowdim.objectives.symmetric_sne import SymmetricSNE
from lowdim.objectives.t_sne import TSNE
from lowdim.optimize import (
    Backtracking,
    DirectedDescent,
    Momentum,
    Outcome,
    Schedule,
    Stopping,
    minimise,
)
from lowdim.optimize.directions import (
    ConjugateGradient,
    DiagonalHessian,
    FixedPoint,
    GradientDescent,
    LimitedMemory,
    PartialHessian,
    SpectralDirection,
)
from lowdim.optimize.directions.gradient import Identity
from lowdim.optimize.outcome import History
from lowdim.optimize.protocol import Direction, Optimizer, Prepared

PAPER = ("GD", "FP", "DiagH", "SD", "SD-", "CG", "L-BFGS")
"""The seven of Vladymyrov & Carreira-Perpinan 2012."""
OURS = ("momentum", "L-BFGS from SD")
"""What stands beside them: momentum with gains, and L-BFGS whose first matrix is that of the spectral direction."""
NAMES = (*PAPER, *OURS)
COLOURS = {
    "GD": "tab:gray",
    "FP": "tab:brown",
    "DiagH": "tab:olive",
    "SD": "tab:red",
    "SD-": "tab:orange",
    "CG": "tab:green",
    "L-BFGS": "tab:blue",
    "momentum": "tab:purple",
    "L-BFGS from SD": "black",
}
MEMORY = 100
"""Steps that L-BFGS keeps, as in the paper."""


def coil(step: int = 1) -> tuple[NDArray, NDArray]:
    """The first ten objects of COIL-20 as rows of pixels from 0 to 1, every ``step``-th view, and their numbers."""
    coil20 = lowdim.datasets.load("coil20")
    chosen = np.flatnonzero(coil20.labels <= 10)[::step]
    return coil20.data[chosen] / 255.0, coil20.labels[chosen]


def affinities(points: NDArray, perplexity: float, n_neighbors: int | None = None) -> Sparse:
    """Symmetric entropic affinities that sum to 1, over so many neighbours or all other points."""
    neighbors = build_index(Rows(points), search="exact", run=Run.of()).query(
        None, n_neighbors or len(points) - 1, Run.of()
    )
    P = Entropic(perplexity).fit(neighbors, Run.of()).weights(neighbors, Run.of())
    P.data /= P.data.sum()
    return P


def objective(
    name: str, P: Sparse, lam: float = 1.0, repulsion: Repulsion | None = None
) -> NeighborObjective:
    """``"EE"`` (w- = 1), ``"s-SNE"`` or ``"t-SNE"`` in the plane."""
    kind, kernel = {
        "EE": (ElasticEmbedding, GAUSSIAN),
        "s-SNE": (SymmetricSNE, GAUSSIAN),
        "t-SNE": (TSNE, STUDENT),
    }[name]
    repulsion = repulsion or Exact()
    attraction = Attraction(P, kernel, None, single=not isinstance(repulsion, Exact))
    return kind(attraction, repulsion.start(kernel, P.shape[0], 2, None), lam)


class UnitGradient(GradientDescent):
    """Gradient descent that tries the step 1 first, whatever the scale of the weights, as in the paper."""

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Nothing to prepare but the first step."""
        return Identity(1.0)


def optimizers(kappa: int | None = None, noise: float = 0.0) -> dict[str, Optimizer]:
    """The paper's seven and ours, with steps that may grow; ``noise`` is the error of E relative to itself."""
    spectral = SpectralDirection(kappa)
    directions: dict[str, Direction] = {
        **_with_matrix(spectral),
        "CG": ConjugateGradient(),
        "L-BFGS": LimitedMemory(MEMORY),
        "L-BFGS from SD": LimitedMemory(MEMORY, initial=spectral),
    }
    found: dict[str, Optimizer] = {
        name: DirectedDescent(direction, replace(direction.usual_search, noise=noise))
        for name, direction in directions.items()
    }
    return {name: Momentum() if name == "momentum" else found[name] for name in NAMES}


def paper_steps() -> dict[str, Optimizer]:
    """Those of the paper's that backtrack, with its line search: from the step 1 down by 0.8, and never up again."""
    directions = _with_matrix(SpectralDirection()) | {"GD": UnitGradient()}
    search = Backtracking(growth=1.0, interpolate=False)
    return {name: DirectedDescent(direction, search) for name, direction in directions.items()}


def _with_matrix(spectral: SpectralDirection) -> dict[str, Direction]:
    """The directions p = -B^-1 g."""
    return {
        "GD": GradientDescent(),
        "FP": FixedPoint(),
        "DiagH": DiagonalHessian(),
        "SD": spectral,
        "SD-": PartialHessian(),
    }


def budget(seconds: float) -> Stopping:
    """Go on for so many seconds, with E known after every iteration."""
    return Stopping(tolerance=0.0, max_iterations=10**7, max_seconds=seconds, value_every=1, is_budget=True)


def run_for(objective: Objective, X: NDArray, optimizer: Optimizer, seconds: float) -> Outcome:
    """Minimise for so many seconds, preparations included."""
    with warnings.catch_warnings():
        # Not to get anywhere is what the curves show.
        warnings.simplefilter("ignore")
        return minimise(objective, X, optimizer, budget(seconds))


def warm_up(objective: Objective, X: NDArray, chosen: Iterable[Optimizer]) -> None:
    """Load what is compiled, so that no optimiser is charged for it."""
    few = Stopping(tolerance=0.0, max_iterations=2, is_budget=True)
    for optimizer in chosen:
        minimise(objective, X, optimizer, few)


def low_minimum(objective: Objective, X: NDArray) -> NDArray:
    """A minimum, by the homotopy from a thousandth of lambda; lower than those that direct ways lead to."""
    optimizer = optimizers()["L-BFGS from SD"]
    path = Schedule.path(np.geomspace(objective.lam / 1e3, objective.lam, 25), Stopping(1e-6, 3000))
    return settle(objective, minimise(objective, X, optimizer, path).X)


def settle(objective: Objective, X: NDArray) -> NDArray:
    """The minimum near X, to rounding."""
    return minimise(objective, X, optimizers()["L-BFGS from SD"], Stopping(1e-13, 5000, is_budget=True)).X


def first_below(history: History, value: float) -> dict[str, float]:
    """Iterations, evaluations and seconds until E was down to a value; infinite where it never was."""
    below = np.flatnonzero(history.values <= value)
    columns = ("iterations", "evaluations", "seconds")
    if below.size == 0:
        return dict.fromkeys(columns, np.inf)
    return {name: float(getattr(history, name)[below[0]]) for name in columns}


def show(number: float, digits: int = 3) -> str:
    """A number to so many digits, a dash for one that is not finite."""
    return f"{number:.{digits}g}" if np.isfinite(number) else "-"
