"""What a command writes: checked before the work, written whole or not at all, and none costs another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..options.table import formats
from ..session import Session
from ..usage import InterruptedWriting, UsageError
from .in_shards import is_many

EMBEDDINGS = formats("embedding")
"""Formats that coordinates can be written in."""
PAGE = ".html"
PICTURES = (".png", ".svg", ".pdf", PAGE)
MOVING = (".gif", ".mp4", ".webm")
LIKE_INPUT = {".npy": ".npy", ".npz": ".npy", ".mtx": ".npy", ".zarr": ".npy", ".parquet": ".parquet"}
STANDARD = "-"


def default_output(source: str, *, groups: bool = False) -> str:
    """Where coordinates go if nobody says: into this folder, named after the data, in its kind of format.

    With ``groups`` in a format that has a column for them.
    """
    if source == STANDARD:
        return STANDARD
    if is_many(source):
        folder = Path(source) if Path(source).is_dir() else Path(source).parent
        return f"{folder.resolve().name or 'rows'}.embedding.npy"
    path = Path(Path(source).name.removesuffix(".gz"))
    suffix = LIKE_INPUT.get(path.suffix.lower(), ".csv")
    return f"{path.stem}.embedding{'.csv' if groups and suffix == '.npy' else suffix}"


def check_suffix(option: str, name: str, allowed: Iterable[str]) -> None:
    """A UsageError where a file name does not say which format is meant."""
    allowed = tuple(allowed)
    if not Path(name).name.lower().endswith(allowed):
        raise UsageError(f"{option}: {name!r} must end in {', '.join(allowed[:-1])} or {allowed[-1]}.")


def check_pictures(option: str, names: Sequence[str], allowed: Iterable[str] = PICTURES) -> None:
    """Whether pictures can be drawn: their formats are known, and Matplotlib is there."""
    for name in names:
        check_suffix(option, name, allowed)
    if names:
        from ...plotting.drawing import require_matplotlib

        require_matplotlib()


def check_moving(names: Sequence[str]) -> None:
    """Whether the moving pictures among these can be written: some formats need ffmpeg."""
    moving = [name for name in names if name.lower().endswith(MOVING)]
    if moving:
        from ...plotting.animation import moving_target

        for name in moving:
            moving_target(Path(name))


def check_all(targets: Sequence[tuple[str, str | None]], *, force: bool, inputs: Sequence[str]) -> None:
    """Every file that will be written: possible, none of the inputs, none twice, and new unless forced."""
    from ...core.atomic import check_target

    seen: dict[Path, str] = {}
    to_output = [option for option, name in targets if name == STANDARD]
    if len(to_output) > 1:
        raise UsageError(
            f"{' and '.join(to_output)} would both write to standard output: name a file for one."
        )
    for option, name in targets:
        if name is None or name == STANDARD:
            continue
        if name.lower().endswith(".zarr"):
            from ...data.shards.writers import check_shard_target

            check_shard_target(Path(name), force=force, inputs=inputs)
            path = Path(name).resolve()
        else:
            path = check_target(name, force=force, inputs=inputs)
        if path in seen:
            raise UsageError(f"{seen[path]} and {option} name the same file, {name!r}: name two.")
        seen[path] = option


class Results:
    """What a command has to write, one after the other: see `writing`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._failures: list[Exception] = []
        self.written: list[str] = []
        """Files that are there."""

    def write(self, name: str | None, step: Callable[[], object], stage: str = "write") -> None:
        """Write one of them, by a function that leaves it whole or not at all; None: nobody asked for it."""
        from ...errors import LowdimError

        if name is None:
            return
        try:
            with self._session.stage(stage):
                step()
            self.written += [name] if name != STANDARD else []
        except KeyboardInterrupt:
            raise InterruptedWriting(self.written) from None
        except BrokenPipeError:
            raise
        except (LowdimError, OSError) as failure:
            self._failures.append(failure)

    def close(self) -> None:
        """Say what could not be written; the first failure is raised."""
        from ..failures import explain

        for other in self._failures[1:]:
            self._session.console.tell(f"error: {explain(other)}")
        if self._failures:
            raise self._failures[0]


@contextmanager
def writing(session: Session) -> Generator[Results]:
    """Write several results: what fails does not keep the others from being written, and is raised at the end.

    Standard output comes last, since its reader may have gone away.
    """
    results = Results(session)
    yield results
    results.close()


def write_coordinates(
    name: str,
    embedding: Any,
    *,
    table: Any,
    clusters: Any,
    force: bool,
    inputs: Sequence[str],
    obsm: str = "lowdim",
) -> None:
    """Coordinates to a file, or as CSV to standard output; in an .h5ad they are obsm ``X_<obsm>``."""
    from ...data import files

    if name != STANDARD:
        files.write_embedding(
            name, embedding, table=table, clusters=clusters, force=force, inputs=inputs, name=obsm
        )
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embedding.csv"
        files.write_embedding(path, embedding, table=table, clusters=clusters)
        copy_out(path)


def copy_out(path: Path) -> None:
    """Copy a text file to standard output."""
    from ..terminal.streams import standard_output

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
    from ...core import atomic
    from ..terminal.streams import emit

    if name == STANDARD:
        emit(text)
        return
    with atomic.writing(name, force=force, inputs=inputs) as temporary:
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
