"""Logarithm and power of two in single precision, without a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit

HALF_ROOT = np.int32(0x3F3504F3)
"""Bits of sqrt(1/2) in single precision."""
LOG_TWO = np.float32(np.log(2.0))
MANTISSA, BIAS = np.int32(23), np.int32(127)


@njit(cache=True, nogil=True, forceinline=True, fastmath=True)
def logarithm(q: Any) -> Any:
    """log q of a positive, normal q.

    q = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh s, s = (m - 1) / (m + 1), by four terms of its
    series: the error is below 1e-7.
    """
    bits = np.float32(q).view(np.int32)
    exponent = np.int32(np.int32(bits - HALF_ROOT) >> MANTISSA)
    m = np.int32(bits - np.int32(exponent << MANTISSA)).view(np.float32)
    s = (m - np.float32(1.0)) / (m + np.float32(1.0))
    t = s * s
    series = np.float32(1 / 7) * t + np.float32(1 / 5)
    series = (series * t + np.float32(1 / 3)) * t + np.float32(1.0)
    return np.float32(exponent) * LOG_TWO + np.float32(2.0) * s * series


@njit(cache=True, nogil=True, forceinline=True, fastmath=True)
def exponential(x: Any) -> Any:
    """exp x for |x| < 87: 2^n e^r, |r| <= log(2) / 2, the second by six terms of its series; true to 1e-6."""
    scaled = np.float32(x) / LOG_TWO
    n = np.floor(scaled + np.float32(0.5))
    r = (scaled - n) * LOG_TWO
    series = np.float32(1 / 720) * r + np.float32(1 / 120)
    series = (series * r + np.float32(1 / 24)) * r + np.float32(1 / 6)
    series = ((series * r + np.float32(0.5)) * r + np.float32(1.0)) * r + np.float32(1.0)
    return series * np.int32((np.int32(n) + BIAS) << MANTISSA).view(np.float32)
