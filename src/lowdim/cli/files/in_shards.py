"""DATA that is worked on in shards: it comes in many files, memory does not hold it, or workers are asked for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..failures import about
from ..parser import Parser
from ..usage import UsageError
from ..workers import add_workers, are_asked

SIGNS = "*?["
"""What a pattern of file names is told by."""
READ = (".npy", ".parquet", ".zarr", ".h5ad", ".arrow", ".feather")
"""Suffixes of files that can be read a block at a time."""
WRITTEN = (".npy", ".zarr", ".parquet")
"""Suffixes of what can be written a block at a time."""


@dataclass(frozen=True, slots=True)
class InShards:
    """Rows that are read a block at a time, what they are called, and why they are read so."""

    source: Any
    name: str
    why: str

    @property
    def table(self) -> Any:
        """The same as what the files of other commands are read to, without anything beside the features."""
        from ...data.files.table import Table

        return Table(self.source, self.source.columns, source=self.name)


def add_shard_workers(parser: Parser) -> None:
    """Where the work on shards runs."""
    add_workers(
        parser, "working in shards, where memory does not hold DATA", "work on DATA a block at a time"
    )


def is_many(source: str) -> bool:
    """Whether a name stands for several files: a folder that is no zarr array, or a pattern."""
    if any(sign in source for sign in SIGNS) and not Path(source).exists():
        return True
    return Path(source).is_dir() and not source.lower().rstrip("/").endswith(".zarr")


def open_shards(name: str, options: argparse.Namespace, wanted: Sequence[str] = ()) -> Any:
    """The rows of DATA as the options of reading say; ``wanted`` are the columns of a model, in its order."""
    from ...data.shards import shards

    for option, given in (("--label", options.label), ("--id", options.id)):
        if given and is_many(name):
            raise UsageError(
                f"{option}: of several files only the features are read. Leave the column out with --drop, or join the "
                "files first."
            )
    if options.transpose:
        raise UsageError(
            f"--transpose: {name} would be read a block of rows at a time, and its points are columns. Leave out "
            "--workers and --cluster, and name one file."
        )
    others = [*(options.label or ()), *(() if options.id is None else (options.id,)), *options.drop]
    asked: dict[str, Any] = {"key": options.key, "layer": options.layer, "obsm": options.obsm}
    if len(wanted) and _has_columns(name):
        asked["columns"] = [str(column) for column in wanted]
    elif others:
        asked["drop"] = others
    with about(name):
        return shards(name, **asked)


def read_many(name: str, options: argparse.Namespace) -> Any:
    """The rows of several files in memory, as a table without anything beside the features."""
    import numpy as np

    from ...data.files.table import Table

    source = open_shards(name, options)
    return Table(np.asarray(source), source.columns, source=name)


def _has_columns(name: str) -> bool:
    """Whether files have columns with names that can be asked for."""
    files = [Path(name)]
    if is_many(name):
        folder = Path(name) if Path(name).is_dir() else None
        files = [Path(name)] if folder is None else list(folder.iterdir())
    return any(file.name.lower().endswith((".parquet", ".arrow", ".feather")) for file in files)


def choose_shards(
    name: str,
    options: argparse.Namespace,
    model: Any = None,
    *,
    limit: Any = None,
    wanted: Sequence[str] = (),
) -> InShards | None:
    """DATA in shards where it is worked on so, with the reason; None where it is read into memory.

    Parameters
    ----------
    name
        What DATA is called.
    options
        How to read it, and the workers.
    model
        What is to be fitted; None: rows are only placed.
    limit
        Bytes that may be held, as ``memory_limit``; None: what the machine has free.
    wanted
        Columns of a model, in its order.
    """
    is_asked = are_asked(options)
    is_blocks = is_many(name) or name.lower().rstrip("/").endswith(READ)
    can = name != "-" and is_blocks and (is_asked or is_many(name) or not options.transpose)
    if not can or (model is not None and model.__sklearn_tags__().input_tags.pairwise):
        if is_asked:
            raise UsageError(
                f"--workers and --cluster are for DATA that can be read a block at a time: {', '.join(READ)}, or a "
                f"folder of them; got {name!r}."
            )
        return None
    if is_asked:
        return InShards(open_shards(name, options, wanted), name, "workers were asked for")
    from ...errors import LowdimError

    try:
        source = open_shards(name, options, wanted)
        why = _too_large(source, name, model, limit)
    except LowdimError:
        if is_many(name):
            raise
        return None  # whoever reads it whole says what is wrong
    return None if why is None else InShards(source, name, why)


def _too_large(source: Any, name: str, model: Any, limit: Any) -> str | None:
    """Why rows cannot be worked on in memory; None where they can, or where the method needs them all."""
    from ...core.memory import available_memory
    from ...core.records import format_bytes, needed_bytes
    from ...errors import InputError
    from ...validation import parse_bytes

    given = parse_bytes(limit)
    allowed = available_memory() if given is None else given
    # A .npy stays in its file.
    held = 0 if name.lower().endswith(".npy") else source.nbytes
    if model is not None:
        held += int(needed_bytes(_stages(model, source), limited=given is not None)[0])
    if allowed is None or held <= allowed:
        return None
    if model is not None:
        try:
            model.plan(source)
        except InputError:
            return None
    room = format_bytes(allowed)
    limited = f"{room} are free" if given is None else f"--memory-limit allows {room}"
    return f"in memory it would take {format_bytes(held)}, and {limited}"


def _stages(model: Any, source: Any) -> Any:
    """What a fit in memory would do, by the shape of the rows."""
    import numpy as np

    return model.plan(np.broadcast_to(np.zeros((), source.dtype), source.shape)).stages
