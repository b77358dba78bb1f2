"""The cost model behind ``plan`` and ``solver="auto"``: seconds foreseen and seconds taken, stage by stage.

The rates in ``lowdim.estimators.costs`` were set from this table: per stage, the geometric mean of taken over foreseen
should be near 1, and no single one far from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import lowdim

from .data import Labelled, mnist
from .harness import run, table

TITLE = "The cost model: seconds foreseen and taken"
Maker = Callable[[], Any]
LLL, eigenmaps, lle = lowdim.LLL, lowdim.LaplacianEigenmaps, lowdim.LLE

GRID: dict[str, tuple[Maker, tuple[int, ...]]] = {
    "LE k=10 exact": (partial(eigenmaps, 2, solver="exact"), (5000, 20_000, 70_000)),
    "LE k=50 d=10 exact": (partial(eigenmaps, 10, n_neighbors=50, solver="exact"), (5000, 20_000, 70_000)),
    "LE k=10 LLL 300": (partial(eigenmaps, 2, solver=LLL(300)), (5000, 20_000, 70_000)),
    "LE k=10 LLL 1000": (partial(eigenmaps, 2, solver=LLL(1000)), (5000, 20_000, 70_000)),
    "LE k=10 LLL 3000": (partial(eigenmaps, 2, solver=LLL(3000)), (20_000, 70_000)),
    "LE k=50 d=10 LLL 1000": (
        partial(eigenmaps, 10, n_neighbors=50, solver=LLL(1000)),
        (5000, 20_000, 70_000),
    ),
    "LE k=50 d=10 LLL 1000 K_Z=50": (
        partial(eigenmaps, 10, n_neighbors=50, solver=LLL(1000, n_neighbors=50)),
        (20_000,),
    ),
    "LLE exact": (partial(lle, 2, solver="exact"), (5000, 10_000)),
    "LLE LLL 1000": (partial(lle, 2, solver=LLL(1000)), (5000, 20_000, 70_000)),
    "LLE LandmarkZ 1000": (partial(lle, 2, solver=lowdim.LandmarkZ(1000)), (20_000, 70_000)),
    "Isomap exact": (partial(lowdim.Isomap, 2, solver="exact"), (2000, 5000, 10_000)),
    "Isomap Nystrom 1000": (partial(lowdim.Isomap, 2, solver=lowdim.Nystrom(1000)), (5000, 20_000)),
    "KernelPCA exact": (
        partial(lowdim.KernelPCA, 2, kernel="rbf", gamma=1e-6, solver="exact"),
        (5000, 10_000),
    ),
    "KernelPCA Nystrom 1000": (
        partial(lowdim.KernelPCA, 2, kernel="rbf", gamma=1e-6, solver=lowdim.Nystrom(1000)),
        (20_000, 70_000),
    ),
}


def load(size: int) -> Labelled:
    """Digits in 50 columns."""
    return mnist(size)


def _contestant(make: Maker) -> Any:
    def work(data: Labelled) -> dict[str, tuple[float, float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(data.X)
        taken: dict[str, float] = {}
        for stage in model.report_.stages:
            if stage.depth == 0:
                taken[stage.name] = taken.get(stage.name, 0.0) + stage.seconds
        foreseen: dict[str, float] = {}
        for planned in make().plan(data.X).stages:
            foreseen[planned.name] = foreseen.get(planned.name, 0.0) + planned.seconds
        names = dict.fromkeys([*taken, *foreseen])
        return {name: (foreseen.get(name, 0.0), taken.get(name, 0.0)) for name in names}

    return work


CONTESTANTS = {name: _contestant(make) for name, (make, _) in GRID.items()}


def judge(data: Labelled, stages: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """The stages."""
    return {"stages": stages}


def report(quick: bool) -> str:
    """Each fit as a row: all of it, then every stage as foreseen / taken; at the end each stage over all fits."""
    rows, ratios = [], {}
    for name, (_, sizes) in GRID.items():
        for size in sizes[:1] if quick else sizes:
            outcome = run("costs", name, size, repeats=1)
            if outcome.failure:
                rows.append([name, f"{size:,}", outcome.failure, "", "", ""])
                continue
            stages = outcome.figures["stages"]
            foreseen, taken = np.sum(list(stages.values()), axis=0)
            for stage, (before, after) in stages.items():
                if before and after > 0.05:
                    ratios.setdefault(stage, []).append(after / before)
            parts = ", ".join(f"{s} {a:.2f} / {b:.2f}" for s, (a, b) in stages.items() if max(a, b) >= 0.05)
            rows.append(
                [name, f"{size:,}", f"{foreseen:.2f}", f"{taken:.2f}", f"{taken / foreseen:.2f}", parts]
            )
    summary = [
        [
            stage,
            str(len(found)),
            f"{np.exp(np.mean(np.log(found))):.2f}",
            f"{min(found):.2f}",
            f"{max(found):.2f}",
        ]
        for stage, found in ratios.items()
    ]
    header = ["fit", "N", "foreseen, s", "taken, s", "ratio", "stages: foreseen / taken"]
    return (
        "\n"
        + table(header, rows)
        + "\n\n"
        + table(["stage", "fits", "taken / foreseen", "least", "most"], summary)
    )
