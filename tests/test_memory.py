"""The machine's memory and the limits of this process, by whichever way the system tells."""

from __future__ import annotations

import os
import sys

import pytest

from lowdim.core import memory
from lowdim.core.memory import Watermark, address_room, available_memory, resident_memory
from lowdim.core.system import peak_memory

MANY = "MemTotal: 9000000 kB\nMemAvailable:   8000000 kB\n"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system of files of our own: writes what it is told."""
    monkeypatch.setattr(memory, "SYSTEM", tmp_path)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("DOT", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write


def test_memory_is_known_here():
    assert available_memory() > 1 << 20
    assert peak_memory() > 1 << 20


def test_a_watermark_is_that_of_what_is_held_beside(monkeypatch):
    peaks = iter([500, 500, 700, 700, 900])
    monkeypatch.setattr(memory, "peak_memory", lambda: next(peaks))
    monkeypatch.setattr(memory, "resident_memory", lambda: 100)
    mark = Watermark()
    assert [mark.risen() for _ in range(4)] == [0, 600, 0, 800]


def test_what_is_held_is_known_here():
    assert resident_memory() > 1 << 20


def test_other_systems(system, monkeypatch):
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available_memory() == pages
    system(proc__meminfo="MemTotal: 12 kB\n")
    assert available_memory() == pages
    system(proc__meminfo="é")
    assert available_memory() == pages
    monkeypatch.setattr(os, "sysconf_names", {})
    assert available_memory() is None
    monkeypatch.setitem(sys.modules, "resource", None)
    assert available_memory() is None
    assert peak_memory() == 0


def test_linux(system):
    system(proc__meminfo="MemTotal: 12 kB\nMemAvailable:   7 kB\n")
    assert available_memory() == 7 * 1024


def test_a_container(system):
    system(proc__meminfo=MANY, proc__self__cgroup="0::/box/inner\n")
    group = {
        "sys__fs__cgroup__box__inner__memoryDOTmax": "max\n",
        "sys__fs__cgroup__box__memoryDOTmax": "1000000\n",
        "sys__fs__cgroup__box__memoryDOTcurrent": "700000\n",
        "sys__fs__cgroup__box__memoryDOTstat": "anon 300000\ninactive_file 400000\nactive_file 7\n",
    }
    system(**group)
    assert available_memory() == 700_000
    system(sys__fs__cgroup__box__memoryDOTmax="100\n")
    assert available_memory() == 0


def test_a_container_of_the_older_kind(system):
    system(
        proc__meminfo=MANY,
        proc__self__cgroup="3:cpu:/x\n2:memory,pids:/job\n",
        sys__fs__cgroup__memory__job__memoryDOTlimit_in_bytes="9000000\n",
        sys__fs__cgroup__memory__job__memoryDOTusage_in_bytes="1000000\n",
        sys__fs__cgroup__memory__memoryDOTlimit_in_bytes="9223372036854771712\n",
    )
    assert available_memory() == 8_000_000
    (memory.SYSTEM / "sys/fs/cgroup/memory/job/memory.usage_in_bytes").unlink()
    assert available_memory() == 8_000_000 * 1024


@pytest.mark.parametrize(("pages", "used"), [("50 1 1\n", 50), ("", 0)])
def test_a_limit_of_the_address_space(system, monkeypatch, pages, used):
    resource = pytest.importorskip("resource")
    assert address_room() is None
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 30, 1 << 30))
    system(proc__meminfo=MANY, proc__self__statm=pages)
    assert address_room() == (1 << 30) - used * os.sysconf("SC_PAGE_SIZE")
    assert available_memory() == address_room()


def test_a_mac_counts_in_bytes(monkeypatch):
    before = peak_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert peak_memory() * 1024 >= before
