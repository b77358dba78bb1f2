"""``lowdim sweep``: one method over a grid of parameters."""

from __future__ import annotations

import argparse
import csv
import io
from functools import partial
from typing import Any

from ..failures import about, finding_gaps
from ..files.inputs import check_sources, describe_table, input_files, read_table
from ..files.targets import STANDARD, check_all, check_pictures, check_suffix, write_json, write_text, writing
from ..options.build import build, make_part
from ..options.method import OWNERS, Chosen, add_choice, add_method, add_parameters, choose
from ..options.shared import add_force, add_input, add_json, add_talk
from ..options.table import Parameter, function_parameters
from ..options.values import ArrayFile, convert, load_array
from ..parser import Parser, comma_list, given
from ..program import DONE, INTERRUPTED
from ..session import Session
from ..usage import UsageError, nearest
from ..workers import add_workers, are_asked, workers_of

TEXT = """\
Fit a method at every combination of some values of its parameters and compare the results: by labels where --label
gives them, by true coordinates where --truth does, else by how well neighbours are kept. What the fits have in common
is computed once. The table goes to standard output, or to the file that -o names. --workers and --cluster run the
fits as tasks; the table is the same.
"""
EXAMPLES = [
    (
        "lowdim sweep cells.csv --label type -m laplacian-eigenmaps --grid n_neighbors=5,10,20",
        "which k tells labels",
    ),
    (
        "lowdim sweep X.npy -m laplacian-eigenmaps --grid n_neighbors=5,10,20 --grid bandwidth=0.5,1,2 --plot heat.png",
        "two parameters, as a heat map",
    ),
    (
        "lowdim sweep X.npy -m lle --solver lll --grid landmarks=200,500,1000 -o sweep.csv",
        "landmarks, as a table",
    ),
    (
        "lowdim sweep X.npy --grid perplexity=10,30,90 --seeds 3 --cluster tcp://10.0.0.1:8786 --checkpoint run",
        "on a cluster; the folder run is one that all its workers see",
    ),
]
GIVEN = {"estimator", "grid", "X", "y", "score", "truth", "checkpoint", "callback", "verbose"}
PICTURES = (".png", ".svg", ".pdf")


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method and of `lowdim.sweep`."""
    chosen = choose(arguments)
    parser = Parser("sweep", "DATA --grid NAME=VALUES [--grid ...] [options]", TEXT, EXAMPLES)
    parser.add_positional("DATA", "the rows to embed")
    add_choice(parser)
    parser.add_argument(
        "--grid",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="a parameter and its values, with commas; may be given several times",
    )
    group = parser.add_argument_group("results")
    group.add_argument("-o", "--output", metavar="FILE", help="the table: .csv, .tsv or .json")
    group.add_argument(
        "--plot", metavar="FILE", action="append", default=[], help="curves or heat maps: .png, .svg, .pdf"
    )
    add_json(group, "table, best point and every run")
    add_force(group)
    judging = [p for p in function_parameters("sweep") if p.name not in GIVEN]
    add_parameters(parser, "judging", [_typed(parameter) for parameter in judging])
    parser.add_argument(
        "--score",
        metavar="NAMES",
        type=comma_list,
        help="labels, truth, quality, or measures of 'lowdim score'; the first decides",
    )
    parser.add_argument("--truth", metavar="FILE", help="true coordinates, a row for each row of DATA")
    add_method(parser, chosen)
    add_workers(parser, "who does the fits", "run the fits as tasks")
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Sweep, then print or write the table."""
    chosen: Chosen = options.chosen
    are_asked(options)
    check_sources(options.data, options.truth)
    inputs = input_files(options.data, options.truth)
    if not options.grid:
        raise UsageError("--grid is missing: name a parameter and its values, as --grid n_neighbors=5,10,20.")
    if options.output:
        check_suffix("--output", options.output, (".csv", ".tsv", ".json"))
    check_pictures("--plot", options.plot, PICTURES)
    targets = [("--output", options.output), ("--json", options.json)]
    check_all([*targets, *(("--plot", name) for name in options.plot)], force=options.force, inputs=inputs)
    judging = {name: vars(options).pop(f"own:{name}") for name in _judging(options)}
    checkpoint = vars(options).pop("own:checkpoint", None)
    model = build(chosen, options)
    grid = dict(_column(chosen, model, text) for text in options.grid)
    table = read_table(options.data, options, session)
    if options.truth is not None:
        judging["truth"] = load_array(ArrayFile(options.truth))
    if options.score:
        judging["score"] = options.score if len(options.score) > 1 else options.score[0]
    from ...selection import sweep

    with workers_of(options), about(options.data), finding_gaps(table):
        found = sweep(
            model,
            grid,
            table.X,
            table.labels,
            checkpoint=checkpoint,
            callback=session.listen,
            **judging,
        )
    _write(found, options, session, inputs)
    session.quieten()
    session.console.say(describe_table(table))
    if not found.complete:
        session.console.tell(
            f"Interrupted after {len(found.runs)} fits: the table holds these.{session.advice}"
        )
    return DONE if found.complete else INTERRUPTED


