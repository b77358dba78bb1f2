"""What a page asks beside pictures: a column, distances from a point, what tells a selection apart, files."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats
from ..data.files.table import Table
from ..data.files.writing import write_embedding
from ..data.rows import Rows
from ..errors import InputError
from ..explanation.contrasts import contrast
from ..plotting.labels import Named
from ..plotting.labels import column as named_column
from ..plotting.page.content import Column, Content
from .source import Source
from .states import State

MOST_FEATURES = 12
"""Features that are named of a selection."""
FILES = {"csv": ".csv", "h5ad": ".h5ad", "npy": ".npy"}
LINES = ("python", "shell")
LARGEST_FILE = 1 << 29
"""Bytes of a file that goes to a page: it is held in memory, here and there."""


def column_of(name: str, values: NDArray[Any], *, is_quantity: bool = False) -> Column:
    """Values as a column of the page; what they are is read from them where it is not said."""
    labels = named_column(values, name, name)
    if is_quantity:
        labels = replace(labels, kind="quantity")
    return Content.of(np.zeros((len(values), 2)), Named(), columns={name: labels}).columns[0]


def described(column: Column) -> dict[str, Any]:
    """What the page is told of a column before its values come."""
    kind = column.values.dtype
    return column.header() | {"type": kind.kind + str(kind.itemsize)}


def selected_rows(mask: str, n_rows: int) -> NDArray[np.bool_]:
    """The rows of a selection: a bit for each, in base64."""
    try:
        bits = np.frombuffer(b64decode(mask, validate=True), np.uint8)
    except (Base64Error, ValueError) as error:
        raise InputError("A selection is a bit for each row, in base64.") from error
    if bits.size != -(-n_rows // 8):
        raise InputError(f"A selection has a bit for each of the {n_rows} rows.")
    return np.unpackbits(bits, count=n_rows, bitorder="little").astype(bool)


def contrasts(source: Source, inside: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """The features by which a selection differs most from the rest: standardised differences with their intervals."""
    if not inside.any() or inside.all():
        return []
    found = contrast(Rows(source.X), inside, ~inside, 0.95)
    effect = np.where(np.isfinite(found.effect), found.effect, np.sign(found.effect) * 1e3)
    order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")[:MOST_FEATURES]
    return [
        {
            "feature": source.features[place],
            "effect": float(np.nan_to_num(effect[place])),
            "low": float(np.nan_to_num(found.low[place])),
            "high": float(np.nan_to_num(found.high[place])),
            "inside": float(found.inside.mean[place]),
            "outside": float(found.outside.mean[place]),
            "certain": bool(found.q_value[place] < 0.05),
        }
        for place in order
        if effect[place]
    ]


def lines_of(state: State, source: Source) -> dict[str, str | None]:
    """What is typed to make a settled picture again, bit for bit."""
    part = "X" if source.chosen is None else "X[rows]"
    imports = "import lowdim\n" + ("import numpy as np\n" if "np." in source.reading else "")
    more = [
        f"{imports}{source.reading}",
        f"model = {state.setting.call()}.fit({part})",
        "embedding = model.embedding_",
    ]
    if source.chosen is not None:
        more.append("everything = model.transform(X)")
    command = None
    if source.command is not None:
        command = f"{source.command} {state.setting.options(source.flag_of)} -o embedding.npy"
    return {"python": "\n".join(more) + "\n", "shell": command}


def has_h5ad(source: Source) -> bool:
    """Whether there is an .h5ad to add coordinates to: those of a sample are not those of its rows."""
    return (
        source.chosen is None and source.table is not None and source.table.source.lower().endswith(".h5ad")
    )


def _size_of(source: Source) -> int:
    return Path(source.table.source).stat().st_size if has_h5ad(source) and source.table else 0


def file_of(kind: str, coordinates: Floats, source: Source, method: str) -> bytes:
    """A file of coordinates; its place is a folder that is gone when it has been read."""
    table = source.table
    if kind == "h5ad" and (size := _size_of(source)) > LARGEST_FILE:
        raise InputError(
            f"The .h5ad takes {size / 1e9:.1f} GB, too much for a page. Write it with the line for the shell and "
            "-o with a name that ends in .h5ad."
        )
    if table is None or source.chosen is not None:
        table = Table(
            np.zeros((len(coordinates), 1)), ids=source.ids, columns=dict(source.columns), label=source.label
        )
    with TemporaryDirectory() as folder:
        path = write_embedding(
            Path(folder) / f"embedding{FILES[kind]}",
            coordinates,
            table=table if kind != "npy" else None,
            name=method.replace("-", "_"),
        )
        return path.read_bytes()
