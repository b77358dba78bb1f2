"""The reference has every public name, each described, and the examples in their descriptions say what happens."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import lowdim

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
# Parts whose names are all public; of the others only what lowdim itself hands on.
PARTS = (
    "data.files",
    "datasets",
    "explanation",
    "explore",
    "metrics",
    "models",
    "optimize",
    "plotting",
    "reliability",
    "scanpy",
    "selection",
)
NO_PAGE = {
    "lowdim.__version__",
    "lowdim.datasets",
    "lowdim.data.files.SUFFIXES",
    "lowdim.data.files.WRITABLE",
}
NO_PAGE |= {"lowdim.datasets.Seed"}  # a name for the types of one argument
NO_PAGE |= {"lowdim.explore.Widget"}  # a class of the extra `notebook`, made when it is asked for
# Fits of a second and more: `make torture` runs their examples.
SLOW = {"ElasticEmbedding", "LargeVis", "NeighborSpectrum", "PaCMAP", "SNE", "SymmetricSNE", "TSNE", "UMAP"}
SLOW |= {"LLE", "animate", "align", "sweep", "FFT", "BarnesHut"}


def listed():
    """Names in the tables of the reference, in full."""
    found = []
    for page in sorted(REFERENCE.glob("*.md")):
        home = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                home = line.split()[-1]
            elif re.fullmatch(r"   [A-Za-z_][\w.]*", line):
                found.append(f"{home}.{line.strip()}")
    return found


def public():
    """Names that are meant to be used."""
    names = [f"lowdim.{name}" for name in lowdim.__all__]
    for part in PARTS:
        names += [f"lowdim.{part}.{name}" for name in _part(part).__all__]
    errors = vars(lowdim.errors).items()
    names += [
        f"lowdim.errors.{name}" for name, found in errors if inspect.isclass(found) and name != "Spoken"
    ]
    return [
        name
        for name in names
        if name not in NO_PAGE and getattr(found_at(name), "__module__", "")[:6] == "lowdim"
    ]


def _part(name):
    return lowdim.datasets if name == "datasets" else import_module(f"lowdim.{name}")


def found_at(name):
    if name.startswith("lowdim.data."):
        return getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
    return attrgetter(name.removeprefix("lowdim."))(lowdim)


def test_every_public_name_has_a_page():
    there = {id(found_at(name)) for name in listed()}
    assert [name for name in public() if id(found_at(name)) not in there] == []
    assert len(listed()) == len(set(listed())) > 120


def test_each_is_described():
    first = {name: (inspect.getdoc(found_at(name)) or "-").splitlines()[0].rstrip() for name in listed()}
    assert [
        name for name, said in first.items() if len(said.split()) < 3 or not said.endswith((".", ":", "?"))
    ] == []


def with_examples():
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name.removeprefix("lowdim.") in SLOW else [])
        for name in listed()
        if ">>>" in (found_at(name).__doc__ or "")
    ]


@pytest.mark.parametrize("name", with_examples())
def test_examples(name, tmp_path):
    found = found_at(name)
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with contextlib.chdir(tmp_path):
        for test in tests:
            said = []
            runner.run(test, out=said.append)
            assert runner.failures == 0, "".join(said)
    assert list(tmp_path.iterdir()) == []
    assert sum(len(test.examples) for test in tests) > 1


def test_what_is_called_at_the_top_has_examples():
    without = [
        name for name in listed() if name.count(".") == 1 and ">>>" not in (found_at(name).__doc__ or "")
    ]
    assert without == []
