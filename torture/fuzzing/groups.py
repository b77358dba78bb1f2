"""Hostile .h5ad files and zarr folders.

A folder travels as bytes: each file as its name, a null, four bytes with its length, and its content; a name that
begins with ``->`` is a symbolic link.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from .bytes import NUMBERS, mutated

CANARY = 424242.25
"""A number that only files have which no reader may open."""
N = 6


def _frame(group: Any, name: str, columns: dict[str, Any], **attributes: Any) -> None:
    frame = group.create_group(name)
    for key, values in columns.items():
        if isinstance(values, dict):
            inner = frame.create_group(key)
            for part, held in values.items():
                inner.create_dataset(part, data=held)
        else:
            frame.create_dataset(key, data=values)
    frame.attrs["_index"] = "_index"
    frame.attrs["column-order"] = [key for key in columns if key != "_index"]
    for key, value in attributes.items():
        frame.attrs[key.replace("_", "-")] = value


def _annotated(change: Any = None, **X: Any) -> bytes:
    """An .h5ad of six points; ``change`` is done to it at the end."""
    import h5py

    rng = np.random.default_rng(0)
    file = io.BytesIO()
    with h5py.File(file, "w") as root:
        root.attrs["encoding-type"] = "anndata"
        root.create_dataset("X", **({"data": rng.normal(size=(N, 4))} | X))
        codes = {"codes": np.array([0, 1, 0, 1, -1, 0], np.int8), "categories": np.array([b"a", b"b"])}
        masked = {"values": np.arange(N), "mask": np.array([False] * 5 + [True])}
        names = {
            "_index": [f"cell{k}" for k in range(N)],
            "type": codes,
            "n": masked,
            "score": rng.normal(size=N),
        }
        _frame(root, "obs", names, encoding_type="dataframe")
        _frame(root, "var", {"_index": ["a", "b", "c", "d"]})
        root.create_group("obsm").create_dataset("X_pca", data=rng.normal(size=(N, 2)))
        layers = root.create_group("layers").create_group("counts")
        layers.attrs["encoding-type"] = "csr_matrix"
        layers.attrs["shape"] = (N, 4)
        for key, values in {"data": np.ones(6), "indices": [0, 1, 2, 3, 0, 1], "indptr": range(7)}.items():
            layers.create_dataset(key, data=np.array(values))
        if change is not None:
            change(root)
    return file.getvalue()


def _replaced(name: str, **dataset: Any) -> Any:
    def change(root: Any) -> None:
        del root[name]
        root.create_dataset(name, **dataset)

    return change


def _linked(name: str, link: Any) -> Any:
    def change(root: Any) -> None:
        del root[name]
        root[name] = link

    return change


def _attribute(name: str, key: str, value: Any) -> Any:
    def change(root: Any) -> None:
        root[name].attrs[key] = value

    return change


def _virtual(root: Any) -> None:
    import h5py

    del root["X"]
    layout = h5py.VirtualLayout((N, 4), "f8")
    layout[:] = h5py.VirtualSource("canary.h5", "secret", (N, 4))
    root.create_virtual_dataset("X", layout)


def _copies(root: Any) -> None:
    """A thousand names of one column."""
    names = [f"c{k}" for k in range(1000)]
    for name in names:
        root["obs"][name] = root["obs/score"]
    root["obs"].attrs["column-order"] = names


@cache
def _h5ads() -> tuple[bytes, ...]:
    import h5py

    here, other = h5py.SoftLink, h5py.ExternalLink
    large = {"shape": (N, 10**9), "dtype": "f8"}
    changes = [
        _linked("X", here("/obsm/X_pca")), _linked("X", here("/X")), _linked("X", here("X/X/X")),
        _linked("X", here("/no")), _linked("X", other("canary.h5", "/secret")),
        _linked("obs", other("canary.h5", "/")), _linked("obs/score", other("fifo", "/")),
        _replaced("X", shape=(N, 4), dtype="f8", external=[("canary.bin", 0, 8 * N * 4)]), _virtual, _copies,
        _replaced("X", **large), _replaced("X", **large, chunks=(1, 1000), compression="gzip"),
        _replaced("X", shape=(N, 4), maxshape=(None, None), dtype="f8", chunks=(10_000, 10_000), compression="gzip"),
        _replaced("X", data=np.ones((N, 4)), maxshape=(None, None), chunks=(2000, 2000), compression="gzip"),
        _replaced("X", data=np.array([[b"a"] * 4] * N)), _replaced("X", data=np.ones((N, 4), complex)),
        _replaced("X", data=np.ones(N)), _replaced("X", data=np.ones((N, 2, 2), "f2")),
        _replaced("X", data=h5py.Empty("f8")), _replaced("X", data=np.float64(3)),
        _replaced("X", data=np.ones((N, 4), [("a", "f8")])),
        _replaced("X", data=np.ones((N, 4), ">f4"), fletcher32=True, shuffle=True),
        _replaced("X", shape=(N, 4), dtype=h5py.ref_dtype),
        _replaced("X", shape=(N, 4), dtype=h5py.vlen_dtype(np.float64)),
        _replaced("obs/score", data=["é", "", "\U0001f600", "a", "b", "c"]),
        _replaced("obs/score", shape=(N,), dtype=h5py.ref_dtype), _replaced("obs/score", data=h5py.Empty("f8")),
        _replaced("obs/score", shape=(N,), dtype=h5py.enum_dtype({"a": 1})),
        _replaced("obs/type/categories", data=h5py.Empty("f8")), _replaced("obs/type/codes", data=np.ones((2, 3))),
        _replaced("obs/type/codes", data=np.array([2**63] * N, np.uint64)), _replaced("obs/n/mask", data=[b"x"] * N),
        _replaced("layers/counts/indices", data=[-1] * 6),
        _replaced("layers/counts/indptr", data=[0, 2**31, 1, 1, 1, 1, 6]), _attribute("obs", "column-order", "type"),
        _attribute("obs", "column-order", 7.5), _attribute("obs", "column-order", ["type"] * 3000),
        _attribute("obs", "column-order", ["/X", "..", ".", "", "type/codes", "obs"]),
        _attribute("obs", "_index", "/X"), _attribute("obs", "_index", h5py.Empty("f8")),
        _attribute("layers/counts", "shape", [2**62, 2**62]), _attribute("layers/counts", "shape", [-1, 4]),
        _attribute("layers/counts", "shape", "x"), _attribute("layers/counts", "encoding-type", 5),
        _attribute("obs", "column-order", h5py.Empty("S3")), _attribute("/", "encoding-type", np.ones((3, 3))),
    ]  # fmt: skip
    plain = [
        _annotated(),
        _annotated(chunks=(2, 2), compression="gzip"),
        _annotated(data=np.ones((N, 4), "f4")),
    ]
    return tuple(plain * 8 + [_annotated(change) for change in changes])


def h5ad(random: Random) -> bytes:
    """A file of six points, with links that lead elsewhere, strange parts or damaged bytes."""
    data = random.choice(_h5ads())
    return mutated(data, random, random.choice(_h5ads())) if random.random() < 0.7 else data


def group_options(random: Random) -> dict[str, Any]:
    """What is asked of annotated data."""
    choices: tuple[dict[str, Any], ...] = (
        {}, {}, {}, {"layer": "counts"}, {"obsm": "X_pca"}, {"label": "type"}, {"label": ["n", "score"]},
        {"id": "score"}, {"drop": "n"}, {"obsm": "../obs"}, {"layer": "/X"}, {"layer": "counts", "obsm": "X_pca"},
        {"label": "../X"}, {"id": "/"},
    )  # fmt: skip
    return dict(random.choice(choices))


@cache
def _zarrs() -> tuple[bytes, ...]:
    import zarr

    found = []
    for version in (2, 3):
        folder = Path(tempfile.mkdtemp())
        try:
            root: Any = zarr.open_group(str(folder / "g"), mode="w", zarr_format=version)
            root.attrs["encoding-type"] = "anndata"
            rng = np.random.default_rng(0)
            root.create_array("X", data=rng.normal(size=(N, 4)), chunks=(3, 4))
            obs = root.create_group("obs", attributes={"_index": "_index", "column-order": ["score", "type"]})
            obs.create_array("_index", data=np.arange(N))
            obs.create_array("score", data=rng.normal(size=N))
            kinds = obs.create_group("type")
            kinds.create_array("codes", data=np.array([0, 1, 0, 1, 1, 0], np.int8))
            kinds.create_array("categories", data=np.array([5, 7]))
            root.create_group("obsm").create_array("X_pca", data=rng.normal(size=(N, 2)))
            array: Any = zarr.create_array(
                str(folder / "a"), data=rng.normal(size=(N, 4)), chunks=(2, 4), zarr_format=version
            )
            found += [folder_bytes(folder / "g"), folder_bytes(Path(str(array.store_path.store.root)))]
        finally:
            shutil.rmtree(folder)
    return tuple(found)


def folder_bytes(folder: Path) -> bytes:
    """A folder as bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return framed([(str(path.relative_to(folder)), path.read_bytes()) for path in files])


