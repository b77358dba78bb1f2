"""Windows and macOS, as far as they can be played on another system: what they lack is taken away."""

from __future__ import annotations

import ast
import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lowdim
from lowdim.cli.terminal import signals
from lowdim.core import atomic, memory, system
from lowdim.data import mapped
from lowdim.errors import CheckpointError
from lowdim.store import lock

# Modules of POSIX, and functions of os, that Windows does not have.
POSIX = ("fcntl", "resource", "pwd", "grp", "termios")
ABSENT = (
    "geteuid",
    "getuid",
    "set_blocking",
    "sched_getaffinity",
    "sysconf",
    "sysconf_names",
    "register_at_fork",
    "O_CLOEXEC",
    "fork",
)


def test_everything_works_without_what_windows_lacks(tmp_path):
    """Every part loads, and a fit, a model file and a checkpoint come about, without the modules and calls of POSIX."""
    code = f"""
import os, sys
import numpy, scipy.linalg, sklearn.base, numba  # libraries have ways of their own on other systems
for name in {POSIX}: sys.modules[name] = None
for name in {ABSENT}: hasattr(os, name) and delattr(os, name)
import importlib, pkgutil, lowdim
for part in pkgutil.walk_packages(lowdim.__path__, "lowdim."):
    if not part.name.endswith("__main__") and ".experiments" not in part.name: importlib.import_module(part.name)
from lowdim.core.memory import available_memory
X = numpy.random.default_rng(0).standard_normal((60, 3))
model = lowdim.Isomap(n_neighbors=8, checkpoint=sys.argv[1] + "/kept").fit(X)
lowdim.save(model, sys.argv[1] + "/m.lowdim")
assert numpy.array_equal(lowdim.load(sys.argv[1] + "/m.lowdim").embedding_, model.embedding_)
print("done")
"""
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert said.stdout.split()[-1:] == ["done"], said.stderr


def named_in(path):
    """Modules that a file imports, and functions of ``os`` and questions for the system that it names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [node.module, *(name.name for name in node.names)] if node.level == 0 else ()
        elif isinstance(node, ast.Attribute):
            yield node.attr if node.attr in ABSENT else ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_what_systems_lack_is_asked_for_in_one_file():
    """No other file takes a module or call that Windows lacks, or asks which system it is on."""
    package = Path(lowdim.__file__).parent
    elsewhere = {
        *POSIX,
        *ABSENT,
        "msvcrt",
        "winreg",
        "win32",
        "darwin",
        "os.name",
        "ctypes.CDLL",
        "platform.system",
        "SIGHUP",
        "SIGKILL",
    }
    home = package / "core" / "system.py"
    found = {
        path.relative_to(package).as_posix(): names
        for path in package.rglob("*.py")
        if path != home and (names := elsewhere.intersection(named_in(path)))
    }
    assert found == {}
    assert {"fcntl", "resource", "msvcrt", "win32", "darwin", "sched_getaffinity"} <= set(named_in(home))


def test_a_lock_by_windows(tmp_path, monkeypatch):
    held = []

    def locking(descriptor, mode, size):
        if held:
            raise OSError(errno.EACCES, "Permission denied")
        held.append((mode, size))

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(system.sys, "platform", "win32")
    with lock.locked(tmp_path):
        assert held == [(2, 1)]
        with pytest.raises(CheckpointError, match="in use by another run"), lock.locked(tmp_path):
            pass


def test_a_system_without_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with lock.locked(tmp_path), lock.locked(tmp_path):
        assert (tmp_path / lock.NAME).is_file()


def test_windows_flushes_files_that_may_be_written_and_no_folders(tmp_path, monkeypatch):
    opened = []
    open_ = os.open

    def watched(path, flags, *more):
        opened.append((os.fspath(path), flags & (os.O_RDWR | os.O_WRONLY)))
        if os.path.isdir(path):  # noqa: PTH112 - the tests of pathlib open folders too
            raise PermissionError(errno.EACCES, "Permission denied")
        return open_(path, flags, *more)

    monkeypatch.setattr(system.sys, "platform", "win32")
    monkeypatch.setattr(os, "open", watched)
    with atomic.writing(tmp_path / "a.txt") as temporary:
        temporary.write_bytes(b"whole")
    monkeypatch.undo()
    assert (tmp_path / "a.txt").read_bytes() == b"whole"
    assert [flags for path, flags in opened if path.endswith("part-a.txt")] == [os.O_RDWR]


@pytest.mark.parametrize("knows", [True, False])
def test_macos_flushes_the_memory_of_the_disk(tmp_path, monkeypatch, knows):
    flushed = []

    def control(descriptor, command):
        if not knows:
            raise OSError(errno.ENOTSUP, "not supported")
        flushed.append(command)

    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(fcntl=control, F_FULLFSYNC=51))
    monkeypatch.setattr(system.sys, "platform", "darwin")
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append("fsync"))
    with atomic.writing(tmp_path / "a.txt") as temporary:
        temporary.write_bytes(b"whole")
    assert flushed == [51 if knows else "fsync"] * 2


@pytest.mark.parametrize("failure", [TypeError, OSError, AttributeError])
def test_maps_are_read_without_the_systems_help(tmp_path, monkeypatch, failure):
    """ctypes.CDLL(None) is a TypeError on Windows; macOS has no process_vm_readv."""

    def none(*_, **__):
        raise failure

    monkeypatch.setattr(system.ctypes, "CDLL", none)
    mapped._copier.cache_clear()
    try:
        assert mapped._copier() is mapped._by_processor
        source, out = np.arange(6.0).reshape(3, 2), np.zeros((2, 2))
        starts = source.ctypes.data + 16 * np.array([2, 0])
        assert mapped._copier()(starts, 16, out)
        np.testing.assert_array_equal(out, source[[2, 0]])
    finally:
        mapped._copier.cache_clear()


def test_memory_on_windows(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(memory, "SYSTEM", memory.Path("nowhere"))
    assert memory.available_memory() is None
    assert system.peak_memory() == 0


def test_signals_without_set_blocking(monkeypatch):
    """Python 3.11 on Windows has no such call; a signal is acknowledged and interrupts all the same, and once."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are the main thread's")
    wakers, told = [], []

    def set_wakeup_fd(descriptor, **_):
        # That of this system takes no pipe that may wait, as that of Windows does.
        wakers.append(descriptor)
        return -1

    monkeypatch.delattr(os, "set_blocking")
    monkeypatch.setattr(signals.signal, "set_wakeup_fd", set_wakeup_fd)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with signals.heeding(told.append):
            os.write(wakers[0], bytes([signal.SIGTERM]))
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
        assert told == [signals.STOPPING]
        assert wakers[1:] == [-1]
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
