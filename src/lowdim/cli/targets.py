"""What a command writes: every target is checked before the work and written whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .introspection import constant
from .usage import UsageError

EMBEDDINGS = constant("data.files.writing", "WRITABLE")
"""Formats that coordinates can be written in."""
PICTURES = (".png", ".svg", ".pdf", ".html")
MOVING = ".gif"
LIKE_INPUT = {".npy": ".npy", ".npz": ".npy", ".mtx": ".npy", ".zarr": ".npy", ".parquet": ".parquet"}
STANDARD = "-"


def default_output(source: str) -> str:
    """Where coordinates go if nobody says: into this folder, named after the data, in its kind of format."""
    if source == STANDARD:
        return STANDARD
    path = Path(Path(source).name.removesuffix(".gz"))
    return f"{path.stem}.embedding{LIKE_INPUT.get(path.suffix.lower(), '.csv')}"


def check_suffix(option: str, name: str, allowed: Iterable[str]) -> None:
    """A UsageError where a file name does not say which format is meant."""
    allowed = tuple(allowed)
    if not Path(name).name.lower().endswith(allowed):
        raise UsageError(f"{option}: {name!r} must end in {', '.join(allowed[:-1])} or {allowed[-1]}.")


def check_all(targets: Sequence[tuple[str, str | None]], *, force: bool, inputs: Sequence[str]) -> None:
    """Every file that will be written: possible, none of the inputs, none twice, and new unless forced."""
    from ..persistence.atomic import check_target

    seen: dict[Path, str] = {}
    to_output = [option for option, name in targets if name == STANDARD]
    if len(to_output) > 1:
        raise UsageError(
            f"{' and '.join(to_output)} would both write to standard output: name a file for one."
        )
    for option, name in targets:
        if name is None or name == STANDARD:
            continue
        path = check_target(name, force=force, inputs=inputs)
        if path in seen:
            raise UsageError(f"{seen[path]} and {option} name the same file, {name!r}: name two.")
        seen[path] = option


def write_coordinates(
    name: str, embedding: Any, *, table: Any, clusters: Any, force: bool, inputs: Sequence[str]
) -> None:
    """Coordinates to a file, or as CSV to standard output."""
    from ..data import files

    if name != STANDARD:
        files.write_embedding(name, embedding, table=table, clusters=clusters, force=force, inputs=inputs)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embedding.csv"
        files.write_embedding(path, embedding, table=table, clusters=clusters)
        copy_out(path)


def copy_out(path: Path) -> None:
    """Copy a text file to standard output."""
    from .voice import standard_output

    stream = standard_output()
    # As bytes where there are any: a table is UTF-8 whatever the terminal speaks.
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(path.read_text(encoding="utf-8"))
    else:
        stream.flush()
        with path.open("rb") as file:
            shutil.copyfileobj(file, binary)
    stream.flush()


def write_json(name: str, content: Any, *, force: bool, inputs: Sequence[str]) -> None:
    """A report for machines."""
    write_text(name, json.dumps(plain(content), indent=2, allow_nan=False), force=force, inputs=inputs)


def write_text(name: str, text: str, *, force: bool, inputs: Sequence[str]) -> None:
    """Text to a file or to standard output."""
    from ..persistence.atomic import writing
    from .voice import emit

    if name == STANDARD:
        emit(text)
        return
    with writing(name, force=force, inputs=inputs) as temporary:
        temporary.write_text(
            text if text.endswith("\n") else text + "\n", encoding="utf-8", errors="backslashreplace"
        )


def plain(value: Any) -> Any:
    """A value in types that JSON knows: what is no number there (NaN, infinity) is null, other objects are text."""
    import numpy as np

    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
