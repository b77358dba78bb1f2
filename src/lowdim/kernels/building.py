"""Kernels compiled when the package is built or installed, so that no first fit waits for the compiler.

``signatures.json`` names the kernels that Python calls and the types that it calls them with; ``make kernels`` writes
it (`torture.signatures`). ``python -m lowdim.kernels.building`` compiles them on all processors and leaves them in a
folder ``compiled`` beside each module, where `compiling` finds them. What is there and fresh is not compiled again.
``python -m lowdim.kernels.building demo`` compiles only what ``lowdim demo`` calls, a third of it
(``demo_signatures.json``).

A type is written as Numba's name (``int64``), with the dimensions and the order of an array (``float64 2C``); a tuple
is a list, and a named one a dictionary from its class (``embedding.radial_student.Student``) to that list.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from numba.core import types as _types
from numba.core.dispatcher import Dispatcher

from ..core.system import usable_processors
from .compiling import COMPILED, SWITCH

HOME = Path(__file__).parent
TABLE = HOME / "signatures.json"
DEMO_TABLE = HOME / "demo_signatures.json"
MOST = 8
"""Processes at once: each takes some 300 MB."""
_CLAIMS = "LOWDIM_CLAIMS"
types = cast(Any, _types)


def main(arguments: list[str]) -> int:
    """Compile what a table names, ``demo`` that of the demo; the exit code is 1 where some of it could not be."""
    table = DEMO_TABLE if arguments == ["demo"] else TABLE
    if claims := os.environ.get(_CLAIMS):
        # The compiler makes very many objects and drops few: looking through all of them took 7 % of its time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        _without_entries_of_parts()
        _work(Path(claims), table)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, _CLAIMS: folder, "NUMBA_CACHE_DIR": str(Path(folder) / "parts")}
        environment.pop(SWITCH, None)
        command = [sys.executable, "-m", f"{__package__}.building", *arguments]
        workers = [subprocess.Popen(command, env=environment) for _ in range(min(usable_processors(), MOST))]
        codes = [worker.wait() for worker in workers]
        made = {path.read_text(encoding="utf-8") for path in Path(folder).glob("*.claim")}
    complete = not any(codes) and "" not in made
    if complete and table == TABLE:
        _prune(made)
    return int(not complete)


def _work(claims: Path, table: Path) -> None:
    """Compile what no other process has claimed; a claim ends as the name of the file that was made."""
    for number, (module, name, signature) in enumerate(entries(table)):
        claim = claims / f"{number}.claim"
        try:
            claim.touch(exist_ok=False)
        except FileExistsError:
            continue
        try:
            claim.write_text(str(_ship(module, name, signature)), encoding="utf-8")
        except Exception as error:  # noqa: BLE001 - a kernel that is not compiled here is compiled at its first use
            said = f"{type(error).__name__}: {error}"
            sys.stderr.write(f"{module}.{name} was not compiled, {said.splitlines()[0]}\n")


def _without_entries_of_parts() -> None:
    """Give kernels that only other kernels call no entry for callers in Python: a seventh of the compiling.

    That holds for this process. Elsewhere who calls such a kernel from Python, as tests do, has it compiled with one.
    """
    called = {(module, name) for module, name, _ in entries(TABLE)}
    for module in {module for module, _ in called}:
        import_module(f".{module}", __package__)
    for path, loaded in list(sys.modules.items()):
        if not path.startswith(f"{__package__}."):
            continue
        for kernel in vars(loaded).values():
            if not isinstance(kernel, Dispatcher):
                continue
            function = kernel.py_func
            if (_below(function.__module__), function.__name__) not in called:
                kernel.targetoptions["no_cpython_wrapper"] = True


def entries(table: Path) -> Iterator[tuple[str, str, list[Any]]]:
    """Module, kernel and types of the arguments of each line of a table."""
    for module, kernels in json.loads(table.read_text(encoding="utf-8")).items():
        for name, signatures in kernels.items():
            for signature in signatures:
                yield module, name, signature


def states(table: Path) -> list[tuple[Path | None, str]]:
    """Of each line of a table the file in which it is kept compiled and how that is: see `KernelCache.state_of`."""
    found = []
    for module, name, signature in entries(table):
        kernel = getattr(import_module(f".{module}", __package__), name)
        arguments = tuple(typed(word) for word in signature)
        found.append(kernel._cache.state_of(arguments, kernel.targetctx.codegen()))
    return found


def _ship(module: str, name: str, signature: list[Any]) -> Path:
    """Compile a kernel, or find it compiled, and return its file in the package."""
    kernel = getattr(import_module(f".{module}", __package__), name)
    arguments = tuple(typed(word) for word in signature)
    kernel.compile(arguments)
    made = kernel._cache.path_of(arguments, kernel.targetctx.codegen())
    target: Path = Path(kernel.py_func.__code__.co_filename).parent / COMPILED / made.name
    if made.is_file():
        target.parent.mkdir(exist_ok=True)
        # Whole or not at all, as others may be reading it.
        shutil.copyfile(made, beside := target.with_suffix(f".{os.getpid()}"))
        beside.replace(target)
    return target.relative_to(HOME)


def _prune(made: set[str]) -> None:
    """Remove what an earlier table or an earlier kernel has left for this Python."""
    for path in HOME.rglob(f"{COMPILED}/*.{sys.implementation.cache_tag}.*"):
        if str(path.relative_to(HOME)) not in made:
            path.unlink()


def typed(word: Any) -> Any:
    """The type of Numba's that a word of the table stands for."""
    if isinstance(word, str):
        name, _, form = word.partition(" ")
        scalar = getattr(types, name)
        return types.Array(scalar, int(form[:-1]), form[-1]) if form else scalar
    if isinstance(word, list):
        return types.BaseTuple.from_types([typed(part) for part in word])
    ((path, parts),) = word.items()
    module, _, name = path.rpartition(".")
    named = getattr(import_module(f".{module}", __package__), name)
    return types.BaseTuple.from_types([typed(part) for part in parts], named)


def worded(kind: Any) -> Any:
    """The word of the table for a type of Numba's: the inverse of `typed`."""
    if isinstance(kind, types.BaseTuple):
        parts = [worded(part) for part in kind.types]
        named = getattr(kind, "instance_class", None)
        return parts if named is None else {f"{_below(named.__module__)}.{named.__qualname__}": parts}
    word = f"{kind.dtype} {kind.ndim}{kind.layout}" if isinstance(kind, types.Array) else str(kind)
    if typed(word) != kind:
        raise ValueError(f"{kind!r} cannot be written into the table of kernels.")
    return word


def _below(module: str) -> str:
    return module.removeprefix(f"{__package__}.")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
