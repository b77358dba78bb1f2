"""``lowdim score``: how faithful an embedding is."""

from __future__ import annotations

import argparse
from typing import Any

from ..failures import about, finding_gaps, naming
from ..files.inputs import check_sources, input_files, known_labels, read_table
from ..files.targets import STANDARD, check_all, write_json, write_text, writing
from ..options.method import add_parameters
from ..options.shared import add_force, add_input, add_json, add_talk
from ..options.table import function_parameters
from ..parser import Parser, comma_list, given
from ..program import DONE
from ..session import Session
from ..usage import UsageError, nearest

TEXT = """\
Compare EMBEDDING with the DATA that it shows: are neighbours kept, are distances kept and, with --label, do neighbours
tell the label? Values come with confidence intervals where only a sample of the rows was looked at. A sentence says how
many of the points are better placed than at random.
"""
EXAMPLES = [
    ("lowdim score cells.csv cells.embedding.csv --label type", "every measure that applies"),
    (
        "lowdim score X.npy Y.npy --measures trustworthiness,continuity -k 10",
        "two of them, for 10 neighbours",
    ),
    ("lowdim score X.npy Y.npy --sample all --json", "exactly, for machines"),
]
GIVEN = {"X", "embedding", "y", "measures"}


def make_parser(arguments: list[str]) -> Parser:
    """Options from the signature of `lowdim.score`."""
    parser = Parser("score", "DATA EMBEDDING [options]", TEXT, EXAMPLES)
    parser.add_positional("DATA", "what was embedded")
    parser.add_positional("EMBEDDING", "its coordinates: .npy, .csv, .tsv, .parquet or .h5ad")
    everything = function_parameters("score")
    measures = next(parameter for parameter in everything if parameter.name == "measures")
    parser.words["--measures"] = measures.choices
    parser.add_argument(
        "--measures",
        metavar="NAMES",
        type=comma_list,
        help=f"some of {', '.join(parser.words['--measures'])}, with commas (default: all that apply)",
    )
    add_parameters(parser, "measuring", [p for p in everything if p.name not in GIVEN])
    parser.add_argument(
        "--embedding-key",
        metavar="NAME",
        help="which obsm of an .h5ad, or array of an .npz, the EMBEDDING is",
    )
    group = parser.add_argument_group("results")
    add_json(group, "the scores")
    add_force(group)
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Print the scores."""
    check_sources(options.data, options.embedding)
    inputs = input_files(options.data, options.embedding)
    check_all([("--json", options.json)], force=options.force, inputs=inputs)
    from ...data import files
    from ...errors import InputError
    from ...metrics import score
    from ...reliability.short import short_trust

    parameters = given(options, "own:")
    _check_names(options.measures)
    table = read_table(options.data, options, session)
    with naming("key", {"": "--embedding-key"}):
        coordinates = files.read_embedding(options.embedding, key=options.embedding_key)[0]
    if coordinates.shape[0] != table.X.shape[0]:
        raise InputError(
            f"{options.embedding}: has {coordinates.shape[0]:,} rows where {options.data} has {table.X.shape[0]:,}. "
            "Give the embedding of this data, all of its rows in the same order."
        )
    with about(options.data), session.stage("score"), finding_gaps(table):
        scores = score(
            table.X, coordinates, known_labels(table.labels), measures=options.measures, **parameters
        )
        believed = None if options.measures else short_trust(table.X, coordinates, metric=scores.metric)
    session.quieten()
    text = str(scores) if believed is None else f"{scores}\n\n{believed.summary()}"
    found = scores.as_dict() | {"trust": None if believed is None else believed.as_dict()}
    with writing(session) as results:
        if options.json is None:
            results.write(STANDARD, lambda: write_text(STANDARD, text, force=False, inputs=()))
        results.write(
            options.json,
            lambda: write_json(options.json, found, force=options.force, inputs=inputs),
        )
    return DONE


def _check_names(measures: Any) -> None:
    from ...metrics.score_results import MEASURES

    for name in measures or ():
        if name not in MEASURES:
            raise UsageError(
                f"--measures: there is no measure {name!r}.{nearest(name, MEASURES)} There are {', '.join(MEASURES)}."
            )
