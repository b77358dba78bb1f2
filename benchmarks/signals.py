"""How soon the program answers Ctrl-C and SIGTERM, wherever it stands, and how soon it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lowdim.cli.terminal.signals import STOPPING

from .data import mnist
from .harness import environment, table

TITLE = "Signals: seconds from a signal to the answer and to the end, with a checkpoint"
RUNS = {
    "TSNE": (70_000, "-m tsne --max-iter 200"),
    "ElasticEmbedding": (20_000, "-m elastic-embedding --max-iter 5"),
    "Isomap": (10_000, "-m isomap"),
    "LLE, a factor": (20_000, "-m lle --solver shift-invert"),
    "LLE by landmarks": (70_000, "-m lle --solver lll"),
    "Laplacian eigenmaps, dense": (5_000, "-m laplacian-eigenmaps --solver dense"),
    "PCA": (70_000, "-m pca --n-components 50"),
}
MOMENTS = 6
"""Signals to each, at moments spread evenly over the run, SIGINT and SIGTERM in turn."""


def report(quick: bool) -> str:
    """A row for each method: the slowest answers."""
    rows = []
    for method, (full, words) in RUNS.items():
        size = 2000 if quick else full
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "X.npy", mnist(size).X)
            options = [*words.split(), "-o", "Y.npy", "--force", "--checkpoint"]
            _signalled(folder, [*options, "first"], None, None)  # fills the cache of kernels
            whole, _, _ = _signalled(folder, [*options, "whole"], None, None)
            numbers = [signal.SIGINT, signal.SIGTERM] * (MOMENTS // 2)
            found = [
                _signalled(folder, [*options, f"kept{moment}"], whole * (moment + 0.5) / MOMENTS, number)
                for moment, number in enumerate(numbers)
            ]
        heard = [(answer, end) for end, answer, _ in found if answer is not None]
        rows.append(
            [
                method,
                f"{size:,}",
                f"{whole:.1f}",
                str(len(heard)),
                f"{max((answer for answer, _ in heard), default=float('nan')):.2f}",
                f"{max((end for _, end in heard), default=float('nan')):.2f}",
                str(sum(is_written for _, answer, is_written in found if answer is not None)),
            ]
        )
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    head = [
        "",
        "N",
        "whole run, s",
        "signals heard",
        "slowest answer, s",
        "slowest end, s",
        "results written",
    ]
    return table(head, rows)


def _signalled(
    folder: Path, options: list[str], after: float | None, number: signal.Signals | None
) -> tuple[float, float | None, bool]:
    """Seconds to the end and to the answer, from the signal (without one: from the start); whether a result came."""
    (folder / "Y.npy").unlink(missing_ok=True)
    os.sync()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "lowdim", "embed", "X.npy", *options],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    if after is not None and number is not None:
        time.sleep(after)
        began = time.perf_counter()
        process.send_signal(number)
    answer = None
    for line in process.stderr:
        if STOPPING in line and answer is None:
            answer = time.perf_counter() - began
    process.wait()
    return time.perf_counter() - began, answer, (folder / "Y.npy").exists()
