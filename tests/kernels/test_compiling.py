"""The cache of compiled kernels may be damaged, full, foreign or nowhere: at most a warning, and the right result."""

from __future__ import annotations

import importlib.util
import os
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numba
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher

import lowdim
from lowdim import kernels
from lowdim.errors import LowdimWarning
from lowdim.kernels import compiling
from lowdim.kernels.embedding import radials

KERNEL = """
from lowdim.kernels.compiling import njit
from .beside import TWO

@njit(cache=True, nogil=True)
def double(value):
    return TWO * value
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A package of one kernel, with a cache of its own."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "beside.py").write_text("TWO = 2\n")
    (package / "kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compiling.numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path
    for name in ("pack", "pack.beside", "pack.kernel"):
        sys.modules.pop(name, None)


def fresh() -> object:
    """The kernel as a new process finds it."""
    compiling.source_stamp.cache_clear()
    for name in ("pack", "pack.beside", "pack.kernel"):
        if (loaded := sys.modules.pop(name, None)) is not None:
            # Python takes bytecode for fresh where the source has the same length and the same second as before.
            Path(importlib.util.cache_from_source(loaded.__file__)).unlink(missing_ok=True)
    importlib.invalidate_caches()
    return importlib.import_module("pack.kernel").double


def hits(kernel) -> int:
    return sum(kernel.stats.cache_hits.values())


def file_of(folder: Path) -> Path:
    (found,) = folder.rglob("*.nbc")
    return found


@pytest.fixture
def kept(folder) -> Path:
    """The same, with the kernel in the cache."""
    assert fresh()(21) == 42
    again = fresh()
    assert again(21) == 42
    assert hits(again) == 1
    return folder


def spoiled(content: bytes, how: str) -> bytes:
    middle = len(content) // 2
    return {
        "empty": b"",
        "cut": content[:middle],
        "magic alone": content[: len(compiling.MAGIC)],
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "garbage": os.urandom(len(content)),
        "numba's own": pickle.dumps("0.61") + pickle.dumps((b"", {})),
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut", "magic alone", "flipped", "garbage", "numba's own"])
@pytest.mark.every(2)
def test_a_damaged_file_is_compiled_anew(kept, how):
    path = file_of(kept)
    path.write_bytes(spoiled(path.read_bytes(), how))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kernel = fresh()
        assert kernel(4) == 8
    assert hits(kernel) == 0
    assert all(issubclass(warning.category, LowdimWarning) for warning in said)
    assert bool(said) == (how in ("cut", "magic alone", "flipped"))
    mended = fresh()
    assert mended(4) == 8
    assert hits(mended) == 1


def test_every_flipped_byte_is_found(kept):
    """Compiled code with another bit could do anything."""
    path = file_of(kept)
    whole = path.read_bytes()
    cache = fresh()._cache
    for place in range(len(compiling.MAGIC), len(whole), 41):
        changed = bytearray(whole)
        changed[place] ^= 16
        path.write_bytes(changed)
        with pytest.raises(compiling.Damaged):
            cache._read(path, (types.int64,))
    path.write_bytes(whole)
    assert cache._read(path, (types.int64,)) is not None
    assert cache._read(path, (types.float64,)) is None


def test_data_that_cannot_be_rebuilt(kept):
    fresh()._cache._write(file_of(kept), (types.int64,), ("nothing", "of", "use"))
    with pytest.warns(LowdimWarning, match="is damaged"):
        assert fresh()(4) == 8


def test_a_folder_that_cannot_be_written_any_more(kept, monkeypatch):
    """A full disk, or rights that were taken away after the start."""

    def full(*_):
        raise OSError(28, "No space left on device")

    path = file_of(kept)
    path.write_bytes(b"")
    monkeypatch.setattr(Path, "write_bytes", full)
    kernel = fresh()
    with pytest.warns(LowdimWarning, match="full, or may not be written"):
        assert kernel(4) == 8
    assert list(path.parent.iterdir()) == [path]
    path.unlink()
    path.mkdir()
    with pytest.warns(LowdimWarning) as said:
        assert fresh()(4) == 8
    assert [re.search("is (damaged|full)", str(warning.message))[1] for warning in said] == [
        "damaged",
        "full",
    ]


def without_a_place(folder, monkeypatch) -> None:
    monkeypatch.setattr(compiling.numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(folder)


def test_no_folder_at_all(folder, monkeypatch):
    without_a_place(folder, monkeypatch)
    kernel = fresh()
    with pytest.warns(LowdimWarning, match="Set NUMBA_CACHE_DIR"):
        assert kernel(4) == 8
    assert kernel(4.0) == 8.0
    assert kernel._cache.cache_path == ""
    assert not (folder / "~").exists()


def test_numba_finds_no_folder(folder, monkeypatch):
    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiling, "CompileResultCacheImpl", nowhere)
    with pytest.warns(LowdimWarning, match="Set NUMBA_CACHE_DIR"):
        assert fresh()(4) == 8


def test_two_signatures_are_two_files(kept):
    """Whichever of two processes writes last, none has the other's name."""
    assert fresh()(1.5) == 3.0
    assert len(list(kept.rglob("*.nbc"))) == 2
    kernel = fresh()
    assert [kernel(1.5), kernel(4)] == [3.0, 8]
    assert hits(kernel) == 2


