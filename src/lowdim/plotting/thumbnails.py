"""Pictures of the points themselves: checked, made small, and placed on the map where they do not cover each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.records import Floats, Integers
from ..errors import InputError
from ..validation import take_entries

_SAMPLE = 500
_INK = 0.4


@dataclass(frozen=True, slots=True)
class Images:
    """Images of the points, N x h x w (x 3), and the values that are drawn black and white."""

    pixels: NDArray[Any]
    low: float
    high: float

    @classmethod
    def of(cls, images: ArrayLike, n_points: int) -> Images:
        """Check the shape: N x h x w, N x h x w x 3, or N x D with a square D."""
        pixels = images if isinstance(images, np.ndarray) else take_entries(images, "images")
        if pixels.ndim == 2 and (side := int(np.sqrt(pixels.shape[1]))) ** 2 == pixels.shape[1] > 0:
            pixels = pixels.reshape(-1, side, side)
        plain = pixels.ndim == 3 or (pixels.ndim == 4 and pixels.shape[-1] == 3)
        if not plain or pixels.shape[0] != n_points or pixels.size == 0 or pixels.dtype.kind not in "biuf":
            raise InputError(
                f"images must be numbers of shape {n_points} x height x width (x 3), or {n_points} x D with a square "
                f"D; got {pixels.dtype} of shape {pixels.shape}. Reshape them."
            )
        ends = [_ends(pixels[start : start + _SAMPLE]) for start in range(0, n_points, _SAMPLE)]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        return cls(pixels, low, high if high > low else low + 1.0)

    @property
    def count(self) -> int:
        """N."""
        return int(self.pixels.shape[0])

    def thumbnails(self, rows: Integers, side: int) -> NDArray[np.uint8]:
        """Some images, at most ``side`` pixels high and wide, as bytes; each pixel the mean of those it covers."""
        block = np.nan_to_num(
            self.pixels[rows].astype(np.float64), nan=self.low, posinf=self.high, neginf=self.low
        )
        height, width = block.shape[1:3]
        shrink = min(1.0, side / max(height, width))
        down, across = (_means(length, max(1, round(length * shrink))) for length in (height, width))
        small = np.einsum("ah,nhw...->naw...", down, block, optimize=True)
        small = np.einsum("bw,naw...->nab...", across, small, optimize=True)
        scaled: Floats = (small - self.low) * (255.0 / (self.high - self.low))
        return np.round(scaled).clip(0, 255).astype(np.uint8)

    def is_ink(self) -> bool:
        """Whether the images are strokes on an empty ground, such as digits: mostly the lowest value."""
        if self.pixels.ndim == 4:
            return False
        sample = self.thumbnails(np.linspace(0, self.count - 1, min(self.count, 200)).astype(np.int64), 64)
        return bool(np.mean(sample < 16) > _INK)


def _ends(block: NDArray[Any]) -> tuple[float, float]:
    known = block[np.isfinite(block)]
    return (float(known.min()), float(known.max())) if known.size else (np.inf, -np.inf)


def _means(length: int, parts: int) -> Floats:
    """Rows that average ``length`` pixels into ``parts``, each pixel by the share of it that falls into the part."""
    edges = np.linspace(0, length, parts + 1)
    pixel = np.arange(length)
    shares = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    weights: Floats = np.clip(shares, 0.0, None)
    means: Floats = weights / weights.sum(axis=1, keepdims=True)
    return means


def spread_out(places: Floats, side: float, most: int) -> Integers:
    """Rows of ``places`` (N x 2, in pixels) at which squares of that side stand apart, at most so many.

    A fixed random order is gone through; each square keeps clear of all before it.
    """
    left: Integers = np.random.default_rng(0).permutation(len(places))
    kept: list[int] = []
    while left.size and len(kept) < most:
        kept.append(int(left[0]))
        left = left[np.abs(places[left] - places[kept[-1]]).max(axis=1) >= side]
    return np.array(kept, dtype=np.int64)
