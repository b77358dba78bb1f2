"""A sweep on workers: the table of a sweep in one process, whoever does the fits and however often it was cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from cut_writes import CutWrites
from scipy.sparse import csr_array

import lowdim
from lowdim.errors import CheckpointError
from lowdim.selection import Sweep

DIGITS = lowdim.datasets.load("digits")
X, LABELS = DIGITS.data[:200], DIGITS.labels[:200]

SWEEPS: dict[str, Callable[[], Sweep]] = {
    "components": lambda: lowdim.sweep(
        lowdim.LaplacianEigenmaps(solver="dense"), {"n_neighbors": [6, 9], "n_components": [2, 4]}, X, LABELS
    ),
    # The same rows with two seeds share one search, which draws by the first of them.
    "two seeds of the same rows": lambda: lowdim.sweep(
        lowdim.LLE(3, solver=lowdim.LLL(60), search="approximate"),
        {"n_neighbors": [6, 9], "n_landmarks": [50, 70]},
        X,
        LABELS,
        seeds=2,
        test=0.2,
        out_of_sample=0,
    ),
    "a point that fails": lambda: lowdim.sweep(
        lowdim.Isomap(), {"n_neighbors": [8, 500]}, csr_array(X), LABELS, seeds=[3, 5]
    ),
}


def table(sweep: Sweep) -> list[Any]:
    """All but the seconds."""
    kept = [(run.point, run.seed, dict(run.figures), run.warnings, run.status) for run in sweep.runs]
    return [kept, dict(sweep.scores), sweep.points, sweep.best, sweep.complete]


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """However soon it was made."""
    monkeypatch.setattr("lowdim.selection.as_tasks.WORTH", 0.0)


@pytest.mark.filterwarnings("ignore")  # of graphs that fall apart, and of points that failed
@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_the_table_is_that_of_one_process(sweep: Callable[[], Sweep]) -> None:
    wanted = table(sweep())
    with lowdim.using(2):
        assert table(sweep()) == wanted
    with ThreadPoolExecutor(3) as pool, lowdim.using(pool):
        assert table(sweep()) == wanted


@contextmanager
def dask_in_this_process() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "workers",
    [lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")), dask_in_this_process],
    ids=["processes", "dask"],
)
def test_on_other_workers(workers: Callable[[], Any]) -> None:
    sweep = SWEEPS["two seeds of the same rows"]
    wanted = table(sweep())
    with workers() as made, lowdim.using(made):
        assert table(sweep()) == wanted


@pytest.mark.filterwarnings("ignore:The sweep was interrupted")
def test_a_sweep_that_was_cut_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sweep(**settings: Any) -> Sweep:
        return lowdim.sweep(
            lowdim.PCA(), {"n_components": [2, 3], "whiten": [False, True]}, X, LABELS, seeds=2, **settings
        )

    wanted, writes = sweep(), CutWrites(monkeypatch)
    done: list[int] = []
    with lowdim.using(1):
        while not done or done[-1] < len(wanted.runs):
            writes.left = 2
            try:
                done.append(len(sweep(checkpoint=tmp_path).runs))
            except KeyboardInterrupt:
                done.append(0)
        writes.left = 0  # what is finished writes nothing
        again = sweep(checkpoint=tmp_path)
    assert done == sorted(done)
    assert len(done) > 2
    assert table(again) == table(wanted)
    assert {path.parent.name for path in tmp_path.rglob("*.task")} == {"manifest", "fits-0", "fits-1"}
    with pytest.raises(CheckpointError, match="a folder with other things in it"):
        sweep(checkpoint=tmp_path)
