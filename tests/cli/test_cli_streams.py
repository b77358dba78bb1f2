"""Streams that are closed, broken or of text alone, and results that cannot be written: in this process."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np

from lowdim.cli import streams
from lowdim.cli.outputs import Outputs
from lowdim.cli.targets import copy_out


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
    streams.fill_gaps()
    monkeypatch.undo()
    assert opened == [(os.devnull, os.O_RDWR)]


def test_words_that_no_command_line_has_stay():
    assert streams.in_letters("\ud800") == "\ud800"
    assert streams.in_letters("größe") == "größe"


def test_nobody_listens(monkeypatch):
    for name, write in (("stderr", lambda: streams.say_aside("aside\n")), ("stdout", streams.let_go)):
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

    steps = Outputs._steps

    def broken(self, *arguments):
        return [("one.npy", fail("one.npy")), ("two.npy", fail("two.npy")), *steps(self, *arguments)]

    monkeypatch.setattr(Outputs, "_steps", broken)
    answer = lowdim_command("embed points.npy --method pca -o out.npy")
    assert answer.code != 0
    assert answer.err.count("No space left on device") == 2
    assert "one.npy" in answer.err
    assert "two.npy" in answer.err
    assert np.load(folder / "out.npy").shape == (60, 2)
