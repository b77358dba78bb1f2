"""A settled picture written into a copy of the .h5ad that it came from."""

from __future__ import annotations

import numpy as np
import pytest
from live import Page
from reading import Reader, blobs

import lowdim
from lowdim.cli.commands.explore import _of_data, make_parser
from lowdim.cli.session import Session
from lowdim.explore.protocol import FILE

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture
def cells(tmp_path):
    """Rows in a file of AnnData, with a column of kinds and something beside that must stay."""
    X, codes = blobs(60)
    path = tmp_path / "cells.h5ad"
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X)
        file.create_dataset("obsm/X_other", data=X[:, :3])
        for name, index in (("obs", "c"), ("var", "g")):
            frame = file.create_group(name)
            frame.attrs["_index"] = "_index"
            frame.attrs["column-order"] = np.array(["kind"] if name == "obs" else [], dtype=text)
            count = X.shape[name == "var"]
            frame.create_dataset("_index", data=[f"{index}{place}" for place in range(count)], dtype=text)
        file["obs"].create_dataset("kind", data=[f"k{code}" for code in codes], dtype=text)
    return path, X


def session_of_file(path):
    words = [str(path), "--label", "kind", "-m", "pca"]
    options = make_parser(words).parse(words)
    return _of_data(options, Session(options, ["explore", *words]))


def check(path, X):
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["obsm/X_pca"][:], lowdim.PCA().fit(X).embedding_)
        np.testing.assert_array_equal(file["obsm/X_other"][:], X[:, :3])
        np.testing.assert_array_equal(file["X"][:], X)
        assert file["obs/kind"].asstr()[1] == "k1"


def test_the_file_has_the_coordinates_and_all_that_it_had(cells, tmp_path, monkeypatch):
    path, X = cells
    before = path.read_bytes()
    with Reader(session_of_file(path)) as reader:
        assert reader.until("hello")["h5ad"]
        reader.settle()
        reader.until("done", settled=True)
        reader.send("export", what="h5ad")
        assert reader.until("file")["name"] == "pca.h5ad"
        while not (made := [block for block in reader.blocks if block["kind"] == FILE]):
            reader.step()
        (tmp_path / "made.h5ad").write_bytes(made[0]["body"])
        check(tmp_path / "made.h5ad", X)
        assert path.read_bytes() == before
        monkeypatch.setattr("lowdim.explore.answers.LARGEST_FILE", 100)
        reader.send("export", what="h5ad")
        assert "line for the shell" in reader.until("refused")["message"]


def test_a_sample_is_not_written_into_the_file_of_all_rows(cells, monkeypatch):
    monkeypatch.setattr("lowdim.explore.source.MOST_ROWS", 50)
    monkeypatch.setattr("lowdim.explore.source.SAMPLE_ROWS", 30)
    with Reader(session_of_file(cells[0])) as reader:
        assert reader.until("hello")["h5ad"] is False
        reader.settle()
        reader.until("done", settled=True)
        reader.send("export", what="h5ad")
        assert "Write a .csv" in reader.until("refused")["message"]


@pytest.mark.slow
def test_it_is_downloaded_from_the_page(browser, cells, tmp_path):
    path, X = cells
    with Page(browser, session_of_file(path)) as page:
        page.rest(1)
        page.click(".lx-settle")
        page.until("map.root.querySelector('.ld-badge').textContent === 'settled'")
        (tmp_path / "down").mkdir()
        browser.downloads_to(tmp_path / "down")
        page.click("[data-export=h5ad]")
        assert browser.finish_download() == "completed"
        check(tmp_path / "down" / "pca.h5ad", X)
        assert browser.problems == []
