"""Whether a value fits a type annotation: the classes of the library already say what their fields are."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (float, int, np.floating, np.integer),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as fields of models need it.

    A protocol is fitted by any object that has its names. A function fits nothing.
    """
    hint = _unaliased(hint)
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is not None:
        return _fits_container(value, origin, parts)
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and (hint is bool or not isinstance(value, bool | np.bool_))
    if getattr(hint, "_is_protocol", False):
        return not isinstance(value, type) and all(hasattr(value, name) for name in _promised(hint))
    return isinstance(value, hint)


def _unaliased(hint: Any) -> Any:
    """What an alias of the statement ``type`` stands for, as NumPy's NDArray is one from 2.5 on."""
    if hasattr(alias := get_origin(hint), "__value__"):
        return _unaliased(alias.__value__[get_args(hint)])
    return _unaliased(hint.__value__) if hasattr(hint, "__value__") else hint


def _fits_container(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _fits_dtype(value.dtype, get_args(parts[1])[0])
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if parts[1:] == (...,):
            return all(fits(part, parts[0]) for part in value)
        return len(value) == len(parts) and all(map(fits, value, parts))
    if issubclass(origin, Mapping):
        return isinstance(value, dict) and all(
            fits(key, parts[0]) and fits(part, parts[1]) for key, part in value.items()
        )
    return origin is not Callable and isinstance(value, origin) and all(fits(v, parts[0]) for v in value)


def _fits_dtype(dtype: np.dtype[Any], wanted: Any) -> bool:
    return wanted is Any or np.issubdtype(dtype, get_origin(wanted) or wanted)


def _promised(protocol: Any) -> set[str]:
    """Names that a protocol asks for."""
    own = {name for base in protocol.__mro__ for name in (*vars(base), *inspect.get_annotations(base))}
    return {name for name in own if not name.startswith("_")}


def name_of(kind: type) -> str:
    """A type as people write it."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
