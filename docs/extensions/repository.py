"""Pages for the texts at the top of the repository: how to contribute, what has changed, what is safe."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
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


def plain_links(app: Sphinx, document: nodes.document, page: str) -> None:
    """In a manual page a link to another page of the site is its text alone: it would lead nowhere."""
    if app.builder.name != "man":
        return
    for link in list(document.findall(nodes.reference)):
        if link.get("internal") or not link.get("refuri"):
            link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build, and to the reading of pages."""
    app.connect("config-inited", copy_texts)
    app.connect("source-read", point_to_copies)
    app.connect("doctree-resolved", plain_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
