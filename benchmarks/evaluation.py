"""One evaluation of t-SNE's objective and gradient, at the start and at the end of a run, against openTSNE's."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import lowdim
from lowdim.affinities import Entropic
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.similarities import STUDENT
from lowdim.objectives.t_sne import TSNE

from .data import Labelled, mnist
from .harness import run, table

TITLE = "One evaluation of value and gradient, t-SNE, perplexity 30"
load = mnist
REPEATS = 15


def _places(data: Labelled) -> dict[str, np.ndarray]:
    """Where the evaluations are made: the start, and the end of a run."""
    start = lowdim.PCA(2).fit_transform(data.X)
    end = lowdim.TSNE().fit_transform(data.X)
    return {"start": np.ascontiguousarray(1e-4 * start / start[:, 0].std()), "end": end}


def _weights(data: Labelled) -> Any:
    index = build_index(Rows(data.X), "euclidean", run=Run.of())
    lists = index.query(None, 90, Run.of())
    W = Entropic(30.0).fit(lists, Run.of()).weights(lists, Run.of())
    return W / W.sum()


def _timed(work: Any) -> float:
    work()
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return 1e3 * median(seconds)


def ours(data: Labelled) -> dict[str, dict[str, float]]:
    """Milliseconds with and without the value, and the error of the repulsive force."""
    P, found = _weights(data), {}
    for name, X in _places(data).items():
        engine = FFT().start(STUDENT, len(X), 2, Run.of())
        objective = TSNE(Attraction(P, STUDENT, -1, single=True), engine)
        exact = Exact().start(STUDENT, len(X), 2, Run.of()).field(X).force
        found[name] = {
            "gradient, ms": _timed(lambda: objective.evaluate(X, value=False)),  # noqa: B023
            "value and gradient, ms": _timed(lambda: objective.evaluate(X)),  # noqa: B023
            "error of the repulsion": _error(engine.field(X).force, exact),
        }
    return found


def theirs(data: Labelled) -> dict[str, dict[str, float]]:
    """The same for openTSNE, with its defaults."""
    from openTSNE import _tsne
    from openTSNE.tsne import kl_divergence_fft

    P, found = csr_matrix(_weights(data)), {}
    grid = {"n_interpolation_points": 3, "min_num_intervals": 50, "ints_in_interval": 1}
    for name, X in _places(data).items():
        exact = Exact().start(STUDENT, len(X), 2, Run.of())
        field, force = exact.field(X), np.zeros_like(X)
        total = _tsne.estimate_negative_gradient_fft_2d(X, force, **grid, dof=1.0)
        found[name] = {
            "gradient, ms": _timed(lambda: kl_divergence_fft(X, P, 1.0, grid, n_jobs=2)),  # noqa: B023
            "value and gradient, ms": _timed(
                lambda: kl_divergence_fft(X, P, 1.0, grid, should_eval_error=True, n_jobs=2)  # noqa: B023
            ),
            "error of the repulsion": _error(np.abs(force) * total, np.abs(field.force)),
        }
    return found


def _error(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


CONTESTANTS = {"lowdim": ours, "openTSNE": theirs}


def judge(data: Labelled, found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The figures."""
    return {"found": found}


def report(quick: bool) -> str:
    """A line for each place and each library."""
    size = 3000 if quick else 70_000
    runs = {name: run("evaluation", name, size, repeats=0) for name in CONTESTANTS}
    if failed := [f"{name}: {one.failure}" for name, one in runs.items() if one.failure]:
        return "\n" + "; ".join(failed)
    rows = [
        [f"{name}, {place}", *(f"{value:.3g}" for value in figures.values())]
        for name, one in runs.items()
        for place, figures in one.figures["found"].items()
    ]
    header = ["", *next(iter(runs["lowdim"].figures["found"].values()))]
    return f"\nN = {size:,}\n\n" + table(header, rows)