def _write(found: Any, options: argparse.Namespace, session: Session, inputs: list[str]) -> None:
    """The table, pictures and the JSON; what goes to standard output comes last."""
    session.quieten()

    def write_report() -> None:
        write_json(options.json, contents(found), force=options.force, inputs=inputs)

    with writing(session) as results:
        results.write(
            options.output, lambda: write_table(found, options.output, force=options.force, inputs=inputs)
        )
        for picture in options.plot:
            results.write(picture, partial(found.plot, picture), f"draw {picture}")
        results.write(options.json, write_report)
        if options.output is None and options.json != STANDARD:
            results.write(STANDARD, lambda: write_text(STANDARD, _shown(found), force=False, inputs=()))


def _shown(found: Any) -> str:
    """The table for people, with what is as good as the best."""
    equals = [_point(found, row) for row in equals_of_best(found)]
    if not equals:
        return str(found)
    return f"{found}\nAs good as the best, to the last digit: {'; '.join(equals)}"


def _point(found: Any, row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in found.parameters)


def equals_of_best(found: Any) -> list[dict[str, Any]]:
    """Rows of other points of the grid that have the best score too: which of them is called best is chance."""
    from ...errors import InputError

    try:
        best = {name: str(value) for name, value in found.best.items()}
    except InputError:
        return []
    first = next(iter(found.scores))
    rows = {tuple(str(row[name]) for name in best): row for row in found.rows}
    chosen = rows.pop(tuple(best.values()), None)
    return [] if chosen is None else [row for row in rows.values() if row[first] == chosen[first]]


def contents(found: Any) -> dict[str, Any]:
    """A sweep for machines."""
    from ...errors import InputError

    try:
        best = dict(found.best)
    except InputError:
        best = None
    return {
        "method": type(found.estimator).__name__,
        "shape": found.shape,
        "parameters": found.parameters,
        "scores": {
            name: "lower is better" if less else "higher is better" for name, less in found.scores.items()
        },
        "best": best,
        "as_good": [{name: row[name] for name in found.parameters} for row in equals_of_best(found)],
        "rows": found.rows,
        "complete": found.complete,
        "seconds": found.seconds,
    }


def write_table(found: Any, name: str, *, force: bool, inputs: list[str]) -> None:
    """The table of a sweep as .csv, .tsv or .json."""
    if name.lower().endswith(".json"):
        write_json(name, contents(found), force=force, inputs=inputs)
        return
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        list(found.rows[0]),
        delimiter="\t" if name.lower().endswith(".tsv") else ",",
        lineterminator="\n",
    )
    writer.writeheader()
    writer.writerows(found.rows)
    write_text(name, text.getvalue(), force=force, inputs=inputs)


def _judging(options: argparse.Namespace) -> list[str]:
    """Names of the parameters of `lowdim.sweep` that were given."""
    names = {p.name for p in function_parameters("sweep")} - GIVEN
    return [name for name in given(options, "own:") if name in names]


def _typed(parameter: Parameter) -> Parameter:
    """Portions of rows and seeds are numbers or lists of them."""
    from dataclasses import replace

    return replace(parameter, type="Any") if "Portion" in parameter.type else parameter


def _column(chosen: Chosen, model: Any, text: str) -> tuple[str, list[Any]]:
    """A parameter and its values from NAME=VALUES."""
    from ...selection.grid import names_of

    name, equals, values = text.partition("=")
    name = name.strip().lstrip("-").replace("-", "_")
    parts = comma_list(values)
    if not equals or not parts:
        raise UsageError(f"--grid must be NAME=VALUES, as n_neighbors=5,10,20; got {text!r}.")
    known = names_of(model)
    own = {parameter.name: parameter for parameter in chosen.method.parameters}
    if name == "landmarks" and (name not in own or "solver" in chosen.parts):
        name = "n_landmarks"
    if name not in known and "__" not in name:
        raise UsageError(
            f"--grid: {chosen.method.name} has no parameter {name!r}.{nearest(name, known)} It has {', '.join(known)}."
        )
    parameter = own.get(name, Parameter(name, "Any"))
    return name, [_value(chosen, parameter, part) for part in parts]


def _value(chosen: Chosen, parameter: Parameter, text: str) -> Any:
    try:
        value = convert(text, parameter)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--grid {parameter.name}: {error}") from error
    if parameter.name in OWNERS:
        return make_part(chosen.method.parts(parameter.name).get(text.lower()), parameter.name, text, {})
    return value
