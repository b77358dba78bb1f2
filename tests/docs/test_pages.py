"""Every page can be reached, and every link from one text to another leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Made when the site is built.
MADE = ("gallery/", "generated/", "reference/generated/")


def pages():
    found = [
        path
        for path in DOCS.rglob("*.md")
        if not path.relative_to(DOCS).as_posix().startswith((*MADE, "_build/"))
    ]
    return sorted(found)


TEXTS = [*pages(), *sorted(ROOT.glob("*.md"))]


def plain(text):
    """A text without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```(?!\{).*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(path):
    """Headings as the site and repositories name them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in pages():
        for table in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            entries = [line for line in table.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / entry).relative_to(DOCS).as_posix() for entry in entries}
    there = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages()} - {"index"}
    assert there - listed == set()
    assert {entry for entry in listed - there if not entry.startswith(MADE)} == set()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", plain(path.read_text(encoding="utf-8"))):
        place, _, anchor = target.partition("#")
        if target.startswith(("http:", "https:", "mailto:")) or place.startswith(MADE):
            continue
        found = (path.parent / place) if place else path
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), target
