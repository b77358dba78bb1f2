"""Numba's decorator with a cache on disk that can do no harm.

Numba's own cache raises an error where a file of it is damaged or cannot be written, or where there is no folder for
it; it runs code whose bits were flipped; it does not see that a kernel of another module, which it has compiled in,
has changed; and two processes that keep two signatures of a kernel at once can leave one under the other's name. Here
each signature has a file of its own with a digest, what cannot be read or kept is compiled anew, and a kernel is as
fresh as all that it imports.

A kernel is looked for in two folders: where Numba keeps what the user has compiled, and in ``compiled`` beside its
module, where `building` has put what was compiled with the package. The second is only read, and what does not fit
this Numba, this processor or these sources counts as not there.

A kernel that others call, and that may reorder sums, needs ``forceinline=True``. Otherwise its own object file and
those of its callers each have a copy of it, optimised apart, and which of them runs is a matter of what was loaded
first: last bits would depend on what the process had done before.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache as remembered
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any, cast
from uuid import uuid4

import numba
from numba.core import types as _types
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from ..errors import LowdimWarning

types = cast(Any, _types)
MAGIC = b"lowdim kernel 2\n"
DIGEST = 32
COMPILED = "compiled"
"""Name of the folder, beside the modules, of what was compiled with the package."""
SWITCH = "LOWDIM_COMPILED"
"""The environment variable that, as 0, leaves that folder alone, as if nothing had been compiled with the package."""
#: What a kernel would take over from whichever kernel has it compiled first, if it did not say so itself; and no entry
#: for callers in C, of whom there are none: to make one for each kernel took 7 % of the compiling.
OWN: dict[str, Any] = {
    "fastmath": False,
    "error_model": "python",
    "forceinline": False,
    "no_cfunc_wrapper": True,
}
_IMPORTS = re.compile(r"^from (\.+)([\w.]*) import ([\w, ]*)", re.MULTILINE)


FRESH, STALE, DAMAGED, MISSING = "fresh", "stale", "damaged", "missing"
"""What a file of the cache can be: usable; of other sources or another Numba; not as it was written; not there."""


class Damaged(Exception):
    """A file of the cache is not as it was written."""


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit``, whose ``cache`` can be damaged, full or without a place."""
    compiled: Any = numba.njit(**OWN | options)

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        dispatcher.typeof_pyval = partial(_type_of, type(dispatcher).typeof_pyval, dispatcher)
        if cache:
            dispatcher._cache = KernelCache(cast(FunctionType, function))
        return dispatcher

    return decorate


def _type_of(of_numba: Callable[..., Any], dispatcher: Any, value: Any) -> Any:
    """The type of an argument; an array that may not be written to has that of one that may.

    A kernel would be compiled anew for each combination of the two, for seconds at the first use of a model in a mapped
    file. What a kernel writes into is made by its caller; it writes into none of what it is given to read.
    """
    return _as_written(of_numba(dispatcher, value))


def _as_written(kind: Any) -> Any:
    if isinstance(kind, types.Array):
        return kind if kind.mutable else kind.copy(readonly=False)
    if isinstance(kind, types.BaseTuple):
        parts = [_as_written(part) for part in kind.types]
        return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    return kind


