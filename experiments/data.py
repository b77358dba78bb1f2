"""Digits, their exact Laplacian eigenmap, and landmark solutions of the same problem with their seconds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import lowdim


def digits(count: int, first: int = 0) -> tuple[NDArray, NDArray]:
    """MNIST digits as rows of pixels from 0 to 1, and their labels; the 60,000 training digits come first."""
    mnist = lowdim.datasets.load("mnist")
    chosen = slice(first, first + count)
    return mnist.data[chosen] / 255.0, mnist.labels[chosen]


@dataclass(frozen=True)
class Eigenmap:
    """A Laplacian eigenmap solved exactly: points, affinities W, X with X'DX = I, and seconds per stage."""

    points: NDArray
    W: sparse.csr_array
    X: NDArray
    values: NDArray
    seconds: dict[str, float]

    @property
    def degrees(self) -> NDArray:
        """Row sums of W."""
        return np.asarray(self.W.sum(axis=1)).ravel()

    def problem(
        self, n_components: int | None = None, *, solver: object, seed: int = 0
    ) -> lowdim.SpectralProblem:
        """The same problem for another solver: A = D - W, B = D."""
        A = sparse.csr_array(sparse.diags_array(self.degrees) - self.W)
        count = n_components or self.X.shape[1]
        return lowdim.SpectralProblem(A, self.degrees, count, solver=solver, random_state=seed)

    def error(self, X: NDArray) -> float:
        """|aligned - exact| / |exact| after Procrustes alignment."""
        return lowdim.procrustes(X, self.X[:, : X.shape[1]]).error


def exact_eigenmap(points: NDArray, n_components: int, **options) -> Eigenmap:
    """Solve Laplacian eigenmaps exactly, compiled code being loaded before the clock runs."""
    warm_up()
    exact = lowdim.LaplacianEigenmaps(n_components, solver="exact", **options).fit(points)
    if exact.affinity_matrix_.shape[0] != len(points):
        raise ValueError("equal points are one point of the affinities: leave the copies out first")
    return Eigenmap(
        points, exact.affinity_matrix_, exact.embedding_, exact.eigenvalues_, stage_seconds(exact)
    )


def landmark_solution(problem: lowdim.SpectralProblem, points: NDArray) -> tuple[NDArray, dict[str, float]]:
    """Coordinates of all points and the seconds per stage, without the checks of the input."""
    with warnings.catch_warnings():
        # Few landmarks leave some points far from all of them: that is what the curves show.
        warnings.simplefilter("ignore")
        solved = problem.fit(points)
    return solved.embedding_, stage_seconds(solved)


def stage_seconds(estimator) -> dict[str, float]:
    """Seconds of the outermost stages, without the checks of the input."""
    return {s.name: s.seconds for s in estimator.report_.stages if s.depth == 0 and s.name != "check"}


def eigsh_seconds(W: sparse.csr_array, n_components: int) -> float:
    """Seconds of SciPy's Lanczos for the largest eigenvalues of D^-1/2 W D^-1/2."""
    from .notebook import seconds

    root = sparse.diags_array(1.0 / np.sqrt(np.asarray(W.sum(axis=1)).ravel()))
    start = np.random.default_rng(0).standard_normal(W.shape[0])
    with seconds() as took:
        sparse.linalg.eigsh(
            sparse.csr_array(root @ W @ root), n_components + 1, which="LA", v0=start, tol=1e-6
        )
    return took[0]


def warm_up() -> None:
    """Load what is compiled, so that no stage is charged for it."""
    roll = lowdim.datasets.swiss_roll(600, random_state=0).data
    for solver in ("exact", *(method(60) for method in (lowdim.LLL, lowdim.LandmarkZ, lowdim.Nystrom))):
        lowdim.LaplacianEigenmaps(2, n_neighbors=30, bandwidth=5.0, solver=solver).fit(roll)


def log_spaced(first: int, last: int, count: int) -> Sequence[int]:
    """Whole numbers evenly spaced on a log axis, both ends among them."""
    return np.unique(np.geomspace(first, last, count).round().astype(int)).tolist()
