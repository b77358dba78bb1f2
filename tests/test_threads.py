"""Fits in threads and processes: the same bits, no deadlock, and no more threads than were asked for."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(Path(__file__).parents[1]))

import lowdim
from torture import threads
from torture.catalogue import Points, methods

# One for each thing that has threads or a state of its own: BLAS, LAPACK, kernels, k-d tree, k-means, grids.
SOME = [
    "PCA snapshot",
    "Isomap nystrom",
    "LLE lll k-means",
    "LaplacianEigenmaps lobpcg",
    "LaplacianEigenmaps approximate",
    "SpectralClustering",
    "TSNE fft",
    "TSNE barnes-hut",
    "ElasticEmbedding exact",
    "neighbours blocked",
    "neighbours tree",
    "score",
]
POINTS = Points.draw(400)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_fits_in_threads_at_once_are_the_fits_alone():
    assert not list(threads.at_once(SOME, [POINTS, Points.draw(300, 1)]))


def test_fits_at_once_leave_the_warning_filters():
    """scikit-learn's checks swap them for a moment; of two at once, each would put back the other's."""
    X, before, interval = POINTS.X[:50].tolist(), list(warnings.filters), sys.getswitchinterval()

    # Threads begin at leisure: two that install a trace function for the coverage at once are an error of Python's.
    begun = threading.Barrier(4)

    def fit_often():
        begun.wait(timeout=300)
        for _ in range(150):
            lowdim.PCA(2, n_jobs=1).fit(X)

    try:
        workers = [threading.Thread(target=fit_often) for _ in range(3)]
        for worker in workers:
            worker.start()
        begun.wait(timeout=300)
        sys.setswitchinterval(1e-6)
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert list(warnings.filters) == before


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning", "ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    "how", ["fork", *(pytest.param(how, marks=pytest.mark.slow) for how in ("spawn", "forkserver"))]
)
def test_children_of_a_warm_process_find_the_same(how):
    assert not list(threads.in_child(how, SOME if how == "fork" else SOME[-4:], POINTS))


def fit_one(name, n_jobs):
    with warnings.catch_warnings(action="ignore"):
        return threads.results([name], POINTS, n_jobs)[name]


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_inside_joblib(backend):
    names = ["LaplacianEigenmaps lll", "TSNE fft", "SpectralClustering"]
    found = Parallel(2, backend=backend)(delayed(fit_one)(name, 2) for name in names)
    for name, there in zip(names, found, strict=True):
        here = fit_one(name, 1)
        assert all(here[array].tobytes() == there[array].tobytes() for array in here)


@pytest.mark.slow
def test_inside_scikit_learns_searches():
    model = make_pipeline(lowdim.LaplacianEigenmaps(3, n_jobs=2), KNeighborsClassifier(3))
    grid = {"laplacianeigenmaps__n_neighbors": [8, 12]}
    one, two = (
        GridSearchCV(model, grid, cv=2, n_jobs=jobs)
        .fit(POINTS.X, POINTS.labels)
        .cv_results_["mean_test_score"]
        for jobs in (1, 2)
    )
    assert np.array_equal(one, two)
    assert one.min() > 0.3
    assert np.array_equal(
        cross_validate(model, POINTS.X, POINTS.labels, cv=2, n_jobs=2)["test_score"],
        cross_validate(model, POINTS.X, POINTS.labels, cv=2)["test_score"],
    )


@pytest.mark.slow
def test_kernels_compiled_by_two_threads_at_once(tmp_path):
    """With an empty cache, and with the cache that this leaves."""
    code = (
        "import threading, hashlib, numpy\n"
        "from lowdim.core.run import Run\n"
        "from lowdim.spectral.grouping import group\n"
        "X = numpy.random.default_rng(0).normal(size=(600, 4))\n"
        "found = []\n"
        "def fit():\n"
        "    groups = group(X, 5, run=Run.of(0, 2))\n"
        "    found.append(hashlib.sha256(groups.centers).hexdigest())\n"
        "workers = [threading.Thread(target=fit) for _ in range(3)]\n"
        "[worker.start() for worker in workers]\n"
        "[worker.join() for worker in workers]\n"
        "print(*found)\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "LOWDIM_COMPILED": "0"}
    said = [
        subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert any(tmp_path.rglob("*.nbc"))
    assert [len(words) for words in said] == [3, 3]
    assert len({word for words in said for word in words}) == 1


@pytest.mark.slow
def test_import_orders():
    """Each library once first and once last; every order is for `make torture`."""
    orders = threads.import_orders()
    said = {order: threads.after_imports(order) for order in (orders[0], orders[-1])}
    assert all(answer.startswith("neighbours blocked") for answer in said.values()), said
    assert len(set(said.values())) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_one_job_starts_no_thread(monkeypatch):
    started = []
    for owner, name in ((threading.Thread, "start"), (_thread, "start_new_thread")):
        begin = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *what, begin=begin: (started.append(what), begin(*what))[1])
    for name, method in methods(1).items():
        method(POINTS, 1)
        assert not started, name


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's list of threads")
def test_threads_of_the_system_are_those_asked_for_and_two():
    scenes = [
        "SpectralClustering nested",
        "TSNE fft by 4",
        "TSNE fft many",
        "neighbours blocked nested",
        "neighbours blocked many",
        "neighbours tree nested",
    ]
    assert not list(threads.too_many_threads(scenes))
