"""A model as a tree in JSON, and back: the only classes are those of the registry, and nothing is ever executed.

Numbers, strings, None, true, false and lists stand for themselves. Everything else is an object with one key, which
says what it is:

    {"tuple": [...]}                     {"dict": [[key, value], ...]}
    {"float": "inf"}                     {"scalar": ["float64", 0.5]}
    {"array": [name, "C" or "F"]}        {"strings": [kind, shape, text, offsets]}
    {"sparse": [kind, shape, data, indices, indptr]}
    {"random": [kind, state, seed]}      {"object": place in the list of objects}

An array whose numbers fit a smaller type is stored in that, and has a third entry with its own. That of dense rows has
none: whoever reads rows casts them block by block, so that they stay small in memory too.

The objects are a list of [class, fields]. An object comes after all that it holds, so that there are no circles, and
an object or array that is met twice is stored once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.run import Run
from ..data.mapped import Mapped
from ..errors import InputError, LowdimError, MissingExtraError
from . import registry
from .arrays import (
    Broken,
    Pool,
    make_random,
    make_scalar,
    make_sparse,
    make_strings,
    random_node,
    sparse_node,
    strings_node,
    widened,
)
from .consistency import check_object
from .type_checks import fits, name_of

FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
MOST_THREADS = 1 << 12


class Encoder:
    """Turns a model into nodes; ``pool`` takes its arrays, ``objects`` its objects.

    Parameters
    ----------
    owner
        What is encoded, for messages.
    is_compact
        Whether arrays are stored in the smallest type that holds them.
    """

    def __init__(self, owner: str, *, is_compact: bool = False) -> None:
        self.pool = Pool(is_compact=is_compact)
        self.objects: list[list[Any]] = []
        self._owner = owner
        self._known: dict[int, tuple[int, Any]] = {}

    def encode(self, value: Any, path: str) -> Any:
        """The node of a value, or an InputError that names where it was met."""
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, np.str_):
            return str(value)
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic) and self.pool.holds(np.asarray(value)):
            return self._scalar(value)
        if type(value) is list:
            return [self.encode(part, f"{path}.{place}") for place, part in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.encode(part, f"{path}.{place}") for place, part in enumerate(value)]}
        if type(value) is dict:
            items = value.items()
            return {"dict": [[self.encode(key, path), self.encode(v, _below(path, key))] for key, v in items]}
        return self._encode_other(value, path)

    def _scalar(self, value: np.generic) -> dict[str, Any]:
        plain = value.item()
        node = self.encode(plain, "")
        return {"scalar": [value.dtype.name, node]}

    def _encode_other(self, value: Any, path: str) -> Any:
        if isinstance(value, np.ndarray) and type(value) in (np.ndarray, np.memmap, Mapped):
            return self._array(value, path)
        if sparse.issparse(value):
            return sparse_node(value, path, self.pool)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return random_node(value, lambda part: self.encode(part, f"{path}.state"))
        if (known := registry.name_of(type(value))) is not None:
            return {"object": self._object(known, value, path)}
        raise self._refused(value, path)

    def _array(self, array: NDArray[Any], path: str, *, as_stored: bool = False) -> Any:
        is_text = array.dtype.kind == "U" or (
            array.dtype.kind == "O" and all(type(part) is str for part in array.ravel())
        )
        if is_text:
            return strings_node(array, path, self.pool)
        if not self.pool.holds(array):
            raise InputError(
                f"{path} of {self._owner} is an array of {array.dtype} with {array.ndim} dimensions, which a model "
                "file cannot hold. Give numbers of at most 64 bits, or strings."
            )
        return {"array": self.pool.add(array, path, as_stored=as_stored)}

    def _object(self, name: str, value: Any, path: str) -> int:
        if id(value) not in self._known:
            fields = registry.find(name).take(value)
            nodes = {key: self._field(name, key, part, path) for key, part in fields.items()}
            self.objects.append([name, nodes])
            self._known[id(value)] = (len(self.objects) - 1, value)
        return self._known[id(value)][0]

    def _field(self, name: str, key: str, value: Any, path: str) -> Any:
        if name == "Rows" and isinstance(value, np.ndarray):
            return self._array(value, _below(path, key), as_stored=True)
        return self.encode(value, _below(path, key))

    def _refused(self, value: Any, path: str) -> InputError:
        if callable(value):
            return InputError(
                f"{path} of {self._owner} is a function ({getattr(value, '__name__', value)!r}), and a model file "
                "holds no code. Use one by its name, or give the values that it computes as 'precomputed'."
            )
        return InputError(
            f"{path} of {self._owner} is of type {name_of(type(value))}, which a model file cannot hold. Give it as a "
            "number, a string, an array or an object of lowdim."
        )


def _below(path: str, key: Any) -> str:
    """The path of a part. That of an estimator's parameter or attribute is its name alone."""
    return str(key) if path in ("", "parameters", "attributes") else f"{path}.{key}"


