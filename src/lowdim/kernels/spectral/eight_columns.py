"""A dense symmetric matrix times eight columns, half of it read: eight cost little more than two.

Sixteen sums stay in vector registers, which the compiler does not see by itself: eight rows of the matrix are
multiplied as rows, and as columns, while they pass by once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...core.records import Floats
from ..compiling import njit
from ..simd import broadcast

WIDTH = 8
"""Columns of a product, and rows that are taken at once."""
TILE = 512

_COUNT, _VECTOR = ir.IntType(64), ir.VectorType(ir.DoubleType(), WIDTH)


def _add(builder: ir.IRBuilder, total: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
    return builder.fadd(total, builder.fmul(one, other, flags=("contract",)), flags=("contract",))


def _eight_rows(typing_context: Any, matrix: Any, row: Any, X: Any, out: Any, first: Any, last: Any) -> Any:
    """Signature and code of ``eight_rows``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        arrays = [context.make_array(signature.args[at])(context, builder, arguments[at]) for at in (0, 2, 3)]
        size, row = builder.extract_value(arrays[0].shape, 1), arguments[1]

        def vector(array: Any, at: ir.Value) -> ir.Value:
            place = builder.gep(array.data, [builder.mul(at, ir.Constant(_COUNT, WIDTH))])
            return builder.bitcast(place, _VECTOR.as_pointer())

        numbers = [builder.add(row, ir.Constant(_COUNT, r)) for r in range(WIDTH)]
        lines = [builder.gep(arrays[0].data, [builder.mul(number, size)]) for number in numbers]
        factors = [builder.load(vector(arrays[1], number), align=8) for number in numbers]
        begun = [builder.load(vector(arrays[2], number), align=8) for number in numbers]
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        column, sums = builder.phi(_COUNT), [builder.phi(_VECTOR) for _ in numbers]
        column.add_incoming(arguments[4], before)
        for total, start in zip(sums, begun, strict=True):
            total.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", column, arguments[5]), body, after)
        builder.position_at_end(body)
        values, target = builder.load(vector(arrays[1], column), align=8), vector(arrays[2], column)
        across = builder.load(target, align=8)
        for line, total, factor in zip(lines, sums, factors, strict=True):
            entry = broadcast(builder, builder.load(builder.gep(line, [column])), WIDTH)
            total.add_incoming(_add(builder, total, entry, values), body)
            across = _add(builder, across, entry, factor)
        builder.store(across, target, align=8)
        column.add_incoming(builder.add(column, ir.Constant(_COUNT, 1)), body)
        builder.branch(head)
        builder.position_at_end(after)
        for number, total in zip(numbers, sums, strict=True):
            builder.store(total, vector(arrays[2], number), align=8)
        return context.get_dummy_value()

    n = types.int64
    return types.void(matrix, n, X, out, n, n), generate


# Of the rows [row, row + 8) of a matrix the columns [first, last), which lie right of these rows on the diagonal:
# out[row + r] += m_rj X[j] and out[j] += m_rj X[row + r], with X and out N x 8. All arrays are in C order.
eight_rows: Callable[[Floats, int, Floats, Floats, int, int], None] = cast(Any, intrinsic(_eight_rows))


@njit(cache=True, nogil=True, fastmath={"contract"})
def product(matrix: Floats, X: Floats, out: Floats, start: int, stop: int) -> None:
    """Add to ``out`` (N x 8) what the rows [start, stop), right of the diagonal and on it, have in the product with X.

    A tile of columns at a time, whose vectors stay in the nearest cache.
    """
    size = matrix.shape[0]
    whole = start + (stop - start) // WIDTH * WIDTH
    for tile in range(start, size, TILE):
        last = min(tile + TILE, size)
        for row in range(start, min(whole, last), WIDTH):
            eight_rows(matrix, row, X, out, max(tile, row + WIDTH), last)
    for i in range(start, stop):
        for c in range(WIDTH):
            out[i, c] += matrix[i, i] * X[i, c]
        # The triangle within eight rows, or all of a row that is left over.
        end = i - (i - start) % WIDTH + WIDTH if i < whole else size
        for j in range(i + 1, end):
            for c in range(WIDTH):
                out[i, c] += matrix[i, j] * X[j, c]
                out[j, c] += matrix[i, j] * X[i, c]
