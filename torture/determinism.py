"""Same seed, other threads, another process: the same bits, or a stated tolerance where BLAS forbids them.

Threads of lowdim (``n_jobs``) never change a bit, nor does another process, whatever it has done before. Threads of the
BLAS library do: it splits sums by their number, and what follows carries the last bit on. How far is the table below,
for each method; iterations that amplify it, as an optimiser's do, carry it further than solvers that converge.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from .catalogue import Arrays, Method, Points, methods

JOBS = (1, 2, 4, 7)
BLAS_THREADS = (1, 2, 4)

#: Largest difference between two numbers of BLAS threads, relative to the extent of the array; 0: the same bits.
TOLERANCES: Mapping[str, float] = {
    "PCA": 1e-12,
    "OrientedPCA": 1e-12,
    "ClassicalMDS": 1e-12,
    "MDS": 1e-4,
    "Sammon": 1e-4,
    "KernelPCA": 1e-12,
    "Isomap": 1e-12,
    "LLE": 1e-6,
    "LaplacianEigenmaps": 1e-10,
    "DiffusionMap": 1e-10,
    "SpectralClustering": 1e-10,
    "SpectralProblem": 1e-10,
    "SNE": 1e-4,
    "SymmetricSNE": 1e-4,
    "TSNE": 1e-4,
    "ElasticEmbedding": 1e-4,
    "UMAP": 1e-4,
    "NeighborSpectrum": 1e-4,
    "LargeVis": 1e-4,
    "PaCMAP": 1e-4,
    "ForceAtlas2": 1e-4,
    "neighbours": 0.0,
    "score": 1e-12,
    "estimate_dimension": 1e-12,
    "sweep": 1e-9,
}
#: Rows that may differ by more: a new point between two minima of its own problem goes to either, a point between two
#: clusters too.
STRAYS = 0.01


@dataclass(frozen=True, slots=True)
class Difference:
    """An array that two runs disagree on, and by how much of its extent: ``inf`` where not even the form agrees."""

    method: str
    array: str
    runs: str
    size: float
    allowed: float

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.array} differs by {self.size:.1e}, allowed {self.allowed:.0e}, {self.runs}"
        )


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference relative to the extent, over all but the strays among the rows; 0 for the same bits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.inf
    if a.tobytes() == b.tobytes():
        return 0.0
    apart = np.abs(np.subtract(a, b, dtype=np.float64)).reshape(a.shape[0], -1).max(axis=1)
    extent = float(np.ptp(a, axis=0).max()) or float(np.abs(a).max())
    return max(float(np.quantile(apart, 1 - STRAYS, method="lower")) / extent, np.finfo(np.float64).tiny)


def compare(method: str, one: Arrays, other: Arrays, runs: str, allowed: float) -> Iterator[Difference]:
    """Where two results of a method differ by more than is allowed."""
    for name in one.keys() | other.keys():
        size = distance(one[name], other[name]) if name in one and name in other else np.inf
        if size > allowed:
            yield Difference(method, name, runs, size, allowed)


def across_jobs(
    named: Mapping[str, Method], points: Points, jobs: Iterable[int] = JOBS
) -> Iterator[Difference]:
    """Where the number of threads changes a bit."""
    first, *others = jobs
    for name, method in named.items():
        with warnings.catch_warnings(action="ignore"):
            found = method(points, first)
            for n_jobs in others:
                yield from compare(name, found, method(points, n_jobs), f"n_jobs {first} and {n_jobs}", 0.0)


def results(size: int, seed: int, iterations: int) -> dict[str, Arrays]:
    """What every method finds."""
    points = Points.draw(size, seed)
    with warnings.catch_warnings(action="ignore"):
        return {name: method(points, 2) for name, method in methods(iterations).items()}


def write_results(path: str, size: int, seed: int, iterations: int) -> None:
    """Every result as one file: what a process of its own is started for."""
    found = results(size, seed, iterations)
    arrays = {f"{name}|{array}": values for name, held in found.items() for array, values in held.items()}
    np.savez(path, **arrays)


def in_process(size: int, seed: int, iterations: int, blas_threads: int, path: Path) -> dict[str, Arrays]:
    """Every result of a new process whose BLAS has so many threads."""
    threads = {"OPENBLAS_NUM_THREADS": str(blas_threads), "OMP_NUM_THREADS": str(blas_threads)}
    # OpenBLAS takes no more threads from its environment than there are cores; asked by its own function it does.
    code = (
        "import sys, numpy, scipy.linalg, threadpoolctl\n"
        f"threadpoolctl.threadpool_limits({blas_threads})\n"
        f"from torture import determinism; determinism.write_results(sys.argv[1], {size}, {seed}, {iterations})"
    )
    root = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", code, str(path)], env=os.environ | threads, cwd=root, check=True)
    found: dict[str, Arrays] = {}
    with np.load(path) as arrays:
        for name in arrays:
            method, array = name.split("|")
            found.setdefault(method, {})[array] = arrays[name]
    return found


def across_processes(
    size: int, seed: int, iterations: int, blas_threads: Iterable[int], folder: Path
) -> Iterator[Difference]:
    """Where another process changes a bit, or other threads of BLAS more than the table allows."""
    with threadpool_limits(1):
        found = results(size, seed, iterations)
    for threads in blas_threads:
        again = in_process(size, seed, iterations, threads, folder / f"{threads}.npz")
        for name, arrays in found.items():
            allowed = 0.0 if threads == 1 else TOLERANCES[name.split()[0]]
            runs = f"with 1 thread of BLAS here and {threads} in another process"
            yield from compare(name, arrays, again.get(name, {}), runs, allowed)


def run(amount: int | None = None, seed: int = 0) -> int:
    """Every method on ``amount`` points (4000 by default), 1 if a difference is larger than allowed."""
    size, iterations, began = amount or 4000, 30, time.perf_counter()
    differences: list[Difference] = []

    def tell(found: Iterator[Difference], what: str) -> None:
        for difference in found:
            differences.append(difference)
            print(difference, flush=True)
        print(f"{what}: {len(differences)} differences, {time.perf_counter() - began:.0f} s", flush=True)

    named = methods(iterations, compiled_late=True)
    tell(across_jobs(named, Points.draw(size, seed)), f"n_jobs {', '.join(map(str, JOBS))}")
    with tempfile.TemporaryDirectory() as folder:
        found = across_processes(size, seed, iterations, BLAS_THREADS, Path(folder))
        tell(found, f"processes with {', '.join(map(str, BLAS_THREADS))} threads of BLAS")
    return 1 if differences else 0
