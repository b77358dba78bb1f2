"""``lowdim explain``: which features put some rows of a model here and not there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..failures import about, finding_gaps
from ..files.columns import NAMES, is_pairwise, read_for
from ..files.inputs import ask_as_label, check_sources, input_files, read_table
from ..files.targets import STANDARD, check_all, write_json, write_text, writing
from ..options.shared import add_force, add_input, add_json, add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..terminal.streams import as_typed_text
from ..usage import UsageError, nearest

MOST_DIGITS = 18
"""Digits of a number that a row can have."""
TEXT = """\
Say which features tell some rows of a MODEL from the others, and which hold them where the picture shows them. DATA are
the rows that the model was fitted to, in their order, with the columns that --select names beside the features. Effects
are standardised mean differences with intervals, adjusted for many features.
"""
EXAMPLES = [
    ("lowdim explain cells.lowdim cells.csv --select type=neuron", "the rows of one type against all others"),
    (
        "lowdim explain cells.lowdim cells.csv --select type=neuron --against type=glia --by shift",
        "against one other type, by what would move them most",
    ),
    (
        "lowdim explain map.lowdim X.npy --rows picked.txt --json",
        "rows by their numbers, from 0, for machines",
    ),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    from ...explanation.record import SHOWN, SORTED

    parser = Parser("explain", "MODEL DATA (--select COLUMN=VALUE | --rows FILE) [options]", TEXT, EXAMPLES)
    parser.add_positional("MODEL", "what 'lowdim embed --model' or 'lowdim update --model' wrote")
    parser.add_positional("DATA", "the rows that the model was fitted to")
    group = parser.add_argument_group("which rows")
    group.add_argument(
        "--select",
        metavar="COLUMN=VALUE",
        type=as_typed_text,
        help="rows with this value in a column of DATA",
    )
    group.add_argument("--rows", metavar="FILE", help="a text file with the numbers of the rows, from 0")
    group.add_argument(
        "--against",
        metavar="COLUMN=VALUE",
        type=as_typed_text,
        help="the rows to compare with (default: all others)",
    )
    group = parser.add_argument_group("results")
    group.add_argument(
        "--top", metavar="NUMBER", type=int, default=SHOWN, help=f"features to show (default: {SHOWN})"
    )
    parser.words["--by"] = SORTED
    group.add_argument(
        "--by", metavar="NAME", default="effect", help=f"their order: {', '.join(SORTED)} (default: effect)"
    )
    add_json(group, "all features")
    add_force(group)
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Load, read, explain."""
    inputs = _checked(options)
    from ...models.files import load, steps_of

    with session.stage("load"):
        model = load(options.model)
    steps = steps_of(model)
    first, last = steps[0][1], steps[-1][1]
    names = vars(first).get(NAMES)
    for option, one in (("--select", options.select), ("--against", options.against)):
        if one is not None:
            ask_as_label(options, one.partition("=")[0], option)
    if is_pairwise(first):
        table = read_table(options.data, options, session)
    else:
        table = read_for(first, options.data, options, session)
    X = table.X
    with about(options.data), finding_gaps(table), session.stage("explain"):
        for _, step in steps[:-1]:
            X = step.transform(X)
        columns = table.feature_names if names is None else names
        found = last.explain(
            _rows_of(options.rows, table) if options.rows else _where(options.select, "--select", table),
            X,
            against=None if options.against is None else _where(options.against, "--against", table),
            columns=columns if columns is not None and len(columns) == X.shape[1] else None,
        )
        text = "\n".join(
            [
                found.summary(),
                "",
                found.table(options.top, options.by),
                *(f"  {note}" for note in found.notes),
            ]
        )
    session.quieten()
    with writing(session) as results:
        if options.json is None:
            results.write(STANDARD, lambda: write_text(STANDARD, text, force=False, inputs=()))
        results.write(
            options.json,
            lambda: write_json(options.json, found.as_dict(), force=options.force, inputs=inputs),
        )
    return DONE


def _checked(options: argparse.Namespace) -> list[str]:
    from ...explanation.record import SORTED

    if bool(options.select) == bool(options.rows):
        raise UsageError(
            "Give --select COLUMN=VALUE or --rows FILE, one of them, to say which rows are meant."
        )
    for name, one in (("--select", options.select), ("--against", options.against)):
        if one is not None and "=" not in one:
            raise UsageError(f"{name}: {one!r} must be COLUMN=VALUE, such as type=neuron.")
    if options.by not in SORTED:
        raise UsageError(
            f"--by: {options.by!r} must be one of {', '.join(SORTED)}.{nearest(options.by, SORTED)}"
        )
    if options.top < 1:
        raise UsageError(f"--top: must be 1 or more; got {options.top}.")
    check_sources(options.model, options.data)
    inputs = input_files(options.model, options.data)
    check_all([("--json", options.json)], force=options.force, inputs=inputs)
    return inputs


def _where(given: str, option: str, table: Any) -> Any:
    """The rows that have a value in a column."""
    import numpy as np

    from ...errors import InputError

    column, _, wanted = given.partition("=")
    if column not in table.columns:
        raise UsageError(
            f"{option}: {table.source} has no column {column!r} beside the features."
            f"{nearest(column, list(table.columns))}"
        )
    values = [str(each) for each in np.asarray(table.columns[column]).tolist()]
    hits = np.array([each == wanted for each in values])
    if not hits.any():
        there = sorted(set(values))
        raise InputError(
            f"{option}: no row of {table.source} has {wanted!r} in {column!r}.{nearest(wanted, there)} There are "
            f"{', '.join(there[:8])}{', ...' if len(there) > 8 else ''}."
        )
    return hits


def _rows_of(name: str, table: Any) -> Any:
    """Numbers of rows from a text file."""
    import numpy as np

    from ...errors import InputError

    try:
        words = Path(name).read_text(encoding="utf-8").replace(",", " ").split()
    except OSError as error:
        raise InputError(f"--rows: {name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"--rows: {name} is no text in UTF-8. Give a text file with the numbers of the rows."
        ) from error
    wrong = [word for word in words if not word.isdecimal() or len(word) > MOST_DIGITS]
    if wrong:
        raise InputError(f"--rows: {name} must hold whole numbers of rows, from 0; got {wrong[0][:40]!r}.")
    numbers = np.array(words, dtype=np.int64)
    if numbers.size and int(numbers.max()) >= table.X.shape[0]:
        raise InputError(
            f"--rows: {name} must hold numbers from 0 to {table.X.shape[0] - 1}; got {int(numbers.max())}."
        )
    return numbers