class KernelCache(_Cache):
    """The cache of one kernel."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._file = Path(function.__code__.co_filename)
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder of what the user has compiled; empty where there is none."""
        return str(self._folder or "")

    @cached_property
    def _folder(self) -> Path | None:
        try:
            if _has_place(self._file):
                return Path(CompileResultCacheImpl(self._function).locator.get_cache_path())
        except (RuntimeError, OSError):  # Numba's own search was in vain
            pass
        return None

    @cached_property
    def _stamp(self) -> bytes:
        return hashlib.sha256(numba.__version__.encode() + source_stamp(self._file)).digest()

    def enable(self) -> None:
        """Read and keep files from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor keep files from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Forget what the user has compiled of this kernel."""
        for path in self._folder.glob(f"{self._name}.*") if self._folder else ():
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for a signature; None where nothing was, or nothing that can be used."""
        if not self._enabled:
            return None
        # All that linking needs. Numba would load every implementation that it compiles with: 0.2 s in each process.
        rtsys.initialize(target_context)
        for folder in self._folders():
            try:
                reduced = self._read(folder / self._name_of(sig, target_context.codegen()), sig)
                if reduced is not None:
                    return CompileResult._rebuild(target_context, *reduced)
            except FileNotFoundError:
                continue
            except Exception:  # noqa: BLE001 - what is read back can stumble over anything
                self._warn(folder, "damaged")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that is possible."""
        if not self._enabled or data.library.has_dynamic_globals:
            return
        if self._folder is None:
            self.disable()
            warnings.warn(
                "There is no folder in which compiled kernels could be kept: every start compiles those that it needs, "
                "for some seconds each. Set NUMBA_CACHE_DIR to a folder that can be written.",
                LowdimWarning,
                stacklevel=2,
            )
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._write(self._folder / self._name_of(sig, data.codegen), sig, data._reduce())
        except OSError:
            self.disable()
            self._warn(self._folder, "full, or may not be written")

    def path_of(self, sig: Any, codegen: Any) -> Path:
        """The file of what the user has compiled for a signature, whether it is there or not."""
        return Path(self.cache_path) / self._name_of(sig, codegen)

    def state_of(self, sig: Any, codegen: Any) -> tuple[Path | None, str]:
        """How what is kept for a signature is, the best of the folders, and where; nothing is loaded or compiled."""
        order = (FRESH, DAMAGED, STALE, MISSING)
        found = [(folder / self._name_of(sig, codegen)) for folder in self._folders()]
        states = [(path, self._state(path)) for path in found]
        return min(states, key=lambda pair: order.index(pair[1]), default=(None, MISSING))

    def _state(self, path: Path) -> str:
        try:
            content = self._content(path)
        except FileNotFoundError:
            return MISSING
        except (Damaged, OSError):
            return DAMAGED
        return FRESH if content is not None and content[:DIGEST] == self._stamp else STALE

    def _folders(self) -> list[Path]:
        beside = [] if os.environ.get(SWITCH) == "0" else [self._file.parent / COMPILED]
        return ([self._folder] if self._folder else []) + beside

    @property
    def _name(self) -> str:
        name = f"{self._file.stem}.{self._function.__qualname__}.{sys.implementation.cache_tag}"
        return re.sub("[<>]", "", name)

    def _name_of(self, sig: Any, codegen: Any) -> str:
        key = repr((sig, codegen.magic_tuple()))
        return f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"

    def _write(self, path: Path, sig: Any, reduced: Any) -> None:
        content = self._stamp + dumps((sig, reduced))
        beside = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
        try:
            beside.write_bytes(MAGIC + hashlib.sha256(content).digest() + content)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def _read(self, path: Path, sig: Any) -> Any:
        """The parts of what was compiled; None where the file is another writer's, version's or signature's."""
        content = self._content(path)
        if content is None or content[:DIGEST] != self._stamp:
            return None
        # Types are named by their text, and two might have the same.
        whose, reduced = pickle.loads(content[DIGEST:])
        return reduced if whose == sig else None

    @staticmethod
    def _content(path: Path) -> bytes | None:
        """What a file holds after its digest, None where it is another writer's; Damaged where the digest differs."""
        found = path.read_bytes()
        if not found.startswith(MAGIC):
            return None
        start = len(MAGIC) + DIGEST
        content = found[start:]
        if hashlib.sha256(content).digest() != found[len(MAGIC) : start]:
            raise Damaged(path)
        return content

    def _warn(self, folder: Path, what: str) -> None:
        warnings.warn(
            f"The cache of compiled kernels in {folder} is {what}. What is needed of it is compiled anew, "
            "for some seconds each. Clear or free this folder, or set NUMBA_CACHE_DIR to another.",
            LowdimWarning,
            stacklevel=3,
        )


def _has_place(file: Path) -> bool:
    """Whether Numba finds a folder; without a home it would make one called ``~`` wherever the program runs."""
    beside = file.parent / "__pycache__"
    nearest = beside if beside.is_dir() else beside.parent
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~") != "~"  # noqa: PTH111
    return bool(vars(numba.config)["CACHE_DIR"] or home or os.access(nearest, os.W_OK))


@remembered
def source_stamp(file: Path) -> bytes:
    """A digest of a module of kernels and of all modules of kernels that it is made of."""
    home = next((folder for folder in file.parents if folder.name == "kernels"), file.parent)
    digest, seen, left = hashlib.sha256(), {Path(__file__)}, [file]
    while left:
        path = left.pop()
        if path in seen or not path.is_relative_to(home) or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        digest.update(text.encode("utf-8"))
        left += sorted(_imported(path, text), reverse=True)
    return digest.digest()


def _imported(file: Path, text: str) -> set[Path]:
    """The files that a module's relative imports name."""
    found = set()
    for dots, module, names in _IMPORTS.findall(text):
        folder = file.parents[len(dots) - 1]
        modules = [module.replace(".", "/")] if module else names.replace(" ", "").split(",")
        found |= {folder / f"{name}.py" for name in modules}
    return found
