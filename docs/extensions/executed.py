"""Pages whose Python is run as the documentation is built: what a block prints and draws is shown below it."""

from __future__ import annotations

import fnmatch
import shutil
import textwrap
from pathlib import Path
from typing import Any

from blocks import Result, find_blocks, run_block, working_folder
from sphinx.application import Sphinx

WIDTH = 92


def execute(app: Sphinx, page: str, source: list[str]) -> None:
    """Run the blocks of a page, and write their results into its text."""
    if not any(fnmatch.fnmatch(page, pattern) for pattern in app.config.executed_pages):
        return
    text = source[0]
    parts, at = [], 0
    names: dict[str, Any] = {"__name__": "__main__"}
    with working_folder():
        for block in find_blocks(text, "python"):
            result = run_block(block, names, f"{page}.md")
            parts += [text[at : block.end], shown(result, app, page)]
            at = block.end
    source[0] = "".join([*parts, text[at:]])


def shown(result: Result, app: Sphinx, page: str) -> str:
    """A result as Markdown."""
    up = "../" * page.count("/")
    lines = []
    if result.text.strip():
        text = "\n".join(map(wrapped, result.text.rstrip().splitlines()))
        lines += ["", "```{code-block} text", ":class: output", "", text, "```"]
    for path in result.pictures:
        place = Path("generated", "pictures", page.replace("/", "-"), path.name)
        keep(path, Path(app.srcdir, place))
        lines += ["", f"```{{image}} {up}{place.as_posix()}", f":alt: {path.stem.replace('_', ' ')}", "```"]
    for path in result.pages:
        place = Path("pages", page.replace("/", "-"), path.name)
        keep(path, Path(app.srcdir, "generated", "extra", place))
        lines += ["", f'<p class="page-link"><a href="{up}{place.as_posix()}">Open {path.name}</a></p>']
    return "\n".join([*lines, ""]) if lines else ""


def wrapped(line: str) -> str:
    """A sentence that is wider than the column, on several lines; a row of a table stays as it is."""
    return line if len(line) <= WIDTH or "  " in line.strip() else textwrap.fill(line, WIDTH)


def keep(path: Path, target: Path) -> None:
    """Move a file to where the build finds it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of pages."""
    app.add_config_value("executed_pages", [], "env", [list])
    app.connect("source-read", execute)
    # Working folder and names belong to the process: pages are read one after the other.
    return {"parallel_read_safe": False, "parallel_write_safe": True}
