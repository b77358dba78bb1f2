"""Parts that lowdim has of its own, each beside the library that has it too: the reasons for keeping them.

A part and its peers get the same input, in processes of their own; the last column says whether they gave the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.affinities.geodesic import shortest_paths
from lowdim.core import lapack
from lowdim.core.run import Run as Stages
from lowdim.data.datasets import swiss_roll
from lowdim.data.duplicates import find_duplicates
from lowdim.data.rows import Rows
from lowdim.methods.laplacian import laplacian_problem
from lowdim.neighbors import build_index
from lowdim.solvers.eigen.auto import solve
from lowdim.solvers.eigen.multifrontal import Multifrontal, Symbolic
from lowdim.spectral.grouping import group
from lowdim.spectral.operators import multiply, narrowed

from .data import mnist
from .harness import Run, run, table

TITLE = "Parts of our own beside the libraries that have them"
NEIGHBOURS = 15


class Inputs:
    """What the parts work on, made when it is first asked for; a first run is not counted, so this is not either."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stages = Stages.of(0)

    @cached_property
    def digits(self) -> np.ndarray:
        """Digits by their 50 principal components."""
        return np.ascontiguousarray(mnist(self.size).X)

    @cached_property
    def wide(self) -> np.ndarray:
        """Unit vectors of 384 columns around 100 centres, as embeddings of texts have them."""
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((100, 384))
        points = centres[rng.integers(100, size=self.size)] + 1.2 * rng.standard_normal((self.size, 384))
        return (points / np.linalg.norm(points, axis=1)[:, None]).astype(np.float32)

    @cached_property
    def graph(self) -> sparse.csr_array:
        """Distances to the neighbours of digits, either way."""
        found = build_index(Rows(self.digits), search="exact", run=self.stages).query(None, 12, self.stages)
        shape = (self.size, self.size)
        near = sparse.csr_array((found.distances, found.indices, found.indptr), shape=shape)
        return sparse.csr_array(near.maximum(near.T))

    @cached_property
    def digit_links(self) -> sparse.csr_array:
        """The same graph, every edge of weight one."""
        return sparse.csr_array((np.ones(self.graph.nnz), self.graph.indices, self.graph.indptr))

    @cached_property
    def roll_links(self) -> sparse.csr_array:
        """The same of a Swiss roll."""
        points = np.asarray(swiss_roll(self.size, random_state=0).data)
        found = build_index(Rows(points), search="exact", run=self.stages).query(None, 12, self.stages)
        near = sparse.csr_array(
            (np.ones(found.indices.size), found.indices, found.indptr), (self.size, self.size)
        )
        return sparse.csr_array(near.maximum(near.T))

    @cached_property
    def block(self) -> np.ndarray:
        """Eight columns of noise."""
        return np.random.default_rng(1).standard_normal((self.size, 8))

    @cached_property
    def repeated(self) -> np.ndarray:
        """Rows of which a third are there twice."""
        return np.concatenate([self.digits, self.digits[: self.size // 2]])

    @cached_property
    def dense(self) -> np.ndarray:
        """A Gram matrix of 2,000 digits."""
        return np.asarray(self.digits[:2000] @ self.digits[:2000].T)


def _exact(points: str) -> Callable[[Inputs], float]:
    def ours(inputs: Inputs) -> float:
        index = build_index(Rows(getattr(inputs, points)), search="exact", run=inputs.stages)
        return float(index.query(None, NEIGHBOURS, inputs.stages).distances.sum())

    return ours


def _brute(points: str) -> Callable[[Inputs], float]:
    def theirs(inputs: Inputs) -> float:
        from sklearn.neighbors import NearestNeighbors

        data = getattr(inputs, points).astype(np.float32)
        distances, _ = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(data).kneighbors()
        return float(distances.sum())

    return theirs


def _faiss(points: str) -> Callable[[Inputs], float]:
    def theirs(inputs: Inputs) -> float:
        import faiss

        data = np.ascontiguousarray(getattr(inputs, points), dtype=np.float32)
        index = faiss.IndexFlatL2(data.shape[1])
        index.add(data)
        squared, _ = index.search(data, NEIGHBOURS + 1)
        return float(np.sqrt(np.maximum(squared[:, 1:], 0)).sum())

    return theirs


def _recall(inputs: Inputs, points: np.ndarray, found: np.ndarray) -> float:
    """Share of the true neighbours of the first 500 points."""
    index = build_index(Rows(points), search="exact", run=inputs.stages)
    true = index.query(None, NEIGHBOURS, inputs.stages).indices.reshape(-1, NEIGHBOURS)[:500]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found[:500], strict=True)]))


