"""Neighbour embeddings of rows in shards: a sample of the rows is embedded, and the map places all others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import validation
from ...core.memory import available_memory
from ...core.messages import DATA, named
from ...core.records import Choice, PlannedStage, format_bytes, needed_bytes
from ...core.run import Store
from ...core.streams import Streams
from ...data.rows import Rows
from ...data.shards import Shards
from ...data.shards.sampling import sampled_rows
from ...errors import InputError, MemoryLimitError
from .over_shards import needs_all_rows

USUAL_ROWS = 100_000
"""Rows that are embedded: the picture of more hardly differs, and these take a minute or two."""
FEWEST_ROWS = 1_000
"""Rows below which a sample is no picture of the others."""


def fit_to_sample(estimator: Any, source: Shards, y: Any) -> Any:
    """``fit`` to the rows with the smallest hash of their numbers, in memory; ``transform`` places all of them.

    Their numbers are left in ``sample_rows_``, their coordinates in ``embedding_``.
    """
    if estimator.__sklearn_tags__().input_tags.pairwise:
        raise needs_all_rows(estimator, source, f"{DATA} holds values between points")
    validation.check_source(estimator, source, reset=True, at_least=2)
    count, why = sample_size(estimator, source)
    _, events = estimator._listened_to()
    choice = Choice("rows to embed", f"{count:,} of {source.n_samples:,}", why)
    events.chosen(choice.what, choice.choice, choice.why)
    seed = int(Streams(estimator.random_state)["landmarks"].integers(2**63))
    numbers = sampled_rows(source.n_samples, count, seed)
    targets = None if y is None else _targets(y, source.n_samples)[numbers]
    with events.stage("read"):
        rows = validation.check_sample(source, numbers)
    estimator._fit(rows, Store(), targets)
    if source.columns is not None:
        estimator.feature_names_in_ = np.array(source.columns, dtype=object)
    estimator.sample_rows_ = numbers
    estimator.report_ = replace(estimator.report_, choices=(choice, *estimator.report_.choices))
    return estimator


def _targets(y: Any, n_rows: int) -> NDArray[Any]:
    """What lies beside all rows."""
    entries = validation.take_entries(y, named("y"))
    if entries.shape[:1] != (n_rows,):
        raise InputError(
            f"{named('y')} must have an entry for each of the {n_rows} rows of {DATA}; got shape {entries.shape}."
        )
    return entries


def sample_size(estimator: Any, source: Shards) -> tuple[int, str]:
    """How many rows are embedded, and why: all where they are few, else as many as fit into the memory allowed."""
    limit = validation.parse_bytes(estimator.memory_limit)
    allowed = available_memory() if limit is None else limit
    count, usual = (
        min(source.n_samples, USUAL_ROWS),
        "all of them" if source.n_samples <= USUAL_ROWS else "as usual",
    )
    while allowed is not None and (needed := _needed(estimator, source, count)) > allowed:
        if count <= FEWEST_ROWS:
            raise MemoryLimitError(
                f"{type(estimator).__name__} of {count:,} rows needs {format_bytes(needed)}, and "
                f"{format_bytes(allowed)} are allowed. Raise {named('memory_limit')}."
            )
        count = max(FEWEST_ROWS, count * 2 // 3)
        usual = f"more need over {format_bytes(allowed)}"
    return count, f"{usual}; the map places the others"


def plan_of_sample(estimator: Any, source: Shards) -> list[PlannedStage]:
    """The stages of the fit to a sample."""
    count, why = sample_size(estimator, source)
    read = PlannedStage("read", source.nbytes / 1e9, _bytes(source, count), f"{count:,} rows: {why}")
    return [read, *estimator._plan_stages(_shape_of(source, count))]


def _needed(estimator: Any, source: Shards, count: int) -> int:
    """Bytes at the peak with so many rows, and those of the rows themselves."""
    held, _ = needed_bytes(estimator._plan_stages(_shape_of(source, count)), limited=True)
    return int(held) + _bytes(source, count)


def _shape_of(source: Shards, count: int) -> Rows:
    """So many rows that take no memory: for their shape and type."""
    return Rows(np.broadcast_to(np.zeros((), source.dtype), (count, source.n_features)))


def _bytes(source: Shards, count: int) -> int:
    return count * source.n_features * source.dtype.itemsize
