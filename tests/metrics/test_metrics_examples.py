"""The examples in the docstrings of the metrics say what happens."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import lowdim.metrics

MODULES = [name for _, name, _ in pkgutil.walk_packages(lowdim.metrics.__path__, "lowdim.metrics.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(import_module(name))
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = {t.name for name in MODULES for t in finder.find(import_module(name)) if t.examples}
    assert len(found) >= 5
