"""The process that reads hostile inputs: ``python -m torture.fuzzing.child FOLDER SEED TARGET:START:STOP ...``.

It notes in FOLDER/place which input it is at, so that whoever started it knows what ended it.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import sys
import traceback
from pathlib import Path
from random import Random
from typing import Any

from .judge import Find
from .targets import TARGETS, Target, write
from .watch import Swollen, Watch, limit_memory

WIDTH = 64


def input_of(name: str, seed: int, number: int) -> tuple[bytes, dict[str, Any]]:
    """The input of this number, the same at any time."""
    random = Random(f"{name} {seed} {number}")
    target = TARGETS[name]
    return target.make(random), target.options(random)


def prepare(folder: Path) -> None:
    """What hostile files point to: numbers that must never be read, and a pipe that would never end."""
    import numpy as np

    from .groups import CANARY

    values = np.full((6, 4), CANARY)
    (folder / "canary.bin").write_bytes(values.tobytes())
    if not (folder / "fifo").exists():
        os.mkfifo(folder / "fifo")
    import h5py

    with h5py.File(folder / "canary.h5", "w") as file:
        file.create_dataset("secret", data=values)
    other = folder / "canary.zarr" / "c" / "0"
    other.mkdir(parents=True, exist_ok=True)
    (other / "0").write_bytes(values.tobytes())


def warm_up(names: list[str], folder: Path) -> None:
    """Load what every input needs before anything is measured or limited."""
    for name in names:
        for number in range(3):
            try_one(TARGETS[name], folder / f"input{TARGETS[name].suffix}", *input_of(name, -1, number), None)


def try_one(
    target: Target, path: Path, data: bytes, options: dict[str, Any], watch: Watch | None
) -> str | None:
    """What is wrong with the answer to an input; None where nothing is."""
    write(target, path, data)
    try:
        if watch is None:
            target.feed(path, options)
        else:
            try:
                with watch.guarding(len(data)):
                    target.feed(path, options)
            except Swollen:
                # Once may be a library that is loaded for it.
                with watch.guarding(len(data)):
                    target.feed(path, options)
    except Find as find:
        cause = find.__cause__
        where = traceback.extract_tb(cause.__traceback__) if cause is not None else []
        inside = [
            f"{frame.filename.rpartition('/lowdim/')[2]}:{frame.lineno}"
            for frame in where
            if "/lowdim/" in frame.filename
        ]
        return f"{find} [{' > '.join(inside[-3:])}]"
    return None


def main(arguments: list[str]) -> None:
    """Read every input of the given ranges; each find is a line of JSON on standard output."""
    folder, seed = Path(arguments[0]), int(arguments[1])
    ranges = [
        (name, int(start), int(stop)) for name, start, stop in (part.split(":") for part in arguments[2:])
    ]
    place = _note(folder)
    prepare(folder)
    os.chdir(folder)
    watch = Watch(folder)
    warm_up([name for name, _, _ in ranges], folder)
    faulthandler.enable()
    limit_memory()
    for name, start, stop in ranges:
        target = TARGETS[name]
        path = folder / f"input{target.suffix}"
        for number in range(start, stop):
            place[:WIDTH] = f"{name} {number}".ljust(WIDTH).encode()
            found = try_one(target, path, *input_of(name, seed, number), watch)
            if (folder / "executed").exists():
                found = "code of the file was executed"
                (folder / "executed").unlink()
            if found is not None:
                print(json.dumps([name, number, found]), flush=True)
    place[:WIDTH] = b"done".ljust(WIDTH)


def _note(folder: Path) -> mmap.mmap:
    """A few bytes that another process can see."""
    with (folder / "place").open("w+b") as file:
        file.write(b"start".ljust(WIDTH))
        file.flush()
        return mmap.mmap(file.fileno(), WIDTH)


if __name__ == "__main__":
    main(sys.argv[1:])
