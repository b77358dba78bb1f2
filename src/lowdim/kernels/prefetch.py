"""Ask for a place of an array before it is needed, so that loops over scattered rows do not wait for memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray


def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Signature and code of ``prefetch``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer], ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        )
        address = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        # To read, to keep in every cache, as data.
        builder.call(function, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


# A hint, for an array in C order and a place in it as if it were flat; it changes nothing and may name any place.
prefetch: Callable[[NDArray[Any], int], None] = cast(Any, intrinsic(_prefetch))
