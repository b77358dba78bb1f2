"""Methods, metrics and file formats of another package, which is really there: its modules and its metadata."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lowdim
from lowdim.cli import main
from lowdim.cli.options import table
from lowdim.core import plugins
from lowdim.data.files import Table, read
from lowdim.errors import FileError, InputError, PluginError

CODE = '''
"""The first columns of the data."""
import numpy as np
from lowdim.data.files import Table
from lowdim.estimators.linear.pca import PCA
from lowdim.estimators.base import parameters

@parameters
class FirstAxes(PCA):
    """The directions of largest variance, by another name.

    Parameters
    ----------
    turned
        Turn the picture round.
    """

    turned: bool = False

def blocks(a, b):
    return float(np.abs(a - b).sum())

def read(path):
    X = np.fromfile(path, np.float64).reshape(-1, 3)
    return Table(X, columns={"side": np.where(X[:, 0] > 0, "right", "left")})

number = 5
'''
ENTRIES = """
[lowdim.methods]
FirstAxes = plugged_in:FirstAxes
Broken = plugged_in.nowhere:Broken
Number = plugged_in:number

[lowdim.metrics]
blocks = plugged_in:blocks
broken = plugged_in:missing
number = plugged_in:number

[lowdim.formats]
doubles = plugged_in:read
broken = plugged_in:missing
"""
POINTS = np.random.default_rng(0).normal(size=(40, 3))


def write_package(folder: Path, name: str, entries: str) -> None:
    info = folder / f"{name}-2.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")


def forget() -> None:
    plugins.plugins.cache_clear()
    table._described.cache_clear()
    vars(lowdim).pop("FirstAxes", None)
    sys.modules.pop("plugged_in", None)


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder on the path with a package that adds one of each, and some that are broken."""
    (tmp_path / "plugged_in.py").write_text(CODE, encoding="utf-8")
    write_package(tmp_path, "plugged-in", ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def test_nothing_is_imported_before_it_is_used(installed):
    assert "FirstAxes" in plugins.plugins("method")
    with pytest.raises(AttributeError, match="no attribute 'TSNEE'"):
        _ = lowdim.TSNEE
    assert "plugged_in" not in sys.modules


def test_a_method(installed, monkeypatch, capsys):
    model = lowdim.FirstAxes(2).fit(POINTS)
    assert_allclose(model.embedding_, lowdim.PCA(2).fit(POINTS).embedding_)
    monkeypatch.chdir(installed)
    np.save("points.npy", POINTS)
    assert main(["embed", "points.npy", "-m", "first-axes", "--turned", "-o", "map.npy", "-q"]) == 0
    assert_allclose(np.load("map.npy"), model.embedding_)
    assert main(["embed", "-m", "firstaxes", "--help"]) == 0
    said = capsys.readouterr().out
    assert "first-axes" in said
    assert "of the package plugged-in 2.5" in said
    assert "Turn the picture round" in " ".join(said.split())


def test_a_model_file_holds_nothing_of_another_package(installed):
    with pytest.raises(TypeError, match="must be an estimator of lowdim"):
        lowdim.save(lowdim.FirstAxes(2).fit(POINTS), installed / "m.lowdim")


@pytest.mark.parametrize("kind", ["Isomap", "ClassicalMDS", "TSNE"])
def test_a_metric(installed, kind):
    options = {"Isomap": {"n_neighbors": 9}, "ClassicalMDS": {}, "TSNE": {"perplexity": 5, "max_iter": 5}}[
        kind
    ]
    found, wanted = (
        getattr(lowdim, kind)(metric=name, **options).fit(POINTS).embedding_
        for name in ("blocks", "cityblock")
    )
    assert_allclose(found, wanted, atol=1e-8)


def test_a_metric_of_a_score_and_of_the_program(installed, monkeypatch):
    flat = POINTS[:, :2]
    scores = [lowdim.score(POINTS, flat, metric=name, random_state=0) for name in ("blocks", "cityblock")]
    assert str(scores[0]).replace("blocks", "cityblock") == str(scores[1])
    monkeypatch.chdir(installed)
    np.save("points.npy", POINTS)
    arguments = ["embed", "points.npy", "-m", "isomap", "-k", "9", "-o", "map.npy", "-q"]
    assert main([*arguments, "--metric", "blocks"]) == 0
    assert_allclose(
        np.load("map.npy"), lowdim.Isomap(metric="cityblock", n_neighbors=9).fit(POINTS).embedding_
    )


def test_a_format(installed, monkeypatch, capsys):
    monkeypatch.chdir(installed)
    POINTS.tofile("points.doubles")
    found = read("points.doubles", label="side")
    assert isinstance(found, Table)
    assert_array_equal(found.X, POINTS)
    assert set(found.labels) == {"left", "right"}
    assert main(["embed", "points.doubles", "-m", "pca", "-o", "map.npy", "-q"]) == 0
    assert np.load("map.npy").shape == (40, 2)
    assert main(["info", "points.doubles"]) == 0
    assert "40 rows" in capsys.readouterr().out
    with pytest.raises(InputError, match="does not apply"):
        read("points.doubles", key="x")
    Path("points.unknown").write_bytes(b"x")
    with pytest.raises(FileError, match=r"\.doubles"):
        read("points.unknown")


def test_what_is_broken_names_its_package(installed, monkeypatch, capsys):
    of_package = r"of the package plugged-in 2\.5 cannot be loaded from plugged_in"
    with pytest.raises(PluginError, match=of_package):
        _ = lowdim.Broken
    with pytest.raises(PluginError, match=of_package):
        lowdim.Isomap(metric="broken").fit(POINTS)
    monkeypatch.chdir(installed)
    Path("points.broken").write_bytes(b"x")
    with pytest.raises(PluginError, match=of_package):
        read("points.broken")
    with pytest.raises(PluginError, match=r"plugged-in 2\.5 must be a function of two rows; it is int 5"):
        lowdim.Isomap(metric="number").fit(POINTS)
    np.save("points.npy", POINTS)
    for method, reason in (("broken", "cannot be loaded"), ("number", "must be a class")):
        assert main(["embed", "points.npy", "-m", method]) == 1
        assert reason in " ".join(capsys.readouterr().err.split())
    vars(lowdim).pop("Number", None)


def test_a_name_that_two_packages_have(installed):
    write_package(
        installed, "other", "[lowdim.metrics]\nblocks = plugged_in:blocks\ncosine = plugged_in:missing\n"
    )
    plugins.plugins.cache_clear()
    with pytest.raises(
        PluginError, match=r"the package plugged-in 2\.5 and the package other 2\.5|other 2\.5 and"
    ):
        lowdim.Isomap(metric="blocks").fit(POINTS)
    lowdim.Isomap(metric="cosine", n_neighbors=9).fit(POINTS)  # what lowdim has of that name, it has itself
