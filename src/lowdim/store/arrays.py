"""Arrays, sparse matrices and random generators as nodes of the tree and named arrays of the file, and back."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..data.number_types import can_widen, smallest_type
from .container import MOST_DIMENSIONS, NAMES

Array = NDArray[Any]
SPARSE = {
    kind.__name__: kind for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}
BIT_GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}
BLOCKS = {"MT19937": 624, "Philox": 4}
"""Numbers in the block of a generator that makes many at once."""
POOL = 4
"""Words in the pool of a seed sequence, as NumPy makes them."""


class Broken(Exception):
    """What was read is not what a model holds; the loader says in which file."""


class Pool:
    """Arrays to be stored, each once, however often it is met.

    Parameters
    ----------
    is_compact
        Whether arrays are stored in the smallest type that holds their values, see `smallest_type`.
    """

    def __init__(self, *, is_compact: bool = False) -> None:
        self.arrays: dict[str, Array] = {}
        self.types: dict[str, np.dtype[Any]] = {}
        self._known: dict[tuple[Any, ...], tuple[str, Array]] = {}
        self._is_compact = is_compact

    def holds(self, array: Array) -> bool:
        """Whether arrays of this type can be stored as they are."""
        return array.dtype.newbyteorder("<") in NAMES and array.ndim <= MOST_DIMENSIONS

    def has(self, array: Array) -> bool:
        """Whether an array will be stored."""
        return _identity(array) in self._known

    def add(self, array: Array, name: str, *, as_stored: bool = False) -> list[str]:
        """Name and order of a stored array; one in Fortran's order is stored as its transpose, which is in C's.

        A third entry is its type, where it is stored in a smaller one; not where it may come back ``as_stored``.
        """
        key = _identity(array)
        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        if key not in self._known:
            # The array is kept with its name: its place in memory is its own as long as it lives.
            self._known[key] = (name, array)
            self.arrays[name] = array.T if is_fortran else array
            self.types[name] = smallest_type(self.arrays[name]) if self._is_compact else array.dtype
        name = self._known[key][0]
        is_smaller = self.types[name].itemsize < array.dtype.itemsize and not as_stored
        return [name, "F" if is_fortran else "C", *([array.dtype.name] if is_smaller else [])]


def _identity(array: Array) -> tuple[Any, ...]:
    """What two arrays have in common that look at the same numbers in memory."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str


def widened(array: Array, name: str) -> Array:
    """An array in its own type again, which is wider than the one that it was stored in."""
    wanted = next((dtype for dtype in NAMES if dtype.name == name), None)
    if wanted is None or not can_widen(array.dtype, wanted):
        raise Broken(f"an array of {array.dtype.name} is to become one of {name!r}")
    return array.astype(wanted)


