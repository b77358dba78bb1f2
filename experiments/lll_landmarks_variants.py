"""Digits: which of the things that the paper leaves open would give its 10 % at L = 451, and what is in the way.

lll-landmarks finds errors of LLL well above the authors'. Tried here one by one: the pixels' scale and the kernel (both
set the bandwidth only), the symmetrisation, the constraint, the choice of landmarks, K_Z, the ridge of the weights, and
how the error is measured. Beside each stands the best that any combination of the columns of Z could do: what no
solver can better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

import lowdim
from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.core.streams import Streams
from lowdim.data.rows import Rows
from lowdim.solvers.landmarks.choosing import choose_landmarks
from lowdim.solvers.landmarks.weights import landmark_weights

from .data import Eigenmap, digits, exact_eigenmap, landmark_solution
from .notebook import Notebook

SIGMA, NEIGHBORS, DIMENSIONS = 200.0, 200, 50
PAPER = {"n_neighbors": 50}
SOLVERS = {
    "as in the paper: uniform landmarks, K_Z = 50": PAPER,
    "landmarks thinned": PAPER | {"choose": "thinned"},
    "landmarks farthest-point": PAPER | {"choose": "farthest"},
    "landmarks k-means": PAPER | {"choose": "k-means"},
    "ridge 1e-10": PAPER | {"reg": 1e-10},
    "ridge 1e-2": PAPER | {"reg": 1e-2},
    "K_Z = 15": {"n_neighbors": 15},
    "K_Z = 5": {"n_neighbors": 5},
    "K_Z = 5, landmarks k-means": {"n_neighbors": 5, "choose": "k-means"},
}
AFFINITIES = {
    "symmetrised by the mean": lowdim.Gaussian(SIGMA, symmetrize="average"),
    "sigma = 4.6, the smallest of lll-mnist-selection": lowdim.Gaussian(4.6),
}


def run(notebook: Notebook) -> None:
    """Vary one thing at a time."""
    n_points, counts = (3000, (100, 451)) if notebook.quick else (60_000, (451,))
    points, _ = digits(n_points)
    options = {"n_neighbors": NEIGHBORS, "bandwidth": SIGMA, "search": "exact"}
    exact = exact_eigenmap(points, DIMENSIONS, **options)
    rows = []
    for L in counts:
        for what, settings in SOLVERS.items():
            rows.append({"what": what, "L": L} | _fit(exact, lowdim.LLL(L, **settings)))
            notebook.keep(rows)
    for what, affinity in AFFINITIES.items():
        other = _with_affinity(exact, affinity)
        rows += [{"what": what, "L": L} | _fit(other, lowdim.LLL(L, **PAPER)) for L in counts]
        notebook.keep(rows)
    other = _unnormalised(exact)
    rows += [
        {"what": "X'X = I, not X'DX = I", "L": L} | _fit(other, lowdim.LLL(L, **PAPER), mass=False)
        for L in counts
    ]
    notebook.table(rows)
    measures = [measure for L in counts for measure in _measures(exact, L)]
    notebook.table(measures, "measures")
    _judge(notebook, rows, measures, counts)


def _with_affinity(exact: Eigenmap, affinity: lowdim.Gaussian) -> Eigenmap:
    """The eigenmap of other affinities on the same neighbours, whose distances the Gaussian gives back."""
    distances = exact.W.copy()
    distances.data = SIGMA * np.sqrt(-np.log(distances.data))
    solver = lowdim.LaplacianEigenmaps(
        DIMENSIONS, n_neighbors=NEIGHBORS, metric="precomputed", affinity=affinity, solver="exact"
    ).fit(distances)
    return Eigenmap(exact.points, solver.affinity_matrix_, solver.embedding_, solver.eigenvalues_, {})


def _unnormalised(exact: Eigenmap) -> Eigenmap:
    """The eigenmap with X'X = I: min tr X'(D - W)X."""
    A = sparse.csr_array(sparse.diags_array(exact.degrees) - exact.W)
    solved = lowdim.SpectralProblem(A, None, DIMENSIONS, solver="exact").fit()
    return Eigenmap(exact.points, exact.W, solved.embedding_, solved.eigenvalues_, {})


def _fit(exact: Eigenmap, solver: lowdim.LLL, *, mass: bool = True) -> dict[str, Any]:
    problem = exact.problem(solver=solver)
    if not mass:
        problem.set_params(B=None)
    X, _ = landmark_solution(problem, exact.points)
    error = exact.error(X)
    return {"error": error, "squared": error**2, "best within Z": _best_within(exact, solver)}


def _best_within(exact: Eigenmap, solver: lowdim.LLL) -> float:
    """|Z C - X| / |X| for the best C: the error of the projection of the exact coordinates on the span of Z."""
    rows, quiet = Rows(exact.points), Events()
    landmarks = choose_landmarks(
        rows,
        solver,
        metric="euclidean",
        pairwise=False,
        place_of_row=None,
        run=Run(quiet, n_jobs=-1, streams=Streams(0)),
    )
    weights = landmark_weights(
        rows,
        landmarks,
        solver.n_neighbors,
        metric="euclidean",
        pairwise=False,
        reg=solver.reg,
        run=Run(quiet, n_jobs=-1),
    )
    Z = weights.Z
    C = linalg.lstsq((Z.T @ Z).toarray(), Z.T @ exact.X, cond=1e-12, lapack_driver="gelsd")[0]
    return float(np.linalg.norm(Z @ C - exact.X) / np.linalg.norm(exact.X))


def _measures(exact: Eigenmap, L: int) -> list[dict[str, Any]]:
    """The error of the paper's set-up, measured in other ways."""
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(len(exact.points), L, replace=False))
    problem = exact.problem(solver=lowdim.LLL(L, landmarks=chosen, **PAPER))
    X, _ = landmark_solution(problem, exact.points)
    values, root = problem.eigenvalues_, np.sqrt(exact.degrees)[:, None]
    pairs = {
        "all 50 coordinates": (X, exact.X),
        "the first 25": (X[:, :25], exact.X[:, :25]),
        "the first 10": (X[:, :10], exact.X[:, :10]),
        "the first 2": (X[:, :2], exact.X[:, :2]),
        "at the landmarks alone": (X[chosen], exact.X[chosen]),
        "points weighted by degree": (root * X, root * exact.X),
        "coordinates over sqrt(lambda)": (X / np.sqrt(values), exact.X / np.sqrt(exact.values)),
        "coordinates over lambda": (X / values, exact.X / exact.values),
    }
    errors = {what: lowdim.procrustes(*pair).error for what, pair in pairs.items()}
    return [{"measured": what, "L": L, "error": e, "squared": e**2} for what, e in errors.items()]


