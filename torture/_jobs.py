"""Everything that lowdim writes, as jobs: each a function that writes to a path, replacing what is there."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import lowdim

from .faults import Job

Maker = Callable[[], Job]
FORMATS = (".npy", ".csv", ".csv.gz", ".tsv", ".parquet", ".h5ad")
PICTURES = (".png", ".svg", ".pdf", ".html")


def jobs() -> dict[str, Maker]:
    """The jobs by name; what they need is made when they are."""
    return {
        **{f"embedding{suffix}": partial(_embedding, suffix) for suffix in FORMATS},
        **{f"shards{suffix}": partial(_shards, suffix) for suffix in (".npy", ".parquet")},
        "json": _json,
        "table": partial(_table, "table.csv"),
        "table.json": partial(_table, "table.json"),
        "download": _download,
        "deformed digits": _deformed,
        "summary": _summary,
        "notebook": _notebook,
        "save": partial(_save, "PCA"),
        "report": _report,
        **{f"plot{suffix}": partial(_plot, suffix) for suffix in PICTURES},
        "sweep plot": _sweep_plot,
        "animation": _animation,
        **{f"save {name}": partial(_save, name) for name in zoo().ZOO if name != "PCA"},
    }


@cache
def zoo() -> Any:
    """Small models of every kind, which the tests keep."""
    folder = str(Path(__file__).parents[1] / "tests" / "models")
    if folder not in sys.path:
        sys.path.append(folder)
    import model_zoo

    return model_zoo


@cache
def _scratch() -> Path:
    """A folder for what jobs read; it goes with the process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _points() -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(0).normal(size=(300, 2))


def _labels() -> np.ndarray[Any, Any]:
    return np.arange(len(_points())) % 3


@cache
def _fitted() -> Any:
    return lowdim.PCA(2).fit(_points())


@cache
def _sweep() -> Any:
    return lowdim.sweep(lowdim.PCA(), {"n_components": [1, 2]}, _points(), seeds=1)


def _embedding(suffix: str) -> Job:
    from lowdim.data.files import Table, read

    if suffix == ".h5ad":
        table = read(_annotated())
    else:
        words = np.array([f"point {row}" for row in range(len(_points()))], dtype=object)
        table = Table(_points(), None, words, {"label": _labels()}, "label", "points.csv")

    def write(path: Path) -> None:
        lowdim.data.files.write_embedding(path, _points(), table=table, clusters=_labels(), force=True)

    return Job(f"embedding{suffix}", f"embedding{suffix}", write)


def _shards(suffix: str) -> Job:
    from lowdim.data.shards import InMemory, write

    rows = InMemory.of(_points())
    return Job(f"shards{suffix}", f"shards{suffix}", lambda path: write(rows, path, force=True))


def _annotated() -> Path:
    """A small .h5ad."""
    import h5py

    path = _scratch() / "cells.h5ad"
    if path.exists():
        return path
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        file["X"] = _points()
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = "_index", np.array([], dtype="S1")
        obs["_index"] = [f"cell{row}" for row in range(len(_points()))]
    return path


def _json() -> Job:
    from lowdim.cli.files.targets import write_json

    content = {"rows": _points().tolist(), "name": "é"}
    return Job("json", "report.json", lambda path: write_json(str(path), content, force=True, inputs=()))


def _table(file: str) -> Job:
    from lowdim.cli.commands.sweep import write_table

    found = _sweep()
    return Job("table", file, lambda path: write_table(found, str(path), force=True, inputs=[]))


def _sweep_plot() -> Job:
    found = _sweep()
    return Job("sweep plot", "sweep.png", lambda path: found.plot(path) and _closed())


def _download() -> Job:
    """A data set whose network is a function."""
    from lowdim.core.events import Events
    from lowdim.data import download
    from lowdim.data.catalogue import Entry

    data, labels = np.zeros((500, 16), np.uint8), np.arange(500).astype(np.uint8)
    checksum = hashlib.sha256(data.tobytes() + labels.tobytes()).hexdigest()
    entry = Entry("small.npz", (500, 16), "", "", labels="y", remote="openml", sha256=checksum)

    def write(path: Path) -> None:
        real, before = download._from_openml, os.environ.get("LOWDIM_CACHE")
        download._from_openml = lambda *_: (data, labels)
        os.environ["LOWDIM_CACHE"] = str(path.parent)
        try:
            download.fetch("small", entry, Events())
        finally:
            download._from_openml = real
            os.environ.pop("LOWDIM_CACHE")
            os.environ.update({} if before is None else {"LOWDIM_CACHE": before})

    def is_whole(path: Path) -> bool:
        with np.load(path) as archive:
            return bool((archive["X"] == data).all() and (archive["y"] == labels).all())

    return Job("download", "small.npz", write, is_whole)


def _deformed() -> Job:
    def write(path: Path) -> None:
        lowdim.datasets.deformed_digits(700, path=path, overwrite=True, source="digits", n_jobs=1)

    return Job("deformed digits", "digits.npy", write)


def _summary() -> Job:
    from experiments.notebook import Claim
    from experiments.running import Verdict
    from experiments.summary import write_summary

    verdict = Verdict(
        "one", "An experiment", (Claim("a", "1", "2", True),), ("a remark",), _scratch(), 1.0, True
    )
    return Job("summary", "summary.html", lambda path: write_summary([verdict], path))


def _notebook() -> Job:
    from experiments.notebook import Notebook

    rows = [{"n": row, "value": row / 7} for row in range(400)]
    return Job(
        "notebook", "runs.csv", lambda path: Notebook("one", path.parent, echo=False).keep(rows, "runs")
    )


def _save(name: str) -> Job:
    model, _ = zoo().fitted(name)
    return Job(f"save {name}", "model.lowdim", lambda path: lowdim.save(model, path, force=True))


def _report() -> Job:
    from lowdim.plotting import write_report

    model = _fitted()
    return Job(
        "report", "report.html", lambda path: write_report(path, model, labels=_labels(), force=True), _ends
    )


def _ends(path: Path) -> bool:
    """Whether a page or a drawing is there to its end."""
    return path.read_text(encoding="utf-8").rstrip().endswith(("</html>", "</svg>"))


def _plot(suffix: str) -> Job:
    def write(path: Path) -> None:
        lowdim.plot(_points(), _labels(), path=path)
        _closed()

    return Job(f"plot{suffix}", f"picture{suffix}", write, _ends if suffix == ".svg" else None)


def _animation() -> Job:
    frames = [(place, _points() * (1 + place)) for place in range(3)]

    def write(path: Path) -> None:
        lowdim.animate(frames, path=path)
        _closed()

    return Job("animation", "moving.gif", write)


def _closed() -> bool:
    from matplotlib import pyplot

    pyplot.close("all")
    return True
