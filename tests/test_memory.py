"""The machine's memory, by whichever way the system tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lowdim.memory import available_memory


def fail(*_arguments, **_options):
    raise OSError("no such file")


def test_memory_is_known_here():
    assert available_memory() > 1 << 20


@pytest.mark.parametrize("broken", [fail, lambda *_, **__: "MemTotal: 12 kB\n"])
def test_other_systems(monkeypatch, broken):
    monkeypatch.setattr(Path, "read_text", broken)
    assert available_memory() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(os, "sysconf_names", {})
    assert available_memory() is None


def test_linux(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "MemTotal: 12 kB\nMemAvailable:   7 kB\n")
    assert available_memory() == 7 * 1024
