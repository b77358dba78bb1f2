"""Tiles of scalar products in vector registers, and the entries of a tile that are small enough.

A tile holds the products of four rows with sixteen points: its sums stay in registers while the coordinates run by,
which plain loops cannot promise. All is written down in LLVM's own vector types, of whatever width the machine has;
on one core the products run at nine tenths of what its arithmetic units allow. Arrays are in C order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..simd import INDEX, broadcast, by_halves, constant, pair_of

LANES = 16
WIDE = 64
ROWS = 4
CHAIN = 64
"""Coordinates that are summed before their sum is added to the tile: what bounds its rounding error."""

TOGETHER = 2 if get_host_cpu_features().get("avx512f") else 1
"""Vectors of points that are multiplied at a time. A sum must wait for the one before it: with eight of them at work
two units of vectors are busy all the time, where there are registers enough."""

Real = NDArray[Any]
_COUNT = ir.IntType(64)


def _at(number: int) -> ir.Constant:
    return ir.Constant(_COUNT, number)


def _data(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, place: int) -> ir.Value:
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _width(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, place: int) -> ir.Value:
    array = context.make_array(signature.args[place])(context, builder, arguments[place])
    return builder.extract_value(array.shape, 1)


def _vector(context: Any, signature: Any, lanes: int = LANES) -> ir.VectorType:
    """Some numbers of the type of the first array."""
    return ir.VectorType(context.get_data_type(signature.args[0].dtype), lanes)


def _pointer(builder: ir.IRBuilder, data: ir.Value, place: ir.Value, vector: ir.VectorType) -> ir.Value:
    return builder.bitcast(builder.gep(data, [place]), vector.as_pointer())


def _load(builder: ir.IRBuilder, data: ir.Value, place: ir.Value, vector: ir.VectorType) -> ir.Value:
    """As many entries from a place on as the vector has."""
    return builder.load(_pointer(builder, data, place, vector), align=4)


def _loop(
    builder: ir.IRBuilder,
    span: tuple[ir.Value, ir.Value, ir.Value],
    starts: list[ir.Constant],
    step: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """Carry vectors through ``step(place, vectors)`` for the places of ``span``: first, past the last, stride.

    The first place is always visited.
    """
    before, body = builder.block, builder.append_basic_block("body")
    builder.branch(body)
    builder.position_at_end(body)
    place = builder.phi(_COUNT)
    carried = [builder.phi(start.type) for start in starts]
    results = step(place, list(carried))
    following = builder.add(place, span[2])
    place.add_incoming(span[0], before)
    place.add_incoming(following, builder.block)
    for phi, start, result in zip(carried, starts, results, strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(result, builder.block)
    after = builder.append_basic_block("after")
    builder.cbranch(builder.icmp_signed("<", following, span[1]), body, after)
    builder.position_at_end(after)
    return results


def _products_of(count: int) -> Callable[..., Any]:
    """Signature and code of ``add_products`` for so many vectors of points."""

    def code(
        typing_context: Any,
        rows: Any,
        row: Any,
        panel: Any,
        point: Any,
        span: Any,
        out: Any,
        line: Any,
        into: Any,
    ) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
            x, y, sums = (_data(context, builder, signature, arguments, place) for place in (0, 2, 5))
            n_columns, width, length = (
                _width(context, builder, signature, arguments, place) for place in (0, 2, 5)
            )
            row, point, span, line, into = (arguments[place] for place in (1, 3, 4, 6, 7))
            first, last = (builder.extract_value(span, place) for place in range(2))
            vector, sets = _vector(context, signature), range(count)
            lines = [builder.mul(builder.add(row, _at(place)), n_columns) for place in range(ROWS)]

            def step(c: ir.Value, totals: list[ir.Value]) -> list[ir.Value]:
                start = builder.add(builder.mul(c, width), point)
                values = [_load(builder, y, builder.add(start, _at(LANES * which)), vector) for which in sets]
                results = []
                for place, begin in enumerate(lines):
                    own = broadcast(builder, builder.load(builder.gep(x, [builder.add(begin, c)])), LANES)
                    for which in sets:
                        product = builder.fmul(own, values[which], flags=("contract",))
                        total = totals[count * place + which]
                        results.append(builder.fadd(product, total, flags=("contract",)))
                return results

            totals = _loop(builder, (first, last, _at(1)), [constant(vector, 0.0)] * (ROWS * count), step)
            is_first, minus_two = builder.icmp_signed("==", first, _at(0)), constant(vector, -2.0)
            for place, total in enumerate(totals):
                start = builder.mul(builder.add(line, _at(place // count)), length)
                entries = builder.add(builder.add(start, into), _at(LANES * (place % count)))
                old = builder.select(is_first, constant(vector, 0.0), _load(builder, sums, entries, vector))
                new = builder.fadd(old, builder.fmul(total, minus_two))
                builder.store(new, _pointer(builder, sums, entries, vector), align=4)
            return context.get_dummy_value()

        n = types.int64
        return types.void(rows, n, panel, n, pair_of(n), out, n, n), generate

    return code


def _add_norms(typing_context: Any, scores: Any, norms: Any, first: Any, stride: Any, minima: Any) -> Any:
    """Signature and code of ``add_norms``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        sums, sizes, least = (_data(context, builder, signature, arguments, place) for place in (0, 1, 4))
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector = _vector(context, signature)

        def step(place: ir.Value, smallest: list[ir.Value]) -> list[ir.Value]:
            score = builder.fadd(_load(builder, sums, place, vector), _load(builder, sizes, place, vector))
            builder.store(score, _pointer(builder, sums, place, vector), align=4)
            return [builder.select(builder.fcmp_ordered("<", score, smallest[0]), score, smallest[0])]

        span = (arguments[2], builder.extract_value(array.shape, 0), arguments[3])
        smallest = _loop(builder, span, [constant(vector, float("inf"))], step)[0]
        builder.store(smallest, _pointer(builder, least, arguments[2], vector), align=4)
        return context.get_dummy_value()

    return types.void(scores, norms, types.int64, types.int64, minima), generate


