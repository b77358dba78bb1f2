"""The same bits whoever does the work: threads, executors, Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

N = 500
SOURCE = InMemory.of(lowdim.datasets.swiss_roll(N, random_state=1).data)
CUT = Layout(N, block_rows=130, cell_rows=150)


def fitted(workers: Any) -> np.ndarray:
    model = lowdim.LaplacianEigenmaps(n_neighbors=8, solver=lowdim.LLL(60))
    with lowdim.using(workers):
        return fit_to_shards(model, SOURCE, CUT).embedding_


@pytest.fixture(scope="module")
def wanted() -> np.ndarray:
    return fitted(1)


def test_an_executor_of_threads(wanted: np.ndarray) -> None:
    with ThreadPoolExecutor(3) as pool:
        np.testing.assert_array_equal(fitted(pool), wanted)


def test_the_report_says_what_it_took() -> None:
    """The same whoever did the work."""
    names = ("tasks", "tasks_done_again", "workers_lost", "bytes_read", "bytes_written")

    def figures(workers: Any) -> list[list[int]]:
        with lowdim.using(workers):
            models = [
                fit_to_shards(lowdim.LaplacianEigenmaps(n_neighbors=8, solver=lowdim.LLL(60)), SOURCE, CUT),
                fit_to_shards(lowdim.Isomap(n_neighbors=8, solver=lowdim.LandmarkZ(60)), SOURCE, CUT),
                lowdim.PCA(2).fit(SOURCE),
            ]
        return [[model.report_.figures[name] for name in names] for model in models]

    lll, alone, pca = figures(1)
    with ThreadPoolExecutor(2) as pool:
        assert figures(pool) == [lll, alone, pca]
    blocks, cells = CUT.n_blocks, CUT.wanted_cells
    assert lll[:3] == [4 * blocks + 2 * cells, 0, 0]
    assert alone[:3] == [2 * blocks, 0, 0]
    assert pca[:3] == [1, 0, 0]
    assert pca[3] >= SOURCE.nbytes
    assert alone[3] >= 2 * SOURCE.nbytes
    # The rows go into two cells each, with all that is found there.
    assert lll[3] > 5 * SOURCE.nbytes
    assert lll[4] > 2 * SOURCE.nbytes


@contextmanager
def cluster(**settings: Any) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(dashboard_address=":0", **settings) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.slow
def test_dask_in_this_process(wanted: np.ndarray) -> None:
    with cluster(processes=False, n_workers=1, threads_per_worker=2) as client:
        np.testing.assert_array_equal(fitted(client), wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers",
    [
        lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
        lambda: cluster(n_workers=2, threads_per_worker=1),
        lambda: cluster(n_workers=1, threads_per_worker=4),
    ],
    ids=["processes", "two workers of Dask", "one of four threads"],
)
def test_other_processes(workers: Callable[[], Any], wanted: np.ndarray) -> None:
    with workers() as made:
        np.testing.assert_array_equal(fitted(made), wanted)
