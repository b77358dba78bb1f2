"""Many rows taken off four others at once: the bulk of the work of a dense front, as fast as the machine multiplies.

Four rows of eight sums stay in vector registers while all the rows that are taken off pass by, which the compiler does
not see by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...core.records import Floats
from ..simd import broadcast
from ..vectors import EIGHT

FOUR = 4
_COUNT, _VECTOR = ir.IntType(64), ir.VectorType(ir.DoubleType(), EIGHT)


def _vector(builder: ir.IRBuilder, data: ir.Value, *offsets: ir.Value) -> ir.Value:
    for offset in offsets:
        data = builder.gep(data, [offset])
    return builder.bitcast(data, _VECTOR.as_pointer())


def _taken_off(
    builder: ir.IRBuilder, sums: list[ir.Value], data: ir.Value, given: ir.Value, walk: tuple[ir.Value, ...]
) -> list[ir.Value]:
    """Vectors less the rows of a walk (where it begins, its stride, how many) by their factors."""
    first, stride, count = walk
    before = builder.block
    head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    turn, place = builder.phi(_COUNT), builder.phi(_COUNT)
    left = [builder.phi(_VECTOR) for _ in sums]
    turn.add_incoming(ir.Constant(_COUNT, 0), before)
    place.add_incoming(first, before)
    for total, start in zip(left, sums, strict=True):
        total.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", turn, count), body, end)
    builder.position_at_end(body)
    values = builder.load(_vector(builder, data, place), align=8)
    at = builder.mul(turn, ir.Constant(_COUNT, FOUR))
    for r, total in enumerate(left):
        entry = builder.gep(given, [builder.add(at, ir.Constant(_COUNT, r))])
        factor = broadcast(builder, builder.load(entry), EIGHT)
        product = builder.fmul(factor, values, flags=("contract",))
        total.add_incoming(builder.fsub(total, product, flags=("contract",)), body)
    turn.add_incoming(builder.add(turn, ir.Constant(_COUNT, 1)), body)
    place.add_incoming(builder.add(place, stride), body)
    builder.branch(head)
    builder.position_at_end(end)
    return left


def _subtract_rows(
    typing_context: Any, A: Any, own: Any, first: Any, stride: Any, factors: Any, count: Any, length: Any
) -> Any:
    """Signature and code of ``subtract_rows``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        data, given = (
            context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 4)
        )
        own, first, stride, count, length = (arguments[at] for at in (1, 2, 3, 5, 6))
        rows = [own]
        for _ in range(FOUR - 1):
            rows.append(builder.add(rows[-1], stride))
        before = builder.block
        eights, inside, after = (builder.append_basic_block(name) for name in ("eights", "inside", "after"))
        builder.branch(eights)
        builder.position_at_end(eights)
        place = builder.phi(_COUNT)
        place.add_incoming(ir.Constant(_COUNT, 0), before)
        builder.cbranch(builder.icmp_signed("<", place, length), inside, after)
        builder.position_at_end(inside)
        targets = [_vector(builder, data, row, place) for row in rows]
        sums = [builder.load(target, align=8) for target in targets]
        sums = _taken_off(builder, sums, data, given, (builder.add(first, place), stride, count))
        for target, total in zip(targets, sums, strict=True):
            builder.store(total, target, align=8)
        place.add_incoming(builder.add(place, ir.Constant(_COUNT, EIGHT)), builder.block)
        builder.branch(eights)
        builder.position_at_end(after)
        return context.get_dummy_value()

    n = types.int64
    return types.void(A, n, n, n, factors, n, n), generate


# A[own + r stride + c] -= sum_p factors[4 p + r] A[first + p stride + c], p in this order, for r = 0 to 3, p below
# ``count`` and the whole eights c of ``length``.
subtract_rows: Callable[[Floats, int, int, int, Floats, int, int], None] = cast(
    Any, intrinsic(_subtract_rows)
)
