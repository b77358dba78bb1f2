"""Downloads: only what has the right checksum reaches the cache folder, and whatever fails says what to do."""

from __future__ import annotations

import gzip
import io
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from lowdim import datasets
from lowdim.core.events import Events
from lowdim.data import catalogue, download, stored
from lowdim.data.catalogue import Entry
from lowdim.errors import FormatError, MissingDataError

DATA = np.random.default_rng(0).integers(0, 256, (2300, 6)).astype(np.uint8)
LABELS = (np.arange(2300) % 3).astype(np.uint8)


def arff(data=DATA, labels=LABELS):
    head = ["% small", "@RELATION tiny"] + [f"@ATTRIBUTE p{i} real" for i in range(data.shape[1])]
    rows = [",".join(map(str, row)) + f",'{label}'" for row, label in zip(data, labels, strict=True)]
    return "\n".join([*head, "@ATTRIBUTE class {0,1,2}", "", "@Data", "% a remark", *rows, ""]).encode()


def entry(**changes):
    sha256 = download.content_checksum(DATA, LABELS)
    known = {"labels": "y", "image": (2, 3), "remote": "openml", "number": 7, "sha256": sha256}
    return Entry("tiny.npz", DATA.shape, "tiny", "none", **(known | changes))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body, packed = self.server.pages.get(self.path, (None, False))
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body) + self.server.missing))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving(body, *, packed=False, missing=0):
    """A server that has one data set, and may promise more bytes than it sends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    base = f"http://127.0.0.1:{server.server_address[1]}"
    description = json.dumps({"data_set_description": {"url": f"{base}/tiny.arff"}}).encode()
    server.pages = {"/data/7": (description, False), "/tiny.arff": (body, packed)}
    server.missing = 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        server.missing = 0
        yield server, f"{base}/data"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("LOWDIM_CACHE", str(folder))
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    monkeypatch.setattr(stored, "CATALOGUE", {**catalogue.CATALOGUE, "tiny": entry()})
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_a_download_is_checked_and_kept(cache, monkeypatch, packed):
    body = gzip.compress(arff()) if packed else arff()
    heard = []
    with serving(body, packed=packed) as (_, base):
        monkeypatch.setattr(download, "OPENML", base)
        made = datasets.load("tiny", callback=heard.append)
    np.testing.assert_array_equal(made.data, DATA)
    np.testing.assert_array_equal(made.labels, LABELS)
    assert made.images.shape == (2300, 2, 3)
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]
    done = [event.data["done"] for event in heard if event.kind == "progress"]
    assert done == [1000, 2000, 2300]
    # From now on the network is not needed.
    monkeypatch.setattr(download, "OPENML", "http://127.0.0.1:9")
    np.testing.assert_array_equal(datasets.load("tiny").data, DATA)


def test_another_content_is_thrown_away(cache, monkeypatch):
    other = DATA.copy()
    other[5, 2] ^= 1
    with serving(arff(other)) as (_, base):
        monkeypatch.setattr(download, "OPENML", base)
        with pytest.raises(FormatError, match="checksum"):
            datasets.load("tiny")
    assert list(cache.iterdir()) == []


def test_verbose_says_how_long_it_took(cache, monkeypatch, caplog):
    with serving(arff()) as (_, base):
        monkeypatch.setattr(download, "OPENML", base)
        datasets.load("tiny", verbose=1)
    assert "download tiny" in caplog.text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (arff(DATA[:1500], LABELS[:1500]), "ends after 1500 of 2300"),
        (arff(np.vstack([DATA, DATA]), np.tile(LABELS, 2)), "more rows or other columns"),
        (arff(DATA[:, :4]), "more rows or other columns"),
        (arff(DATA.astype(float) + 0.5), "whole numbers"),
        (arff(DATA.astype(int) - 300), "whole numbers"),
        (b"@data\nnot,a,number\n", "could not convert"),
        (b"<html>sorry</html>", "ends after 0"),
    ],
)
def test_what_is_no_such_data_set_is_said_so(cache, monkeypatch, body, message):
    with serving(body) as (_, base):
        monkeypatch.setattr(download, "OPENML", base)
        with pytest.raises(FormatError, match=message):
            datasets.load("tiny")
    assert list(cache.iterdir()) == []


def test_a_description_of_another_kind(cache, monkeypatch):
    with serving(arff()) as (server, base):
        monkeypatch.setattr(download, "OPENML", base)
        server.pages["/data/7"] = (b"{}", False)
        with pytest.raises(FormatError, match="data_set_description"):
            datasets.load("tiny")
        server.pages["/data/7"] = (b"<html>", False)
        with pytest.raises(FormatError, match="could not be read"):
            datasets.load("tiny")


@pytest.mark.parametrize("body", [None, gzip.compress(arff())[:-40]])
def test_a_failing_server_says_what_to_do(cache, monkeypatch, body):
    with serving(body, packed=True) as (_, base):
        monkeypatch.setattr(download, "OPENML", base)
        with pytest.raises(
            MissingDataError, match=r"try again when online\)?.*tiny\.npz|tiny\.npz.*try again"
        ):
            datasets.load("tiny")
    assert list(cache.iterdir()) == []


def test_offline(cache, monkeypatch):
    monkeypatch.setattr(download, "OPENML", "http://127.0.0.1:9")
    with pytest.raises(FileNotFoundError, match=r"LOWDIM_DATA \(not set\).*X \(2300 x 6\), y"):
        datasets.load("tiny")
    with pytest.raises(MissingDataError, match="download=False"):
        datasets.load("tiny", download=False)


def test_a_cache_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LOWDIM_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(MissingDataError, match="LOWDIM_CACHE"):
        download.fetch("tiny", entry(), Events())


def test_olivetti_comes_back_in_eight_bits(cache, monkeypatch):
    import sklearn.datasets

    grey = np.array([[0, 75, 89], [242, 101, 107]], np.uint8)
    people = np.array([0, 1], np.uint8)

    class Faces:
        data = (grey / np.float32(242)).astype(np.float32)
        target = people.astype(int)

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", lambda data_home: Faces)
    known = entry(remote="scikit-learn", sha256=download.content_checksum(grey, people), image=None)
    monkeypatch.setattr(stored, "CATALOGUE", {"faces": known})
    made = datasets.load("faces")
    np.testing.assert_array_equal(made.data, grey)
    np.testing.assert_array_equal(made.labels, people)
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]


def test_endless_lines_are_cut():
    stream = io.BytesIO(b"@data\n" + b"1" * (download.LONGEST_LINE + 5))
    assert max(map(len, download._data_lines(stream))) == download.LONGEST_LINE


@pytest.mark.parametrize("name", ["mnist", "olivetti"])
def test_the_stored_checksums(data_folder, name):
    made = datasets.load(name, download=False)
    assert download.content_checksum(made.data, made.labels) == catalogue.CATALOGUE[name].sha256