def test_a_cache_is_forgotten_and_switched_off(kept):
    kernel = fresh()
    kernel._cache.flush()
    assert not list(kept.rglob("*.nbc"))
    kernel._cache.disable()
    assert kernel(4) == 8
    assert not list(kept.rglob("*.nbc"))


@pytest.fixture
def shipped(kept) -> Path:
    """The same, with the kernel compiled in the package and nothing kept by the user."""
    path = file_of(kept)
    (kept / "pack" / compiling.COMPILED).mkdir()
    path.rename(kept / "pack" / compiling.COMPILED / path.name)
    return kept


def test_a_kernel_compiled_with_the_package(shipped, monkeypatch):
    kernel = fresh()
    assert kernel(4) == 8
    assert hits(kernel) == 1
    assert not list((shipped / "cache").rglob("*.nbc"))
    monkeypatch.setenv(compiling.SWITCH, "0")
    kernel = fresh()
    assert kernel(4) == 8
    assert hits(kernel) == 0


def test_a_kernel_compiled_with_the_package_needs_no_other_folder(shipped, monkeypatch):
    without_a_place(shipped, monkeypatch)
    kernel = fresh()
    assert kernel(4) == 8
    assert hits(kernel) == 1


@pytest.mark.parametrize("how", ["empty", "cut", "magic alone", "flipped", "garbage", "numba's own"])
@pytest.mark.every(2)
def test_a_damaged_file_of_the_package_is_left_alone(shipped, how):
    path = file_of(shipped)
    damaged = spoiled(path.read_bytes(), how)
    path.write_bytes(damaged)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kernel = fresh()
        assert kernel(4) == 8
    assert hits(kernel) == 0
    assert bool(said) == (how in ("cut", "magic alone", "flipped"))
    assert path.read_bytes() == damaged
    mended = fresh()
    assert mended(4) == 8
    assert hits(mended) == 1


def test_how_a_kernel_is_kept_is_told_without_loading_it(shipped, monkeypatch):
    signature = (numba.int64,)

    def state():
        kernel = fresh()
        path, found = kernel._cache.state_of(signature, kernel.targetctx.codegen())
        assert kernel.stats.cache_hits == {}
        return path.name, found

    path = file_of(shipped)
    content = path.read_bytes()
    assert state() == (path.name, compiling.FRESH)
    path.write_bytes(spoiled(content, "flipped"))
    assert state() == (path.name, compiling.DAMAGED)
    path.write_bytes(spoiled(content, "numba's own"))
    assert state() == (path.name, compiling.STALE)
    path.write_bytes(content)
    with monkeypatch.context() as other:
        other.setattr(compiling.numba, "__version__", "0.0.1")
        assert state() == (path.name, compiling.STALE)
    path.unlink()
    assert state()[1] == compiling.MISSING


@pytest.mark.parametrize("what", ["sources", "Numba"])
def test_what_was_compiled_from_other_sources_or_by_another_numba(shipped, monkeypatch, what):
    if what == "sources":
        (shipped / "pack" / "beside.py").write_text("TWO = 2  # as before\n")
    else:
        monkeypatch.setattr(compiling.numba, "__version__", "0.0.1")
    kernel = fresh()
    assert kernel(4) == 8
    assert hits(kernel) == 0