def _forest(points: str) -> Callable[[Inputs], np.ndarray]:
    def ours(inputs: Inputs) -> np.ndarray:
        index = build_index(Rows(getattr(inputs, points)), search="approximate", run=inputs.stages)
        return index.query(None, NEIGHBOURS, inputs.stages).indices.reshape(-1, NEIGHBOURS)

    return ours


def _descent(points: str) -> Callable[[Inputs], np.ndarray]:
    def theirs(inputs: Inputs) -> np.ndarray:
        from pynndescent import NNDescent

        index = NNDescent(
            getattr(inputs, points).astype(np.float32), n_neighbors=NEIGHBOURS + 1, random_state=0
        )
        return np.asarray(index.neighbor_graph[0][:, 1:])

    return theirs


def _paths(inputs: Inputs) -> float:
    return float(shortest_paths(inputs.graph, np.arange(1000), inputs.stages).sum())


def _dijkstra(inputs: Inputs) -> float:
    return float(sparse.csgraph.dijkstra(inputs.graph, indices=np.arange(1000)).sum())


def _shifted(W: sparse.csr_array) -> sparse.csr_array:
    """D - W, a little above singular."""
    return sparse.csr_array(sparse.diags_array(W.sum(axis=1) + 1e-3) - W)


def _fronts(links: str) -> Callable[[Inputs], float]:
    def ours(inputs: Inputs) -> float:
        values = _shifted(getattr(inputs, links))
        factor = Multifrontal(values, Symbolic(values, symmetric=True), symmetric=True)
        return float(np.abs(factor.solve(inputs.block)).sum())

    return ours


def _superlu(links: str) -> Callable[[Inputs], float]:
    def theirs(inputs: Inputs) -> float:
        from scipy.sparse.linalg import splu

        # The setting that is quickest on symmetric matrices.
        factor = splu(
            sparse.csc_array(_shifted(getattr(inputs, links))),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.1,
            options={"SymmetricMode": True},
        )
        return float(np.abs(factor.solve(inputs.block)).sum())

    return theirs


def _vectors(links: str, solver: str) -> Callable[[Inputs], float]:
    """The last of three eigenvalues of Laplacian eigenmaps, which must agree to be compared."""

    def ours(inputs: Inputs) -> float:
        problem = laplacian_problem(getattr(inputs, links), run=inputs.stages)
        return float(solve(problem, 3, solver, run=inputs.stages).values[-1])

    return ours


def _eigsh(links: str, inverted: bool) -> Callable[[Inputs], float]:
    def theirs(inputs: Inputs) -> float:
        from scipy.sparse.linalg import eigsh

        W = getattr(inputs, links)
        roots = sparse.diags_array(1 / np.sqrt(W.sum(axis=1)))
        similar = sparse.csr_array(roots @ W @ roots)
        ways = {"sigma": 1 + 1e-5, "which": "LM"} if inverted else {"which": "LA"}
        matrix = sparse.csc_array(similar) if inverted else similar
        return float(1 - np.sort(eigsh(matrix, 4, tol=1e-8, **ways)[0])[0])

    return theirs


def _products(inputs: Inputs) -> float:
    matrix = narrowed(inputs.graph)
    for _ in range(50):
        result = multiply(matrix, inputs.block)
    return float(np.abs(result).sum())


def _scipy_products(inputs: Inputs) -> float:
    for _ in range(50):
        result = inputs.graph @ inputs.block
    return float(np.abs(result).sum())


def _group(inputs: Inputs) -> float:
    return group(inputs.digits, 50, starts=1, run=Stages.of(0)).spread


def _kmeans(inputs: Inputs) -> float:
    from sklearn.cluster import KMeans

    return float(KMeans(50, n_init=1, random_state=0).fit(inputs.digits).inertia_)


def _duplicates(inputs: Inputs) -> float:
    return float(find_duplicates(Rows(inputs.repeated)).first.size)


def _unique(inputs: Inputs) -> float:
    return float(np.unique(inputs.repeated, axis=0).shape[0])


