"""``lowdim reproduce``: the experiments of the papers."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ..options.shared import add_talk
from ..parser import Parser
from ..program import DONE, FAILED, INTERRUPTED
from ..session import Session
from ..terminal.streams import emit
from ..usage import UsageError, nearest

INSTALLED = "lowdim.experiments"

TEXT = """\
Without ID: list the experiments. With one or more, or 'all': run them and write their figures, tables and verdicts to a
folder, with one page (summary.html) for all. Real data is taken from the folder that LOWDIM_DATA names.
"""
EXAMPLES = [
    ("lowdim reproduce", "the list"),
    ("lowdim reproduce lll-landmarks --quick", "one, at small sizes, to see that it runs"),
    ("lowdim reproduce all --output results", "every one, into one report"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("reproduce", "[ID ...] [options]", TEXT, EXAMPLES)
    parser.add_positional("ID", "experiments, or all", required=False, many=True)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        default="reproduced",
        help="where figures and tables go (default: reproduced)",
    )
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """List, or run."""
    experiments = find_experiments()
    catalogue = dict(experiments.catalogue())
    if not options.id:
        width = max(map(len, catalogue), default=0) + 2
        emit("\n".join(f"{name:<{width}}{line}" for name, line in catalogue.items()))
        return DONE
    ids = list(catalogue) if "all" in options.id else options.id
    for name in ids:
        if name not in catalogue:
            hint = nearest(name, catalogue) or " 'lowdim reproduce' lists them."
            raise UsageError(f"there is no experiment {name!r}.{hint}")
    folder = _folder(options.output)

    def tell(done: int, total: int, name: str) -> None:
        session.events.progress(done, total)
        if name:
            session.console.say(f"{done + 1} of {total}: {name}")

    with session.stage("reproduce"):
        verdicts = experiments.run(ids, folder, options.quick, progress=tell, echo=options.verbose > 0)
    page = folder / "summary.html"
    experiments.write_summary(verdicts, page)
    session.quieten()
    width = max(len(verdict.id) for verdict in verdicts) + 2
    emit("\n".join(f"{v.id:<{width}}{v.words} ({v.seconds:.1f} s)" for v in verdicts))
    session.console.say(f"Wrote {page}")
    failures = [verdict.failure for verdict in verdicts if verdict.failure]
    if "interrupted" in failures:
        session.console.tell(f"Interrupted: {page} holds what is done so far.")
        return INTERRUPTED
    return FAILED if failures else DONE


def find_experiments() -> Any:
    """The experiments as installed with lowdim, or in the folder of its repository."""
    try:
        return import_module(INSTALLED)
    except ModuleNotFoundError as error:
        if error.name != INSTALLED:
            raise
    package = Path(__file__).parents[4] / "experiments" / "__init__.py"
    if not package.is_file():
        from ...errors import FileError

        raise FileError("the experiments are not installed. Run this in a clone of lowdim's repository.")
    # By its place, and under lowdim's name: another package may be called experiments.
    spec = spec_from_file_location(INSTALLED, package)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[INSTALLED] = found
    spec.loader.exec_module(found)
    return found


def _folder(name: str) -> Path:
    from ...errors import FileError

    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{name}: cannot be made a folder: {error.strerror}. Name another with --output."
        ) from error
    return folder
