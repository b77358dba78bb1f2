"""log q for q >= 1 that the compiler can put into vector instructions: straight-line code, without a call or branch."""

from __future__ import annotations

from ..compiling import njit
from .exponential import as_bits, from_bits

_HALF_ROOT = 0x3FE6A09E667F3BCD
"""Bits of sqrt(1/2)."""
_FRACTION_BITS = 52
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
"""ln 2 in two parts: the first has so few digits that its product with a whole number below 2^11 is exact."""


# The order of the terms is what keeps their rounding small.
@njit(cache=True, nogil=True, forceinline=True, fastmath={"contract"}, error_model="numpy")
def log_above_one(q: float) -> float:
    """log q for finite q >= 1, to the last digit but one.

    q = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh s = 2 s (1 + s^2 / 3 + s^4 / 5 + ...), s = (m - 1) /
    (m + 1): |s| < 0.172, so that the terms from s^22 / 23 on are below 1e-18.
    """
    bits = as_bits(q)
    e = (bits - _HALF_ROOT) >> _FRACTION_BITS
    f = from_bits(bits - (e << _FRACTION_BITS)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    return e * _LN2_HIGH + (2.0 * s + (s * z * p + e * _LN2_LOW))
