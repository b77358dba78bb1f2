"""``lowdim plot``: draw an embedding that is in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..groups import add_force, add_talk
from ..inputs import check_sources, input_files, read_images, read_labels
from ..introspection import function_parameters
from ..options import add_parameters
from ..parser import Parser, given
from ..program import DONE
from ..session import Session
from ..streams import in_letters
from ..targets import PICTURES, check_all, check_suffix
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
GIVEN = {"embedding", "labels", "path", "ax", "images", "columns", "ids"}


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
    chosen.add_argument("--label", metavar="COLUMN", type=in_letters, help="column that colours the points")
    chosen.add_argument("--data", metavar="FILE", help="file that has the labels, where EMBEDDING has not")
    chosen.add_argument(
        "--columns", metavar="I,J", help="which coordinates, from 1 (default: the first, up to 3)"
    )
    chosen.add_argument(
        "--images",
        metavar="FILE",
        help="an image of each point (N x H x W, or N x D with a square D), as thumbnails",
    )
    plain = [p for p in function_parameters("plotting.static", "plot") if p.name not in GIVEN]
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
    for picture in pictures:
        check_suffix("--output", picture, PICTURES)
    check_all([("--output", picture) for picture in pictures], force=options.force, inputs=inputs)
    from ...data import files
    from ...plotting import plot
    from ...plotting.drawing import require_matplotlib

    require_matplotlib()
    with session.stage("read"):
        coordinates, beside = files.read_embedding(options.embedding)
    label, columns = _labels(options, dict(beside.columns))
    shown = _chosen(coordinates, options.columns)
    images = read_images(options.images, shown)
    for picture in pictures:
        with session.stage(f"draw {picture}"):
            plot(
                shown,
                label,
                path=picture,
                images=images,
                columns=columns or None,
                ids=beside.ids,
                **given(options, "own:"),
            )
    session.quieten()
    session.voice.say(f"{options.embedding}: {shown.shape[0]:,} points\nWrote {', '.join(pictures)}")
    return DONE


def _default(source: str) -> str:
    name = "embedding" if source == "-" else Path(Path(source).name.removesuffix(".gz")).stem
    return f"{name}.png"


def _labels(options: argparse.Namespace, columns: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The name of the labels asked for, and the columns with them: from the data, or the embedding's own."""
    if options.label is None:
        return ("cluster" if "cluster" in columns else None), columns
    if options.data is not None:
        return options.label, columns | {options.label: read_labels(options.data, options.label)}
    if options.label not in columns:
        there = f"It has {', '.join(map(str, columns))}" if columns else "It has none but coordinates"
        raise UsageError(
            f"--label: {options.embedding} has no column {options.label!r}.{nearest(options.label, map(str, columns))} "
            f"{there}; --data names a file that has it."
        )
    return options.label, columns


def _chosen(coordinates: Any, columns: str | None) -> Any:
    """The coordinates to show."""
    if columns is None:
        return coordinates[:, :3]
    try:
        places = [int(part) - 1 for part in columns.split(",")]
    except ValueError:
        raise UsageError(f"--columns must be whole numbers with commas, as 1,2; got {columns!r}.") from None
    if not 1 <= len(places) <= 3 or not all(0 <= place < coordinates.shape[1] for place in places):
        raise UsageError(
            f"--columns must name one to three of the {coordinates.shape[1]} coordinates, from 1; got {columns!r}."
        )
    return coordinates[:, places]
