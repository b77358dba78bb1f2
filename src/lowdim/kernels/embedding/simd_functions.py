"""Logarithm and power in single precision, eight at a time, written down in LLVM's own vector types."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from ..simd import INDEX, constant

LANES = 8
INDICES, SINGLES = ir.VectorType(INDEX, LANES), ir.VectorType(ir.FloatType(), LANES)
HALF_ROOT = 0x3F3504F3
"""Bits of sqrt(1/2) in single precision."""
MANTISSA = 23
LOG_TWO = 0.6931471805599453
ROUNDING = 1.5 * 2.0**MANTISSA
"""Added to a number it leaves no bits for a fraction: the last bits are those of the nearest whole number."""
EXPONENTIAL = (1.00000007, 6.93146967e-1, 2.40221197e-1, 5.55071331e-2, 9.67554037e-3, 1.32764546e-3)
"""Powers of x, from 1 up, in 2^x for |x| <= 1/2: to 8e-8 of it."""
LOGARITHM = (
    1.44269478,
    -7.21356886e-1,
    4.80938937e-1,
    -3.60095895e-1,
    2.86717835e-1,
    -2.49993328e-1,
    2.36814946e-1,
    -1.45871777e-1,
)
"""Powers of x, from 1 up, in log2(1 + x) / x for 1 + x from sqrt(1/2) to sqrt(2): log2 to 5e-8."""


def single(value: float) -> ir.Constant:
    """A number in every lane, as single precision holds it."""
    return constant(SINGLES, float(np.float32(value)))


def intrinsic_function(
    builder: ir.IRBuilder, name: str, returned: ir.Type, arguments: list[ir.Type]
) -> ir.Function:
    """One of LLVM's own functions."""
    module = builder.module
    known = module.globals.get(name)
    return ir.Function(module, ir.FunctionType(returned, arguments), name) if known is None else known


def times(builder: ir.IRBuilder, factor: ir.Value, other: ir.Value, plus: ir.Value) -> ir.Value:
    """The product of two plus a third, rounded once where the machine can."""
    name = f"llvm.fmuladd.v{LANES}f32"
    return builder.call(intrinsic_function(builder, name, SINGLES, [SINGLES] * 3), [factor, other, plus])


def logarithm(builder: ir.IRBuilder, q: ir.Value) -> ir.Value:
    """Natural logarithms of positive, normal q; the error is below 1e-7, or half of the last digit."""
    exponent, fraction = _log2(builder, q)
    return builder.fmul(builder.fadd(exponent, fraction), single(LOG_TWO))


def power(builder: ir.IRBuilder, q: ir.Value, b: ir.Value) -> ir.Value:
    """q^b of positive, normal q where it is normal too; the relative error is below 5e-7.

    q = 2^e m, so that q^b = 2^n 2^r with b e + b log2 m = n + r and n the nearest whole number. b e - n is rounded
    once: it loses nothing to a large e.
    """
    exponent, fraction = _log2(builder, q)
    fraction = builder.fmul(b, fraction)
    shifted = builder.fadd(times(builder, b, exponent, fraction), single(ROUNDING))
    whole = builder.fsub(shifted, single(ROUNDING))
    r = builder.fadd(times(builder, b, exponent, builder.fneg(whole)), fraction)
    bits = builder.shl(builder.bitcast(shifted, INDICES), constant(INDICES, MANTISSA))
    series = builder.bitcast(_polynomial(builder, r, EXPONENTIAL), INDICES)
    return builder.bitcast(builder.add(series, bits), SINGLES)


def _log2(builder: ir.IRBuilder, q: ir.Value) -> tuple[ir.Value, ir.Value]:
    """e and log2 m of q = 2^e m, m in [sqrt(1/2), sqrt(2))."""
    bits, shift = builder.bitcast(q, INDICES), constant(INDICES, MANTISSA)
    exponent = builder.ashr(builder.sub(bits, constant(INDICES, HALF_ROOT)), shift)
    m = builder.bitcast(builder.sub(bits, builder.shl(exponent, shift)), SINGLES)
    x = builder.fsub(m, single(1.0))
    return builder.sitofp(exponent, SINGLES), builder.fmul(x, _polynomial(builder, x, LOGARITHM))


def _polynomial(builder: ir.IRBuilder, x: ir.Value, coefficients: tuple[float, ...]) -> ir.Value:
    """By pairs, pairs of pairs and so on (Estrin 1960): few products wait for one another."""
    terms: list[ir.Value] = [single(value) for value in coefficients]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        last = terms[-1:] if len(terms) % 2 else []
        terms = [times(builder, high, x, low) for low, high in pairs] + last
        x = builder.fmul(x, x)
    return terms[0]
