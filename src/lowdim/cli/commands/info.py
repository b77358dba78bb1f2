"""``lowdim info``: what a model or a data file holds, or what this installation can do."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ...core.messages import listed
from ..files.inputs import check_sources, input_files, read_anything
from ..files.targets import STANDARD, check_all, write_json, write_text, writing
from ..options.shared import add_force, add_json, add_talk
from ..options.table import formats
from ..parser import Parser
from ..program import DONE
from ..session import Session

TEXT = """\
Describe FILE: of a model its method, parameters and sizes, without loading its arrays; of data its rows, features and
columns. Without FILE: the versions of lowdim and of what it stands on, for a report of a fault.
"""
_SAID = re.compile(r"LOWDIM_\w+|NUMBA_\w+|\w+_NUM_THREADS|TMPDIR|PYTHONHASHSEED")
"""Variables of the environment that change what lowdim does or how fast."""
_OPTIONS = {"layers": "layer", "obsm": "obsm"}
"""The matrices of an .h5ad beside X, and the options that take one of them."""
EXAMPLES = [
    ("lowdim info cells.lowdim", "a model"),
    ("lowdim info cells.csv", "a data file"),
    ("lowdim info", "this installation"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("info", "[FILE] [options]", TEXT, EXAMPLES)
    parser.add_positional("FILE", "a model, or data", required=False)
    group = parser.add_argument_group("results")
    add_json(group, "the same")
    add_force(group)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Describe what was named."""
    inputs = input_files(options.file)
    check_sources(options.file)
    check_all([("--json", options.json)], force=options.force, inputs=inputs)
    if options.file is None:
        text, content = _installation()
    elif options.file == "-" or options.file.lower().rstrip("/").endswith(formats("data")):
        text, content = _data(options.file)
    else:
        text, content = _model(options.file)
    session.quieten()
    with writing(session) as results:
        if options.json is None:
            results.write(STANDARD, lambda: write_text(STANDARD, text, force=False, inputs=()))
        results.write(
            options.json, lambda: write_json(options.json, content, force=options.force, inputs=inputs)
        )
    return DONE


def _model(path: str) -> tuple[str, Any]:
    from ...models import describe

    found = describe(path)
    return str(found), found.to_json()


def _data(path: str) -> tuple[str, Any]:
    from scipy import sparse

    from ...core.records import format_bytes

    table = read_anything(path)
    X: Any = table.X
    is_sparse = bool(sparse.issparse(X))
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse else X.nbytes
    content = {
        "source": path,
        "rows": X.shape[0],
        "features": X.shape[1],
        "type": str(X.dtype),
        "sparse": is_sparse,
        "bytes": int(size),
        "names": None if table.feature_names is None else list(table.feature_names),
        "columns": list(table.columns),
    }
    lines = [
        f"{path}: {X.shape[0]:,} rows, {X.shape[1]:,} features",
        f"  numbers: {X.dtype}{', sparse' if is_sparse else ''}, {format_bytes(size)}",
    ]
    if table.feature_names is not None:
        lines.append(f"  features: {listed(table.feature_names)}")
    if table.columns:
        lines.append(f"  other columns: {listed(table.columns)}")
    for name, there in _matrices(path).items():
        content[name] = there
        lines.append(f"  {name}: {listed(there)}, by --{_OPTIONS[name]}")
    return "\n".join(lines), content


def _matrices(path: str) -> dict[str, list[str]]:
    """What an .h5ad holds beside X that can be embedded instead."""
    if not path.lower().endswith(".h5ad"):
        return {}
    from ...data.files.h5ad import names_in

    found = {name: names_in(Path(path), name) for name in _OPTIONS}
    return {name: there for name, there in found.items() if there}


def _installation() -> tuple[str, Any]:
    """What a report of a fault needs: versions, the machine, what this process may use of it, and what was set."""
    from ... import __file__ as home
    from ... import __version__
    from ...core.memory import available_memory
    from ...core.parallel import count_workers
    from ...core.records import format_bytes
    from ..health.packages import installed, requirements

    found = {each.package: installed(each.package) for each in requirements()}
    free = available_memory()
    content: dict[str, Any] = {
        "lowdim": __version__,
        "home": str(Path(home).parent),
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "executable": sys.executable,
        "threads": count_workers(None),
        "processors": os.cpu_count(),
        "memory": free,
        "encoding": sys.getfilesystemencoding(),
        "variables": {name: os.environ[name] for name in sorted(os.environ) if _SAID.fullmatch(name)},
        "libraries": _libraries(),
        "packages": found,
    }
    lines = [
        f"lowdim {__version__}, Python {content['python']}, {content['system']}",
        f"  in {content['home']}",
        f"  threads: {content['threads']} of {content['processors']} processors ({content['machine']})",
        f"  memory: {'unknown' if free is None else format_bytes(free)} for new work",
        *(f"  {name}={value}" for name, value in content["variables"].items()),
        *(f"  {library}" for library in content["libraries"]),
        *(f"  {name:<14}{number or 'not installed'}" for name, number in found.items()),
        "'lowdim doctor' checks all this.",
    ]
    return "\n".join(lines), content


def _libraries() -> list[str]:
    """The libraries of linear algebra that NumPy and SciPy have loaded, with their threads."""
    try:
        from threadpoolctl import threadpool_info

        import_module("scipy.linalg")
    except ImportError:
        return []
    found = {
        f"{each['internal_api']} {each['version']}, {each.get('architecture') or 'unknown'}, "
        f"{each['num_threads']} threads"
        for each in threadpool_info()
        if each["user_api"] == "blas"
    }
    return sorted(found)
