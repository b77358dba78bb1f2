"""``lowdim update``: a model that has taken in new data."""

from __future__ import annotations

import argparse
import time
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.messages import hyphenated
from ..failures import about, finding_gaps
from ..files.beside import beside_fitted
from ..files.columns import NAMES, READING, read_for
from ..files.inputs import check_sources, describe_table, input_files
from ..files.outputs import add_name, check_output, draw, obsm_name
from ..files.targets import (
    EMBEDDINGS,
    PICTURES,
    STANDARD,
    check_all,
    check_pictures,
    check_suffix,
    write_coordinates,
    write_json,
    writing,
)
from ..options.shared import add_force, add_input, add_json, add_talk
from ..parser import Parser
from ..program import DONE, INTERRUPTED
from ..session import Session
from ..usage import UsageError

TEXT = """\
Let the model that 'lowdim embed --model MODEL' made take in the rows of DATA, and write the new model. New rows are
placed on the old map, then all move together, the old ones no more than the data ask for: unlike 'lowdim transform',
which moves nothing, new rows become part of the map. MODEL stays as it is. The columns of the model are found in DATA
by their names, as for 'lowdim transform'.
"""
EXAMPLES = [
    ("lowdim update cells.lowdim monday.csv --model cells-2.lowdim", "the model with the rows of Monday"),
    (
        "lowdim update cells.lowdim more.csv --model cells-2.lowdim -o more-2d.csv --plot all.png",
        "coordinates of the new rows, and a picture of all",
    ),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("update", "MODEL DATA --model NEW [options]", TEXT, EXAMPLES)
    parser.add_positional("MODEL", "what 'lowdim embed --model' or 'lowdim update --model' wrote")
    parser.add_positional("DATA", "the new rows")
    group = parser.add_argument_group("results")
    group.add_argument("--model", metavar="NEW", dest="new", help="the new model (needed)")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"coordinates of the rows of DATA: {', '.join(EMBEDDINGS)}, or - for CSV on standard output",
    )
    group.add_argument(
        "--all",
        metavar="FILE",
        help="coordinates of all rows, those that were there first, in their order, then those of DATA: the same "
        "formats",
    )
    add_name(group, "the method's name")
    group.add_argument(
        "--plot", metavar="FILE", action="append", default=[], help=f"picture of all: {', '.join(PICTURES)}"
    )
    add_json(group, "what was done")
    add_force(group)
    add_input(parser)
    add_talk(parser)
    return parser


@dataclass(frozen=True, slots=True)
class Growth:
    """What came of it: the new model, whole and its last step, and the rows of DATA."""

    whole: Any
    fitted: Any
    n_old: int
    table: Any

    @property
    def new(self) -> tuple[Any, Any, Any]:
        """Coordinates, columns and clusters of the rows of DATA."""
        clusters = getattr(self.fitted, "labels_", None)
        return (
            self.fitted.embedding_[self.n_old :],
            self.table,
            None if clusters is None else clusters[self.n_old :],
        )

    @property
    def everyone(self) -> tuple[Any, Any, Any]:
        """Coordinates, columns and clusters of all rows."""
        clusters = getattr(self.fitted, "labels_", None)
        old = None if clusters is None else clusters[: self.n_old]
        return beside_fitted(self.fitted.embedding_[: self.n_old], old, *self.new)


def run(options: argparse.Namespace, session: Session) -> int:
    """Load, grow, write."""
    began = time.perf_counter()
    inputs = _checked(options)
    growth = _work(options, session)
    fitted = growth.fitted
    from ...models.files import save

    def write_to(name: Any, coordinates: Any, rows: Any, groups: Any) -> None:
        write_coordinates(
            str(name),
            coordinates,
            table=rows,
            clusters=groups,
            force=options.force,
            inputs=inputs,
            obsm=obsm_name(options, hyphenated(type(fitted).__name__)),
        )

    parts = [(options.output, growth.new), (options.all, growth.everyone)]
    with writing(session) as results:
        results.write(options.new, partial(save, growth.whole, options.new, force=options.force))
        for name, part in parts:
            results.write(name if name != STANDARD else None, partial(write_to, name, *part))
        for picture in options.plot:
            results.write(picture, partial(draw, picture, *growth.everyone), f"draw {picture}")
        content = {
            "command": session.command,
            "model": {"file": options.model, "method": type(fitted).__name__},
            "input": {
                "source": options.data,
                "shape": list(growth.table.X.shape),
                "label": growth.table.label,
            },
            "shape": list(fitted.embedding_.shape),
            "interrupted": session.interrupted,
            "report": fitted.report_.as_dict(),
            "written": list(results.written),
            "seconds": time.perf_counter() - began,
        }
        results.write(
            options.json, lambda: write_json(options.json, content, force=options.force, inputs=inputs)
        )
        for name, part in parts:
            results.write(STANDARD if name == STANDARD else None, partial(write_to, name, *part))
    session.quieten()
    session.console.say(
        f"{describe_table(growth.table)}\n{growth.table.X.shape[0]:,} rows taken in beside {growth.n_old:,} "
        f"({type(fitted).__name__}) in {time.perf_counter() - began:.1f} s{_moved(fitted)}"
        + (f"\nWrote {', '.join(results.written)}" if results.written else "")
    )
    return INTERRUPTED if session.interrupted else DONE


def _checked(options: argparse.Namespace) -> list[str]:
    """The files that are read; a UsageError where something cannot be written."""
    if not options.new:
        raise UsageError(
            "--model is missing: the file of the new model, such as --model grown.lowdim. To place rows without a new "
            "model use 'lowdim transform'."
        )
    check_sources(options.model, options.data)
    inputs = input_files(options.model, options.data)
    check_output(options.output, options.data)
    if options.all and options.all != STANDARD:
        check_suffix("--all", options.all, (suffix for suffix in EMBEDDINGS if suffix != ".h5ad"))
    named = [("--model", options.new), ("--output", options.output), ("--all", options.all)]
    targets = [*named, *(("--plot", name) for name in options.plot), ("--json", options.json)]
    check_all(targets, force=options.force, inputs=inputs)
    check_pictures("--plot", options.plot)
    return inputs


def _work(options: argparse.Namespace, session: Session) -> Growth:
    """Read and grow; the new model knows the names of its columns as the old one did."""
    from ...models.files import load, steps_of

    with session.stage("load"):
        model = load(options.model)
    first = steps_of(model)[0][1]
    known = {name: vars(first)[name] for name in (NAMES, READING) if name in vars(first)}
    table = read_for(first, options.data, options, session)
    with about(options.data), finding_gaps(table):
        whole, n_old = _grown(model, table.X, session)
    steps = steps_of(whole)
    for name, value in known.items():
        setattr(steps[0][1], name, value)
    return Growth(whole, steps[-1][1], n_old, table)


def _grown(model: Any, X: Any, session: Session) -> tuple[Any, int]:
    """The model with more rows, and how many it had. Steps of a pipeline before the last stay as they are."""
    from ...models.files import steps_of

    *before, (name, last) = steps_of(model)
    for _, step in before:
        X = step.transform(X)
    last.callback = session.listen
    grown = last.update(X)
    grown.callback = None  # a model file holds no functions
    if last is model:
        return grown, last.embedding_.shape[0]
    whole = copy(model)
    whole.steps = [*before, (name, grown)]
    return whole, last.embedding_.shape[0]


def _moved(model: Any) -> str:
    shift = model.report_.figures.get("median_shift")
    return "" if shift is None else f"; those moved by {100 * shift:.2g} % of the picture's width (median)"
