"""Approximate search by nearest-neighbour descent (Dong, Moses & Li 2011), through pynndescent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from ...core.messages import DATA, setting
from ...core.run import Run
from ...data.rows import Rows
from ...errors import ForkedError, InputError, MissingExtraError
from ..costs import Cost, Work
from .base import Found

LEAST_NEIGHBORS = 30
NAMES = {"cityblock": "manhattan", "l1": "manhattan"}
_USED_BY: set[int] = set()
"""Processes, of this one and those it was forked from, that have called pynndescent."""


class DescentSearcher:
    """Keeps the points in a pynndescent index, built at the first query, when the number of neighbours is known.

    Its graph depends on the number of threads, so that it is always built in one: the same seed gives the
    same neighbours.
    """

    name = "descent"
    is_exact = False

    @staticmethod
    def cost(work: Work) -> Cost:
        """Half a minute to compile, then some comparisons for each point."""
        kept = work.lists + int(
            work.n_points * (4 * work.entries + 40 * max(LEAST_NEIGHBORS, work.n_neighbors))
        )
        return Cost(30 + 4e-4 * work.n_points, kept + 16 * work.candidates, kept)

    def __init__(self, rows: Rows, metric: str, parameters: Mapping[str, Any], seed: int) -> None:
        try:
            import pynndescent.distances
            import pynndescent.sparse
        except ImportError as error:
            raise MissingExtraError(
                "Approximate search with this metric or with sparse rows needs pynndescent: pip install "
                f"'lowdim[descent]', or use {setting('search', 'exact')}."
            ) from error
        known = NAMES.get(metric, metric)
        is_sparse = isinstance(rows.values, csr_array)
        functions = (
            pynndescent.sparse.sparse_named_distances if is_sparse else pynndescent.distances.named_distances
        )
        if known not in functions:
            raise InputError(
                f"{setting('search', 'approximate')} does not know {setting('metric', metric)}"
                f"{' of sparse rows' if is_sparse else ''}; use {setting('search', 'exact')} or another metric."
            )
        if "w" in parameters:
            raise InputError(
                f"{setting('search', 'approximate')} cannot weigh columns by w; use {setting('search', 'exact')}, or "
                "scale them."
            )
        self.rows, self.seed = rows, seed
        self.metric, self.parameters = known, dict(parameters)
        self.index: Any = None
        self.width = 0

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point: the graph that the descent ends with."""
        if self.index is None or count > self.width:
            # A searcher that comes from a file knows how wide it was.
            self.width = max(LEAST_NEIGHBORS, count, self.width)
            self._build(self.width)
        indices = np.asarray(self.index.neighbor_graph[0], dtype=np.int64)[:, :count]
        return indices, np.full(indices.shape[0], np.inf)

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice.

        They follow the graph that is there, however many are asked for: neither what other rows get nor what is stored
        depends on it.
        """
        if self.index is None:
            self._build(max(LEAST_NEIGHBORS, count, self.width))
        _check_process()
        indices, _ = self.index.query(_readable(rows, part), k=count, epsilon=0.2)
        return np.asarray(indices, dtype=np.int64), np.full(part.stop - part.start, np.inf)

    def _build(self, width: int) -> None:
        import pynndescent

        _check_process()
        self.index = pynndescent.NNDescent(
            _readable(self.rows, slice(0, self.rows.n_rows)),
            metric=self.metric,
            metric_kwds=self.parameters,
            n_neighbors=min(width, self.rows.n_rows - 1),
            random_state=self.seed,
            n_jobs=1,
        )
        self.index.prepare()


def _check_process() -> None:
    """Raise a ForkedError where Numba would end the process.

    pynndescent runs in threads of Numba. Where those are of GNU's OpenMP, Numba kills a process that was forked after
    they began, as soon as it calls for them.
    """
    if _USED_BY - {os.getpid()} and _dies_when_forked():
        raise ForkedError(
            "Nearest-neighbour descent ran before this process was forked, and Numba's threads do not survive "
            "that. Start processes by 'spawn' or 'forkserver' (joblib's 'loky' does), or use "
            f"{setting('search', 'exact')}."
        )
    _USED_BY.add(os.getpid())


def _dies_when_forked() -> bool:
    """Whether the threads of Numba, once begun, are those of GNU's OpenMP."""
    numba: Any = import_module("numba")
    try:
        layer = numba.threading_layer()
    except ValueError:  # none has begun
        return False
    return bool(layer == "omp" and import_module("numba.np.ufunc.omppool").openmp_vendor == "GNU")


def _readable(rows: Rows, part: slice) -> Any:
    """Rows in the form that pynndescent takes: single precision, sparse matrices of the older kind."""
    with np.errstate(over="ignore"):
        if isinstance(rows.values, csr_array):
            readable = csr_matrix(rows.values[part], dtype=np.float32)
            numbers = readable.data
        else:
            readable = numbers = rows.block(part, np.float32)
    if not np.isfinite(numbers).all():
        raise InputError(
            f"{setting('search', 'approximate')} compares rows of {DATA} in single precision under this metric, which "
            f"ends at {np.finfo(np.float32).max:.2g}; it holds larger numbers. Rescale it, or use "
            f"{setting('search', 'exact')}."
        )
    return readable