def framed(members: list[tuple[str, bytes]]) -> bytes:
    """Names and contents as bytes."""
    return b"".join(name.encode() + b"\0" + len(data).to_bytes(4, "big") + data for name, data in members)


def unframed(data: bytes) -> list[tuple[str, bytes]]:
    """Names and contents, as far as they can be told."""
    found = []
    while data:
        name, _, rest = data.partition(b"\0")
        length = int.from_bytes(rest[:4], "big")
        found.append((name.decode("utf-8", "replace"), rest[4 : 4 + length]))
        data = rest[4 + length :]
    return found


def write_folder(folder: Path, data: bytes) -> None:
    """Make a folder of bytes; nothing is written outside of it."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    for name, content in unframed(data):
        parts = [part for part in name.removeprefix("->").split("/") if part not in ("", ".", "..")]
        target = folder.joinpath(*parts) if parts else folder / "empty"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if name.startswith("->"):
                target.symlink_to(content.decode("utf-8", "replace"))
            elif not target.is_symlink():
                target.write_bytes(content)
        except (OSError, ValueError):
            continue


VALUES = (
    None, True, -1, 0, 1, 2.5, *NUMBERS, "", "x", "NaN", "Infinity", "../..", [], [[]], {}, [0, 0], [-1, 4],
    [2**40, 2**40], "<f8", "|O", "|V8", "float64", "string", "float16", "complex128", "variable_length_utf8",
    {"name": "gzip", "configuration": {"level": 5}}, [{"name": "bytes"}],
    [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1]}}], {"id": "pickle"}, [{"id": "pickle"}],
    {"kind": "inline", "metadata": {"../../x": {}}}, {"name": "v2", "configuration": {"separator": "/../"}}, "/../",
)  # fmt: skip


def zarr(random: Random) -> bytes:
    """A folder whose metadata, chunks, names or links are not what they should be."""
    members = unframed(random.choice(_zarrs()))
    for _ in range(random.choice((0, 1, 1, 2))):
        place = random.randrange(len(members))
        if random.random() < 0.6:
            described = [
                k
                for k, (name, _) in enumerate(members)
                if name.endswith(("json", "zarray", "zattrs", "zgroup"))
            ]
            place = random.choice(described or [place])
        name, data = members[place]
        how = random.random()
        if how < 0.5 and name.rpartition(".")[2] in ("json", "zarray", "zattrs", "zgroup"):
            data = _other_json(data, random)
        elif how < 0.8:
            data = mutated(data, random)
        elif how < 0.85:
            members.pop(place)
            continue
        elif how < 0.93:
            name, data = (
                f"->{name}",
                random.choice(
                    (
                        b"/etc/passwd",
                        b"../canary.zarr/c/0/0",
                        b"../canary.bin",
                        b".",
                        b"..",
                        b"../fifo",
                        b"nowhere",
                    )
                ),
            )
        else:
            name = random.choice(
                ("X/c/0", "X/0.0", "obs", "zarr.json", ".zgroup", ".zarray", "X", name + "/" + name)
            )
        members[place] = (name, data)
    return framed(members)


def _other_json(data: bytes, random: Random) -> bytes:
    """The same with another value somewhere."""
    try:
        tree = json.loads(data)
    except ValueError:
        return mutated(data, random)
    node = tree
    for _ in range(random.randrange(4)):
        keys: Any = (
            list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        )
        inner = [key for key in keys if isinstance(node[key], dict | list) and node[key]]
        if not inner:
            break
        node = node[random.choice(inner)]
    if isinstance(node, dict | list) and node:
        key: Any = random.choice(list(node) if isinstance(node, dict) else range(len(node)))
        node[key] = random.choice(VALUES)
        if random.random() < 0.1 and isinstance(node, dict):
            del node[key]
    return json.dumps(tree).encode()
