"""Nothing around lowdim is changed by it: seeds, threads, warnings, signals, and all else that a process shares."""

from __future__ import annotations

import logging
import os
import random
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import lowdim
from lowdim.cli import main
from torture.catalogue import Points
from torture.surroundings import changed, changes_by_methods, find_changes, load_others, snapshot

POINTS = Points.draw(300)


@pytest.fixture(autouse=True, scope="module")
def _everything_loaded():
    load_others()
    snapshot()  # to ask Numba for its threads starts them, and those of OpenMP with them


@pytest.mark.slow
def test_fits_transforms_searches_scores_and_sweeps_change_nothing():
    """One for each library below; `make torture ARGS=surroundings` runs every method."""
    some = [
        "PCA snapshot",
        "Isomap nystrom",
        "LaplacianEigenmaps lobpcg",
        "LaplacianEigenmaps approximate",
        "SpectralClustering",
        "TSNE fft",
        "neighbours blocked",
        "neighbours tree",
        "score",
        "sweep",
    ]
    assert changes_by_methods(some) == {}


def test_failures_change_nothing():
    broken = POINTS.X.copy()
    broken[3, 2] = np.nan

    def fail():
        for make in (lowdim.PCA, lowdim.LLE, lowdim.TSNE):
            with pytest.raises(ValueError, match="NaN"):
                make().fit(broken)

    def stop(event):
        if event.kind == "iteration":
            raise KeyError(event.stage)

    def break_off():
        with pytest.raises(KeyError):
            lowdim.TSNE(callback=stop, n_jobs=2).fit(POINTS.X)

    assert not find_changes({"not a number": fail, "a callback that fails": break_off})


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_files_pictures_and_pages_change_nothing(tmp_path):
    model = lowdim.Isomap(2, verbose=0).fit(POINTS.X)
    X, labels = model.embedding_, POINTS.labels
    shown = lowdim.TSNE(record=1, max_iter=4).fit(POINTS.X)
    found = lowdim.sweep(lowdim.Isomap(), {"n_neighbors": [6, 8]}, POINTS.X, labels)
    actions = {
        "save": lambda: lowdim.save(model, tmp_path / "model.lowdim"),
        "load": lambda: lowdim.load(tmp_path / "model.lowdim").transform(POINTS.new),
        "plot": lambda: lowdim.plot(X, labels),
        "picture": lambda: lowdim.plot(X, labels, path=tmp_path / "picture.png"),
        "page": lambda: lowdim.plot(X, labels, path=tmp_path / "page.html"),
        "animate": lambda: lowdim.animate(shown.frames_, labels, path=tmp_path / "moving.gif"),
        "sweep's plot": found.plot,
        "frames": lambda: model.set_output(transform="pandas").transform(POINTS.new),
        "verbose": lambda: lowdim.PCA(verbose=2).fit(POINTS.X),
    }
    assert not find_changes(actions)


def test_the_program_puts_back_what_it_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", POINTS.X)
    lines = {
        "embed": "embed points.npy -o out.npy --model model.lowdim --method pca",
        "transform": "transform model.lowdim points.npy -o new.npy",
        "plot": "plot out.npy -o out.png",
        "score": "score points.npy out.npy",
        "a wrong word": "embed points.npy --method nothing",
        "a missing file": "embed nowhere.npy -o out.npy",
        "help": "--help",
    }
    codes = {}
    actions = {
        name: lambda name=name, line=line: codes.update({name: main(line.split())})
        for name, line in lines.items()
    }
    assert not find_changes(actions)
    assert {name for name, code in codes.items() if code == 0} == {
        "embed",
        "transform",
        "plot",
        "score",
        "help",
    }
    capsys.readouterr()


END = threading.Event()
"""Set when a thread that was begun as a change may end."""


def change_folder():
    os.chdir("/")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("random", lambda: random.seed(1)),
        ("numpy.random", lambda: np.random.seed(1)),  # noqa: NPY002 - that this is seen is the point
        ("warnings.filters", lambda: warnings.simplefilter("ignore", BytesWarning)),
        ("environment", lambda: os.environ.update(LOWDIM_TEST="1")),
        ("folder", change_folder),
        ("root logger", lambda: logging.root.addHandler(logging.NullHandler())),
        ("numpy errors", lambda: np.seterr(under="raise")),
        ("numpy printing", lambda: np.set_printoptions(precision=3)),
        ("recursion", lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1)),
        ("threads", lambda: threading.Thread(target=END.wait).start()),
    ],
)
def test_changes_are_seen(name, change, monkeypatch):
    END.clear()
    already = set(threading.enumerate())
    monkeypatch.chdir(Path.cwd())
    monkeypatch.delenv("LOWDIM_TEST", raising=False)
    before = snapshot()
    recursion, errors, printing = sys.getrecursionlimit(), np.geterr(), np.get_printoptions()
    handlers, seeds = list(logging.root.handlers), random.getstate()
    legacy = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            change()
            assert changed(before, snapshot()) == [name]
    finally:
        sys.setrecursionlimit(recursion)
        np.seterr(**errors)
        np.set_printoptions(**printing)
        logging.root.handlers[:] = handlers
        random.setstate(seeds)
        np.random.set_state(legacy)  # noqa: NPY002
        os.environ.pop("LOWDIM_TEST", None)
        END.set()
        for thread in set(threading.enumerate()) - already:
            thread.join()
