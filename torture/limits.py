"""Fits under a hard limit of the address space, from none to plenty: each ends with a result or with a message.

A child loads everything by a small fit, then fits again and again with a little more room above what it holds. It must
neither die nor stand still, and every failure must be a MemoryError with words.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lowdim

FITS: dict[str, tuple[Callable[[], Any], int]] = {
    "PCA": (lambda: lowdim.PCA(2), 20_000),
    "KernelPCA": (lambda: lowdim.KernelPCA(2, solver="exact"), 2000),
    "ClassicalMDS": (lambda: lowdim.ClassicalMDS(2, metric="cityblock", solver="exact"), 2000),
    "Isomap": (lambda: lowdim.Isomap(2, solver="exact"), 2000),
    "LLE": (lambda: lowdim.LLE(2), 1500),
    "LLE by landmarks": (lambda: lowdim.LLE(2, solver=lowdim.LLL(300)), 10_000),
    "LaplacianEigenmaps": (lambda: lowdim.LaplacianEigenmaps(2), 10_000),
    "SpectralClustering": (lambda: lowdim.SpectralClustering(4), 4000),
    "TSNE": (lambda: lowdim.TSNE(max_iter=20), 4000),
    "UMAP": (lambda: lowdim.UMAP(max_iter=20), 4000),
    "SymmetricSNE": (lambda: lowdim.SymmetricSNE(max_iter=5), 2000),
}
MEGABYTES = (0, 1, 2, 3, 5, 8, 12, 18, 26, 38, 56, 80, 120, 180, 260, 400)
PATIENCE = 300.0


def run(amount: int | None = None, seed: int = 0) -> int:
    """Every fit under every limit, or the first ``amount`` of the fits."""
    found = [
        f"{name}: {failure}" for name in list(FITS)[:amount] if (failure := broken(name, MEGABYTES, seed))
    ]
    print("\n".join(found) or f"{len(FITS) * len(MEGABYTES)} fits under limits: each a result or a message.")
    return int(bool(found))


def broken(name: str, megabytes: Sequence[int], seed: int = 0) -> str:
    """What went wrong with a fit under some limits; empty where nothing did."""
    command = [sys.executable, "-m", "torture.limits", name, str(seed), *map(str, megabytes)]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=Path(__file__).parents[1],
        )
    except subprocess.TimeoutExpired as late:
        return f"stood still for {PATIENCE:.0f} s after {late.stdout!r}"
    lines = answer.stdout.splitlines()
    if answer.returncode or len(lines) != len(megabytes):
        return f"died with {answer.returncode} after {lines[-1:]}: {answer.stderr[-500:]}"
    return "; ".join(line for line in lines if not line.split(" ", 1)[1].startswith(("done", "said")))


def _child(name: str, seed: int, megabytes: Sequence[int]) -> None:
    import resource

    from lowdim.core.memory import address_room

    make, size = FITS[name]
    X = np.random.default_rng(seed).standard_normal((size, 20))
    warnings.simplefilter("ignore")
    make().fit(X[:500].copy())
    endless = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 50, endless[1]))
    for room in megabytes:
        held = (1 << 50) - (address_room() or 0)
        resource.setrlimit(resource.RLIMIT_AS, (held + (room << 20), endless[1]))
        try:
            outcome = f"done {np.isfinite(make().fit(X).embedding_).all()}"
        except MemoryError as error:
            outcome = f"said {error}" if str(error) else "no words"
        except Exception as error:  # noqa: BLE001 - whatever else it is, it is a find
            outcome = f"{type(error).__name__}: {error}"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 50, endless[1]))
        print(room, outcome.replace("\n", " "), flush=True)


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]])
