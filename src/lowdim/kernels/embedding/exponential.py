"""exp(-D) that the compiler can put into vector instructions: straight-line code, without a call or a branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..compiling import njit

FURTHEST = 708.0
"""exp(-D) is a normal number up to here; beyond, the result is 0."""

_LOG2_E = 1.4426950408889634
# ln 2 in two parts: the first has so few digits that its product with a whole number below 2^11 is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# A number added to 3 * 2^51 is rounded to a whole one, which then stands in the lowest bits of the sum.
_ROUNDER = 6755399441055744.0

# exp(r) for |r| <= ln(2) / 2, interpolated at twelve Chebyshev nodes: relative error 2e-17, below a tenth of rounding.
_C2 = 0.5000000000000019
_C3 = 0.1666666666666668
_C4 = 0.04166666666648809
_C5 = 0.008333333333319601
_C6 = 0.0013888888952315155
_C7 = 0.00019841269890047406
_C8 = 2.480148548192088e-05
_C9 = 2.7557240918265525e-06
_C10 = 2.7632639789868395e-07
_C11 = 2.5110037721946562e-08


def _as_bits(typing_context: Any, number: Any) -> Any:
    """Signature and code of ``as_bits``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _from_bits(typing_context: Any, bits: Any) -> Any:
    """Signature and code of ``from_bits``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


# The bits of a number as a whole number, and back.
as_bits: Callable[[float], int] = cast(Any, intrinsic(_as_bits))
from_bits: Callable[[int], float] = cast(Any, intrinsic(_from_bits))


# Products may be fused into sums; sums must not be reordered, or the rounding to a whole number would vanish.
@njit(cache=True, nogil=True, forceinline=True, fastmath={"contract"})
def exp_minus(D: float) -> float:
    """exp(-D) for D >= 0, to the last digit but one; 0 beyond FURTHEST, infinity included."""
    near = min(D, FURTHEST)
    shifted = _ROUNDER - near * _LOG2_E
    n = shifted - _ROUNDER
    r = (-near - n * _LN2_HIGH) - n * _LN2_LOW
    p = _C11
    p = p * r + _C10
    p = p * r + _C9
    p = p * r + _C8
    p = p * r + _C7
    p = p * r + _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * r + 1.0
    p = p * r + 1.0
    # 2^n p: n is added to the exponent of p.
    value = from_bits(as_bits(p) + (as_bits(shifted) << 52))
    return value if D <= FURTHEST else 0.0
