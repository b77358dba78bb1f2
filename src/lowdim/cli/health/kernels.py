"""The compiled kernels: whether they are there and undamaged, a folder for those that come to it, and a fit by them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from .finding import GOOD, NOTE, WRONG, Finding
from .machine import can_write

COMPILE = "python -m lowdim.kernels.building"
TOLERANCE = 1e-8


def check_kernels(table: Path | None = None) -> Finding:
    """Every kernel of the table, by its file: those that are not there are compiled when they are first needed."""
    from ...kernels.building import TABLE, states
    from ...kernels.compiling import DAMAGED, FRESH, SWITCH

    found = states(TABLE if table is None else table)
    counts = Counter(state for _, state in found)
    total, fresh = len(found), counts[FRESH]
    figures = {"kernels": total, **counts}
    damaged = sorted({str(path) for path, state in found if state == DAMAGED and path is not None})
    if damaged:
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        return Finding(
            "kernels",
            WRONG,
            f"{counts[DAMAGED]} of {total} files of compiled kernels are damaged: {damaged[0]}{more}",
            f"Remove {'it' if len(damaged) == 1 else 'them'}, then run {COMPILE}. If it happens again, test the disk.",
            figures | {"damaged_files": damaged},
        )
    if os.environ.get(SWITCH) == "0":
        return Finding(
            "kernels", NOTE, f"{SWITCH}=0 leaves those of the package alone", f"Unset {SWITCH}.", figures
        )
    if fresh == total:
        return Finding("kernels", GOOD, f"all {total} are compiled for this machine", figures=figures)
    return Finding(
        "kernels",
        NOTE,
        f"{fresh} of {total} are compiled for this machine; each of the others takes about a second at its first use",
        f"To have it over with: {COMPILE} (some minutes; it needs a folder of lowdim that can be written).",
        figures,
    )


def check_kernel_folder(folder: Path | None = None) -> Finding:
    """The folder for kernels that are compiled at their first use."""
    if folder is None:
        from ...kernels.neighbors import selection

        path = selection.sort_rows._cache.cache_path
        folder = Path(path) if path else None
    cure = "Set NUMBA_CACHE_DIR to a folder that can be written; else every start compiles for some seconds."
    if folder is None:
        return Finding("kernel cache", WRONG, "there is no folder for it", cure, {"folder": None})
    figures = {"folder": str(folder)}
    if failure := can_write(folder):
        return Finding("kernel cache", WRONG, f"{folder} cannot be written: {failure}", cure, figures)
    return Finding("kernel cache", GOOD, f"{folder} can be written", figures=figures)


def check_a_fit() -> Finding:
    """Isomap of points on a line, whose places along it are known: search, paths, eigenvectors and map at work."""
    import numpy as np

    from ...estimators.spectral.isomap import Isomap

    along = np.cumsum(1.0 + np.arange(40) % 3)
    points = along[:, None] * np.array([1.0, 2.0, 2.0]) / 3
    try:
        model = Isomap(1, n_neighbors=4).fit(points)
        placed = model.transform(points)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was asked for
        return Finding(
            "a fit", WRONG, f"Isomap of 40 points failed: {error}", f"Run {COMPILE}, or install lowdim anew."
        )
    wanted = along - along.mean()
    errors = [
        min(np.abs(found[:, 0] - sign * wanted).max() for sign in (1, -1)) / np.ptp(wanted)
        for found in (model.embedding_, placed)
    ]
    figures = {"error": float(max(errors))}
    if not max(errors) <= TOLERANCE:
        return Finding(
            "a fit",
            WRONG,
            f"Isomap of points on a line is off by {max(errors):.1e} of its length",
            f"Run {COMPILE}, or install lowdim anew; if it stays, report it with 'lowdim info'.",
            figures,
        )
    return Finding("a fit", GOOD, f"Isomap of 40 points is right to {max(errors):.0e}", figures=figures)
