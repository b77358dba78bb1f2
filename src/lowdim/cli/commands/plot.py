"""``lowdim plot``: draw an embedding that is in a file."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from ..files.inputs import check_sources, input_files, read_images, read_labels
from ..files.targets import PICTURES, check_all, check_pictures, writing
from ..options.method import add_parameters
from ..options.shared import add_force, add_talk
from ..options.table import function_parameters
from ..parser import Parser, given
from ..program import DONE
from ..session import Session
from ..terminal.streams import as_typed_text
from ..usage import UsageError, nearest

TEXT = """\
Draw the first coordinates of EMBEDDING, coloured by one of its columns or by a column of the data. A file that ends in
.html is a page of its own, to zoom, hover and select in.
"""
EXAMPLES = [
    ("lowdim plot cells.embedding.csv --label type", "writes cells.embedding.png"),
    ("lowdim plot Y.npy --data cells.csv --label type -o cells.html", "labels from the data, as a page"),
    ("lowdim plot Y.npy --columns 3,4 -o rest.svg", "further coordinates"),
]
GIVEN = {"embedding", "labels", "path", "ax", "images", "columns", "ids", "trust", "ellipses", "X", "scores"}


def make_parser(arguments: list[str]) -> Parser:
    """Options from the signature of `lowdim.plot`."""
    parser = Parser("plot", "EMBEDDING [-o FILE] [options]", TEXT, EXAMPLES)
    parser.add_positional("EMBEDDING", "coordinates: .npy, .csv, .tsv, .parquet or .h5ad")
    group = parser.add_argument_group("results")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help=f"the picture: {', '.join(PICTURES)}; may be given several times (default: EMBEDDING's name with .png)",
    )
    add_force(group)
    chosen = parser.add_argument_group("what to show")
    chosen.add_argument(
        "--label", metavar="COLUMN", type=as_typed_text, help="column that colours the points"
    )
    chosen.add_argument("--data", metavar="FILE", help="file that has the labels, where EMBEDDING has not")
    chosen.add_argument(
        "--columns", metavar="I,J", help="which coordinates, from 1 (default: the first, up to 3)"
    )
    chosen.add_argument(
        "--key",
        metavar="NAME",
        type=as_typed_text,
        help="which obsm of an .h5ad, or array of an .npz, to draw",
    )
    chosen.add_argument(
        "--images",
        metavar="FILE",
        help="an image of each point (N x H x W, or N x D with a square D), as thumbnails",
    )
    plain = [p for p in function_parameters("plot") if p.name not in GIVEN]
    add_parameters(parser, "drawing", plain)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Draw."""
    check_sources(options.embedding, options.data, options.images)
    inputs = input_files(options.embedding, options.data, options.images)
    if options.data and not options.label:
        raise UsageError("--data is read for its labels: name the column with --label.")
    pictures = options.output or [_default(options.embedding)]
    check_all([("--output", picture) for picture in pictures], force=options.force, inputs=inputs)
    check_pictures("--output", pictures)
    from ...data import files
    from ...plotting import plot

    with session.stage("read"):
        coordinates, beside = files.read_embedding(options.embedding, key=options.key)
    label, columns = _labels(options, dict(beside.columns))
    places = _places(options.columns, coordinates.shape[1])
    shown = coordinates[:, places]
    images = read_images(options.images, shown)
    extra = {"images": images, "columns": columns or None, "ids": beside.ids, **given(options, "own:")}
    with writing(session) as results:
        for picture in pictures:
            results.write(picture, partial(plot, shown, label, path=picture, **extra), f"draw {picture}")
    session.quieten()
    session.console.say(
        f"{options.embedding}: {shown.shape[0]:,} points; {_taken(beside, places, label)}\n"
        f"Wrote {', '.join(results.written)}"
    )
    return DONE


def _taken(beside: Any, places: list[int], label: str | None) -> str:
    """What was taken for coordinates and colours: a file does not always say."""
    names = beside.feature_names
    columns = [f"number {place + 1}" if names is None else repr(names[place]) for place in places]
    of = f" of {len(names)}" if names is not None and len(names) > len(places) else ""
    said = f"coordinates: {', '.join(columns)}{of}"
    if label is not None:
        return f"{said}; coloured by {label!r}"
    others = ", ".join(repr(name) for name in list(beside.columns)[:6])
    return f"{said}; not coloured" + (f" (--label takes {others})" if others else "")


def _default(source: str) -> str:
    name = "embedding" if source == "-" else Path(Path(source).name.removesuffix(".gz")).stem
    return f"{name}.png"


def _labels(options: argparse.Namespace, columns: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The name of the labels asked for, and the columns with them: from the data, or the embedding's own."""
    if options.label is None:
        return ("cluster" if "cluster" in columns else None), columns
    is_cells = options.embedding.lower().endswith(".h5ad") and options.label not in columns
    source = options.embedding if options.data is None and is_cells else options.data  # a gene, of X
    if source is not None:
        return options.label, columns | {options.label: read_labels(source, options.label)}
    if options.label not in columns:
        there = f"It has {', '.join(map(str, columns))}" if columns else "It has none but coordinates"
        raise UsageError(
            f"--label: {options.embedding} has no column {options.label!r}.{nearest(options.label, map(str, columns))} "
            f"{there}; --data names a file that has it."
        )
    return options.label, columns


def _places(columns: str | None, n_columns: int) -> list[int]:
    """Places of the coordinates to show."""
    if columns is None:
        return list(range(min(3, n_columns)))
    try:
        places = [int(part) - 1 for part in columns.split(",")]
    except ValueError:
        raise UsageError(f"--columns must be whole numbers with commas, as 1,2; got {columns!r}.") from None
    if not 1 <= len(places) <= 3 or not all(0 <= place < n_columns for place in places):
        raise UsageError(
            f"--columns must name one to three of the {n_columns} coordinates, from 1; got {columns!r}."
        )
    return places
