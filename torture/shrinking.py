"""A file that is cut off under a running fit: every estimator, at every read of its memory map.

Two ways: the pages of the map are locked, so that whatever reads them past `lowdim.data.mapped` ends the process; and
the file is cut off before the Nth read, for every N, until a fit has no more of them.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import lowdim
from lowdim.data import mapped
from lowdim.errors import FileError

from ._jobs import zoo

ENDED, WRONG = 0, 3


def run(amount: int | None = None, seed: int = 0) -> int:
    """Every model of the zoo on dense rows; ``amount`` limits the reads at which each file is cut off."""
    del seed
    if sys.platform != "linux":
        print("skipped: only Linux reads maps without a risk")
        return 0
    broken = 0
    for name in zoo().ZOO:
        for problem in problems(name, amount):
            broken += 1
            print(f"BROKEN {name}: {problem}", flush=True)
    return int(broken > 0)


def problems(name: str, most_cuts: int | None = None) -> list[str]:
    """What goes wrong with a model of the zoo."""
    make = zoo().ZOO[name]
    model, X = make()
    if X is None or sparse.issparse(X):
        return []
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = Path(folder) / "points.npy"
        expected = model.fit(X).embedding_
        found = []
        if code := _in_a_copy(lambda: _locked(make()[0], X, expected, path)):
            found.append(f"reads the map itself, or gives another result (status {code})")
        for place in range(1_000_000 if most_cuts is None else most_cuts):
            code = _in_a_copy(lambda place=place: _cut(make()[0], X, path, place))  # type: ignore[misc]
            if code == ENDED:
                break
            if code != FILE_ERROR:
                found.append(f"a file cut off at read {place} gives status {code} and not a FileError")
        return found


FILE_ERROR = 4


def _in_a_copy(work: Callable[[], int]) -> int:
    """The exit code of some work in a copy of this process; negative: the signal that ended it."""
    child = os.fork()
    if not child:
        code = WRONG
        try:
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _mapped(X: Any, path: Path) -> Any:
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def _locked(model: Any, X: Any, expected: Any, path: Path) -> int:
    """Fit to a map whose pages no processor may read; the guarded reads are led to a copy of them."""
    points = _mapped(X, path)
    pages = np.frombuffer(points._mmap, np.uint8)
    place, copy, real = pages.ctypes.data, pages.copy(), mapped._copier()

    def led(starts: Any, length: int, out: Any) -> bool:
        return real(np.asarray(starts) - place + copy.ctypes.data, length, out)

    mapped._copier = lambda: led  # type: ignore[assignment]
    size = -(-pages.size // os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PAGE_SIZE")
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), 0):
        return WRONG
    same = np.array_equal(model.fit(points).embedding_, expected)
    model.transform(points[:5] if model.n_features_in_ == points.shape[1] else points)
    lowdim.save(model, path.with_suffix(".lowdim"), force=True)
    return ENDED if same else WRONG


def _cut(model: Any, X: Any, path: Path, place: int) -> int:
    """Fit to a map whose file is cut off before read number ``place``."""
    points, reads, real = _mapped(X, path), iter(range(1_000_000_000)), mapped._copier()

    def cutting(starts: Any, length: int, out: Any) -> bool:
        if next(reads) == place:
            os.truncate(path, 0)
        return real(starts, length, out)

    mapped._copier = lambda: cutting  # type: ignore[assignment]
    try:
        model.fit(points)
    except FileError as error:
        return FILE_ERROR if "became shorter" in str(error) and path.name in str(error) else WRONG
    return ENDED if next(reads) <= place else WRONG
