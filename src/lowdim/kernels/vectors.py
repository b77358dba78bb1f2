"""Sums over two rows of numbers, eight at a time, in vector instructions of whatever width the machine has.

Left to itself the compiler prepares each such loop for long rows, which costs more than the arithmetic of a short one;
here a row of fifty takes ten nanoseconds. Rows are named by their number in an array in C order: a view of a row would
cost as much again. Each function covers the whole eights of a row and leaves the rest to its caller. The order of a sum
is fixed: eight lanes, added by halves at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..core.records import Floats
from .simd import broadcast, by_halves, constant, pair_of

EIGHT = 8

_COUNT, _DOUBLE = ir.IntType(64), ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, EIGHT)


def _load(context: Any, builder: ir.IRBuilder, start: ir.Value, dtype: Any, place: ir.Value) -> ir.Value:
    """Eight entries of a row from a place on, in double precision."""
    vector = ir.VectorType(context.get_data_type(dtype), EIGHT)
    pointer = builder.bitcast(builder.gep(start, [place]), vector.as_pointer())
    values = builder.load(pointer, align=dtype.bitwidth // 8)
    if dtype == types.float64:
        return values
    return builder.fpext(values, _VECTOR) if dtype == types.float32 else builder.uitofp(values, _VECTOR)


def _row_starts(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> list[ir.Value]:
    """Where the two rows begin that the first four arguments name: an array and a number, twice."""
    starts = []
    for at in (0, 2):
        array = context.make_array(signature.args[at])(context, builder, arguments[at])
        place = builder.mul(arguments[at + 1], builder.extract_value(array.shape, 1))
        starts.append(builder.gep(array.data, [place]))
    return starts


def over_eights(
    builder: ir.IRBuilder, length: ir.Value, step: Callable[[ir.Value, ir.Value], ir.Value]
) -> ir.Value:
    """A vector of zeros carried through ``step(place, vector)`` for each whole eight of a length."""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    place, carried = builder.phi(_COUNT), builder.phi(_VECTOR)
    place.add_incoming(ir.Constant(_COUNT, 0), before)
    carried.add_incoming(constant(_VECTOR, 0.0), before)
    following = builder.add(place, ir.Constant(_COUNT, EIGHT))
    builder.cbranch(builder.icmp_signed("<=", following, length), body, after)
    builder.position_at_end(body)
    result = step(place, carried)
    place.add_incoming(following, builder.block)
    carried.add_incoming(result, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return carried


def _squared_differences(
    typing_context: Any, x: Any, row: Any, y: Any, point: Any, x_map: Any, y_map: Any
) -> Any:
    """Signature and code of ``squared_differences``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        starts = _row_starts(context, builder, signature, arguments)
        maps = [
            [broadcast(builder, builder.extract_value(arguments[at], part), EIGHT) for part in (0, 1)]
            for at in (4, 5)
        ]
        dtypes = signature.args[0].dtype, signature.args[2].dtype

        def step(place: ir.Value, total: ir.Value) -> ir.Value:
            mapped = [
                builder.fmul(builder.fsub(_load(context, builder, start, dtype, place), shift), scale)
                for start, dtype, (shift, scale) in zip(starts, dtypes, maps, strict=True)
            ]
            difference = builder.fsub(*mapped)
            return builder.fadd(total, builder.fmul(difference, difference))

        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return by_halves(
            builder, over_eights(builder, builder.extract_value(array.shape, 1), step), builder.fadd
        )

    pair = pair_of(types.float64)
    return types.float64(x, types.int64, y, types.int64, pair, pair), generate


def _products(typing_context: Any, x: Any, row: Any, y: Any, point: Any, length: Any) -> Any:
    """Signature and code of ``products``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        starts = _row_starts(context, builder, signature, arguments)

        def step(place: ir.Value, total: ir.Value) -> ir.Value:
            values = [_load(context, builder, start, types.float64, place) for start in starts]
            return builder.fadd(builder.fmul(*values, flags=("contract",)), total, flags=("contract",))

        return by_halves(builder, over_eights(builder, arguments[4], step), builder.fadd)

    return types.float64(x, types.int64, y, types.int64, types.int64), generate


def _write_differences(
    typing_context: Any, x: Any, row: Any, y: Any, point: Any, span: Any, scale: Any, out: Any, line: Any
) -> Any:
    """Signature and code of ``write_differences``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        starts = _row_starts(context, builder, signature, arguments)
        left, length = (builder.extract_value(arguments[4], place) for place in (0, 1))
        scale = broadcast(builder, arguments[5], EIGHT)
        array = context.make_array(signature.args[6])(context, builder, arguments[6])
        into = builder.mul(arguments[7], builder.extract_value(array.shape, 1))

        def step(place: ir.Value, nothing: ir.Value) -> ir.Value:
            column = builder.add(left, place)
            values = [_load(context, builder, start, types.float64, column) for start in starts]
            target = builder.gep(array.data, [builder.add(into, place)])
            difference = builder.fmul(builder.fsub(*values), scale)
            builder.store(difference, builder.bitcast(target, _VECTOR.as_pointer()), align=8)
            return nothing

        over_eights(builder, length, step)
        return context.get_dummy_value()

    pair, n = pair_of(types.int64), types.int64
    return types.void(x, n, y, n, pair, types.float64, out, n), generate


# Sum of ((x_c - shift) scale - (y_c - shift') scale')^2 over the whole eights of x = X[row] and y = Y[point], with the
# pairs (shift, scale) of x and of y. No product is fused into a sum: the result is the same for (x, y) and (y, x), and
# 0 for equal rows.
squared_differences: Callable[
    [NDArray[Any], int, NDArray[Any], int, tuple[float, float], tuple[float, float]], float
] = cast(Any, intrinsic(_squared_differences))

# Sum of x_c y_c over the whole eights among the first ``length`` columns of x = X[row] and y = Y[point].
products: Callable[[Floats, int, Floats, int, int], float] = cast(Any, intrinsic(_products))

# out[line, c] = (x_{left + c} - y_{left + c}) scale over the whole eights c of ``span`` = (left, length), x and y as
# above. What is written eight at a time can be read so at once; written one by one it must reach the cache first.
write_differences: Callable[[Floats, int, Floats, int, tuple[int, int], float, Floats, int], None] = cast(
    Any, intrinsic(_write_differences)
)
