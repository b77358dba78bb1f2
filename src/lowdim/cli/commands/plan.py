"""``lowdim plan``: what an embedding would cost."""

from __future__ import annotations

import argparse
import re
from typing import Any

from ..build import build, described
from ..failures import in_words_of
from ..groups import add_force, add_input, add_json, add_talk
from ..inputs import check_sources, input_files, read_table
from ..options import DEFAULT_METHOD, add_method, choose
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..targets import check_all, write_json
from ..voice import emit

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


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method among those of the command."""
    chosen = choose(arguments)
    parser = Parser("plan", "DATA [--method NAME] [options]", TEXT, EXAMPLES)
    parser.add_positional("DATA", "a file, or a size as ROWSxCOLUMNS")
    parser.add_argument(
        "-m", "--method", metavar="NAME", help=f"see 'lowdim embed --help' (default: {DEFAULT_METHOD})"
    )
    group = parser.add_argument_group("results")
    add_json(group, "the plan")
    add_force(group)
    add_method(parser, chosen)
    add_input(parser)
    add_talk(parser)
    parser.set_defaults(chosen=chosen)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Print the plan."""
    size = _SIZE.fullmatch(options.data)
    if not size:
        check_sources(options.data)
    inputs = [] if size else input_files(options.data)
    check_all([("--json", options.json)], force=options.force, inputs=inputs)
    model = build(options.chosen, options)
    X = _of_size(int(size[1]), int(size[2])) if size else read_table(options.data, options, session).X
    session.quieten()
    with in_words_of(options.chosen, options.data):
        plan = model.plan(X)
    if options.json is None:
        emit(str(plan))
        return DONE
    content = {
        "method": options.chosen.method.name,
        "parameters": described(model),
        "shape": plan.shape,
        "seconds": plan.seconds,
        "bytes": plan.bytes,
        "stages": [
            {"name": s.name, "seconds": s.seconds, "bytes": s.bytes, "note": s.note, "certain": s.certain}
            for s in plan.stages
        ],
    }
    write_json(options.json, content, force=options.force, inputs=inputs)
    return DONE


def _of_size(n_rows: int, n_columns: int) -> Any:
    """Rows that take no memory."""
    import numpy as np

    return np.broadcast_to(0.0, (n_rows, n_columns))
