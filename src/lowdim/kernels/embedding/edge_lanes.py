"""The edges of a point of the plane under Student's kernel, eight at a time in vector registers.

Left to itself the compiler takes edges one by one, because the points at their far ends lie anywhere in memory. Here
the two coordinates of a point are one number of 64 bits, so that eight points come in one instruction where the machine
has it, and an edge costs hardly more than to read its eight bytes. All is written down in LLVM's own vector types, for
machines of any width. The order of the sums is fixed: eight lanes, added by halves at the end of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..lanes import INDEX, broadcast, by_halves, constant

LANES = 8
HALF_ROOT = 0x3F3504F3
"""Bits of sqrt(1/2) in single precision."""
LOG_TWO = 0.6931471805599453

Numbers = NDArray[Any]
_COUNT, _SINGLE = ir.IntType(64), ir.FloatType()
_COUNTS, _INDICES = ir.VectorType(_COUNT, LANES), ir.VectorType(INDEX, LANES)
_SINGLES, _BITS = ir.VectorType(_SINGLE, LANES), ir.VectorType(ir.IntType(1), LANES)
_NAMES = {_COUNTS: f"v{LANES}i64", _INDICES: f"v{LANES}i32", _SINGLES: f"v{LANES}f32"}
_FUSED = ("contract",)


def _function(builder: ir.IRBuilder, name: str, returned: ir.Type, arguments: list[ir.Type]) -> ir.Function:
    """One of LLVM's own functions."""
    module = builder.module
    known = module.globals.get(name)
    return ir.Function(module, ir.FunctionType(returned, arguments), name) if known is None else known


def _load(
    builder: ir.IRBuilder, data: ir.Value, place: ir.Value, vector: ir.VectorType, mask: ir.Value
) -> ir.Value:
    """The entries from a place on where the mask is set, 0 elsewhere."""
    pointer = builder.bitcast(builder.gep(data, [place]), vector.as_pointer())
    name = f"llvm.masked.load.{_NAMES[vector]}.p0"
    load = _function(builder, name, vector, [pointer.type, INDEX, _BITS, vector])
    return builder.call(load, [pointer, INDEX(4), mask, constant(vector, 0)])


def _gather(builder: ir.IRBuilder, data: ir.Value, places: ir.Value, mask: ir.Value) -> list[ir.Value]:
    """The two coordinates of the points at some places where the mask is set, 0 elsewhere."""
    start = broadcast(builder, builder.ptrtoint(data, _COUNT), LANES)
    offsets = builder.shl(builder.sext(places, _COUNTS), constant(_COUNTS, 3))
    pointers = builder.inttoptr(builder.add(start, offsets), ir.VectorType(_COUNT.as_pointer(), LANES))
    name = f"llvm.masked.gather.{_NAMES[_COUNTS]}.v{LANES}p0"
    gather = _function(builder, name, _COUNTS, [pointers.type, INDEX, _BITS, _COUNTS])
    both = builder.call(gather, [pointers, INDEX(8), mask, constant(_COUNTS, 0)])
    halves = [both, builder.lshr(both, constant(_COUNTS, 32))]
    return [builder.bitcast(builder.trunc(half, _INDICES), _SINGLES) for half in halves]


def _times(builder: ir.IRBuilder, factor: ir.Value, other: ir.Value, plus: ir.Value) -> ir.Value:
    return builder.fadd(builder.fmul(factor, other, flags=_FUSED), plus, flags=_FUSED)


