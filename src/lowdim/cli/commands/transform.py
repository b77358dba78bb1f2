"""``lowdim transform``: new data on the map of a model."""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

from ...core.messages import hyphenated
from ..failures import about, finding_gaps
from ..files.beside import beside_fitted
from ..files.columns import NAMES, read_for
from ..files.in_shards import InShards, add_shard_workers, choose_shards
from ..files.inputs import check_sources, describe_table, input_files
from ..files.outputs import add_name, check_output, draw, obsm_name
from ..files.targets import (
    EMBEDDINGS,
    PICTURES,
    STANDARD,
    check_all,
    check_pictures,
    default_output,
    write_coordinates,
    write_json,
    writing,
)
from ..options.shared import add_force, add_input, add_json, add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..shard_work import check_written, transform_shards, written_to

TEXT = """\
Place the rows of DATA on the map that 'lowdim embed --model MODEL' made, without moving what is there. Each row is
placed alone, so data may come in any portions. The columns of the model are found in DATA by their names: their order
does not matter, and other columns are left out. Files without names (.npy) have the same columns in the same order. How
the model's own data was read (--label, --id, --obsm, --layer, --key, --transpose) is known and need not be said again.
"""
EXAMPLES = [
    ("lowdim transform cells.lowdim more.csv -o more-2d.csv", "coordinates of new rows"),
    ("lowdim transform cells.lowdim more.csv --label type --plot more.png", "drawn, coloured by a column"),
    (
        "lowdim transform cells.lowdim big.zarr -o placed.zarr",
        "a block at a time, where memory does not hold it",
    ),
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
    add_name(group, "the method's name")
    group.add_argument(
        "--plot", metavar="FILE", action="append", default=[], help=f"picture: {', '.join(PICTURES)}"
    )
    group.add_argument(
        "--fitted",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw the points that the model was fitted to beside the new ones (default: true)",
    )
    add_json(group, "what was done")
    add_force(group)
    add_shard_workers(parser)
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        help="memory that DATA may take, such as '4 GB': larger data is placed a block at a time (default: what is "
        "free)",
    )
    add_input(parser)
    add_talk(parser)
    return parser


def _in_shards(
    options: argparse.Namespace,
    session: Session,
    model: Any,
    held: InShards,
    output: str | None,
    inputs: list[str],
    began: float,
) -> int:
    """Place rows that memory does not hold, a block at a time."""
    from ...models.files import steps_of

    check_written(options.output, held)
    method = type(steps_of(model)[-1][1]).__name__
    coordinates, written = transform_shards(options, session, model, held, written_to(output), inputs)
    seconds = time.perf_counter() - began
    content = {
        "command": session.command,
        "model": {"file": options.model, "method": method},
        "input": {"source": held.name, "shape": list(held.source.shape), "in_shards": held.why},
        "shape": list(coordinates.shape),
        "written": written,
        "seconds": seconds,
    }
    if options.json is not None:
        write_json(options.json, content, force=options.force, inputs=inputs)
    return _say_done(options, session, held.table, method, written, seconds)


def _say_done(
    options: argparse.Namespace, session: Session, table: Any, method: str, written: list[str], seconds: float
) -> int:
    session.quieten()
    session.console.say(
        f"{describe_table(table)}\n{table.X.shape[0]:,} rows placed on the map of {options.model} ({method}) in "
        f"{seconds:.1f} s" + (f"\nWrote {', '.join(written)}" if written else "")
    )
    return DONE


def run(options: argparse.Namespace, session: Session) -> int:
    """Load, place, write."""
    began = time.perf_counter()
    check_sources(options.model, options.data)
    inputs = input_files(options.model, options.data)
    output = options.output or (None if options.plot else default_output(options.data))
    check_output(output, options.data)
    targets = [("--output", output), *(("--plot", name) for name in options.plot), ("--json", options.json)]
    check_all(targets, force=options.force, inputs=inputs)
    check_pictures("--plot", options.plot)
    from ...models.files import load, steps_of

    with session.stage("load"):
        model = load(options.model)
    steps = [step for _, step in steps_of(model)]
    fitted, method = steps[-1], type(steps[-1]).__name__
    names = getattr(steps[0], NAMES, ())
    held = choose_shards(options.data, options, limit=options.memory_limit, wanted=names)
    if held is not None:
        return _in_shards(options, session, model, held, output, inputs, began)
    table = read_for(steps[0], options.data, options, session)
    with about(options.data), session.stage("place"), finding_gaps(table):
        coordinates = model.transform(table.X)
        clusters = model.predict(table.X) if hasattr(model, "predict") else None

    def write_output() -> None:
        write_coordinates(
            str(output),
            coordinates,
            table=table,
            clusters=clusters,
            force=options.force,
            inputs=inputs,
            obsm=obsm_name(options, hyphenated(method)),
        )

    with writing(session) as results:
        results.write(output if output != STANDARD else None, write_output)
        is_beside = options.fitted and hasattr(fitted, "embedding_")
        known = (getattr(fitted, "embedding_", None), getattr(fitted, "labels_", None))
        for picture in options.plot:
            shown = beside_fitted(*known, coordinates, table, clusters) if is_beside else None
            drawn = partial(draw, picture, *(shown or (coordinates, table, clusters)))
            results.write(picture, drawn, f"draw {picture}")
        content = {
            "command": session.command,
            "model": {"file": options.model, "method": method},
            "input": {"source": options.data, "shape": list(table.X.shape), "label": table.label},
            "shape": list(coordinates.shape),
            "written": list(results.written),
            "seconds": time.perf_counter() - began,
        }
        results.write(
            options.json, lambda: write_json(options.json, content, force=options.force, inputs=inputs)
        )
        results.write(STANDARD if output == STANDARD else None, write_output)
    return _say_done(options, session, table, method, results.written, time.perf_counter() - began)
