"""The edges of a point of the plane, eight at a time in vector registers, under Student's kernel or UMAP's.

Left to itself the compiler takes edges one by one, because the points at their far ends lie anywhere in memory. Here
the two coordinates of a point are one number of 64 bits, so that eight points come in one instruction where the machine
has it, and an edge costs hardly more than to read its eight bytes. All is written down in LLVM's own vector types, for
machines of any width. The order of the sums is fixed: eight lanes, added by halves at the end of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..simd import INDEX, broadcast, by_halves, constant
from .simd_functions import INDICES, LANES, SINGLES, intrinsic_function, logarithm, power, single, times

LEAST = 1e-12
"""Added to a squared distance whose power is taken: about the core of the kernel in double precision."""

Numbers = NDArray[Any]
Weigh = Callable[[ir.IRBuilder, ir.Value, ir.Value, list[ir.Value]], tuple[ir.Value, ir.Value]]
"""What an edge pulls with over its length, and its energy but for its weight: of weight, square and parameters."""
_COUNT = ir.IntType(64)
_COUNTS, _BITS = ir.VectorType(_COUNT, LANES), ir.VectorType(ir.IntType(1), LANES)
_NAMES = {_COUNTS: f"v{LANES}i64", INDICES: f"v{LANES}i32", SINGLES: f"v{LANES}f32"}


def _load(
    builder: ir.IRBuilder, data: ir.Value, place: ir.Value, vector: ir.VectorType, mask: ir.Value
) -> ir.Value:
    """The entries from a place on where the mask is set, 0 elsewhere."""
    pointer = builder.bitcast(builder.gep(data, [place]), vector.as_pointer())
    name = f"llvm.masked.load.{_NAMES[vector]}.p0"
    load = intrinsic_function(builder, name, vector, [pointer.type, INDEX, _BITS, vector])
    return builder.call(load, [pointer, INDEX(4), mask, constant(vector, 0)])


def _gather(builder: ir.IRBuilder, data: ir.Value, places: ir.Value) -> list[ir.Value]:
    """The two coordinates of the points at some places.

    No lane is masked: where the compiler takes points one by one it would ask for each whether it is wanted. Beyond the
    last edge of a row the place is 0, where there is a point, and the weight is 0.
    """
    start = broadcast(builder, builder.ptrtoint(data, _COUNT), LANES)
    offsets = builder.shl(builder.sext(places, _COUNTS), constant(_COUNTS, 3))
    pointers = builder.inttoptr(builder.add(start, offsets), ir.VectorType(_COUNT.as_pointer(), LANES))
    name = f"llvm.masked.gather.{_NAMES[_COUNTS]}.v{LANES}p0"
    gather = intrinsic_function(builder, name, _COUNTS, [pointers.type, INDEX, _BITS, _COUNTS])
    both = builder.call(gather, [pointers, INDEX(8), constant(_BITS, 1), constant(_COUNTS, 0)])
    halves = [both, builder.lshr(both, constant(_COUNTS, 32))]
    return [builder.bitcast(builder.trunc(half, INDICES), SINGLES) for half in halves]


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
    place, sums = builder.phi(_COUNT), [builder.phi(SINGLES) for _ in range(count)]
    builder.cbranch(builder.icmp_signed("<", place, last), body, after)
    builder.position_at_end(body)
    results = step(place, list(sums))
    place.add_incoming(first, before)
    place.add_incoming(builder.add(place, _COUNT(LANES)), builder.block)
    for total, result in zip(sums, results, strict=True):
        total.add_incoming(single(0.0), before)
        total.add_incoming(result, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return list(sums)


def _edge_sums(count: int, least: float, weigh: Weigh) -> Callable[..., ir.Value]:
    """Code of the first ``count`` sums of (w a, w b, weight energy) over some edges, as ``weigh`` has w and energy.

    The square that it is given is a^2 + b^2 + ``least``, and the parameters are the last arguments.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        ends, own, place = (
            context.make_array(signature.args[which])(context, builder, arguments[which]).data
            for which in range(3)
        )
        n, first, last = arguments[3:6]
        parameters = [broadcast(builder, value, LANES) for value in arguments[6:]]
        mine = [builder.gep(place, [builder.or_(builder.shl(n, _COUNT(1)), _COUNT(c))]) for c in range(2)]
        here = [broadcast(builder, builder.load(one), LANES) for one in mine]

        def step(edge: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            left = broadcast(builder, builder.trunc(builder.sub(last, edge), INDEX), LANES)
            mask = builder.icmp_signed("<", ir.Constant(INDICES, list(range(LANES))), left)
            there = _gather(builder, place, _load(builder, ends, edge, INDICES, mask))
            a, b = (builder.fsub(x, y) for x, y in zip(here, there, strict=True))
            square = times(builder, b, b, times(builder, a, a, single(least)))
            weight = _load(builder, own, edge, SINGLES, mask)
            w, energy = weigh(builder, weight, square, parameters)
            terms = [(w, a), (w, b), (weight, energy)][:count]
            return [times(builder, *term, total) for term, total in zip(terms, sums, strict=True)]

        totals = _over_edges(builder, first, last, count, step)
        summed = [by_halves(builder, total, builder.fadd) for total in totals]
        return context.make_tuple(builder, signature.return_type, summed)

    return generate


def _student(
    builder: ir.IRBuilder, weight: ir.Value, q: ir.Value, parameters: list[ir.Value]
) -> tuple[ir.Value, ir.Value]:
    """Weight / q and log q. What nothing takes up is left out by the compiler."""
    return builder.fdiv(weight, q), logarithm(builder, q)


def _umap(
    builder: ir.IRBuilder, weight: ir.Value, D: ir.Value, parameters: list[ir.Value]
) -> tuple[ir.Value, ir.Value]:
    """Weight b p / (D (1 + p)) and log(1 + p), p = a D^b."""
    a, b = parameters
    p = builder.fmul(a, power(builder, D, b))
    one_more = builder.fadd(p, single(1.0))
    pull = builder.fdiv(builder.fmul(builder.fmul(weight, b), p), builder.fmul(D, one_more))
    return pull, logarithm(builder, one_more)


def _sums(count: int) -> Any:
    return cast(Any, types).UniTuple(types.float32, count)


def _of_student(count: int) -> Callable[..., Any]:
    def code(
        typing_context: Any, indices: Any, weights: Any, points: Any, n: Any, first: Any, last: Any
    ) -> Any:
        size = types.int64
        given = indices, weights, points, size, size, size
        return _sums(count)(*given), _edge_sums(count, 1.0, _student)

    return code


def _of_umap(count: int) -> Callable[..., Any]:
    def code(
        typing_context: Any,
        indices: Any,
        weights: Any,
        points: Any,
        n: Any,
        first: Any,
        last: Any,
        a: Any,
        b: Any,
    ) -> Any:
        size, number = types.int64, types.float32
        given = indices, weights, points, size, size, size, number, number
        return _sums(count)(*given), _edge_sums(count, LEAST, _umap)

    return code


# Point n has the edges from ``first`` to before ``last``: edge e leads to point indices[e] and weighs weights[e]. With
# (a, b) the way from there to point n and q = 1 + a^2 + b^2, these are the sums of weight a / q and of weight b / q.
pulls: Callable[[Numbers, Numbers, Numbers, int, int, int], tuple[float, float]] = cast(
    Any, intrinsic(_of_student(2))
)

# The same, and the sum of weight log q.
pulls_and_energy: Callable[[Numbers, Numbers, Numbers, int, int, int], tuple[float, float, float]] = cast(
    Any, intrinsic(_of_student(3))
)

# The same of UMAP's kernel with the parameters a and b: w = weight b p / (D (1 + p)), p = a D^b, and log(1 + p).
power_pulls: Callable[[Numbers, Numbers, Numbers, int, int, int, float, float], tuple[float, float]] = cast(
    Any, intrinsic(_of_umap(2))
)
power_pulls_and_energy: Callable[
    [Numbers, Numbers, Numbers, int, int, int, float, float], tuple[float, float, float]
] = cast(Any, intrinsic(_of_umap(3)))