class Decoder:
    """Turns nodes back into a model; every shape and type is checked before anything relies on it."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], run: Run) -> None:
        self._arrays = arrays
        self._run = run
        self._objects: list[Any] = []
        self._made: dict[tuple[str, ...], NDArray[Any]] = {}

    def decode_objects(self, objects: Any) -> list[Any]:
        """All objects, in their order."""
        if not isinstance(objects, list):
            raise Broken("there is no list of objects")
        for entry in objects:
            if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], dict)):
                raise Broken("an object is not a class and its fields")
            self._objects.append(self._make(entry[0], entry[1]))
        return self._objects

    def decode(self, node: Any) -> Any:
        """The value of a node."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.decode(part) for part in node]
        kind, content = next(iter(node.items())) if len(node) == 1 else ("", None)
        if kind in ("object", "float"):
            return self._named(kind, content)
        if kind not in ("tuple", "dict", "scalar", "array", "strings", "sparse", "random"):
            raise Broken(f"a part is of the unknown kind {kind!r}")
        if not isinstance(content, list):
            raise Broken(f"a part of the kind {kind!r} has no contents")
        if kind == "tuple":
            return tuple(self.decode(part) for part in content)
        return self._dict(content) if kind == "dict" else self._numbers(kind, content)

    def _named(self, kind: str, content: Any) -> Any:
        if kind == "float":
            if not isinstance(content, str) or content not in FLOATS:
                raise Broken("a number cannot be read")
            return FLOATS[content]
        if type(content) is not int or not 0 <= content < len(self._objects):
            raise Broken("an object is referred to that does not come before")
        return self._objects[content]

    def _dict(self, content: list[Any]) -> dict[Any, Any]:
        if not all(isinstance(item, list) and len(item) == 2 for item in content):
            raise Broken("a table is not made of keys and values")
        try:
            return {self.decode(key): self.decode(value) for key, value in content}
        except TypeError as error:
            raise Broken("a key of a table cannot be one") from error

    def _numbers(self, kind: str, content: list[Any]) -> Any:
        if kind == "array":
            return self._array(content)
        expected = {"scalar": 2, "strings": 4, "sparse": 5, "random": 3}[kind]
        if len(content) != expected or not isinstance(content[0], str):
            raise Broken(f"a part of the kind {kind!r} has other contents than it should")
        if kind == "scalar":
            return make_scalar(content[0], self.decode(content[1]))
        if kind == "random":
            return make_random(content[0], self.decode(content[1]), self.decode(content[2]))
        arrays = [self._array(place) for place in content[2:]]
        return (make_strings if kind == "strings" else make_sparse)(content[0], content[1], *arrays)

    def _array(self, place: Any) -> NDArray[Any]:
        is_place = isinstance(place, list) and len(place) in (2, 3) and all(isinstance(p, str) for p in place)
        if not is_place:
            raise Broken("an array is not referred to by its name and order")
        name, order, *wanted = place
        if name not in self._arrays or order not in ("C", "F"):
            raise Broken(f"the array {name!r} is missing")
        if tuple(place) not in self._made:
            array = widened(self._arrays[name], wanted[0]) if wanted else self._arrays[name]
            self._made[tuple(place)] = array if order == "C" else array.T
        return self._made[tuple(place)]

    def _make(self, name: Any, nodes: dict[str, Any]) -> Any:
        name = registry.REPLACED.get(name, name) if isinstance(name, str) else name
        entry = registry.find(name) if isinstance(name, str) and name in registry.NAMES else None
        if entry is None:
            raise Broken(f"it holds an object of the unknown class {name!r}")
        kept = {key: node for key, node in nodes.items() if name not in registry.RETIRED.get(key, ())}
        fields = {key: self.decode(node) for key, node in kept.items()}
        hints, required = entry.fields()
        if missing := required - set(fields):
            raise Broken(f"{name} lacks {', '.join(sorted(missing))}")
        if unknown := set(fields) - set(hints):
            raise Broken(f"{name} has no {', '.join(sorted(unknown))}")
        for key, value in fields.items():
            if not fits(value, hints[key]):
                raise Broken(f"{key} of {name} is of type {name_of(type(value))}, which it cannot be")
        threads = fields.get("n_jobs")
        if threads is not None and abs(threads) > MOST_THREADS:
            raise Broken(f"n_jobs of {name} is {threads}")
        return self._assemble(name, entry, fields)

    def _assemble(self, name: str, entry: registry.Entry, fields: dict[str, Any]) -> Any:
        try:
            check_object(name, fields)
            return entry.make(**fields, run=self._run) if entry.takes_run else entry.make(**fields)
        except (Broken, MissingExtraError):
            raise
        except (LowdimError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise Broken(f"{name} cannot be made of its fields ({error})") from error
