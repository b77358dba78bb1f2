"""The page of promises names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")


def named_tests():
    file = ""
    for path, name in re.findall(r"`(tests/[\w/]+\.py)?::(test_\w+)`", PAGE):
        file = path or file
        yield file, name


@pytest.mark.parametrize(("file", "name"), list(named_tests()))
def test_every_promise_has_its_test(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_harness_can_be_run():
    named = set(re.findall(r"\| `(\w+)` \|$", PAGE, re.MULTILINE))
    assert named
    for harness in named:
        tree = ast.parse((ROOT / "torture" / f"{harness}.py").read_text(encoding="utf-8"))
        assert "run" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, harness
