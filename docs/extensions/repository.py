"""Pages for the texts at the top of the repository: how to contribute, what has changed, what is safe."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "GOVERNANCE", "SECURITY")
FOLDER = "generated/project"


def copy_texts(app: Sphinx, config: Config) -> None:
    """Write a copy of each text below the pages, with its links as they are there."""
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for name in TEXTS:
        source = ROOT / f"{name}.md"
        if not source.exists():
            continue
        text = re.sub(r"\]\(docs/", "](../../", source.read_text(encoding="utf-8"))
        text = re.sub(rf"\]\(({'|'.join(TEXTS)})\.md", lambda found: f"]({found[1].lower()}.md", text)
        target = folder / f"{name.lower()}.md"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def point_to_copies(app: Sphinx, page: str, source: list[str]) -> None:
    """In a repository a page points to the text itself, here to its copy; and to examples, here to the gallery."""
    up = "../" * page.count("/")
    source[0] = re.sub(
        rf"\]\({re.escape(up)}\.\./({'|'.join(TEXTS)})\.md",
        lambda found: f"]({up}{FOLDER}/{found[1].lower()}.md",
        source[0].replace(f"]({up}../examples/gallery)", f"]({up}gallery/index)"),
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build, and to the reading of pages."""
    app.connect("config-inited", copy_texts)
    app.connect("source-read", point_to_copies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
