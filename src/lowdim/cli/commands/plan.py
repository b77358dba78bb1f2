"""``lowdim plan``: what an embedding would cost."""

from __future__ import annotations

import argparse
import re

from ..failures import about
from ..files.inputs import check_sources, input_files, read_table
from ..files.targets import STANDARD, check_all, write_json, write_text, writing
from ..options.build import build, described
from ..options.method import add_choice, add_method, choose
from ..options.shared import add_force, add_input, add_json, add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..usage import UsageError

TEXT = """\
Say what 'lowdim embed' would do with the same options, stage by stage, in seconds and in bytes beside the data, without
doing it. DATA may also be a size, such as 70000x784, where there is no file yet.
"""
EXAMPLES = [
    ("lowdim plan X.npy --method isomap", "seconds and memory of Isomap"),
    (
        "lowdim plan 1000000x50 --method lle --solver lll --landmarks 1000",
        "of a million points, by landmarks",
    ),
    ("lowdim plan X.npy --json", "for machines"),
]
_SIZE = re.compile(r"(\d+)\s*[xX]\s*(\d+)")
_NEARLY = re.compile(r"[\d_,.]+([xX*×][\d_,.]*)*")
"""Digits that may be meant as a size, and are no name of a file."""


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method among those of the command."""
    chosen = choose(arguments)
    parser = Parser("plan", "DATA [--method NAME] [options]", TEXT, EXAMPLES)
    parser.add_positional("DATA", "a file, or a size as ROWSxCOLUMNS")
    add_choice(parser)
    group = parser.add_argument_group("results")
    add_json(group, "the plan")
    add_force(group)
    add_method(parser, chosen)
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Print the plan."""
    size = _SIZE.fullmatch(options.data)
    if not size and _NEARLY.fullmatch(options.data):
        raise UsageError(
            f"DATA is a file, or a size as ROWSxCOLUMNS, such as 70000x784; got {options.data!r}."
        )
    if not size:
        check_sources(options.data)
    inputs = [] if size else input_files(options.data)
    check_all([("--json", options.json)], force=options.force, inputs=inputs)
    model = build(options.chosen, options)
    X = _of_size(int(size[1]), int(size[2])) if size else read_table(options.data, options, session).X
    with about(options.data):
        plan = model.plan(X)
    session.quieten()
    content = {
        "method": options.chosen.method.name,
        "parameters": described(model),
        "shape": plan.shape,
        "seconds": plan.seconds,
        "bytes": plan.bytes,
        "basis": plan.basis,
        "stages": [
            {"name": s.name, "seconds": s.seconds, "bytes": s.bytes, "note": s.note, "certain": s.certain}
            for s in plan.stages
        ],
    }
    with writing(session) as results:
        if options.json is None:
            results.write(STANDARD, lambda: write_text(STANDARD, str(plan), force=False, inputs=()))
        results.write(
            options.json, lambda: write_json(options.json, content, force=options.force, inputs=inputs)
        )
    return DONE


def _of_size(n_rows: int, n_columns: int) -> tuple[int, int]:
    """A size, in the place of data."""
    if n_rows < 2 or n_columns < 1:
        raise UsageError(
            f"DATA: a size needs at least 2 rows and 1 column, as 70000x784; got {n_rows}x{n_columns}."
        )
    return n_rows, n_columns
