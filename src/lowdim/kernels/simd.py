"""Vectors of several lanes in LLVM's own types: what all loops that are written down in them have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types

INDEX = ir.IntType(32)


def pair_of(kind: Any) -> Any:
    """Numba's type of two values of a kind."""
    return cast(Any, types).UniTuple(kind, 2)


def constant(vector: ir.VectorType, value: float) -> ir.Constant:
    """A value in every lane."""
    return ir.Constant(vector, [value] * vector.count)


def broadcast(builder: ir.IRBuilder, scalar: ir.Value, lanes: int) -> ir.Value:
    """A scalar in every lane."""
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(first, undefined, constant(ir.VectorType(INDEX, lanes), 0))


def by_halves(
    builder: ir.IRBuilder, vector: ir.Value, join: Callable[[ir.Value, ir.Value], ir.Value]
) -> ir.Value:
    """All lanes joined into one: the lower half with the upper one, until one lane is left."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                vector, undefined, ir.Constant(ir.VectorType(INDEX, half), list(range(at, at + half)))
            )
            for at in (0, half)
        )
        vector = join(low, high)
    return builder.extract_element(vector, ir.Constant(INDEX, 0))
