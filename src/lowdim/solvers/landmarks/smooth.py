"""Landmark weights spread along the graph, so that what they span is smoother."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...core.messages import setting
from ...core.records import Floats, Operator, Problem, Sparse
from ...core.run import Run
from ...errors import InputError
from ...spectral.operators import Explicit, Laplacian, Normal
from ..eigen.common import standardise
from .bounds import upper_bound
from .products import Carriers, sparse_product


def smoothed(problem: Problem, Z: Sparse, steps: int, run: Run) -> Sparse:
    """Z <- (I - B^-1 A / rho) Z, some times over, rho being at least the largest eigenvalue of B^-1 A.

    For Laplacian eigenmaps that is (I + D^-1 W)/2 Z. Each step damps what is rough in the columns of Z, which the
    wanted vectors are not, and widens the rows by one step along the graph. Rows keep their sum where A 1 = 0. Of a
    B that is not diagonal the diagonal is taken.

    Parameters
    ----------
    problem
        A sparse problem whose smallest eigenvalues are wanted.
    Z
        Landmark weights, N x L.
    steps
        How many times.
    run
        Events, workers and random numbers.
    """
    operator = problem.operator
    is_sparse = isinstance(operator, Laplacian | Normal) or (
        isinstance(operator, Explicit) and sparse.issparse(operator.matrix)
    )
    if problem.end != "smallest" or not is_sparse:
        raise InputError(
            f"{setting('smooth', steps)} spreads landmark weights along a sparse graph towards its smooth vectors, "
            f"but this problem has a dense matrix, or wants the largest eigenvalues. Use {setting('smooth', 0)}, "
            "and polish or more landmarks."
        )
    if steps == 0:
        return Z
    mass = np.ones(problem.size) if problem.mass is None else problem.mass
    if problem.mass_matrix is not None:
        mass = problem.mass_matrix.diagonal()
    rho = _largest(operator, mass)
    if rho <= 0:
        return Z
    step = sparse.diags_array(1.0 / (rho * mass))
    for _ in range(steps):
        Z = sparse.csr_array(Z - step @ _image(operator, Z, run=run))
    Z.sort_indices()
    return Z


def _largest(operator: Operator, mass: Floats) -> float:
    """At least the largest eigenvalue of B^-1 A: 2 for D^-1 (D - W), else a bound from a seed that never changes."""
    if isinstance(operator, Laplacian) and operator.slack is None and np.array_equal(mass, operator.degrees):
        return 2.0
    fixed = Run.of(0)
    return upper_bound(standardise(Problem(operator, "smallest", mass), fixed), 1.0, fixed)


def _image(operator: Operator, Z: Sparse, run: Run) -> Sparse:
    """A Z, sparse."""
    carriers = Carriers.of(Z, run.n_jobs)
    if isinstance(operator, Laplacian):
        diagonal: Floats = operator.W @ np.ones(operator.size)
        if operator.slack is not None:
            diagonal = diagonal + operator.slack
        return sparse.csr_array(sparse.diags_array(diagonal) @ Z - sparse_product(carriers, operator.W))
    if isinstance(operator, Normal):
        inner = sparse_product(carriers, operator.F)
        if operator.weights is not None:
            inner = sparse.csr_array(sparse.diags_array(operator.weights) @ inner)
        return sparse_product(Carriers.of(inner, run.n_jobs), operator.transposed)
    return sparse_product(carriers, sparse.csr_array(operator.explicit()))
