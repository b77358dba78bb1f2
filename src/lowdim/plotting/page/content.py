"""What a page shows: coordinates and columns, checked and packed for the browser."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.markup import Markup
from ...core.records import Floats
from ...errors import InputError
from ..colours import DARK_PLAIN, PLAIN, as_numbers, class_looks, hexadecimal, scale_colours, spread_of
from ..labels import Named, classes_of, is_quantity
from ..labels import column as column_of
from ..palette import DARK_MISSING, MISSING

_MOST_CLASSES = 256
_STEPS = 128
_ALIGNED = 8
THEMES = ("light", "dark")
EMPTY = Markup("")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the page: ``classes`` and ``text`` are codes into ``names``, a ``quantity`` is its own values."""

    name: str
    kind: str
    values: NDArray[Any]
    names: tuple[str, ...] = ()
    whole: bool = False

    def header(self) -> dict[str, Any]:
        """What the browser has to know besides the values."""
        made: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "quantity":
            known = self.values[np.isfinite(self.values)]
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
            missing = int(self.values.size - known.size)
            spread = spread_of(self.values.astype(np.float64))
            shown = {"clip": (spread.low, spread.high), "log": spread.log}
            return made | {"whole": self.whole, "low": low, "high": high, "missing": missing, **shown}
        made["names"] = self.names
        if self.kind == "classes":
            for theme, is_dark in (("colours", False), ("dark", True)):
                looks = class_looks(list(self.names), dark=is_dark)
                made[theme] = hexadecimal(np.array([look.colour for look in looks]))
            made["shapes"] = [look.shape for look in looks]
        return made


@dataclass(frozen=True, slots=True)
class Content:
    """Points, columns and the place of the column that colours them first.

    ``frames`` are several embeddings of these points by title, the first of them the points; none: there is one alone.
    ``about`` is what the panel says of how they were made.
    """

    title: str
    points: Floats
    columns: tuple[Column, ...]
    colour: int = 0
    colormap: str | None = None
    frames: tuple[tuple[str, Floats], ...] = ()
    about: Markup = EMPTY

    @classmethod
    def of(
        cls,
        points: Floats,
        labels: Named,
        *,
        title: str = "",
        columns: Mapping[str, Named] | None = None,
        ids: ArrayLike | None = None,
        continuous: bool | None = None,
        colormap: str | None = None,
    ) -> Content:
        """Check lengths and decide for each column what it is."""
        given: dict[str, Named] = {} if ids is None else {"id": column_of(ids, "id", "ids")}
        others = dict(columns or {})
        label = labels.name or "label"
        if labels.values is not None:
            given[label] = labels
            if labels.name:
                others.pop(labels.name, None)
        for name, values in others.items():
            free = name
            while free in given:
                free += " (2)"
            given[free] = values
        made = []
        for name, values in given.items():
            shape = (0,) if values.values is None else values.values.shape
            if shape != (points.shape[0],):
                what = {"id": "ids", label: "labels"}.get(name, f"columns[{name!r}]")
                raise InputError(
                    f"{what} must hold one entry for each of the {points.shape[0]} points; got {shape[0]}. Give as "
                    "many as there are points, in their order."
                )
            made.append(_column(name, values, continuous if name == label else None))
        colourable = [column.name for column in made if column.kind != "text"]
        first = colourable.index(label) if label in colourable else 0
        return cls(title, points, tuple(made), first, colormap)

    def packed(self, thumbnails: dict[str, Any] | None) -> str:
        """Everything in one compressed block of base64: a header in JSON, then the arrays it points at."""
        arrays: list[NDArray[Any]] = []
        places: list[dict[str, Any]] = []
        at = 0
        columns = [column.values for column in self.columns]
        others = [axis for _, frame in self.frames[1:] for axis in frame.astype("<f4").T]
        for values in [*self.points.astype("<f4").T, *columns, *others]:
            array = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
            places.append(
                {"type": array.dtype.kind + str(array.dtype.itemsize), "at": at, "size": array.size}
            )
            arrays.append(array)
            at += -(-array.nbytes // _ALIGNED) * _ALIGNED
        n_axes = self.points.shape[1]
        later = places[n_axes + len(columns) :]
        header = {
            "title": self.title,
            "count": self.points.shape[0],
            "axes": _axis_names(n_axes, {column.name for column in self.columns}),
            "coordinates": places[:n_axes],
            "columns": [
                column.header() | {"values": place}
                for column, place in zip(self.columns, places[n_axes : n_axes + len(columns)], strict=True)
            ],
            "frames": [
                {"title": title, "coordinates": later[(at - 1) * n_axes : at * n_axes] if at else []}
                for at, (title, _) in enumerate(self.frames)
            ],
            "colour": self.colour,
            "thumbnails": thumbnails,
            **default_look(self.colormap),
        }
        return _squeezed(header, arrays)


def default_look(colormap: str | None) -> dict[str, Any]:
    """Colours on a light and a dark ground that do not depend on the data: of quantities, no label, a missing one."""
    places = np.linspace(0.0, 1.0, _STEPS)
    return {
        "scale": {
            theme: hexadecimal(scale_colours(places, colormap, dark=theme == "dark")) for theme in THEMES
        },
        "plain": dict(zip(THEMES, hexadecimal(np.array([PLAIN, DARK_PLAIN])), strict=True)),
        "missing": dict(zip(THEMES, hexadecimal(np.array([MISSING, DARK_MISSING])), strict=True)),
    }


def _axis_names(n_axes: int, taken: set[str]) -> list[str]:
    """Names of the coordinates in an exported file, as in the files that lowdim writes."""
    names = list("xyz"[:n_axes])
    while taken & set(names):
        names = [f"{name}_map" for name in names]
    return names


def _squeezed(header: dict[str, Any], arrays: list[NDArray[Any]]) -> str:
    """The header with places counted from the start of the block, then the arrays."""
    # The header's length depends on the places written in it: room for ten digits each makes it known beforehand.
    longest = len(json.dumps(header, ensure_ascii=False).encode()) + 10 * len(arrays)
    start = -(-(_ALIGNED + longest) // _ALIGNED) * _ALIGNED
    kept = [header["coordinates"], [column["values"] for column in header["columns"]]]
    kept += [frame["coordinates"] for frame in header["frames"]]
    for place in (place for places in kept for place in places):
        place["at"] += start
    text = json.dumps(header, ensure_ascii=False).encode()
    squeezer = zlib.compressobj(6)
    parts = [squeezer.compress(struct.pack("<II", len(text), 0) + text.ljust(start - _ALIGNED))]
    for array in arrays:
        parts.append(squeezer.compress(array.data))
        parts.append(squeezer.compress(bytes(-array.nbytes % _ALIGNED)))
    return b64encode(b"".join([*parts, squeezer.flush()])).decode("ascii")


def _column(name: str, labels: Named, continuous: bool | None) -> Column:
    """Classes where a legend can hold them, quantities where they read as such, else text."""
    if name != "id" and is_quantity(labels, continuous):
        values = as_numbers(labels)
        whole = labels.values is not None and labels.values.dtype.kind in "iu"
        return Column(name, "quantity", values if whole else values.astype("<f4"), whole=whole)
    names, codes = classes_of(labels)
    kind = "classes" if len(names) <= _MOST_CLASSES and name != "id" else "text"
    size = "<u1" if len(names) <= 2**8 else "<u2" if len(names) <= 2**16 else "<u4"
    return Column(name, kind, codes.astype(size), tuple(names))
