"""The cost model behind ``plan``, ``memory_limit`` and ``solver="auto"``: seconds and bytes foreseen, and measured.

Memory is the most that the process has held over what it held before the fit, once a small fit has loaded what there
is to load. The rates in ``lowdim.estimators.costs`` were set from this table.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.core.events import Event
from lowdim.core.records import held_at

from .data import Labelled, mnist
from .harness import run, table

TITLE = "Plans: seconds and memory, foreseen and measured"
Maker = Callable[[], Any]
LLL, eigenmaps, lle = lowdim.LLL, lowdim.LaplacianEigenmaps, lowdim.LLE

GRID: dict[str, tuple[Maker, str, int]] = {
    "PCA(50), 784 columns of bytes": (partial(lowdim.PCA, 50), "pixels", 70_000),
    "TSNE": (lowdim.TSNE, "digits", 20_000),
    "TSNE, large": (lowdim.TSNE, "digits", 70_000),
    "SymmetricSNE": (lowdim.SymmetricSNE, "digits", 20_000),
    "LaplacianEigenmaps": (partial(eigenmaps, 2), "digits", 70_000),
    "LaplacianEigenmaps, k = 50, LLL(1000)": (
        partial(eigenmaps, 10, n_neighbors=50, solver=LLL(1000)),
        "digits",
        70_000,
    ),
    "LaplacianEigenmaps of a roll": (partial(eigenmaps, 2), "roll", 100_000),
    "LLE": (partial(lle, 2, n_neighbors=12, solver="exact"), "digits", 10_000),
    "LLE, LLL(1000)": (partial(lle, 2, n_neighbors=12, solver=LLL(1000)), "digits", 70_000),
    "LLE of a roll": (partial(lle, 2), "roll", 50_000),
    "Isomap": (partial(lowdim.Isomap, 2, solver="exact"), "digits", 6000),
    "Isomap, 1000 landmarks": (partial(lowdim.Isomap, 2, landmarks=1000), "digits", 20_000),
    "KernelPCA": (
        partial(lowdim.KernelPCA, 2, kernel="rbf", gamma=1e-6, solver="exact"),
        "digits",
        6000,
    ),
    "ClassicalMDS, city blocks": (
        partial(lowdim.ClassicalMDS, 2, metric="cityblock", solver="exact"),
        "digits",
        6000,
    ),
    "SpectralClustering": (partial(lowdim.SpectralClustering, 10), "digits", 70_000),
}
SMALL = 2000
QUICK = ("LLE", "Isomap", "KernelPCA")


def load(size: int) -> Labelled:
    """The data are the contestant's own."""
    return Labelled(np.empty(0), np.empty(0))


def rows_of(kind: str, size: int) -> np.ndarray:
    """Digits in 50 columns or as pixels, or a Swiss roll."""
    if kind == "roll":
        return lowdim.datasets.swiss_roll(size, random_state=0).data
    return mnist(size).X if kind == "digits" else lowdim.datasets.load("mnist").data[:size]


def status(field: str) -> int:
    """Bytes of a line of the process's status."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))


class Watcher:
    """Listener that notes the peak of every stage."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}
        self._reset()
        self.base = status("VmRSS")

    def __call__(self, event: Event) -> None:
        """Note the peak since the last stage began or ended."""
        if event.kind in ("started", "finished"):
            held = status("VmHWM") - self.base
            self.peaks[event.stage] = max(self.peaks.get(event.stage, 0), held)
            self._reset()

    @staticmethod
    def _reset() -> None:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _contestant(make: Maker, kind: str, size: int) -> Any:
    def work(data: Labelled) -> dict[str, Any]:
        X = rows_of(kind, size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make().fit(X[:SMALL].copy())
            plan = make().plan(X)
            watcher = Watcher()
            model = make().set_params(callback=watcher)
            began = time.perf_counter()
            model.fit(X)
            took = time.perf_counter() - began
        seconds = {stage.name: stage.seconds for stage in model.report_.stages if stage.depth == 0}
        stages = {
            stage.name: (stage.seconds, seconds.get(stage.name, 0.0), held, watcher.peaks.get(stage.name, 0))
            for stage, held in zip(plan.stages, held_at(plan.stages), strict=True)
        }
        peak = max(watcher.peaks.values())
        return {"foreseen": (plan.seconds, plan.bytes), "measured": (took, peak), "stages": stages}

    return work


CONTESTANTS = {name: _contestant(*entry) for name, entry in GRID.items()}


def judge(data: Labelled, found: dict[str, Any]) -> dict[str, Any]:
    """What was found."""
    return found


def report(quick: bool) -> str:
    """Each fit as a row: both in all, then every stage that counts."""
    rows, far = [], []
    for name, (_, _, size) in GRID.items():
        if quick and name not in QUICK:
            continue
        outcome = run("plans", name, size, repeats=0)
        if outcome.failure:
            rows.append([name, f"{size:,}", outcome.failure, *[""] * 6])
            continue
        (seconds, held), (took, peak) = outcome.figures["foreseen"], outcome.figures["measured"]
        if not 0.5 <= took / seconds <= 2.0 or not 0.75 <= held / peak <= 1.25:
            far.append(name)
        parts = "; ".join(
            f"{stage} {s:.2f} / {t:.2f} s, {b / 1e6:.0f} / {m / 1e6:.0f} MB"
            for stage, (s, t, b, m) in outcome.figures["stages"].items()
        )
        rows.append(
            [
                name,
                f"{size:,}",
                f"{seconds:.2f}",
                f"{took:.2f}",
                f"{seconds / took:.2f}",
                f"{held / 1e6:.0f}",
                f"{peak / 1e6:.0f}",
                f"{held / peak:.2f}",
                parts,
            ]
        )
    header = ["fit", "N", "foreseen, s", "taken, s", "ratio", "foreseen, MB", "held, MB", "ratio"]
    wanted = "within a factor 2 in seconds and 25 % in memory"
    verdict = f"All are {wanted}." if not far else f"Not {wanted}: {', '.join(far)}."
    return "\n" + table([*header, "stages: foreseen / measured"], rows) + "\n\n" + verdict