def _eigenpairs(inputs: Inputs) -> float:
    return float(lapack.eigenpairs(inputs.dense.copy())[0].sum())


def _eigh(inputs: Inputs) -> float:
    from scipy.linalg import eigh

    return float(eigh(inputs.dense)[0].sum())


PARTS: dict[str, tuple[str, dict[str, Callable[[Inputs], Any]]]] = {
    "exact search, 50 columns": (
        "neighbors/searchers/blocked.py",
        {"lowdim": _exact("digits"), "scikit-learn brute": _brute("digits"), "faiss flat": _faiss("digits")},
    ),
    "exact search, 384 columns": (
        "neighbors/searchers/blocked.py",
        {"lowdim": _exact("wide"), "scikit-learn brute": _brute("wide"), "faiss flat": _faiss("wide")},
    ),
    "approximate search, 50 columns": (
        "neighbors/searchers/forest.py",
        {"lowdim": _forest("digits"), "PyNNDescent": _descent("digits")},
    ),
    "approximate search, 384 columns": (
        "neighbors/searchers/forest.py",
        {"lowdim": _forest("wide"), "PyNNDescent": _descent("wide")},
    ),
    "shortest paths from 1,000 points": (
        "affinities/geodesic.py",
        {"lowdim": _paths, "SciPy dijkstra": _dijkstra},
    ),
    "factor of a graph of digits": (
        "solvers/eigen/multifrontal.py",
        {"lowdim": _fronts("digit_links"), "SciPy SuperLU": _superlu("digit_links")},
    ),
    "factor of a graph of a surface": (
        "solvers/eigen/multifrontal.py",
        {"lowdim": _fronts("roll_links"), "SciPy SuperLU": _superlu("roll_links")},
    ),
    "three eigenvectors, a graph of digits": (
        "solvers/eigen/krylov.py",
        {"lowdim": _vectors("digit_links", "lanczos"), "SciPy eigsh": _eigsh("digit_links", inverted=False)},
    ),
    "three eigenvectors, a graph of a surface": (
        "solvers/eigen/krylov.py",
        {
            "lowdim": _vectors("roll_links", "shift-invert"),
            "SciPy eigsh, inverted": _eigsh("roll_links", inverted=True),
        },
    ),
    "50 products with a sparse matrix": (
        "spectral/operators.py",
        {"lowdim": _products, "SciPy": _scipy_products},
    ),
    "k-means, 50 centres": ("spectral/grouping.py", {"lowdim": _group, "scikit-learn": _kmeans}),
    "equal rows": ("data/duplicates.py", {"lowdim": _duplicates, "numpy.unique": _unique}),
    "dense eigenvectors": ("core/lapack.py", {"lowdim": _eigenpairs, "scipy.linalg.eigh": _eigh}),
}
CONTESTANTS = {
    f"{part}: {name}": function for part, (_, entries) in PARTS.items() for name, function in entries.items()
}


def load(size: int) -> Inputs:
    """Nothing yet: each part makes what it needs."""
    return Inputs(size)


def judge(inputs: Inputs, outcome: Any) -> dict[str, Any]:
    """The figure that must agree, or the recall of an approximate search."""
    if isinstance(outcome, np.ndarray):
        points = inputs.digits if "digits" in inputs.__dict__ else inputs.wide
        return {"figure": f"recall {_recall(inputs, points, outcome):.3f}"}
    return {"figure": f"{outcome:.8g}"}


def report(quick: bool) -> str:
    """One table."""
    size = 2000 if quick else 20_000
    rows = []
    for part, (file, entries) in PARTS.items():
        runs = {name: _run(f"{part}: {name}", size) for name in entries}
        own = runs["lowdim"]
        for name, result in runs.items():
            seconds = result.failure or f"{result.seconds:.3f}"
            ratio = "" if result.failure or name == "lowdim" else f"{result.seconds / own.seconds:.1f}"
            rows.append(
                [
                    part,
                    file if name == "lowdim" else "",
                    name,
                    seconds,
                    ratio,
                    result.figures.get("figure", ""),
                ]
            )
    return f"\nN = {size:,}\n\n" + table(["part", "file", "by", "seconds", "times lowdim's", "figure"], rows)


def _run(name: str, size: int) -> Run:
    return run("parts", name, size, repeats=3)
