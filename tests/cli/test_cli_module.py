"""``python -m lowdim`` in this process, where coverage sees it."""

from __future__ import annotations

import runpy
import sys

import pytest

import lowdim


@pytest.mark.parametrize(("word", "code"), [("--version", 0), ("--no-such-option", 2)])
def test_the_module_is_the_program(word, code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lowdim", word])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("lowdim", run_name="__main__", alter_sys=True)
    assert end.value.code == code
    captured = capsys.readouterr()
    assert (lowdim.__version__ in captured.out) == (code == 0)
    assert bool(captured.err) == (code != 0)
