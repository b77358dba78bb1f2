"""One edge for sixteen rows at once, in vector instructions of whatever width the machine has.

Left to itself the compiler unrolls a loop of constant length into scalar code before it looks for vectors, so the
operation is written down in LLVM's own vector types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...core.records import Floats

LANES = 16

_DOUBLE, _INDEX, _BITS = ir.DoubleType(), ir.IntType(32), ir.IntType(LANES)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


def _constant(value: float) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * LANES)


def _broadcast(builder: ir.IRBuilder, scalar: ir.Value) -> ir.Value:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


def _sum(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    """Sum of the lanes by halves."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                vector, undefined, ir.Constant(ir.VectorType(_INDEX, half), list(range(at, at + half)))
            )
            for at in (0, half)
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.Constant(_INDEX, 0))


def _finite_mean(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    finite = builder.fcmp_ordered("<", vector, _constant(float("inf")))
    total = _sum(builder, builder.select(finite, vector, _constant(0.0)))
    count = builder.ctpop(builder.bitcast(finite, _BITS))
    return builder.fdiv(total, builder.uitofp(count, _DOUBLE))


def _relax(typing_context: Any, labels: Any, source: Any, target: Any, length: Any) -> Any:
    """Signature and code of ``relax``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        places = (builder.mul(node, ir.Constant(node.type, LANES)) for node in arguments[1:3])
        start, end = (builder.bitcast(builder.gep(array.data, [at]), _VECTOR.as_pointer()) for at in places)
        old = builder.load(end, align=8)
        new = builder.fadd(builder.load(start, align=8), _broadcast(builder, arguments[3]))
        smaller = builder.fcmp_ordered("<", new, old)
        changed = builder.icmp_unsigned("!=", builder.bitcast(smaller, _BITS), ir.Constant(_BITS, 0))
        before = builder.block
        with builder.if_then(changed):
            merged = builder.select(smaller, new, old)
            builder.store(merged, end, align=8)
            mean = _finite_mean(builder, merged)
            inside = builder.block
        result = builder.phi(_DOUBLE)
        result.add_incoming(ir.Constant(_DOUBLE, -1.0), before)
        result.add_incoming(mean, inside)
        return result

    return types.float64(labels, types.int64, types.int64, types.float64), generate


# labels[target] = min(labels[target], labels[source] + length) in every lane of a C-ordered (N x LANES) array; the mean
# of the finite labels of the target if any became smaller, else -1.
relax: Callable[[Floats, int, int, float], float] = cast(Any, intrinsic(_relax))
