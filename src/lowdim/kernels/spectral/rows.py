"""Rows of numbers added and multiplied eight at a time, for rows of forty as for rows of a thousand.

Left to itself the compiler prepares such a loop for long rows, and goes over most of a short one number by number.
Rows are named by where they begin in a flat array. Each function covers the whole eights of a length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...core.records import Floats
from ..simd import broadcast, by_halves
from ..vectors import EIGHT, over_eights

_VECTOR = ir.VectorType(ir.DoubleType(), EIGHT)


def _place(builder: ir.IRBuilder, data: ir.Value, *offsets: ir.Value) -> ir.Value:
    for offset in offsets:
        data = builder.gep(data, [offset])
    return builder.bitcast(data, _VECTOR.as_pointer())


def _data(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, at: int) -> ir.Value:
    return context.make_array(signature.args[at])(context, builder, arguments[at]).data


def _minus(builder: ir.IRBuilder, total: ir.Value, factor: ir.Value, values: ir.Value) -> ir.Value:
    product = builder.fmul(factor, values, flags=("contract",))
    return builder.fsub(total, product, flags=("contract",))


def _subtract_one(typing_context: Any, A: Any, own: Any, B: Any, other: Any, factor: Any, length: Any) -> Any:
    """Signature and code of ``subtract_one``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        out, rows = (_data(context, builder, signature, arguments, at) for at in (0, 2))
        factor = broadcast(builder, arguments[4], EIGHT)

        def step(place: ir.Value, nothing: ir.Value) -> ir.Value:
            target = _place(builder, out, arguments[1], place)
            values = builder.load(_place(builder, rows, arguments[3], place), align=8)
            builder.store(_minus(builder, builder.load(target, align=8), factor, values), target, align=8)
            return nothing

        over_eights(builder, arguments[5], step)
        return context.get_dummy_value()

    n = types.int64
    return types.void(A, n, B, n, types.float64, n), generate


def _subtract_four(
    typing_context: Any, A: Any, own: Any, first: Any, stride: Any, factors: Any, length: Any
) -> Any:
    """Signature and code of ``subtract_four``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        data = _data(context, builder, signature, arguments, 0)
        factors = [broadcast(builder, builder.extract_value(arguments[4], at), EIGHT) for at in range(4)]
        rows = [arguments[2]]
        for _ in range(3):
            rows.append(builder.add(rows[-1], arguments[3]))

        def step(place: ir.Value, nothing: ir.Value) -> ir.Value:
            target = _place(builder, data, arguments[1], place)
            total = builder.load(target, align=8)
            for row, factor in zip(rows, factors, strict=True):
                total = _minus(
                    builder, total, factor, builder.load(_place(builder, data, row, place), align=8)
                )
            builder.store(total, target, align=8)
            return nothing

        over_eights(builder, arguments[5], step)
        return context.get_dummy_value()

    n, four = types.int64, cast(Any, types).UniTuple(types.float64, 4)
    return types.void(A, n, n, n, four, n), generate


def _dot(typing_context: Any, A: Any, own: Any, B: Any, other: Any, length: Any) -> Any:
    """Signature and code of ``dot``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        left, right = (_data(context, builder, signature, arguments, at) for at in (0, 2))

        def step(place: ir.Value, total: ir.Value) -> ir.Value:
            x = builder.load(_place(builder, left, arguments[1], place), align=8)
            y = builder.load(_place(builder, right, arguments[3], place), align=8)
            return builder.fadd(builder.fmul(x, y, flags=("contract",)), total, flags=("contract",))

        return by_halves(builder, over_eights(builder, arguments[4], step), builder.fadd)

    n = types.int64
    return types.float64(A, n, B, n, n), generate


# A[own + c] -= factor B[other + c] over the whole eights c of ``length``.
subtract_one: Callable[[Floats, int, Floats, int, float, int], None] = cast(Any, intrinsic(_subtract_one))

# A[own + c] -= factors[r] A[first + r stride + c], r = 0 to 3 in this order, over the whole eights c of ``length``.
subtract_four: Callable[[Floats, int, int, int, tuple[float, float, float, float], int], None] = cast(
    Any, intrinsic(_subtract_four)
)

# Sum of A[own + c] B[other + c] over the whole eights c of ``length``: eight lanes, added by halves at the end.
dot: Callable[[Floats, int, Floats, int, int], float] = cast(Any, intrinsic(_dot))
