"""Kernels that are compiled with the package: the table names what Python calls, and what is made can be used."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher

import lowdim
from lowdim.kernels import building, compiling
from lowdim.kernels.embedding.box_tree import Tree
from lowdim.kernels.embedding.radial_gaussian import Gaussian

PACKAGE = Path(lowdim.__file__).parent
REMEDY = "run `make kernels`, and commit the table that it writes"
#: Called where a fit is larger, or data rarer, than those that the table is written from: compiled at their first use.
RARE = {
    "deformation.choose_sources",
    "deformation.deform_rows",
    "embedding.aggregation.groups",
    "embedding.far_rows.curvature",
    "embedding.near_pairs.near_sums",
    "embedding.radial_table.locate",
    "embedding.strongest.cutoffs",
    "neighbors.forest.grow",
}


def called_from_python() -> set[str]:
    """Every ``kernels.module.kernel`` that a module outside of the kernels names."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        if "kernels" not in path.relative_to(PACKAGE).parts:
            found |= set(re.findall(r"\bkernels\.((?:\w+\.)+\w+)", path.read_text(encoding="utf-8")))
    return found


def kernel_of(name: str) -> Dispatcher | None:
    module, _, kernel = name.rpartition(".")
    try:
        value = getattr(importlib.import_module(f"lowdim.kernels.{module}"), kernel, None)
    except ModuleNotFoundError:
        return None
    return value if isinstance(value, Dispatcher) else None


def test_the_table_names_what_python_calls():
    named = {f"{module}.{name}" for module, name, _ in building.entries(building.TABLE)}
    gone = [name for name in sorted(named) if kernel_of(name) is None]
    assert not gone, f"the table names kernels that are not there; {REMEDY}"
    called = {name for name in called_from_python() if kernel_of(name) is not None}
    assert len(called) > 80
    missing = sorted(called - named - RARE)
    assert not missing, f"Python calls kernels that the table does not name; {REMEDY}"
    assert not RARE & named


def test_what_the_demo_calls_is_in_the_table():
    table, demo = (
        {json.dumps(line) for line in building.entries(path)}
        for path in (building.TABLE, building.DEMO_TABLE)
    )
    assert 30 < len(demo) < len(table) / 2
    assert demo <= table, REMEDY


def test_signatures_of_the_table_fit_their_kernels():
    for module, name, signature in building.entries(building.TABLE):
        parameters = inspect.signature(kernel_of(f"{module}.{name}").py_func).parameters
        assert len(signature) == len(parameters), f"{module}.{name} has other parameters; {REMEDY}"
        for word in signature:
            assert building.worded(building.typed(word)) == word, f"{module}.{name}; {REMEDY}"


@pytest.mark.parametrize(
    "kind",
    [
        types.int64,
        types.boolean,
        types.Array(types.float32, 2, "C"),
        types.Array(types.uint8, 1, "A"),
        types.UniTuple(types.int64, 2),
        types.Tuple([types.Array(types.int32, 1, "C"), types.Tuple([types.int64, types.float64])]),
        types.NamedTuple([types.float64] * len(Gaussian._fields), Gaussian),
        types.NamedUniTuple(types.Array(types.float64, 1, "C"), len(Tree._fields), Tree),
    ],
    ids=str,
)
def test_a_type_comes_back_from_the_table(kind):
    assert building.typed(json.loads(json.dumps(building.worded(kind)))) == kind


def test_a_type_that_the_table_cannot_hold():
    with pytest.raises(ValueError, match="cannot be written"):
        building.worded(types.Array(types.float64, 1, "C", readonly=True))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two kernels, its table, and a folder for claims."""
    pack = tmp_path / "made"
    pack.mkdir()
    (pack / "__init__.py").write_text("")
    (pack / "loops.py").write_text(
        "from lowdim.kernels.compiling import njit\n"
        "@njit(cache=True)\ndef double(value):\n    return 2 * value\n"
        "@njit(cache=True)\ndef bad(value):\n    return value.nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compiling.numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(building, "__package__", "made")
    monkeypatch.setattr(building, "HOME", pack)
    monkeypatch.setattr(building, "TABLE", tmp_path / "table.json")
    yield pack
    for name in ("made", "made.loops"):
        sys.modules.pop(name, None)


def worked(package, number: int, **table: list) -> list[str]:
    """What the claims of a process say that has the table to itself."""
    for name in ("made", "made.loops"):
        sys.modules.pop(name, None)
    claims = package.parent / f"claims{number}"
    claims.mkdir()
    compiling.numba.config.CACHE_DIR = str(claims / "parts")
    building.TABLE.write_text(json.dumps({"loops": table}))
    building._work(claims, building.TABLE)
    return [path.read_text() for path in sorted(claims.glob("*.claim"))]


def test_kernels_are_compiled_once_and_old_ones_go(package):
    (name,) = worked(package, 1, double=[["int64"]])
    made = package / name
    before = made.stat().st_mtime_ns
    names = worked(package, 2, double=[["int64"], ["float64"]])
    assert names[0] == name
    assert made.stat().st_mtime_ns == before
    foreign = made.with_name("loops.double.another-3.99.0.nbc")
    foreign.write_bytes(b"")
    building._prune({names[1]})
    assert sorted(made.parent.iterdir()) == sorted([package / names[1], foreign])


def test_a_kernel_that_cannot_be_compiled_is_left_out(package, capsys):
    names = worked(package, 1, bad=[["int64"]], gone=[["int64"]], double=[["int64"]])
    assert [bool(name) for name in names] == [False, False, True]
    assert "loops.bad was not compiled, TypingError" in capsys.readouterr().err


def test_what_another_process_has_claimed_is_its_own(package):
    claims = package.parent / "claims"
    claims.mkdir()
    (claims / "0.claim").touch()
    building.TABLE.write_text(json.dumps({"loops": {"double": [["int64"]]}}))
    building._work(claims, building.TABLE)
    assert not list(package.rglob("*.nbc"))


FIT = """
import hashlib, numpy
from lowdim.kernels.neighbors import hashing
from lowdim.kernels.spectral import sparse_product
X = numpy.random.default_rng(0).normal(size=(64, 9))
pointers, columns = numpy.arange(65, dtype=numpy.int32) * 3, numpy.arange(192, dtype=numpy.int32) % 64
out = numpy.zeros((64, 9))
sparse_product.differences(pointers, columns, numpy.linspace(0, 1, 192), X, out, 0, 64)
print(hashlib.sha256(out).hexdigest(), sum(sparse_product.differences.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_bits_are_the_same_from_the_package_and_from_the_compiler(tmp_path):
    """In a copy of the package with a table of one kernel; the second build has nothing to do."""
    copy = tmp_path / "src" / "lowdim"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", compiling.COMPILED))
    table = json.loads((copy / "kernels" / "signatures.json").read_text(encoding="utf-8"))
    kept = {"spectral.sparse_product": {"differences": table["spectral.sparse_product"]["differences"]}}
    (copy / "kernels" / "signatures.json").write_text(json.dumps(kept), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(copy.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*command: str, **more: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, *command], env=environment | more, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    for _ in range(2):
        run("-m", "lowdim.kernels.building")
    assert len(list(copy.rglob("*.nbc"))) == 1
    bits, hits = run("-c", FIT)
    assert (bits, hits) == (run("-c", FIT, LOWDIM_COMPILED="0")[0], "1")
