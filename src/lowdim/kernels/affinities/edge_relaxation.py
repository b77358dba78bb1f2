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
from ..simd import broadcast, by_halves, constant

LANES = 16

_DOUBLE, _BITS = ir.DoubleType(), ir.IntType(LANES)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


def _finite_mean(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    finite = builder.fcmp_ordered("<", vector, constant(_VECTOR, float("inf")))
    total = by_halves(builder, builder.select(finite, vector, constant(_VECTOR, 0.0)), builder.fadd)
    count = builder.ctpop(builder.bitcast(finite, _BITS))
    return builder.fdiv(total, builder.uitofp(count, _DOUBLE))


def _relax(typing_context: Any, labels: Any, source: Any, target: Any, length: Any) -> Any:
    """Signature and code of ``relax``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        places = (builder.mul(node, ir.Constant(node.type, LANES)) for node in arguments[1:3])
        start, end = (builder.bitcast(builder.gep(array.data, [at]), _VECTOR.as_pointer()) for at in places)
        old = builder.load(end, align=8)
        new = builder.fadd(builder.load(start, align=8), broadcast(builder, arguments[3], LANES))
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
