"""Error against the number of landmarks and against seconds for every reducer; exact is a line, also where it wins."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim

from .data import Labelled, mnist
from .harness import RESULTS, run, table

TITLE = "Error of every reducer: Laplacian eigenmaps, 50 neighbours, d = 10"
load = mnist
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
REDUCERS: dict[str, Any] = {
    "LLL": lowdim.LLL,
    "LLL, smooth=2": lambda size: lowdim.LLL(size, smooth=2),
    "LLL, polish=10": lambda size: lowdim.LLL(size, polish=10),
    "VariationalNystrom": lowdim.VariationalNystrom,
    "LandmarkZ": lowdim.LandmarkZ,
    "Nystrom": lowdim.Nystrom,
}


def curve(make: Any) -> Any:
    """Embeddings for all sizes: error to exact and the seconds after the neighbours, affinities included."""

    def work(data: Labelled) -> list[tuple[int, float, float]]:
        exact, exact_seconds = _fit(data, "exact")
        found = [(0, 0.0, exact_seconds)]
        for size in SIZES:
            if size < len(data.X) // 2:
                _fit(data, make(size))
                embedding, seconds = _fit(data, make(size))
                found.append((size, lowdim.procrustes(exact, embedding).error, seconds))
        return found

    return work


def _fit(data: Labelled, solver: Any) -> tuple[np.ndarray, float]:
    model = lowdim.LaplacianEigenmaps(10, n_neighbors=50, solver=solver).fit(data.X)
    shared = ("check", "duplicates", "neighbours")
    alone = isinstance(solver, lowdim.LandmarkZ | lowdim.Nystrom)
    stages = [s for s in model.report_.stages if s.depth == 0 and (alone or s.name not in shared)]
    return model.embedding_, sum(stage.seconds for stage in stages)


CONTESTANTS = {name: curve(make) for name, make in REDUCERS.items()}


def judge(data: Labelled, found: list[tuple[int, float, float]]) -> dict[str, Any]:
    """The curve."""
    return {"curve": found}


def report(quick: bool) -> str:
    """A table and a picture."""
    size = 3000 if quick else 60_000
    run("reducers", "LLL", 3000, repeats=0)
    curves = {name: run("reducers", name, size, repeats=0).figures["curve"] for name in REDUCERS}
    _draw(curves, size)
    header = ["", *[f"L = {L}" for L, _, _ in next(iter(curves.values()))[1:]]]
    rows = [
        [name, *[f"{error:.3f} ({seconds:.2f} s)" for _, error, seconds in points[1:]]]
        for name, points in curves.items()
    ]
    exact = min(points[0][2] for points in curves.values())
    words = (
        f"\n\nExact Lanczos: {exact:.2f} s, all after the neighbours, which LandmarkZ and Nystrom do without."
    )
    return f"\nN = {size:,}\n\n" + table(header, rows) + words


def _draw(curves: dict[str, Any], size: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for name, points in curves.items():
        sizes, errors, seconds = np.array(points[1:]).T
        left.plot(sizes, errors, "o-", label=name)
        right.plot(seconds, errors, "o-", label=name)
    exact = min(points[0][2] for points in curves.values())
    right.axvline(exact, color="black", linestyle="--", label="exact Lanczos (error 0)")
    for axis, label in ((left, "landmarks L"), (right, "seconds after the neighbours")):
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.grid(alpha=0.3)
    left.set_ylabel("error to the exact embedding")
    right.legend(fontsize=8)
    figure.suptitle(f"MNIST, N = {size:,}, 50 neighbours, d = 10")
    figure.savefig(RESULTS / "reducers.png", dpi=130, bbox_inches="tight")
