"""Nothing that a reader opens comes from a network: MathJax lies beside the pages, and what is fetched is told."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import distribution
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# The program with its common parts in one file, and its fonts: 2 MB of 24.
PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2")
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video)\b[^>]*\bsrc=[\"'](?:https?:)?//[^\"']*"
    r"|<link\b(?=[^>]*\brel=[\"'](?:stylesheet|preload|icon))[^>]*\bhref=[\"'](?:https?:)?//[^\"']*"
    r"|(?:@import\s+|url\()[\"']?(?:https?:)?//[^\"')]*"
)


def copy_mathjax(app: Sphinx, failure: Exception | None) -> None:
    """Put MathJax where the pages look for it."""
    if failure is not None or app.builder.format != "html":
        return
    package = distribution("sphinx-mathjax-offline")
    source = Path(str(package.locate_file("sphinx-mathjax-offline/static/mathjax")))
    for part in PARTS:
        target = Path(app.outdir, "_static", "mathjax", part)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source / part, target)


def check_fetched(app: Sphinx, failure: Exception | None) -> None:
    """Warn of every script, style, font, picture and frame of another address; with -W that is an error."""
    if failure is not None or app.builder.format != "html":
        return
    for path in sorted([*Path(app.outdir).rglob("*.html"), *Path(app.outdir).rglob("*.css")]):
        for found in _FETCHED.findall(path.read_text(encoding="utf-8")):
            logger.warning("%s fetches %s", path.relative_to(app.outdir), found)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", check_fetched, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
