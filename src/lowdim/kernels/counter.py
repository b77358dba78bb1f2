"""Random numbers by counter: number k of stream i is a hash of (seed, i, k), whoever asks for it and when."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def scrambled(word: Any) -> Any:
    """Output function of the generator splitmix64 (Steele, Lea & Flood 2014)."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def stream(seed: Any, number: int) -> Any:
    """Start of a stream."""
    return scrambled(scrambled(seed + GOLDEN) + np.uint64(number) * GOLDEN)


@njit(cache=True, nogil=True)
def draw(start: Any, number: int) -> float:
    """A number of a stream, evenly spread over [0, 1)."""
    return np.float64(scrambled(start + np.uint64(number + 1) * GOLDEN) >> np.uint64(11)) * 2.0**-53
