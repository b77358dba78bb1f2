"""What estimators say of rows in shards."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ...core.events import Events
from ...core.messages import DATA, setting, value
from ...core.run import Run
from ...core.streams import Streams
from ...data.shards import Shards
from ...errors import InputError
from ...store.identity import Identity
from ...store.task_checkpoint import task_store
from ...store.tasks import TaskStore


@contextmanager
def tasks_of(estimator: Any, events: Events, **sources: Shards | None) -> Generator[tuple[TaskStore, Run]]:
    """The store of a fit to some sources, in its checkpoint where it has one, and what its stages are given."""

    def identity() -> Identity:
        given = {name: source.digest() for name, source in sources.items() if source is not None}
        return Identity(type(estimator).__name__, estimator.get_params(deep=False), given)

    with task_store(estimator.checkpoint, identity, events) as store:
        yield store, Run(events, estimator._workers, Streams(estimator.random_state))


def needs_all_rows(
    estimator: Any, source: Shards, why: str = "", solvers: tuple[str, ...] = ()
) -> InputError:
    """The error for a method that cannot go over shards, said before any work; it names what can.

    ``solvers`` are those with which the same estimator can.
    """
    owner, reason = type(estimator).__name__, f", because {why}" if why else ""
    instead = (
        "PCA, TSNE, UMAP and their kin and, by landmarks, LaplacianEigenmaps, LLE, Isomap, KernelPCA, DiffusionMap "
        "and SpectralClustering go over shards."
    )
    if solvers:
        *others, last = (setting("solver", solvers[0]), *(value(name) for name in solvers[1:]))
        listed = f"{', '.join(others)} or {last}" if others else last
        instead = f"with {listed} {owner} goes over shards."
    return InputError(
        f"{owner} needs all rows in memory{reason}; {DATA} comes in shards ({source.n_samples} x "
        f"{source.n_features}). Load the rows where they fit (numpy.asarray), or fit a random subset of them and "
        f"transform the others; {instead}"
    )
