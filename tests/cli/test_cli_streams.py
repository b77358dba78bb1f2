"""Streams that are closed, broken or of text alone, and results that cannot be written: in this process."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np

from lowdim.cli.files.outputs import Outputs
from lowdim.cli.files.targets import copy_out
from lowdim.cli.terminal import streams


def without_reader():
    """A text stream into a pipe whose reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w", buffering=1)


def test_closed_streams_get_a_place(monkeypatch):
    opened = []

    def fstat(number):
        if number == 2:
            raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(streams.os, "fstat", fstat)
    monkeypatch.setattr(streams.os, "open", lambda *asked: opened.append(asked))
    streams.open_closed_streams()
    monkeypatch.undo()
    assert opened == [(os.devnull, os.O_RDWR)]


def test_words_that_no_command_line_has_stay():
    assert streams.as_typed_text("\ud800") == "\ud800"
    assert streams.as_typed_text("größe") == "größe"


def test_nobody_listens(monkeypatch):
    for name, write in (
        ("stderr", lambda: streams.write_error("aside\n")),
        ("stdout", streams.drop_unwritable_output),
    ):
        with without_reader() as stream:
            monkeypatch.setattr(sys, name, stream)
            if name == "stdout":
                stream.write("no end of line, so that it waits")
            write()
            # What comes later goes nowhere, instead of failing.
            stream.write("more\n")
            stream.flush()
            assert os.path.samestat(os.fstat(stream.fileno()), Path(os.devnull).stat())
        monkeypatch.setattr(sys, name, None)
        write()
        monkeypatch.undo()


def test_standard_output_of_text_alone(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("größe\n1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    copy_out(path)
    assert sys.stdout.getvalue() == "größe\n1\n"


def test_every_failure_is_told_and_the_rest_is_written(lowdim_command, folder, monkeypatch):
    def fail(name):
        def step():
            raise OSError(28, "No space left on device", name)

        return step

    write = Outputs.write

    def broken(self, results, *arguments):
        results.write("one.npy", fail("one.npy"))
        results.write("two.npy", fail("two.npy"))
        write(self, results, *arguments)

    monkeypatch.setattr(Outputs, "write", broken)
    answer = lowdim_command("embed points.npy --method pca -o out.npy")
    assert answer.code != 0
    assert answer.err.count("No space left on device") == 2
    assert "one.npy" in answer.err
    assert "two.npy" in answer.err
    assert np.load(folder / "out.npy").shape == (60, 2)
