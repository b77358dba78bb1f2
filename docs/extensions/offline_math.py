"""MathJax beside the pages: the part of it that they need, from the package that holds it; no reader fetches it."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path

from sphinx.application import Sphinx

# The program with its common parts in one file, and its fonts: 2 MB of 24.
PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2")


def copy_mathjax(app: Sphinx, failure: Exception | None) -> None:
    """Put MathJax where the pages look for it."""
    if failure is not None or app.builder.format != "html":
        return
    source = Path(
        str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax"))
    )
    for part in PARTS:
        target = Path(app.outdir, "_static", "mathjax", part)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source / part, target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
