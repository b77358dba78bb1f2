"""The way in for programs: which experiments there are, and running them.

An experiment is a module of this package with a function ``run(notebook)``. Nothing is imported before it runs, so that
a list of them is there at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter

from lowdim.errors import InputError, LowdimError

from .notebook import Claim, Notebook

FOLDER = Path(__file__).parent
INTERRUPTED = "interrupted"
INSTALLED = {"matplotlib": "'lowdim[plot]'", "umap": "umap-learn", "pacmap": "pacmap"}
"""What brings a module that an experiment may miss."""

Progress = Callable[[int, int, str], object]
"""Hears how many are done, of how many, and the identifier of the next; an empty one at the end."""


@dataclass(frozen=True)
class Verdict:
    """What came of one experiment.

    ``folder`` holds its tables (CSV), figures (PNG) and verdict (Markdown). ``failure`` says why it did not come to an
    end: data that are not there, an optional part that is not installed, or an interruption; empty where it did.
    """

    id: str
    title: str
    claims: tuple[Claim, ...]
    remarks: tuple[str, ...]
    folder: Path
    seconds: float
    quick: bool
    failure: str = ""

    @property
    def held(self) -> int:
        """How many of the claims held."""
        return sum(claim.held for claim in self.claims)

    @property
    def figures(self) -> list[Path]:
        """The pictures it drew."""
        return sorted(self.folder.glob("*.png"))

    @property
    def words(self) -> str:
        """The verdict in one line."""
        return self.failure or f"{self.held} of {len(self.claims)} outcomes held"

    def __str__(self) -> str:
        return f"{self.id}: {self.words}"


def catalogue() -> list[tuple[str, str]]:
    """Identifier and first line of the description of every experiment, by identifier."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(_is_run(node) for node in tree.body):
            found.append((path.stem.replace("_", "-"), (ast.get_docstring(tree) or "").split("\n")[0]))
    return found


def run(
    ids: Sequence[str],
    output: str | Path,
    quick: bool = False,
    progress: Progress | None = None,
    *,
    echo: bool = False,
) -> list[Verdict]:
    """Run experiments one after the other.

    Parameters
    ----------
    ids
        Their identifiers, or ``["all"]``.
    output
        Folder; each experiment writes into a folder of its own within.
    quick
        Small sizes that show that everything runs: what they measure says little.
    progress
        Called before each and at the end with how many are done, of how many, and which comes next.
    echo
        Print tables and verdicts too.

    Returns
    -------
    list of Verdict
        One for each. An experiment that cannot run says so in its verdict and the others go on; an interruption ends
        them all, and the verdicts so far are returned.
    """
    known = dict(catalogue())
    chosen = list(known) if list(ids) == ["all"] else list(ids)
    if unknown := [name for name in chosen if name not in known]:
        raise InputError(f"ids: no experiment {', '.join(unknown)}; known are {', '.join(known)}.")
    verdicts: list[Verdict] = []
    tell = progress or (lambda done, total, name: None)
    for done, name in enumerate(chosen):
        tell(done, len(chosen), name)
        verdicts.append(_run_one(name, known[name], Path(output) / name, quick, echo))
        if verdicts[-1].failure == INTERRUPTED:
            break
    tell(len(verdicts), len(chosen), "")
    return verdicts


def _run_one(name: str, title: str, folder: Path, quick: bool, echo: bool) -> Verdict:
    notebook = Notebook(name, folder, quick, echo)
    begun, failure = perf_counter(), ""
    try:
        import_module(f".{name.replace('-', '_')}", __package__).run(notebook)
        notebook.conclude()
    except KeyboardInterrupt:
        failure = INTERRUPTED
    except ModuleNotFoundError as error:
        hint = f": pip install {INSTALLED[error.name]}" if error.name in INSTALLED else ""
        failure = f"not run: {error}{hint}"
    except (LowdimError, MemoryError) as error:
        failure = f"not run: {error}"
    took = perf_counter() - begun
    return Verdict(name, title, tuple(notebook.claims), tuple(notebook.remarks), folder, took, quick, failure)


def _is_run(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.FunctionDef)
        and node.name == "run"
        and [argument.arg for argument in node.args.args] == ["notebook"]
    )
