"""``lowdim explore`` from the outside."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from reading import PATIENCE, Reader, blobs

import lowdim
from lowdim.cli.commands.explore import _of_data, make_parser
from lowdim.cli.program import main
from lowdim.cli.session import Session
from lowdim.explore.answers import lines_of


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "lowdim", "explore", *words, "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another there")
@pytest.mark.usefixtures("heard")
def test_the_first_line_is_the_address_and_ctrl_c_closes_the_port(tmp_path):
    X, _ = blobs(60)
    np.save(tmp_path / "X.npy", X)
    process = started(str(tmp_path / "X.npy"), "-m", "pca")
    address = process.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43,})", address)
    assert found, process.stderr.read()
    with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(
        address, timeout=PATIENCE
    ) as page:
        assert page.status == 200
        assert re.fullmatch(rf"http://127\.0\.0\.1:{found[1]}/[\w-]{{22}}/", page.url)
    process.send_signal(signal.SIGINT)
    rest, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest) == (0, "")
    assert found[2] not in complaints
    assert "The explorer is closed." in complaints
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(found[1])), timeout=PATIENCE)


# A program of its own session, whose terminal is what it reads from.
IN_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "lowdim", *sys.argv[1:]])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is another there")
def test_a_terminal_that_closes_ends_the_explorer(tmp_path):
    X, _ = blobs(60)
    np.save(tmp_path / "X.npy", X)
    mine, theirs = os.openpty()
    words = ["explore", str(tmp_path / "X.npy"), "-m", "pca"]
    # A browser that does nothing, so that the file through which it is sent to the page is made.
    surroundings = {"DISPLAY": ":none", "BROWSER": "true %s", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL, *words],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=os.environ | surroundings,
    )
    os.close(theirs)
    port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
    said = b""
    while b"Ctrl-C ends" not in said:
        said += os.read(mine, 1024)
    assert list(tmp_path.glob("lowdim-*.html"))
    os.close(mine)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert not list(tmp_path.glob("lowdim-*.html"))  # it had the token
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def test_wrong_use_is_said(tmp_path, capsys):
    X, _ = blobs(60)
    np.save(tmp_path / "X.npy", X)
    assert main(["explore", str(tmp_path / "X.npy"), "-m", "oriented-pca", "--no-open"]) == 1
    assert "method must be one of" in capsys.readouterr().err
    assert main(["explore", str(tmp_path / "X.npy"), "--place", str(tmp_path / "X.npy"), "--no-open"]) == 2
    assert "--place" in capsys.readouterr().err
    assert main(["explore", str(tmp_path / "X.npy"), "--host", "0.0.0.0"]) == 2


def test_without_websockets_it_says_what_to_install(monkeypatch):
    X, _ = blobs(60)
    monkeypatch.setattr("lowdim.explore.opening.find_spec", lambda name: None)
    with pytest.raises(lowdim.errors.InputError, match=r"lowdim\[explore\]"):
        lowdim.PCA().fit(X).explore(X, open_browser=False)


def test_an_estimator_explores_itself():
    X, codes = blobs(60)
    explorer = lowdim.Isomap(n_neighbors=20).fit(X).explore(labels=codes, open_browser=False)
    try:
        assert explorer.address.startswith("http://127.0.0.1:")
        assert explorer.selection.size == 0
        assert "token" not in repr(explorer)
    finally:
        explorer.close()


def test_the_lines_of_the_page_make_the_same_bits(tmp_path, monkeypatch):
    X, codes = blobs(60)
    monkeypatch.chdir(tmp_path)
    names = [f"a {place}" for place in range(X.shape[1])]
    rows = [",".join([*names, "my kind"])]
    rows += [",".join([*map(repr, map(float, row)), f"k{code}"]) for row, code in zip(X, codes, strict=True)]
    (tmp_path / "some data.csv").write_text("\n".join(rows) + "\n")
    words = ["some data.csv", "--label", "my kind", "-m", "tsne", "--perplexity", "7", "--max-iter", "30"]
    options = make_parser(words).parse(words)
    session = _of_data(options, Session(options, ["explore", *words]))
    with Reader(session) as reader:
        reader.settle()
        reader.until("done", settled=True)
        state = next(each for each in session.strip.states if each.settled)
        lines = lines_of(state, session.source)
    names = {}
    exec(lines["python"], names)
    np.testing.assert_array_equal(names["embedding"], state.coordinates)
    assert lines["shell"].startswith("lowdim embed 'some data.csv' --label 'my kind' --method tsne")
    assert main(shlex.split(lines["shell"])[1:]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "embedding.npy"), state.coordinates)
    assert session.source.features == ("a 0", "a 1", "a 2", "a 3", "a 4")


def test_columns_of_text_colour_without_being_asked_for(tmp_path, monkeypatch, capsys):
    X, codes = blobs(60)
    monkeypatch.chdir(tmp_path)
    rows = ["plant,species,high,wide,note"]
    rows += [f"p{row},k{codes[row]},{x!r},{y!r},same" for row, (x, y) in enumerate(X[:, :2].tolist())]
    (tmp_path / "flowers.csv").write_text("\n".join(rows) + "\n")
    words = ["flowers.csv", "-m", "pca"]
    options = make_parser(words).parse(words)
    session = _of_data(options, Session(options, ["explore", *words]))
    assert session.source.features == ("high", "wide")
    # Of the three the one that tells groups apart colours; names of rows and what is always the same do not.
    assert session.source.label == "species"
    assert set(session.source.columns) == {"plant", "species", "note"}
    with Reader(session) as reader:
        reader.settle()
        reader.until("done", settled=True)
        state = next(each for each in session.strip.states if each.settled)
        lines = lines_of(state, session.source)
    names = {}
    exec(lines["python"], names)
    np.testing.assert_array_equal(names["embedding"], state.coordinates)
    assert lines["shell"].startswith("lowdim embed flowers.csv --label species --label plant --label note")
    # What was asked for comes first, and what is left out stays out.
    words = ["flowers.csv", "--label", "plant", "--drop", "note"]
    options = make_parser(words).parse(words)
    source = _of_data(options, Session(options, ["explore", *words])).source
    assert source.label == "plant"
    assert list(source.columns) == ["plant", "species"]
    (tmp_path / "words.csv").write_text("a,b\nx,y\nz,w\n")
    words = ["words.csv", "--no-open"]
    assert main(["explore", *words]) == 1
    assert "hold text" in capsys.readouterr().err