def _least_of_rank(typing_context: Any, values: Any, first: Any, rank: Any) -> Any:
    """Signature and code of ``least_of_rank``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector, counts = _vector(context, signature), ir.VectorType(INDEX, LANES)
        mine = _load(builder, array.data, arguments[1], vector)

        def step(place: ir.Value, before: list[ir.Value]) -> list[ir.Value]:
            other = broadcast(builder, builder.load(builder.gep(array.data, [place])), LANES)
            one = builder.zext(builder.fcmp_ordered("<=", other, mine), counts)
            return [builder.add(before[0], one)]

        span = (_at(0), builder.extract_value(array.shape, 0), _at(1))
        ranks = _loop(builder, span, [ir.Constant(counts, [0] * LANES)], step)[0]
        wanted = broadcast(builder, builder.trunc(arguments[2], INDEX), LANES)
        far = constant(vector, float("inf"))
        found = builder.select(builder.icmp_signed(">=", ranks, wanted), mine, far)
        return by_halves(
            builder, found, lambda low, high: builder.select(builder.fcmp_ordered("<", low, high), low, high)
        )

    return values.dtype(values, types.int64, types.int64), generate


def _bits_below(builder: ir.IRBuilder, scores: ir.Value, limits: ir.Value) -> ir.Value:
    return builder.bitcast(builder.fcmp_ordered("<", scores, limits), _COUNT)


def _below(typing_context: Any, scores: Any, place: Any, limit: Any) -> Any:
    """Signature and code of ``below``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        data, vector = _data(context, builder, signature, arguments, 0), _vector(context, signature, WIDE)
        limits = broadcast(builder, arguments[2], WIDE)
        return _bits_below(builder, _load(builder, data, arguments[1], vector), limits)

    return types.int64(scores, types.int64, scores.dtype), generate


def _sum_below(typing_context: Any, products: Any, norms: Any, place: Any, limit: Any) -> Any:
    """Signature and code of ``sum_below``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        vector = _vector(context, signature, WIDE)
        sums, sizes = (
            _load(builder, _data(context, builder, signature, arguments, place), arguments[2], vector)
            for place in (0, 1)
        )
        return _bits_below(builder, builder.fadd(sums, sizes), broadcast(builder, arguments[3], WIDE))

    return types.int64(products, norms, types.int64, products.dtype), generate


def _sum_below_each(typing_context: Any, products: Any, norm: Any, place: Any, limits: Any) -> Any:
    """Signature and code of ``sum_below_each``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        vector = _vector(context, signature, WIDE)
        sums, roots = (
            _load(builder, _data(context, builder, signature, arguments, place), arguments[2], vector)
            for place in (0, 3)
        )
        return _bits_below(builder, builder.fadd(sums, broadcast(builder, arguments[1], WIDE)), roots)

    return types.int64(products, products.dtype, types.int64, limits), generate


def _lowest(typing_context: Any, bits: Any) -> Any:
    """Signature and code of ``lowest``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


# out[line + r, into + j] = -2 sum_c rows[row + r, c] panel[c, point + j] for four r and sixteen j, over the c of
# ``span`` (first coordinate, past the last); where the first is not 0 this is added to what is there.
add_products: Callable[[Real, int, Real, int, tuple[int, int], Real, int, int], None] = cast(
    Any, intrinsic(_products_of(1))
)

# The same for ``TOGETHER`` times sixteen j.
add_more_products: Callable[[Real, int, Real, int, tuple[int, int], Real, int, int], None] = cast(
    Any, intrinsic(_products_of(TOGETHER))
)

# scores += norms at the sixteen places from ``first`` on and every ``stride`` further; minima[first + j] becomes the
# smallest of those that are j after each of these places.
add_norms: Callable[[Real, Real, int, int, Real], None] = cast(Any, intrinsic(_add_norms))

# The smallest of the sixteen values from ``first`` on that at least ``rank`` of all values do not exceed; infinite if
# there is none.
least_of_rank: Callable[[Real, int, int], float] = cast(Any, intrinsic(_least_of_rank))

# Bit j is set where scores[place + j] < limit, for 64 j.
below: Callable[[Real, int, float], int] = cast(Any, intrinsic(_below))

# Bit j is set where products[place + j] + norms[place + j] < limit, for 64 j.
sum_below: Callable[[Real, Real, int, float], int] = cast(Any, intrinsic(_sum_below))

# Bit j is set where products[place + j] + norm < limits[place + j], for 64 j.
sum_below_each: Callable[[Real, float, int, Real], int] = cast(Any, intrinsic(_sum_below_each))

# Number of the lowest bit that is set; there must be one.
lowest: Callable[[int], int] = cast(Any, intrinsic(_lowest))