def strings_node(array: Array, name: str, pool: Pool) -> dict[str, Any]:
    """An array of strings: their bytes in UTF-8 one after the other, and where each begins."""
    parts = [text.encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    text = np.frombuffer(b"".join(parts), np.uint8)
    places = [pool.add(text, f"{name}.text"), pool.add(offsets, f"{name}.offsets")]
    return {"strings": [array.dtype.kind, list(array.shape), *places]}


def make_strings(kind: Any, shape: Any, text: Array, offsets: Array) -> Array:
    """The array of strings."""
    if kind not in ("O", "U") or text.dtype != np.uint8 or offsets.dtype != np.int64 or offsets.ndim != 1:
        raise Broken("an array of strings is not made of bytes and their places")
    sizes = np.diff(offsets)
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != text.size or (sizes < 0).any():
        raise Broken("the places of strings are not within their bytes")
    if not is_shape(shape) or math.prod(shape) != sizes.size:
        raise Broken("an array of strings has another size than its shape says")
    whole = text.tobytes()
    try:
        parts = [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError as error:
        raise Broken("a string cannot be read") from error
    return np.array(parts, dtype=object if kind == "O" else str).reshape(shape)


def sparse_node(matrix: Any, name: str, pool: Pool) -> dict[str, Any]:
    """A sparse matrix as its three arrays; one of another form becomes compressed rows."""
    held = matrix if type(matrix).__name__ in SPARSE else matrix.tocsr()
    places = [pool.add(getattr(held, part), f"{name}.{part}") for part in ("data", "indices", "indptr")]
    return {"sparse": [type(held).__name__, [int(n) for n in held.shape], *places]}


def make_sparse(kind: Any, shape: Any, data: Array, indices: Array, indptr: Array) -> Any:
    """The sparse matrix, once its entries are known to lie within it: compiled code trusts them."""
    if kind not in SPARSE or not is_shape(shape) or len(shape) != 2:
        raise Broken("a sparse matrix has no known form")
    rows, columns = shape if kind.startswith("csr") else reversed(shape)
    if any(part.ndim != 1 for part in (data, indices, indptr)) or data.size != indices.size:
        raise Broken("the entries of a sparse matrix and their columns differ in number")
    if indices.dtype not in (np.int32, np.int64) or indptr.dtype not in (np.int32, np.int64):
        raise Broken("the columns of a sparse matrix are no whole numbers")
    if indptr.size != rows + 1 or indptr[0] != 0 or indptr[-1] != indices.size:
        raise Broken("the rows of a sparse matrix do not hold its entries")
    if (np.diff(indptr) < 0).any() or (indices.size and not 0 <= indices.min() <= indices.max() < columns):
        raise Broken("entries of a sparse matrix lie outside it")
    matrix = SPARSE[kind](tuple(shape), dtype=data.dtype)
    # Set one by one: the constructor would copy indices into a smaller type.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def random_node(source: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
    """A random generator as its state, and as the seed from which it spawns others."""
    if isinstance(source, np.random.RandomState):
        return {"random": ["RandomState", encode(source.get_state(legacy=False)), None]}
    bits: Any = source.bit_generator
    seed = bits.seed_seq
    spawning = None
    if isinstance(seed, np.random.SeedSequence):
        spawning = [encode(seed.entropy), encode(seed.spawn_key), seed.n_children_spawned]
    return {"random": ["Generator", encode(bits.state), spawning]}


def make_random(kind: Any, state: Any, spawning: Any) -> np.random.Generator | np.random.RandomState:
    """The random generator in its state."""
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if name not in BIT_GENERATORS or kind not in ("Generator", "RandomState"):
        raise Broken("a random generator is of no known kind")
    try:
        # Compiled code reads the block of numbers at its place.
        if not 0 <= _place_of(state) <= BLOCKS.get(name, 0):
            raise Broken("a random generator has no place in its block")
        if kind == "RandomState":
            legacy = np.random.RandomState(BIT_GENERATORS[name](0))
            legacy.set_state(state)
            return legacy
        seed = np.random.SeedSequence(0)
        if spawning is not None:
            entropy, key, spawned = spawning
            seed = np.random.SeedSequence(entropy, spawn_key=key, pool_size=POOL, n_children_spawned=spawned)
        bits = BIT_GENERATORS[name](seed)
        bits.state = state
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        raise Broken(f"the state of a random generator cannot be read ({error})") from error
    return np.random.Generator(bits)


def _place_of(state: Any) -> int:
    """Where a generator stands in its block of numbers; 0 where it has none."""
    inner = state["state"]
    return operator.index(inner["pos"] if "pos" in inner else state.get("buffer_pos", 0))


def make_scalar(name: Any, value: Any) -> Any:
    """A NumPy number of its own type."""
    dtypes = {dtype.name: dtype for dtype in NAMES}
    if name not in dtypes or type(value) not in (bool, int, float):
        raise Broken("a number is of no known type")
    try:
        return dtypes[name].type(value)
    except (OverflowError, ValueError) as error:
        raise Broken(f"the number {value} is none of type {name}") from error


def is_shape(shape: Any) -> bool:
    """Whether these are the sizes of an array."""
    return (
        isinstance(shape, list)
        and len(shape) <= MOST_DIMENSIONS
        and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
    )
