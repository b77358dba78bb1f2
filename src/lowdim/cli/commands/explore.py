"""``lowdim explore``: a local page where the embedding moves."""

from __future__ import annotations

import argparse
import shlex
import warnings
from typing import Any

from ...errors import LowdimWarning
from ..failures import about, finding_gaps
from ..files.columns import read_for
from ..files.in_shards import is_many
from ..files.inputs import asked_for, check_sources, describe_table, read_with_text
from ..options.build import build
from ..options.method import DEFAULT_METHOD, Chosen, add_choice, add_method, choose
from ..options.shared import add_input, add_talk
from ..options.table import formats
from ..options.wording import flag_of
from ..parser import Parser, given
from ..program import DONE
from ..session import Session
from ..terminal.streams import emit
from ..usage import UsageError

TEXT = """\
Open a page of this machine where the embedding of DATA appears and moves: sliders change what decides it, the page
says how far to believe it, keeps states to compare, and exports pictures, coordinates and the lines that make a
settled picture again. From a MODEL its picture is shown, and --place puts new rows on it.

The first line on standard output is the address of the page. It listens on this machine alone and ends with Ctrl-C.
From afar: ssh -L PORT:127.0.0.1:PORT, then open the same address. It needs: pip install 'lowdim[explore]'.
"""
EXAMPLES = [
    ("lowdim explore cells.csv --label type", "t-SNE of a table, with its sliders"),
    ("lowdim explore X.npy -m laplacian-eigenmaps", "begin with another method"),
    ("lowdim explore cells.h5ad --obsm X_pca --label leiden -m umap -k 30", "single cells"),
    ("lowdim explore cells.lowdim --place more.csv", "new rows on the picture of a model"),
    ("lowdim explore X.npy --no-open", "print the address alone"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method among those of the command."""
    chosen = choose(arguments)
    parser = Parser("explore", "DATA|MODEL [--method NAME] [options]", TEXT, EXAMPLES)
    parser.add_positional("DATA", "the rows to explore, or a model that 'lowdim embed --model' wrote")
    add_choice(parser)
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in the browser of this machine (default: where it has one)",
    )
    parser.add_argument("--place", metavar="FILE", help="new rows to place on the picture of a MODEL")
    add_method(parser, chosen)
    add_input(parser)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Serve until Ctrl-C."""
    check_sources(options.data, *([options.place] if options.place else []))
    is_named = options.data.lower().rstrip("/").endswith(formats("data"))
    is_data = options.data == "-" or is_named or is_many(options.data)
    if options.place and is_data:
        raise UsageError(
            "--place puts new rows on the picture of a model, and DATA holds rows. Name a model."
        )
    with about(options.data):
        explored = _of_data(options, session) if is_data else _of_model(options, session)
    from ...explore.opening import start

    session.quieten()
    explorer = start(explored, open_browser=False)
    try:
        emit(explorer.address)
        warnings.simplefilter("ignore", LowdimWarning)  # they are said on the page, which asks for many fits
        if options.open:
            explorer.open()
        session.console.say("Ctrl-C ends the explorer.")
        session.parting = "The explorer is closed."
        explorer.wait()
    except KeyboardInterrupt:
        pass
    finally:
        explorer.close()
    return DONE


def _of_data(options: argparse.Namespace, session: Session) -> Any:
    from ...explore.opening import check_method
    from ...explore.session import Session as Explored
    from ...explore.settings import Setting
    from ...explore.source import Source

    chosen: Chosen = options.chosen
    check_method(chosen.method.name)
    model = build(chosen, options)
    table = read_with_text(options.data, options, session)
    session.console.say(describe_table(table))
    with finding_gaps(table):
        source = Source(
            table.X,
            table.columns,
            table.feature_names,
            table.label or next(iter(table.columns), None),
            table.ids,
            title=options.data,
            reading=_reading(options),
            command=_command(options),
            flag_of=flag_of,
            table=table,
        ).sampled()
        setting = (
            Setting.of(model) if given(options, "own:") else Setting.usual(chosen.method.name, source.n_rows)
        )
        return Explored(source, setting)


def _of_model(options: argparse.Namespace, session: Session) -> Any:
    from ...explore.opening import model_session
    from ...explore.source import Source
    from ...models import load

    if options.method is not None and options.method != DEFAULT_METHOD:
        raise UsageError("--method: a model has its own. Explore the data to begin with another.")
    model = load(options.data)
    new = None
    if options.place:
        from copy import copy

        table = read_for(copy(model), options.place, options, session)
        new = Source(table.X)
    return model_session(model, new=new)


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """What was said of how to read, where it is not what is done anyway."""
    usual = {"header": "auto", "drop": (), "transpose": False}
    return {
        name: value for name, value in asked_for(options).items() if value not in (usual.get(name), None, [])
    }


def _reading(options: argparse.Namespace) -> str:
    """The line of Python that reads the same rows."""
    more = "".join(f", {name}={value!r}" for name, value in _asked(options).items())
    return f"X = lowdim.data.files.read({options.data!r}{more}).X"


def _command(options: argparse.Namespace) -> str | None:
    """The beginning of the shell's line for the same rows; rows from standard input cannot be had again."""
    if options.data == "-":
        return None
    words = ["lowdim", "embed", options.data]
    for name, value in _asked(options).items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        elif name == "transpose":
            words.append("--transpose")
        elif name == "label":
            words += [word for each in value for word in ("--label", str(each))]
        else:
            words += [f"--{name}", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return shlex.join(words)
