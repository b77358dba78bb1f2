"""``lowdim embed``: data in, coordinates out."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from ..build import build, described, read_extra
from ..failures import finding_gaps, in_words_of
from ..groups import add_input, add_talk
from ..guide import listed_methods
from ..inputs import OWN, check_sources, describe_table, input_files, read_images, read_table
from ..options import DEFAULT_METHOD, Chosen, add_method, choose
from ..outputs import Outputs, add_outputs
from ..parser import Parser, given
from ..program import DONE, INTERRUPTED
from ..quality import measure
from ..session import Session
from ..summary import summarise
from ..targets import write_json

TEXT = """\
Turn the rows of DATA into a few coordinates that keep what is near together, and write them, pictures of them, a
report, or a model that places new data on the same map.

DATA is .npy, .npz, .csv or .tsv (.gz too), .parquet, .mtx, .h5ad, .zarr, or - for CSV on standard input. Columns of a
table that are not numbers must be named by --label, --id or --drop.
"""
EXAMPLES = [
    (
        "lowdim embed cells.csv --label type --plot cells.png",
        "t-SNE of a table, drawn and coloured by a column",
    ),
    ("lowdim embed cells.csv --id barcode -o cells-2d.parquet", "coordinates with the names of the rows"),
    (
        "lowdim embed X.npy -m laplacian-eigenmaps -d 3 --solver lll --landmarks 1000 -o Y.npy",
        "large data by landmarks",
    ),
    (
        "lowdim embed X.npy -m isomap -k 12 --plot map.html --report report.html",
        "a page to explore, and a report",
    ),
    ("lowdim embed X.npy --model map.lowdim", "a model for 'lowdim transform'"),
    ("cat X.csv | lowdim embed - -o - --seed 1 > Y.csv", "as a filter"),
    ("lowdim embed --method isomap --help", "what can be set of Isomap"),
]


@dataclass(frozen=True, slots=True)
class Work:
    """What came of it."""

    table: Any
    model: Any
    images: Any
    scores: Any


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method among those of the command."""
    chosen = choose(arguments)
    text = (
        f"{TEXT}\n{listed_methods(DEFAULT_METHOD)}\n\nChosen: {chosen.method.title}. {chosen.method.summary}"
    )
    parser = Parser("embed", "DATA [--method NAME] [options]", text, EXAMPLES)
    parser.add_positional("DATA", "the rows to embed")
    parser.add_argument(
        "-m", "--method", metavar="NAME", help=f"one of the above (default: {DEFAULT_METHOD})"
    )
    add_outputs(parser)
    add_method(parser, chosen)
    add_input(parser)
    add_talk(parser)
    parser.set_defaults(chosen=chosen)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Check everything that can be checked, then work, then write."""
    began = time.perf_counter()
    chosen: Chosen = options.chosen
    sources = [options.data, *given(options, "data:").values()]
    if options.images != OWN:
        sources.append(options.images)
    check_sources(*sources)
    inputs = input_files(*sources)
    outputs = Outputs.of(options, chosen, inputs)
    model = build(chosen, options, callback=session.listen, **outputs.demands(options))
    outputs.check(model)
    session.voice.flags = chosen.flags()
    with in_words_of(chosen, options.data):
        work = _work(model, options, session, wants_scores=outputs.wants_scores)
    written = outputs.write(work.model, work.table, work.scores, work.images, session)
    seconds = time.perf_counter() - began
    if options.json is not None:
        content = {
            "command": session.command,
            "input": {"source": options.data, "shape": list(work.table.X.shape), "label": work.table.label},
            "method": chosen.method.name,
            "parameters": described(model),
            "interrupted": session.interrupted,
            "report": model.report_.as_dict(),
            "quality": None if work.scores is None else work.scores.as_dict(),
            "written": written,
            "seconds": seconds,
        }
        write_json(options.json, content, force=options.force, inputs=inputs)
    session.quieten()
    summarise(session, describe_table(work.table), chosen, work.model, work.scores, written, seconds)
    if session.interrupted:
        session.voice.tell(
            f"Interrupted: {_kept(model)}, is in {', '.join(written) or 'standard output'}.{session.advice}"
        )
    return INTERRUPTED if session.interrupted else DONE


def _work(model: Any, options: argparse.Namespace, session: Session, *, wants_scores: bool) -> Work:
    table = read_table(options.data, options, session)
    images = read_images(options.images, table.X)
    extra = read_extra(options.chosen, options)
    session.expect(model.plan(table.X))
    with finding_gaps(table):
        model.fit(table.X, **extra)
    model.callback = None  # a model file holds no functions
    is_wanted = wants_scores or session.voice.is_heard if options.quality is None else options.quality
    scores = None
    if is_wanted and not session.interrupted:
        try:
            scores = measure(model, table, session)
        except KeyboardInterrupt:  # the embedding is finished, and not to be lost
            session.interrupted = True
    return Work(table, model, images, scores)


def _kept(model: Any) -> str:
    """What an interruption left."""
    figures = model.report_.figures
    if figures.get("stopped") == "interrupted":
        return f"the best result so far, after {figures['iterations']} iterations"
    return "the whole result, its quality not measured"
