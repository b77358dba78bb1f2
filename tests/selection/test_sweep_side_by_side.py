"""Quick fits of a sweep are made side by side: the table, its order and who judges are as one after the other."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import lowdim
from lowdim.selection import fits

GRID = {"n_neighbors": [5, 8, 12], "bandwidth": [0.5, 1.0, 2.0]}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 6)) * [5, 4, 1, 1, 1, 1]


def swept(rows, monkeypatch, quick, grid=GRID, **others):
    """The table of a sweep in which fits of so many seconds are quick, without its seconds."""
    monkeypatch.setattr(fits, "QUICK", quick)
    estimator = lowdim.LaplacianEigenmaps(2, solver=lowdim.LLL(60, n_neighbors=4), n_jobs=2)
    found = lowdim.sweep(estimator, grid, rows, **others)
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in found.rows]


def spread(fitted, X, y):
    """A figure that any other bit of the embedding would change."""
    return float(np.abs(fitted.embedding_).sum())


def test_the_figures_are_those_of_one_fit_after_the_other(rows, monkeypatch):
    together, apart = (swept(rows, monkeypatch, quick, score=spread) for quick in (1e9, -1.0))
    assert together == apart
    assert len(together) == 9


def test_fits_are_judged_in_order_and_in_the_calling_thread(rows, monkeypatch):
    seen = []

    def judge(fitted, X, y):
        seen.append((fitted.n_neighbors, fitted.bandwidth, threading.current_thread()))
        return 0.0

    swept(rows, monkeypatch, 1e9, score=judge)
    assert [one[:2] for one in seen] == [
        (k, width) for k in GRID["n_neighbors"] for width in GRID["bandwidth"]
    ]
    assert {one[2] for one in seen} == {threading.current_thread()}


def test_a_fit_that_fails_is_a_row_beside_one_that_does_not(rows, monkeypatch):
    grid = {"n_neighbors": [5, 8, 400, 12]}

    def refuse(fitted, X, y):
        if fitted.n_neighbors == 12:
            raise ValueError("no figure")
        return 0.0

    with pytest.warns(lowdim.errors.LowdimWarning, match="2 of 4 fits of the sweep failed"):
        found = swept(rows, monkeypatch, 1e9, grid, score=refuse)
    assert [row["status"] == "ok" for row in found] == [True, True, False, False]
    assert found[3]["status"] == "no figure"


def test_fits_that_are_listened_to_come_one_after_the_other(rows, monkeypatch):
    threads = set()
    swept(
        rows, monkeypatch, 1e9, score=spread, callback=lambda event: threads.add(threading.current_thread())
    )
    assert threads == {threading.current_thread()}
