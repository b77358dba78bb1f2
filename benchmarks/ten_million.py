"""The program from zarr to zarr: Laplacian eigenmaps by landmarks of ten million rows that no memory holds.

The rows are deformed digits in 50 columns, drawn ten times as often as there are and moved by noise of three tenths of
each column's spread. Making so many images would take as long as the work.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from .harness import RESULTS, table
from .sharded import load

TITLE = (
    "10,200,000 x 50 from zarr to zarr by `lowdim embed`: LLL, L = 10,000, K_Z = 5, k = 15, memory limit 3 GB"
)
COPIES = 10
BLOCK = 100_000


def rows(base: int) -> Path:
    """The zarr array, made once."""
    import zarr

    path = RESULTS / f"copies{base}.zarr"
    if (path / "whole").exists():
        return path
    X = np.load(load(base).path, mmap_mode="r")
    made = zarr.create_array(
        path, shape=(COPIES * base, 50), chunks=(BLOCK // 2, 50), dtype="f4", overwrite=True
    )
    spread = 0.3 * np.asarray(X[:10_000]).std(axis=0)
    for start in range(0, COPIES * base, BLOCK):
        stop = min(start + BLOCK, COPIES * base)
        random = np.random.default_rng([0, start])
        some = np.asarray(X[np.sort(random.integers(base, size=stop - start))], dtype=np.float32)
        made[start:stop] = some + spread * random.normal(size=some.shape).astype(np.float32)
    (path / "whole").touch()
    return path


def report(quick: bool) -> str:
    """Seconds, memory and the store's size, of the program alone."""
    base = 20_000 if quick else 1_020_000
    source, target, store = rows(base), RESULTS / "copies-out.zarr", RESULTS / "copies-run"
    for old in (target, store):
        shutil.rmtree(old, ignore_errors=True)
    words = ["embed", source, "-m", "laplacian-eigenmaps", "--n-neighbors", 15, "--solver", "lll"]
    words += ["--landmarks", base // 102, "--solver-n-neighbors", 5, "--memory-limit", "3 GB"]
    words += ["--checkpoint", store, "-o", target]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "lowdim", *map(str, words)], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        return f"Failed: {done.stderr.strip().splitlines()[-1]}"
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(store, ignore_errors=True)
    line = [
        f"{COPIES * base:,}",
        f"{seconds:.0f}",
        f"{spent.ru_utime + spent.ru_stime:.0f}",
        f"{1e6 * seconds / (COPIES * base):.0f}",
        f"{spent.ru_maxrss / 1e6:.2f}",
    ]
    return table(["N", "s", "processor s", "microseconds a row", "peak GB"], [line])
