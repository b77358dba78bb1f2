"""Data of many kinds for the benchmark of ``auto``: what differs is what decides between solvers.

Images lie near sheets of ten or more dimensions, whose sparse factors fill in and whose gaps are wide; surfaces and
chains have factors that are nearly free and gaps of 1e-5; tables have ties, copies and many components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import lowdim

from .data import mnist

Generator = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """A way to make rows, the sizes at which it is tried, and its metric."""

    make: Callable[[int, Generator], Any]
    sizes: tuple[int, ...]
    metric: str = "euclidean"


def stored(name: str) -> Callable[[int, Generator], Any]:
    """A stored data set, a sample of it where there is more than is wanted; images by PCA to 50 columns."""

    def make(size: int, rng: Generator) -> Any:
        X = np.asarray(lowdim.datasets.load(name).data, dtype=np.float64)
        if len(X) > size:
            X = X[np.sort(rng.permutation(len(X))[:size])]
        return lowdim.PCA(50).fit_transform(X) if X.shape[1] > 50 else X

    return make


def bundled(name: str) -> Callable[[int, Generator], Any]:
    """One of those that come with scikit-learn, in standard units."""

    def make(size: int, rng: Generator) -> Any:
        from sklearn import datasets

        X = getattr(datasets, f"load_{name}")().data[:size]
        return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)

    return make


def roll(size: int, rng: Generator, noise: float) -> Any:
    """A Swiss roll."""
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(size)), 21 * rng.random(size)
    return np.stack([t * np.cos(t), height, t * np.sin(t)], axis=1) + noise * rng.standard_normal((size, 3))


def s_curve(size: int, rng: Generator, noise: float) -> Any:
    """An S of width 2."""
    t, height = 3 * np.pi * (rng.random(size) - 0.5), 2 * rng.random(size)
    X = np.stack([np.sin(t), height, np.sign(t) * (np.cos(t) - 1)], axis=1)
    return X + noise * rng.standard_normal((size, 3))


def sphere(size: int, rng: Generator, dimensions: int) -> Any:
    """Even on a sphere: eigenvalues come in groups of ``dimensions`` and more."""
    X = rng.standard_normal((size, dimensions))
    return X / np.linalg.norm(X, axis=1)[:, None]


def gaussians(size: int, rng: Generator, dimensions: int, clusters: int, apart: float) -> Any:
    """Clusters whose centres lie some standard deviations apart in each column."""
    centres = apart * rng.standard_normal((clusters, dimensions))
    return centres[rng.integers(clusters, size=size)] + rng.standard_normal((size, dimensions))


def chain(size: int, rng: Generator) -> Any:
    """A long thread in 3 dimensions: the smallest eigenvalues are 1 / N^2."""
    steps = rng.random(size).cumsum()
    return np.stack([steps, np.sin(steps / 50), np.cos(steps / 50)], axis=1)


def integers(size: int, rng: Generator) -> Any:
    """A table of 16 columns of small integers, two factors behind them: ties and copies."""
    X = rng.standard_normal((size, 3)) @ rng.standard_normal((3, 16)) + 0.7 * rng.standard_normal((size, 16))
    return np.clip(np.round(1.5 * X + 7), 0, 15)


def mixed(size: int, rng: Generator) -> Any:
    """40 binary columns and 10 of other scales; the graph falls into dozens of components."""
    group = rng.integers(40, size=size)
    binary = np.where(rng.random((size, 40)) < 0.02, 1, 0) ^ (np.eye(40, dtype=int)[group])
    scales = np.array([1, 1, 2, 5, 10, 10, 20, 50, 100, 200]) / 200
    return np.hstack(
        [8 * binary, rng.standard_normal((size, 10)) * scales + 3 * (group % 7)[:, None] * scales]
    )


def unit_vectors(size: int, rng: Generator) -> Any:
    """Directions in 300 dimensions with decaying variances, as word vectors are."""
    X = rng.standard_normal((size, 300)) / np.sqrt(1 + np.arange(300))
    X += 0.5 * rng.standard_normal((200, 300))[rng.integers(200, size=size)] / np.sqrt(1 + np.arange(300))
    return X / np.linalg.norm(X, axis=1)[:, None]


def counts(size: int, rng: Generator) -> Any:
    """Sparse counts: 2,000 words, twenty topics."""
    topics = rng.dirichlet(np.full(2000, 0.05), 20)
    shares = rng.dirichlet(np.full(20, 0.1), size)
    return sparse.csr_array(rng.poisson(80 * shares @ topics).astype(np.float64))


SURFACES = (10_000, 20_000, 100_000)
KINDS = {
    "MNIST": Kind(lambda size, rng: mnist(size).X, (10_000, 20_000)),
    "COIL-20": Kind(stored("coil20"), (1440,)),
    "Olivetti": Kind(stored("olivetti"), (400,)),
    "Frey faces": Kind(stored("frey_faces"), (1965,)),
    "Isomap faces": Kind(stored("isomap_faces"), (698,)),
    "mammoth": Kind(stored("mammoth"), (10_000, 50_000)),
    "cells": Kind(stored("pbmc68k"), (700,)),
    "8 x 8 digits": Kind(bundled("digits"), (1797,)),
    "wine": Kind(bundled("wine"), (178,)),
    "breast cancer": Kind(bundled("breast_cancer"), (569,)),
    **{f"Swiss roll, noise {noise}": Kind(partial(roll, noise=noise), SURFACES) for noise in (0, 0.1, 1)},
    **{f"S-curve, noise {noise}": Kind(partial(s_curve, noise=noise), SURFACES) for noise in (0, 0.1, 1)},
    "sphere in 10": Kind(partial(sphere, dimensions=10), (10_000,)),
    "Gaussian in 5": Kind(partial(gaussians, dimensions=5, clusters=1, apart=0), (10_000, 20_000)),
    "10 Gaussians in 5, near": Kind(partial(gaussians, dimensions=5, clusters=10, apart=2), (10_000,)),
    "100 Gaussians in 5, far": Kind(partial(gaussians, dimensions=5, clusters=100, apart=20), (10_000,)),
    "Gaussian in 50": Kind(partial(gaussians, dimensions=50, clusters=1, apart=0), (10_000,)),
    "10 Gaussians in 50, near": Kind(partial(gaussians, dimensions=50, clusters=10, apart=0.7), (10_000,)),
    "100 Gaussians in 50, far": Kind(partial(gaussians, dimensions=50, clusters=100, apart=5), (10_000,)),
    "10 Gaussians in 784, near": Kind(
        partial(gaussians, dimensions=784, clusters=10, apart=0.2), (5_000, 10_000)
    ),
    "chain": Kind(chain, (10_000, 100_000)),
    "integers with ties": Kind(integers, (10_000, 20_000)),
    "mixed table": Kind(mixed, (10_000,)),
    "unit vectors, cosine": Kind(unit_vectors, (10_000,), "cosine"),
    "sparse counts": Kind(counts, (5_000, 10_000)),
}


def make(name: str, size: int) -> Any:
    """The rows of a kind."""
    return KINDS[name].make(size, np.random.default_rng(0))
