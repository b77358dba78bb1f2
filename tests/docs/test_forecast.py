"""The forecast of docs/scale.md: the table is the one that is computed, and its bytes are those of a fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from benchmarks.forecast import COLUMNS, K_Z, MEASURED, READ, SECONDS, WRITTEN, Forecast, K, report
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
N = 6000


def test_the_table_on_the_page_is_what_is_computed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for line in report(quick=True).splitlines():
        assert line in page


def test_what_was_measured_comes_back() -> None:
    found = Forecast(MEASURED).seconds()
    assert sum(found.values()) == pytest.approx(sum(SECONDS.values()), rel=0.01)


def test_bytes_are_those_of_a_fit() -> None:
    """But for landmarks and sums, which do not go with the number of points."""
    rows = np.random.default_rng(0).normal(size=(N, 3)) @ np.ones((3, COLUMNS))
    rows += np.random.default_rng(1).normal(size=(N, COLUMNS))
    model = lowdim.LaplacianEigenmaps(n_neighbors=K, solver=lowdim.LLL(60, n_neighbors=K_Z))
    layout = Layout(N, block_rows=3000, cell_rows=3000)
    figures = fit_to_shards(model, InMemory.of(rows.astype(np.float32)), layout).report_.figures
    assert figures["bytes_read"] == pytest.approx(N * sum(READ.values()), rel=0.02)
    assert figures["bytes_written"] == pytest.approx(N * sum(WRITTEN.values()), rel=0.02)
