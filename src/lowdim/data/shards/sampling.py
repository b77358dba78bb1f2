"""Rows by the smallest hash of their numbers, so that the choice is blind to how the rows are cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.parallel import row_blocks
from ...core.records import Integers

HASHED = 1 << 22
"""Row numbers that are hashed at a time."""


def hash_rows(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """A hash of row numbers under a seed: two rounds of the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    start = _mixed(np.array([seed % 2**64], np.uint64))
    return _mixed(numbers ^ start)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def sampled_rows(n_samples: int, count: int, seed: int) -> Integers:
    """The ``count`` row numbers with the smallest hash, rising; the hash is one to one, so that none are equal."""
    if count >= n_samples:
        return np.arange(n_samples)
    best, hashes = np.empty(0, np.uint64), np.empty(0, np.uint64)
    for part in row_blocks(n_samples, HASHED):
        numbers = np.arange(part.start, part.stop, dtype=np.uint64)
        best = np.concatenate((best, numbers))
        hashes = np.concatenate((hashes, hash_rows(numbers, seed)))
        if best.size > count:
            kept = np.argpartition(hashes, count - 1)[:count]
            best, hashes = best[kept], hashes[kept]
    return np.sort(best).astype(np.int64)