def _logarithm(builder: ir.IRBuilder, q: ir.Value) -> ir.Value:
    """Logarithms of q = 2^e m, m in [sqrt(1/2), sqrt(2)).

    log m = 2 artanh s, s = (m - 1) / (m + 1), by four terms of its series: the error is below 1e-7.
    """
    bits, shift = builder.bitcast(q, _INDICES), constant(_INDICES, 23)
    exponent = builder.ashr(builder.sub(bits, constant(_INDICES, HALF_ROOT)), shift)
    m = builder.bitcast(builder.sub(bits, builder.shl(exponent, shift)), _SINGLES)
    one = constant(_SINGLES, 1.0)
    s = builder.fdiv(builder.fsub(m, one), builder.fadd(m, one))
    t = builder.fmul(s, s)
    series = constant(_SINGLES, _rounded(1 / 7))
    for term in (1 / 5, 1 / 3, 1.0):
        series = _times(builder, series, t, constant(_SINGLES, _rounded(term)))
    twice = builder.fmul(builder.fadd(s, s), series)
    return _times(builder, builder.sitofp(exponent, _SINGLES), constant(_SINGLES, _rounded(LOG_TWO)), twice)


def _rounded(value: float) -> float:
    """A number that single precision holds, as LLVM asks for."""
    return float(np.float32(value))


def _over_edges(
    builder: ir.IRBuilder,
    first: ir.Value,
    last: ir.Value,
    count: int,
    step: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """So many sums, carried through ``step(place, sums)`` for every eighth place from the first on."""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    place, sums = builder.phi(_COUNT), [builder.phi(_SINGLES) for _ in range(count)]
    builder.cbranch(builder.icmp_signed("<", place, last), body, after)
    builder.position_at_end(body)
    results = step(place, list(sums))
    place.add_incoming(first, before)
    place.add_incoming(builder.add(place, _COUNT(LANES)), builder.block)
    for total, result in zip(sums, results, strict=True):
        total.add_incoming(constant(_SINGLES, 0.0), before)
        total.add_incoming(result, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return list(sums)


def _edge_sums(count: int) -> Callable[..., Any]:
    """Signature and code of the first sums of (w a / q, w b / q, w log q), q = 1 + a^2 + b^2, over some edges."""

    def code(
        typing_context: Any, indices: Any, weights: Any, points: Any, n: Any, first: Any, last: Any
    ) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
            ends, own, place = (
                context.make_array(signature.args[which])(context, builder, arguments[which]).data
                for which in range(3)
            )
            n, first, last = arguments[3:]
            mine = [builder.gep(place, [builder.or_(builder.shl(n, _COUNT(1)), _COUNT(c))]) for c in range(2)]
            here = [broadcast(builder, builder.load(one), LANES) for one in mine]

            def step(edge: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
                left = broadcast(builder, builder.trunc(builder.sub(last, edge), INDEX), LANES)
                mask = builder.icmp_signed("<", ir.Constant(_INDICES, list(range(LANES))), left)
                there = _gather(builder, place, _load(builder, ends, edge, _INDICES, mask), mask)
                a, b = (builder.fsub(x, y) for x, y in zip(here, there, strict=True))
                q = _times(builder, b, b, _times(builder, a, a, constant(_SINGLES, 1.0)))
                weight = _load(builder, own, edge, _SINGLES, mask)
                w = builder.fdiv(weight, q)
                terms = [(w, a), (w, b)] if count == 2 else [(w, a), (w, b), (weight, _logarithm(builder, q))]
                return [_times(builder, *term, total) for term, total in zip(terms, sums, strict=True)]

            totals = _over_edges(builder, first, last, count, step)
            summed = [by_halves(builder, total, builder.fadd) for total in totals]
            return context.make_tuple(builder, signature.return_type, summed)

        sums, size = cast(Any, types).UniTuple(types.float32, count), types.int64
        return sums(indices, weights, points, size, size, size), generate

    return code


# Point n has the edges from ``first`` to before ``last``: edge e leads to point indices[e] and weighs weights[e]. With
# (a, b) the way from there to point n and q = 1 + a^2 + b^2, these are the sums of weight a / q and of weight b / q.
pulls: Callable[[Numbers, Numbers, Numbers, int, int, int], tuple[float, float]] = cast(
    Any, intrinsic(_edge_sums(2))
)

# The same, and the sum of weight log q.
pulls_and_energy: Callable[[Numbers, Numbers, Numbers, int, int, int], tuple[float, float, float]] = cast(
    Any, intrinsic(_edge_sums(3))
)
