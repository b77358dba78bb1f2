"""``plan`` on kinds of data that no rate was fitted to: seconds and bytes foreseen, and measured.

The kinds are those of the benchmark of ``auto``. Every other one belongs to the half that rates may be fitted to; the
verdict is that of the other half. Each fit runs in a process that was forked from one in which small fits had loaded
what there is to load, after a small fit of its own, for which BLAS and threads take their buffers; what had been freed
by then is given back to the system, so that none of it is used again unseen. A clock says nothing where others are at
work: processor seconds are held against those of the plan, whose stages that share their work count as often as two
threads are at work.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import lowdim

from . import kinds_data
from .harness import table
from .plans import Watcher

TITLE = "Plans on data of many kinds, half of them unseen"
Maker = Callable[..., Any]
METHODS: dict[str, Maker] = {
    "LaplacianEigenmaps": partial(lowdim.LaplacianEigenmaps, 2),
    "LLE": partial(lowdim.LLE, 2, n_neighbors=12),
    "LTSA": partial(lowdim.LLE, 2, n_neighbors=12, variant="ltsa"),
    "Isomap": partial(lowdim.Isomap, 2),
    "SpectralClustering": partial(lowdim.SpectralClustering, 10),
    "TSNE": partial(lowdim.TSNE, 2),
}
SMALLEST, LARGEST = 5_000, 20_000
"""Data of fewer points are no matter of seconds; more would be one of minutes."""
FEW = 1_400
NOTICED = 50e6
"""Bytes from which memory is a matter at all: buffers of BLAS and of threads come to about as much."""
SECONDS, SHARE = 2.0, 1.25
AT_WORK = {
    "neighbours": 2.0,
    "weights": 2.0,
    "affinities": 1.5,
    "geodesics": 2.0,
    "residual variance": 2.0,
    "optimise": 1.8,
    "k-means": 1.5,
}
"""Threads at work in a stage, of two; one in the others."""


def cases() -> list[tuple[str, int, str]]:
    """Kind, size and method: the largest size of each kind that is not too large."""
    found = []
    for name, kind in kinds_data.KINDS.items():
        sizes = [size for size in kind.sizes if SMALLEST <= size <= LARGEST]
        found += [(name, sizes[-1], method) for method in METHODS] if sizes else []
    return found


def is_unseen(kind: str) -> bool:
    """Whether a kind belongs to the half that no rate may be fitted to."""
    return list(kinds_data.KINDS).index(kind) % 2 == 1


def measured(kind: str, size: int, method: str, X: Any) -> dict[str, Any]:
    """Seconds and bytes of a fit, foreseen and measured, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            few = {"max_iter": 20} if method == "TSNE" else {}
            found = _fit(partial(METHODS[method], metric=kinds_data.KINDS[kind].metric), few, X)
        except Exception as error:  # noqa: BLE001 - told as what came of it
            found = {"failure": f"{type(error).__name__}: {error}".splitlines()[0][:100]}
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        found = json.loads(answer.read() or b'{"failure": "killed"}')
    os.waitpid(child, 0)
    return {"kind": kind, "size": size, "method": method, **found}


def _fit(make: Maker, few: dict[str, Any], X: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(**few).fit(X[:FEW])
        plan = make().plan(X)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        watcher = Watcher()
        model = make(callback=watcher)
        began = time.process_time()
        model.fit(X)
        took = time.process_time() - began
    stages = {
        stage.name: (
            stage.seconds,
            next((one.seconds for one in model.report_.stages if one.name == stage.name), 0.0),
        )
        for stage in plan.stages
    }
    return {
        "foreseen": (sum(stage.seconds * AT_WORK.get(stage.name, 1.0) for stage in plan.stages), plan.bytes),
        "taken": (took, max(watcher.peaks.values())),
        "stages": stages,
    }


def warm() -> None:
    """Load what small fits load, so that no child is measured loading it."""
    X = np.random.default_rng(0).standard_normal((1500, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in METHODS.values():
            make().fit(X)


def lines(found: Sequence[dict[str, Any]]) -> str:
    """A table of some fits."""
    rows = []
    for one in found:
        where = [one["kind"], f"{one['size']:,}", one["method"]]
        if "failure" in one:
            rows.append([*where, one["failure"], *[""] * 5])
            continue
        (seconds, held), (took, peak) = one["foreseen"], one["taken"]
        figures = (seconds, took, seconds / took, held / 1e6, peak / 1e6, held / peak)
        rows.append([*where, *(f"{value:.3g}" for value in figures)])
    header = ["kind", "N", "fit", "foreseen, s", "taken, s", "ratio", "foreseen, MB", "held, MB", "ratio"]
    return table(header, rows)


def by_method(found: Sequence[dict[str, Any]]) -> str:
    """A row for each method: how many of its fits are near, and the ratios from the least to the largest."""
    rows = []
    for method in METHODS:
        done = [one for one in found if one["method"] == method and "failure" not in one]
        if done:
            ratios, near = _ratios(done), _near(done)
            spans = [f"{ratios[:, i].min():.2f} to {ratios[:, i].max():.2f}" for i in (0, 1)]
            counts = [f"{near[:, i].sum()} of {len(done)} ({spans[i]})" for i in (0, 1)]
            rows.append([method, *counts])
    return table(["fit", "seconds", "memory"], rows)


def _ratios(done: Sequence[dict[str, Any]]) -> Any:
    return np.array([[f / t for f, t in zip(one["foreseen"], one["taken"], strict=True)] for one in done])


def _near(done: Sequence[dict[str, Any]]) -> Any:
    near = np.abs(np.log(_ratios(done))) <= np.log([SECONDS, SHARE])
    near[:, 1] |= [max(one["foreseen"][1], one["taken"][1]) < NOTICED for one in done]
    return near


def verdict(found: Sequence[dict[str, Any]]) -> str:
    """How many fits are within a factor 2 in seconds and 25 % in memory."""
    done = [one for one in found if "failure" not in one]
    if not done:
        return "No fit came to its end."
    near, spread = _near(done), np.quantile(_ratios(done), [0.1, 0.5, 0.9], axis=0)
    return (
        f"{near[:, 0].sum()} of {len(done)} within a factor 2 in seconds (ratio {spread[0, 0]:.2f}, "
        f"{spread[1, 0]:.2f}, {spread[2, 0]:.2f} at the first, fifth and ninth tenth), {near[:, 1].sum()} within "
        f"25 % in memory or below {NOTICED / 1e6:.0f} MB ({spread[0, 1]:.2f}, {spread[1, 1]:.2f}, {spread[2, 1]:.2f})."
    )


def report(quick: bool) -> str:
    """Both halves, the unseen one last."""
    warm()
    found, rows = [], ("", None)
    for kind, size, method in cases():
        if quick and size > SMALLEST * 4:
            continue
        if rows[0] != kind:
            rows = (kind, kinds_data.make(kind, size))
        found.append(measured(kind, size, method, rows[1]))
    halves = {
        "Kinds that rates may be fitted to": [one for one in found if not is_unseen(one["kind"])],
        "Kinds that no rate has seen": [one for one in found if is_unseen(one["kind"])],
    }
    return "\n".join(
        f"\n{title}\n\n{lines(half)}\n\n{by_method(half)}\n\n{verdict(half)}"
        for title, half in halves.items()
    )
