"""``embed`` and ``transform`` of DATA in shards: rows in, coordinates out, a block at a time."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

from .failures import about
from .files.columns import remember
from .files.in_shards import WRITTEN, InShards
from .files.inputs import describe_table
from .files.outputs import DRAWN, Outputs, draw
from .files.targets import MOVING, write_json, writing
from .options.build import described, read_extra
from .program import DONE
from .session import Session
from .summary import summarise
from .usage import UsageError
from .workers import workers_of

SHOWN = 100_000
"""Points of a picture."""


def check_embed(options: argparse.Namespace, outputs: Outputs, held: InShards) -> None:
    """A UsageError for what needs all rows at once, before the work."""
    asked = {
        "--target": options.target,
        "--images": options.images,
        "--report": outputs.report,
        "--pca": options.pca,
        "--name": options.name,
    }
    refused = next((option for option, value in asked.items() if value is not None), None)
    if any(picture.lower().endswith(MOVING) for picture in outputs.pictures):
        refused = "--plot with a moving picture"
    if refused is not None:
        first = "Reduce it first: lowdim embed DATA -m pca -d 50 -o reduced.zarr."
        raise UsageError(
            f"{refused} needs all rows in memory, and {held.name} is worked on in shards: {held.why}. "
            f"{first if refused == '--pca' else 'Leave it out.'}"
        )
    check_written(options.output, held)


def check_written(output: str | None, held: InShards) -> None:
    """A UsageError where coordinates cannot be written a block at a time to what was asked for."""
    if output is not None and not output.lower().endswith(WRITTEN):
        raise UsageError(
            f"--output: {held.name} is worked on in shards ({held.why}), and coordinates are written a block at a time "
            f"to {', '.join(WRITTEN)}; got {output!r}."
        )


def written_to(output: str | None) -> str | None:
    """Where coordinates go: a name that was made up by this program gets a suffix that can be written in blocks."""
    if output is None or output.lower().endswith(WRITTEN):
        return output
    return str(Path(output).with_suffix(".npy"))


def embed_shards(
    options: argparse.Namespace, session: Session, model: Any, held: InShards, outputs: Outputs, began: float
) -> int:
    """Fit, place and write."""
    source, table = held.source, held.table
    session.console.say(f"{held.name} is worked on in shards: {held.why}.")
    extra = read_extra(options.chosen, options)
    output = written_to(outputs.coordinates)
    with workers_of(options), about(held.name):
        model.fit(source, **extra)
        model.callback = None
        options.label = None
        remember(model, table, options)
        coordinates = _coordinates(model, source)
        with writing(session) as results:
            if output is not None:
                results.write(
                    output, partial(write_shards, coordinates, output, options, outputs.inputs), "place"
                )
            results.write(outputs.model, partial(_save, model, outputs))
            for picture in outputs.pictures:
                drawn = partial(_draw, picture, coordinates, output, table)
                results.write(picture, drawn, f"draw {picture}")
            scores = _scores(options, source, coordinates if output is None else _opened(output), session)
            content = {
                "command": session.command,
                "input": {"source": held.name, "shape": list(source.shape), "in_shards": held.why},
                "method": options.chosen.method.name,
                "parameters": described(model),
                "interrupted": session.interrupted,
                "report": model.report_.as_dict(),
                "quality": None if scores is None else scores.as_dict(),
                "written": list(results.written),
                "seconds": time.perf_counter() - began,
            }
            results.write(
                options.json,
                lambda: write_json(options.json, content, force=options.force, inputs=outputs.inputs),
            )
    session.quieten()
    seconds, shape = time.perf_counter() - began, coordinates.shape
    summarise(session, describe_table(table), options.chosen, model, scores, results.written, seconds, shape)
    return DONE


def _coordinates(model: Any, source: Any) -> Any:
    """Those that the fit has found of all rows, else those that the map gives."""
    from ..data.shards import InMemory, MemoryMapped

    found = getattr(model, "embedding_", None)
    if found is not None and len(found) == source.n_samples:
        kept = getattr(found, "filename", None)
        return InMemory.of(found) if kept is None else MemoryMapped.of(kept)
    return model.transform(source)


def write_shards(coordinates: Any, output: str, options: argparse.Namespace, inputs: Any) -> None:
    """Coordinates to a file, a block at a time."""
    from ..data.shards import write

    write(coordinates, output, force=options.force, inputs=inputs)


def _opened(output: str) -> Any:
    from ..data.shards import shards

    return shards(output)


def _save(model: Any, outputs: Outputs) -> None:
    from ..models import save

    is_drawn = hasattr(model, "embedding_") and model.embedding_.shape[1] <= DRAWN
    save(model, str(outputs.model), force=outputs.force, embedding=is_drawn)


def _draw(picture: str, coordinates: Any, output: str | None, table: Any) -> None:
    """A picture of as many points as can be told apart, drawn by a hash of their numbers."""
    from dataclasses import replace

    from ..data.shards.sampling import sampled_rows
    from ..validation import check_sample

    numbers = sampled_rows(coordinates.n_samples, SHOWN, 0)
    shown = check_sample(coordinates if output is None else _opened(output), numbers)
    draw(picture, shown, replace(table, X=shown), None)


def _scores(options: argparse.Namespace, source: Any, coordinates: Any, session: Session) -> Any:
    """Quality, where it is asked for: it takes another pass over the rows."""
    if not options.quality:
        return None
    from ..metrics import score
    from .summary import MEASURES

    with session.stage("quality"):
        return score(
            source, coordinates, n_neighbors=min(15, source.n_samples // 2 - 1), measures=[*MEASURES]
        )


def transform_shards(
    options: argparse.Namespace, session: Session, model: Any, held: InShards, output: str | None, inputs: Any
) -> tuple[Any, list[str]]:
    """Place rows on the map of a model and write their coordinates; the coordinates, and what was written."""
    session.console.say(f"{held.name} is worked on in shards: {held.why}.")
    with workers_of(options), about(held.name), writing(session) as results:
        coordinates = model.transform(held.source)
        if output is not None:
            results.write(output, partial(write_shards, coordinates, output, options, inputs), "place")
        for picture in options.plot:
            results.write(
                picture, partial(_draw, picture, coordinates, output, held.table), f"draw {picture}"
            )
    return coordinates, results.written
