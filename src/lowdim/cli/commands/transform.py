"""``lowdim transform``: new data on the map of a model."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ..failures import finding_gaps, in_words_of
from ..groups import add_force, add_input, add_json, add_talk
from ..inputs import check_sources, describe_table, input_files, read_table
from ..outputs import draw
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..targets import (
    EMBEDDINGS,
    PICTURES,
    STANDARD,
    check_all,
    check_suffix,
    default_output,
    write_coordinates,
    write_json,
)

TEXT = """\
Place the rows of DATA on the map that 'lowdim embed --model MODEL' made, without moving what is there. Each row is
placed alone, so data may come in any portions. DATA has the same columns as the data of the model.
"""
EXAMPLES = [
    ("lowdim transform cells.lowdim more.csv -o more-2d.csv", "coordinates of new rows"),
    ("lowdim transform cells.lowdim more.csv --label type --plot more.png", "drawn, coloured by a column"),
    ("cat more.csv | lowdim transform cells.lowdim - -o -", "as a filter"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("transform", "MODEL DATA [options]", TEXT, EXAMPLES)
    parser.add_positional("MODEL", "what 'lowdim embed --model' wrote")
    parser.add_positional("DATA", "the new rows")
    group = parser.add_argument_group("results")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"coordinates: {', '.join(EMBEDDINGS)}, or - for CSV on standard output (default: DATA's name with "
        ".embedding before the suffix, in this folder, unless --plot is given)",
    )
    group.add_argument(
        "--plot", metavar="FILE", action="append", default=[], help=f"picture: {', '.join(PICTURES)}"
    )
    add_json(group, "what was done")
    add_force(group)
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Load, place, write."""
    began = time.perf_counter()
    check_sources(options.model, options.data)
    inputs = input_files(options.model, options.data)
    output = options.output or (None if options.plot else default_output(options.data))
    if output and output != STANDARD:
        check_suffix("--output", output, EMBEDDINGS)
    for picture in options.plot:
        check_suffix("--plot", picture, PICTURES)
    targets = [("--output", output), *(("--plot", name) for name in options.plot), ("--json", options.json)]
    check_all(targets, force=options.force, inputs=inputs)
    from ...persistence import load

    with session.stage("load"):
        model = load(options.model)
    table = read_table(options.data, options, session)
    _check_features(model, table)
    with in_words_of(None, options.data), session.stage("place"), finding_gaps(table):
        coordinates = model.transform(table.X)
        clusters = model.predict(table.X) if hasattr(model, "predict") else None
    written = []
    with session.stage("write"):
        if output is not None:
            write_coordinates(
                output, coordinates, table=table, clusters=clusters, force=options.force, inputs=inputs
            )
            written += [output] if output != STANDARD else []
        for picture in options.plot:
            draw(picture, coordinates, table, clusters)
            written.append(picture)
    seconds = time.perf_counter() - began
    if options.json is not None:
        content = {
            "command": session.command,
            "model": {"file": options.model, "method": type(model).__name__},
            "input": {"source": options.data, "shape": list(table.X.shape), "label": table.label},
            "shape": list(coordinates.shape),
            "written": written,
            "seconds": seconds,
        }
        write_json(options.json, content, force=options.force, inputs=inputs)
    session.quieten()
    session.voice.say(
        f"{describe_table(table)}\n{coordinates.shape[0]:,} rows placed on the map of {options.model} "
        f"({type(model).__name__}) in {seconds:.1f} s" + (f"\nWrote {', '.join(written)}" if written else "")
    )
    return DONE


def _check_features(model: Any, table: Any) -> None:
    from ...errors import InputError

    wanted, there = getattr(model, "n_features_in_", None), table.X.shape[1]
    if wanted is not None and wanted != there:
        raise InputError(
            f"{table.source}: has {there:,} features where the model was fitted to {wanted:,}. Give the same columns, "
            "and name those that are no features with --label, --id or --drop."
        )
