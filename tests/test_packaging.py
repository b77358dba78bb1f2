"""What is handed out: one version everywhere, a README without broken links, and an sdist that can be tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import lowdim

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = r"\[[^\]]+\]\((?!https?:)([^)]*)\)"


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == lowdim.__version__
    assert f"\nversion: {lowdim.__version__}\n" in citation
    assert re.search(r"^date-released: \d{4}-\d{2}-\d{2}$", citation, re.MULTILINE)


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(LINK, README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_of_the_package_index_has_no_relative_links():
    text = README
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert re.findall(LINK, text) == []
    assert "![" not in text
    assert "docs/command-line.md" in text
    assert text.index("make demo") < text.index("## From the shell")


def test_the_sdist_has_all_that_the_tests_read():
    packed = {entry.strip("/") for entry in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert {"src", "tests", "docs", "examples", "experiments", "torture", "benchmarks"} <= packed
    assert [entry for entry in packed if not (ROOT / entry).exists()] == []
