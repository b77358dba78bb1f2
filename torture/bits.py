"""Flipped bits: every bit of a small model file, and one bit of every byte of models of every kind.

Each must be found: a FormatError, never a model.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import lowdim
from lowdim.errors import FormatError

from ._jobs import zoo

STEP = 61
"""Of larger files every so manieth byte is enough for one run; the seed says which."""


def run(amount: int | None = None, seed: int = 0) -> int:
    """``amount`` limits the number of models."""
    rng, broken = np.random.default_rng(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lowdim"
        for place, name in enumerate(list(zoo().ZOO)[:amount]):
            lowdim.save(zoo().fitted(name)[0], path, force=True)
            size = path.stat().st_size
            if place == 0:
                flips = [(byte, bit) for byte in range(size) for bit in range(8)]
            else:
                places = range(int(rng.integers(STEP)), size, max(1, STEP * (size > 20_000)))
                flips = [(byte, int(rng.integers(8))) for byte in places]
            missed = list(unnoticed(path, flips))
            print(f"  {name:<30} {len(flips):7} bits", flush=True)
            for byte, bit in missed:
                print(f"BROKEN {name}: bit {bit} of byte {byte} was not noticed", flush=True)
            broken += len(missed)
    return int(broken > 0)


def unnoticed(path: Path, flips: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those bits of a model file that can be flipped without an error."""
    whole = path.read_bytes()
    for byte, bit in flips:
        changed = bytearray(whole)
        changed[byte] ^= 1 << bit
        path.write_bytes(changed)
        try:
            lowdim.load(path)
        except FormatError:
            continue
        yield byte, bit
