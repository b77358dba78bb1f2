"""Fits, new points and files of every family of methods. The first call of each compiles, and is not timed."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim

N_POINTS = 1500
METHODS: dict[str, dict[str, Any]] = {
    "PCA": {},
    "ClassicalMDS": {"landmarks": 100},
    "KernelPCA": {},
    "Isomap": {"landmarks": 100},
    "LLE": {},
    "LaplacianEigenmaps": {},
    "DiffusionMap": {},
    "SpectralClustering": {"n_clusters": 5},
    "MDS": {"pivots": 200},
    "TSNE": {"max_iter": 100},
    "UMAP": {"max_iter": 100},
    "PaCMAP": {"max_iter": 90},
    "ElasticEmbedding": {"max_iter": 20, "homotopy": None},
}
"""Methods with what makes a fit of them short: iterations are counted, so that each does the same work every time."""


def points() -> np.ndarray:
    """Points on a rolled-up sheet in ten dimensions."""
    rng = np.random.default_rng(0)
    roll = lowdim.datasets.swiss_roll(N_POINTS, random_state=0).data
    return roll @ rng.standard_normal((3, 10)) + 0.01 * rng.standard_normal((N_POINTS, 10))


def model(name: str) -> Any:
    """An estimator with one worker: what is counted is the work, and not how it is shared."""
    return getattr(lowdim, name)(**METHODS[name], n_jobs=1, random_state=0)


class Fits:
    """A fit, and the place of new points, for each method; in processor seconds, which a busy machine changes least."""

    params = tuple(METHODS)
    param_names = ("method",)
    timer = staticmethod(time.process_time)
    timeout = 600

    def setup(self, name: str) -> None:
        """Compile, and fit once."""
        self.points = points()
        self.fitted = model(name).fit(self.points)
        self.fitted.transform(self.points[:50])

    def time_fit(self, name: str) -> None:
        """A fit."""
        model(name).fit(self.points)

    def time_transform(self, name: str) -> None:
        """Places of 500 points."""
        self.fitted.transform(self.points[:500])

    def peakmem_fit(self, name: str) -> None:
        """Memory at its highest."""
        model(name).fit(self.points)


class Stages:
    """What every method stands on: the search for neighbours, a score, and model files."""

    timer = staticmethod(time.process_time)
    timeout = 600

    def setup(self) -> None:
        """Compile, and fit once."""
        self.points = points()
        self.fitted = model("Isomap").fit(self.points)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "model.lowdim")
        lowdim.save(self.fitted, self.path)
        self.time_score()

    def teardown(self) -> None:
        """Remove the file."""
        self.folder.cleanup()

    def time_score(self) -> None:
        """The scores of an embedding."""
        lowdim.score(self.points, self.fitted.embedding_, random_state=0)

    def time_save(self) -> None:
        """A model to a file."""
        lowdim.save(self.fitted, self.path, force=True)

    def time_load(self) -> None:
        """A model from a file."""
        lowdim.load(self.path)
