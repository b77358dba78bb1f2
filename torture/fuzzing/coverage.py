"""The second driver: atheris changes inputs so that they reach code which none before them reached.

An input of atheris is either a file as it is, or the stream of random choices that our own generators make one of. Each
target has a process of its own, with the limits and the watch of the first driver.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from .child import input_of, prepare, try_one, warm_up
from .drive import ASLEEP, ROOT
from .targets import TARGETS
from .watch import Watch, limit_memory

SEEDS = 20
"""Inputs of our own that it begins with, for each target."""


class Choices(Random):
    """Random choices that are read from bytes, and are all zero beyond their end."""

    def __new__(cls, data: bytes) -> Choices:
        """Whatever the bytes: `Random` would take them for a seed."""
        return super().__new__(cls)

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0
        super().__init__(0)

    def getrandbits(self, k: int) -> int:
        """The next bits."""
        count = (k + 7) // 8
        piece = self._data[self._place : self._place + count]
        self._place += count
        return int.from_bytes(piece.ljust(count, b"\0"), "little") & ((1 << k) - 1)

    def random(self) -> float:
        """The next number from 0 to 1."""
        return self.getrandbits(53) / (1 << 53)


def run(seed: int, finds: Path, inputs: int) -> int:
    """Give every target so many inputs; how many targets failed."""
    failed = 0
    finds.mkdir(exist_ok=True)
    for name in TARGETS:
        with TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "torture.fuzzing.coverage",
                name,
                folder,
                str(seed),
                str(inputs),
                str(finds.absolute()),
            ]
            environment = os.environ | {
                "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
                "OMP_NUM_THREADS": "1",
            }
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        lines = done.stderr.splitlines()
        reached = next((line for line in reversed(lines) if "cov:" in line), "")
        print(
            f"  {name:<18}{inputs:>7} inputs by atheris, {'a find' if done.returncode else 'no find'} {reached[:60]}",
            flush=True,
        )
        if done.returncode:
            failed += 1
            told = [line for line in lines if "Error" in line or "Test unit" in line]
            print("    " + "\n    ".join(line[:500] for line in told[-4:]))
    if not any(finds.iterdir()):
        finds.rmdir()
    return failed


def write_seeds(name: str, folder: Path, seed: int) -> None:
    """The inputs that a target begins with, as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(SEEDS):
        (folder / str(number)).write_bytes(b"\0" + input_of(name, seed, number)[0][:4096])
        (folder / f"choices{number}").write_bytes(b"\1" + Random(number).randbytes(200))


def feeder(name: str, folder: Path, watch: Watch | None) -> Callable[[bytes], None]:
    """What hands an input of atheris to a target, and raises an error where the answer is not acceptable."""
    target, path = TARGETS[name], folder / f"input{TARGETS[name].suffix}"

    def feed(data: bytes) -> None:
        choices = Choices(data[1:])
        made = data[1:] if not data[:1] or data[0] % 2 == 0 else target.make(choices)
        options: dict[str, Any] = target.options(Random(len(data)))
        if (found := try_one(target, path, made, options, watch)) is not None:
            raise RuntimeError(f"{name}: {found} (options {options!r})")

    return feed


def instrument_readers() -> AbstractContextManager[None]:
    """Have atheris measure what is imported from here on of the code that meets strangers' bytes.

    What was imported already is not measured: the readers load late, so that theirs is. Numba could make nothing of
    counters in the kernels.
    """
    import atheris

    import lowdim.kernels

    for kernel in pkgutil.walk_packages(lowdim.kernels.__path__, "lowdim.kernels."):
        import_module(kernel.name)
    measured: AbstractContextManager[None] = atheris.instrument_imports(
        include=["lowdim.data", "lowdim.models", "lowdim.cli"]
    )
    return measured


def _fuzz(name: str, folder: Path, seed: int, inputs: int, finds: Path) -> None:
    import atheris

    prepare(folder)
    os.chdir(folder)
    warm_up([name], folder)
    corpus = folder / "corpus"
    write_seeds(name, corpus, seed)
    watch = Watch(folder)
    limit_memory()
    flags = [
        f"-runs={inputs}",
        f"-seed={seed + 1}",
        f"-timeout={ASLEEP:.0f}",
        "-rss_limit_mb=0",
        f"-artifact_prefix={finds}/{name}-",
    ]
    atheris.Setup([sys.argv[0], *flags, str(corpus)], feeder(name, folder, watch))
    atheris.Fuzz()


if __name__ == "__main__":
    with instrument_readers():
        _fuzz(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
