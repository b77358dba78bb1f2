"""Reading what a command works on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..failures import about, naming
from ..session import Session
from ..usage import UsageError
from .in_shards import is_many, read_many

OWN = "data"
"""Stands for the rows themselves where images are asked for."""
HEADERS: dict[bool | None, bool | str] = {None: "auto", True: True, False: False}


def read_table(source: str, options: argparse.Namespace, session: Session) -> Any:
    """The data, as the options of `options.shared.add_input` say."""
    from ...data import files

    if is_many(source):
        with session.stage("read"):
            return read_many(source, options)
    with about(source), naming("label", asked_as_labels(options)), session.stage("read"):
        return files.read(source, **asked_for(options))


def read_with_text(source: str, options: argparse.Namespace, session: Session) -> Any:
    """The data for a picture: columns of text that nobody has spoken of go along beside the features, as labels do.

    They are added to the options, so that the lines that read the same rows say so.
    """
    from ...data.files.reading import read_as
    from ...data.files.table import Request, Roles, assign, quoted

    def beside(names: Sequence[str], numeric: Sequence[bool], request: Request, source: str) -> Roles:
        roles = assign(names, numeric, request, source)
        texts = tuple(place for place in roles.features if not numeric[place])
        features = tuple(place for place in roles.features if numeric[place])
        if not texts or not features:
            return roles
        options.label = [*(options.label or ()), *(names[place] for place in texts)]
        return Roles(features, (*roles.labels, *texts), roles.id)

    if is_many(source) or options.transpose:
        return read_table(source, options, session)
    asked = options.label
    with about(source), naming("label", asked_as_labels(options)), session.stage("read"):
        table = read_as(Request(**asked_for(options)), source, beside)
    if options.label != asked:
        texts = options.label[len(asked or ()) :]
        session.console.say(f"Text, which can colour the picture and is no feature: {quoted(texts)}.")
    if asked is None and options.label:
        table = replace(table, label=_most_telling(table.columns))
        options.label = [table.label, *(name for name in options.label if name != table.label)]
    return table


def _most_telling(columns: dict[str, Any]) -> str:
    """The column of the fewest values, but more than one: names of rows tell nothing by their colours."""
    import numpy as np

    counts = {name: len(np.unique(np.asarray(values, dtype=str))) for name, values in columns.items()}
    return min(counts, key=lambda name: (counts[name] < 2, counts[name]))


def ask_as_label(options: argparse.Namespace, column: str, option: str) -> None:
    """A column that an option names is read as one more label, so that it is kept beside the features."""
    if column not in (options.label or ()):
        options.label = [*(options.label or ()), column]
        options.asked_as_labels = asked_as_labels(options) | {repr(column): option}


def asked_as_labels(options: argparse.Namespace) -> dict[str, str]:
    """The options that have asked for labels, by the columns as errors write them."""
    found: dict[str, str] = getattr(options, "asked_as_labels", {})
    return found


def asked_for(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of how to read, by the names that `lowdim.data.files.read` has for it."""
    return {
        "label": options.label,
        "id": options.id,
        "drop": tuple(options.drop),
        "layer": options.layer,
        "obsm": options.obsm,
        "key": options.key,
        "header": HEADERS[options.header],
        "delimiter": options.delimiter,
        "transpose": bool(options.transpose),
    }


def read_labels(source: str, label: str) -> Any:
    """One column of a file, whatever its other columns hold."""
    from ...data.files.reading import read_as
    from ...data.files.table import Request, Roles, place_of

    def alone(names: Sequence[str], numeric: Sequence[bool], request: Request, source: str) -> Roles:
        place = place_of("label", label, names, source)
        numbers = [other for other, is_number in enumerate(numeric) if is_number and other != place]
        return Roles(tuple(numbers[:1]), (place,), None)

    return read_as(Request(label=label), source, alone).labels


def known_labels(labels: Any) -> Any:
    """Labels with None where the file has none, which files of text write as nothing at all."""
    import numpy as np

    if labels is None or np.asarray(labels).dtype.kind not in "OUT":
        return labels
    return np.array(
        [None if isinstance(label, str) and not label else label for label in labels], dtype=object
    )


def read_anything(source: str) -> Any:
    """A file as it is: columns of numbers are features, and all others go along."""
    from ...data.files.reading import read_as
    from ...data.files.table import Request, Roles

    def sorted_out(names: Sequence[str], numeric: Sequence[bool], request: Request, source: str) -> Roles:
        numbers = tuple(place for place, is_number in enumerate(numeric) if is_number)
        return Roles(numbers, tuple(place for place in range(len(names)) if place not in numbers), None)

    return read_as(Request(), source, sorted_out)


def read_images(source: str | None, X: Any) -> Any:
    """An image of each row of X: from a file, or the rows themselves; None where none are asked for."""
    from ...errors import FormatError

    if source is None:
        return None
    images = X if source == OWN else _load_images(source)
    name = "DATA" if source == OWN else source
    if images.shape[:1] != X.shape[:1]:
        raise FormatError(
            f"{source}: holds {images.shape[0]:,} images for {X.shape[0]:,} rows. Give one for each."
        )
    width = images.shape[1] if images.ndim == 2 else 1
    if images.ndim not in (2, 3, 4) or round(width**0.5) ** 2 != width:
        held = " x ".join(map(str, images.shape))
        raise FormatError(
            f"--images: {name} is {held}, which are no square images. Give N x D with a square D, such as 784 = 28 x "
            "28, or an .npy of N x height x width."
        )
    return images


def _load_images(source: str) -> Any:
    import numpy as np

    from ...data import files
    from ...errors import FormatError

    if not source.lower().endswith(".npy"):
        return files.read(source).X
    try:
        return np.load(source, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise FormatError(f"{source}: is no array of numbers: {error}") from error


def input_files(*sources: str | None) -> list[str]:
    """Those of the sources that are files: never to be written over."""
    return [source for source in sources if source and source != "-"]


def check_sources(*sources: str | None) -> None:
    """Standard input can be read once only, and a file must be there before anything else is looked at."""
    if sources.count("-") > 1:
        raise UsageError("standard input (-) can be read only once: name a file for the other.")
    for source in input_files(*sources):
        if not (Path(source).exists() or is_many(source)):
            from ...errors import FileError

            raise FileError(
                f"{source}: there is no such file. Check its name and the folder.{_similar(source)}"
            )


def describe_table(table: Any) -> str:
    """One line about the data."""
    n_rows, n_columns = table.X.shape
    name = "standard input" if table.source == "-" else table.source
    line = f"{name}: {n_rows:,} rows, {n_columns:,} features"
    if table.labels is not None:
        line += f", labels from {table.label!r}"
    others = [column for column in table.columns if column != table.label]
    if others:
        line += f"; not features: {', '.join(map(str, others[:6]))}{', ...' if len(others) > 6 else ''}"
    return line


def _similar(source: str) -> str:
    from ..usage import nearest

    try:
        names = [path.name for path in Path(source).parent.iterdir()]
    except OSError:
        names = []
    return nearest(Path(source).name, names)
