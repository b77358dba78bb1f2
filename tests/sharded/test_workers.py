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
