"""Hostile model files: damaged bytes, and wrong contents under digests that agree."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from .bytes import NUMBERS, mutated

FOLDER = Path(__file__).parents[2] / "tests" / "models" / "fixtures"
STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 7, 40, 41, 0.5, -0.5, 1e308, -1e300, 1e-300, *NUMBERS, 10**400, "", "x", "C",
    "F", "euclidean", "graph", [], {}, [[]], {"dict": []}, {"tuple": []}, {"float": "nan"}, {"float": "inf"},
    {"object": 0}, {"object": 3}, {"object": -1}, {"code": "x"}, {"dict": [["a", 1]]}, {"scalar": ["float64", 0.5]},
    {"scalar": ["uint8", 300]}, {"tuple": [{"float": "nan"}]}, "__class__", "\ud800",
)  # fmt: skip
METADATA: tuple[dict[str, str], ...] = (
    {"version": "2"}, {"version": "0"}, {"version": "-1"}, {"version": "9" * 5000}, {"version": "١"},
    {"format": "pt"}, {"more": "x"}, {"lowdim": "\U0001f600" * 500}, {"model": "{}"}, {"model": "[" * 100_000},
    {"model": "1"}, {"model": '{"objects": NaN}'}, {"model": ""}, {"model": '{"objects":[],"model":0}'},
    {"model": '{"objects":' + "[" * 900 + "]" * 900 + ',"model":0}'}, {"model": "9" * 5000},
    {"model": '{"objects":[["PCA",{"parameters":' + '{"tuple":[' * 400 + "]}" * 400 + '}]],"model":0}'},
)  # fmt: skip


@cache
def stored() -> tuple[tuple[str, bytes, dict[str, Any], dict[str, np.ndarray[Any, Any]]], ...]:
    """Name, bytes, tree and arrays of one model of each family."""
    from lowdim.models.files import read_document
    from lowdim.store.container import open_container

    found = []
    for path in sorted(FOLDER.glob("format-*/*.lowdim")):
        with open_container(path) as file:
            arrays = {name: array.copy() for name, array in file.arrays().items()}
            found.append((path.stem, path.read_bytes(), read_document(file, path), arrays))
    return tuple(found)


@cache
def new_points() -> np.ndarray[Any, Any]:
    """Rows that the models were not fitted on."""
    with np.load(FOLDER / "format-1" / "expected.npz", allow_pickle=False) as expected:
        rows: np.ndarray[Any, Any] = expected["new"]
        return rows


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(found for key, part in below for found in _places(part, (*path, key)))]


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def _other_tree(tree: Any, random: Random) -> Any:
    """A part is another: something strange, or a part from elsewhere; or it is gone."""
    tree = copy.deepcopy(tree)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = _places(tree)
        path = random.choice(places)
        if not path:
            continue
        holder, key = _at(tree, path[:-1]), path[-1]
        how = random.random()
        if how < 0.6:
            holder[key] = random.choice(STRANGE)
        elif how < 0.9:
            holder[key] = copy.deepcopy(_at(tree, random.choice(places)))
        else:
            del holder[key]
    return tree


def _other_array(array: Any, arrays: list[Any], random: Random) -> Any:
    """Other entries, or another type, size, order or array altogether."""
    array, how = array.copy(), random.randrange(7)
    if how <= 1 and array.size:
        special: tuple[Any, ...] = (float("nan"), float("inf"), -1e300, 0.0, 1e-300, 1e308, 1e16)
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            special = (limits.min, limits.max, 0, 1, array.size)
        elif array.dtype.kind == "b":
            special = (True, False)
        with np.errstate(over="ignore"):
            array.reshape(-1)[random.randrange(array.size)] = np.array(random.choice(special)).astype(
                array.dtype
            )
    elif how == 2 and array.ndim:
        array = array[: random.randrange(len(array) + 1)]
    elif how == 3:
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(("f8", "i8", "i4", "f4", "u1", "?")))
    elif how == 4:
        array = np.ascontiguousarray(array.T)
    elif how == 5:
        array = np.full_like(array, random.choice((0, 1, 100)))
    else:
        array = random.choice(arrays)
    return array


def model(random: Random) -> bytes:
    """A model file: damaged, or wrong within and with digests made anew."""
    from lowdim.store import container

    _, data, document, arrays = random.choice(stored())
    how = random.random()
    if how < 0.25:
        return mutated(data, random, random.choice(stored())[1])
    extra = dict(random.choice(METADATA)) if how > 0.95 else {}
    if how < 0.6:
        document = _other_tree(document, random)
    if how > 0.5:
        name = random.choice(sorted(arrays))
        arrays = arrays | {name: _other_array(arrays[name], list(arrays.values()), random)}
    metadata = {"version": "1", "lowdim": "0.1.0", "model": json.dumps(document)} | extra
    stored_arrays = [container._Stored(name, array, array.dtype) for name, array in arrays.items()]
    header = container._packed(stored_arrays, metadata, container.EMPTY, container.EMPTY)
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    if random.random() < 0.2:
        text = mutated(header[8:], random)
        header = len(text).to_bytes(8, "little") + text
    return sealed(header, body)


def sealed(header: bytes, body: bytes) -> bytes:
    """A header with empty digests and its arrays, with the digests that they should have."""
    from lowdim.store import container

    zeros = container.EMPTY.encode()
    data = container._digest_of_data(np.frombuffer(body, np.uint8)).encode()
    header = header.replace(b'"data":"' + zeros, b'"data":"' + data, 1)
    digest = container._digest_of_header(header, container.EMPTY).encode()
    return header.replace(b'"header":"' + zeros, b'"header":"' + digest, 1) + body