def test_a_kernel_is_as_fresh_as_what_it_imports(kept):
    """Numba alone would still use the old number, which it has compiled in."""
    (kept / "pack" / "beside.py").write_text("TWO = 3\n")
    kernel = fresh()
    assert kernel(4) == 12
    assert hits(kernel) == 0


def test_a_stamp_follows_imports_of_every_form(tmp_path):
    """In the same folder, in the folder above and in another one; what is outside of the kernels does not count."""
    files = {
        "kernels/near/kernel.py": "from . import one, two\nfrom ..above import (\n    X,\n)\nfrom ...core import a\n",
        "kernels/near/one.py": "",
        "kernels/near/two.py": "from ..far.deep import Y\n",
        "kernels/above.py": "",
        "kernels/far/deep.py": "",
        "core/a.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    stamp = compiling.source_stamp.__wrapped__
    changes = {}
    for name, text in files.items():
        before = stamp(tmp_path / "kernels/near/kernel.py")
        (tmp_path / name).write_text(text + "# changed\n")
        changes[name] = stamp(tmp_path / "kernels/near/kernel.py") != before
    assert changes == {name: name != "core/a.py" for name in files}


def test_without_a_cache(folder):
    assert compiling.njit(nogil=True)(lambda value: value + 1)(1) == 2


def test_every_kernel_uses_it():
    for path in (Path(lowdim.__file__).parent / "kernels").rglob("*.py"):
        if path.name != "compiling.py":
            assert "from numba import njit" not in path.read_text(encoding="utf-8"), path


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser can become another"
)
def test_kernels_without_any_folder(folder):
    """An unknown user, no home, sources that may not be written: as in a container that runs under any number."""
    # Not in pytest's folder, which each session closes to others anew.
    place = tempfile.TemporaryDirectory(prefix="lowdim-")
    shutil.copytree(folder / "pack", Path(place.name) / "pack")
    Path(place.name).chmod(0o755)
    code = f"""
import os, sys, warnings
sys.path.insert(0, {place.name!r})
import lowdim.kernels.compiling, numba.core.typed_passes, numba.core.registry
numba.core.registry.cpu_target.target_context.refresh()
os.environ.pop("HOME", None)
os.chdir("/")
os.setgroups([]); os.setgid(54321); os.setuid(54321)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import pack.kernel
    print(pack.kernel.double(4), [type(warning.message).__name__ for warning in said])
"""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    source = str(Path(lowdim.__file__).parents[1])
    answer = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=kept | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    place.cleanup()
    assert answer.stdout == "8 ['LowdimWarning']\n", answer.stderr


def every_kernel() -> dict[str, Dispatcher]:
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(kernels.__path__, "lowdim.kernels.")
    ]
    named = [(module, name, value) for module in modules for name, value in vars(module).items()]
    return {
        f"{module.__name__}.{name}": value
        for module, name, value in named
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
    }


def called_by(kernel: Dispatcher) -> list[Dispatcher]:
    names = kernel.py_func.__code__.co_names
    found = [kernel.py_func.__globals__.get(name) for name in names]
    return [value for value in found if isinstance(value, Dispatcher) and value is not kernel]


def may_reorder(kernel: Dispatcher) -> bool:
    asked = [kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names]
    asks = any(getattr(value, "__code__", None) is radials.pull.__code__ for value in asked)
    return asks or bool(kernel.targetoptions["fastmath"]) or any(map(may_reorder, called_by(kernel)))


def test_what_kernels_share_is_part_of_each():
    """A kernel that is called, and whose sums may be reordered, has no copy of its own that could run instead."""
    found = every_kernel()
    assert len(found) > 200
    shared = {id(part) for kernel in found.values() for part in called_by(kernel)}
    apart = [
        name
        for name, kernel in found.items()
        if id(kernel) in shared and may_reorder(kernel) and not kernel.targetoptions["forceinline"]
    ]
    assert not apart, "these need forceinline=True"


def test_no_kernel_takes_options_over_from_its_caller():
    @compiling.njit()
    def third(value):
        return value / 3.0

    @compiling.njit(fastmath=True, error_model="numpy", forceinline=True)
    def twice(value):
        return 2.0 * third(value)

    assert twice(3.0) == 2.0
    (code,) = third.inspect_llvm().values()
    assert "alwaysinline" not in code
    assert "fast" not in re.findall(r"= fdiv (\w+) ", code)
