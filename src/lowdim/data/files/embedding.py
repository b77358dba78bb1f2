"""Embeddings that were written by lowdim or by others."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.messages import named, setting
from ...core.records import Floats
from ...errors import FormatError, InputError
from ..mapped import in_memory
from .checks import unplaced
from .reading import read_as, suffix_of
from .table import Request, Roles, Table, quoted, unnamed_index

_NOT_COORDINATES = frozenset({"id", "index", "label", "cluster", "class", "target", "y_true"})


def read_embedding(source: str | os.PathLike[str], *, key: str | None = None) -> tuple[Floats, Table]:
    """Read coordinates, and the columns that lie beside them.

    Parameters
    ----------
    source
        Any file that `read` knows. In a table the coordinates are the columns x, y (and z), or x1 to xd; else those
        that are numbered, such as UMAP1 and UMAP2; else all columns of numbers.
    key
        Which obsm of an .h5ad, or array of an .npz. By default an .h5ad's X_lowdim, or the only one that it has.

    Returns
    -------
    tuple
        Coordinates, N x d float64, and the table with ``ids`` and ``columns``.
    """
    name = os.fspath(source)
    suffix = ".csv" if name == "-" else suffix_of(Path(name))
    if suffix == ".h5ad":
        from .h5ad import obsm_names

        request = Request(obsm=key or _only(obsm_names(Path(name)), name))
    else:
        request = Request(key=key)
    table = read_as(request, source, coordinates)
    if not isinstance(table.X, np.ndarray):
        raise FormatError(f"{name}: is a sparse matrix, no embedding. Name the file of the coordinates.")
    embedding = np.array(in_memory(table.X), dtype=np.float64, order="C")
    if wrong := unplaced(embedding):
        raise FormatError(f"{name}: {wrong} Take them out.")
    return embedding, replace(table, X=embedding, label=None)


def _only(names: list[str], source: str) -> str:
    if "X_lowdim" in names or len(names) == 1:
        return "X_lowdim" if "X_lowdim" in names else names[0]
    if not names:
        raise InputError(
            f"{source}: has no obsm, so no embedding is kept in it. Name the file of the coordinates."
        )
    raise InputError(
        f"{named('key')}: {source} has the obsm {quoted(names)}. Say which of them, as in {setting('key', names[-1])}."
    )


def coordinates(names: Sequence[str], numeric: Sequence[bool], request: Request, source: str) -> Roles:
    """The columns that place the points; all others go along."""
    places = (
        _by_name([name.lower() for name in names]) or _by_number(names, numeric) or _others(names, numeric)
    )
    if not places:
        raise FormatError(
            f"{source}: has no coordinates: no columns x and y, and no others of numbers among {quoted(list(names))}. "
            "Rename its columns."
        )
    ids = unnamed_index(names)
    if ids is None and "id" in names:
        ids = list(names).index("id")
    ids = None if ids in places else ids
    taken = {*places, ids}
    beside = tuple(place for place in range(len(names)) if place not in taken)
    return Roles(tuple(places), beside, ids)


def _by_name(names: list[str]) -> list[int]:
    """The columns x, y, z, or x1, x2 and so on."""
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    letters = [letter for letter in "xyz" if letter in names]
    if "x" in letters:
        return [first[letter] for letter in letters]
    count = 1
    while f"x{count}" in first:
        count += 1
    return [first[f"x{number}"] for number in range(1, count)]


def _by_number(names: Sequence[str], numeric: Sequence[bool]) -> list[int]:
    """The longest run of columns of numbers whose names differ by a number, such as PC_1 and PC_2."""
    runs: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if numeric[place] and (found := re.fullmatch(r"(.*?)\d+", name)):
            runs.setdefault(found[1], []).append(place)
    longest = max(runs.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def _others(names: Sequence[str], numeric: Sequence[bool]) -> list[int]:
    index = unnamed_index(names)
    return [
        place
        for place, name in enumerate(names)
        if numeric[place] and place != index and name.lower() not in _NOT_COORDINATES
    ]