def _judge(
    notebook: Notebook, rows: list[dict[str, Any]], measures: list[dict[str, Any]], counts: tuple[int, ...]
) -> None:
    L, claimed = counts[-1], 0.10
    paper = next(row for row in rows if row["L"] == L)
    least = min((row for row in rows if row["L"] == L), key=lambda row: row["error"])
    notebook.claim(
        f"some choice of what is open gives the authors' error at L = {L}",
        f"{claimed:.0%}",
        f"as in the paper {paper['error']:.3f}, squared {paper['squared']:.3f}; least {least['error']:.3f}, squared "
        f"{least['squared']:.3f} ({least['what']})",
        least["error"] < 1.05 * claimed,
    )
    notebook.remark(
        "Were the pixels 0 to 255, sigma = 200 would be 0.78 in units of 0 to 1, where neighbours are some 5 apart: "
        "weights of exp(-40) and less, with 1/2 in the exponent or without, and a graph that falls apart (on 3,000 "
        "digits the error is then 1.0). So the authors' pixels were 0 to 1 and their weights all but equal."
    )
    notebook.remark(
        f"No solver can reach 10 % with the paper's Z at L = {L}: the best combination of its columns leaves "
        f"{paper['best within Z']:.3f} of the 50 exact coordinates. So the authors' figure measures something else."
    )
    others = [row for row in measures if row["L"] == L]
    notebook.remark(
        "The same solution measured in other ways: "
        + "; ".join(f"{row['measured']} {row['error']:.3f}, squared {row['squared']:.3f}" for row in others)
        + ". Matlab's procrustes returns squared errors. The squared error of k-means landmarks with K_Z = 5, and that "
        "of LE(Z) at L = 23,636 in lll-landmarks (0.12), are the authors' 10 %."
    )
