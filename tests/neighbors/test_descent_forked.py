"""Nearest-neighbour descent after a fork: Numba would end the process, so a clear error does instead."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import ForkedError
from lowdim.neighbors.searchers import descent

# Its import compiles for half a minute where nothing is cached.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pynndescent") is None, reason="pynndescent is not installed"),
]


def searcher():
    return descent.DescentSearcher(Rows(np.eye(40)), "canberra", {}, 0)


def test_a_forked_process_is_told(monkeypatch):
    monkeypatch.setattr(descent, "_USED_BY", {os.getppid()})
    monkeypatch.setattr(descent, "_dies_when_forked", lambda: True)
    with pytest.raises(ForkedError, match=r"'spawn' or 'forkserver'"):
        searcher().of_points(3, Run.of())


@pytest.mark.parametrize(
    ("layer", "dies"), [("omp", True), ("tbb", False), ("workqueue", False), (None, False)]
)
def test_which_threads_do_not_survive(layer, dies, monkeypatch):
    import numba
    from numba.np.ufunc import omppool

    def threading_layer():
        if layer is None:
            raise ValueError("Threading layer is not initialized.")
        return layer

    monkeypatch.setattr(numba, "threading_layer", threading_layer)
    monkeypatch.setattr(omppool, "openmp_vendor", "GNU")
    assert descent._dies_when_forked() == dies


def test_others_may_go_on(monkeypatch):
    used = {os.getppid()}
    monkeypatch.setattr(descent, "_USED_BY", used)
    monkeypatch.setattr(descent, "_dies_when_forked", lambda: False)
    descent._check_process()
    assert os.getpid() in used
