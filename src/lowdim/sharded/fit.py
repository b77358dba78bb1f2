"""What every fit by landmarks over shards begins with: its store, its stages, its landmarks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.blas_threads import ONE_BLAS_THREAD
from ..core.memory import Watermark
from ..core.messages import named, setting
from ..core.parallel import count_workers
from ..core.records import format_bytes
from ..core.run import Run
from ..data.duplicates import find_duplicates
from ..data.rows import Rows
from ..data.shards import Shards
from ..data.shards.sampling import sampled_rows
from ..engine import Task, run_tasks
from ..errors import MemoryLimitWarning
from ..solvers.landmarks.configuration import LandmarkSolver
from ..store.tasks import Arrays, TaskStore
from .costs import tasks_at_once
from .layout import Layout
from .sample import Sample


@dataclass(frozen=True)
class ShardedFit:
    """A fit: the rows, the solver, how the work is cut, and where it is kept.

    ``held`` are bytes that a task of a stage holds, by the name of the stage, where its tasks are blocks.
    """

    source: Shards
    solver: LandmarkSolver
    layout: Layout
    store: TaskStore
    held: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    memory: Watermark = field(default_factory=Watermark, kw_only=True)

    @contextmanager
    def stage(self, name: str, run: Run) -> Generator[None]:
        """A stage of this process; a warning where it has come to hold more than it may."""
        with run.events.stage(name):
            yield
        limit, held = run.workers.memory_limit, self.memory.risen()
        if limit is not None and held > limit:
            run.events.warned(
                f"The stage {name} held {format_bytes(held)}, more than was foreseen and than "
                f"{setting('memory_limit', format_bytes(limit))} allows. The work goes on; a lower {named('n_jobs')} "
                "holds less.",
                MemoryLimitWarning,
            )

    def run_stage(
        self,
        task: Task,
        count: int,
        run: Run,
        at_once: int | None = None,
        ended: Callable[[], None] | None = None,
    ) -> None:
        """Run so many tasks of a stage, in this process at most ``at_once`` at a time, or what there is room for."""
        if at_once is None and task.name in self.held:
            workers, limit = count_workers(run.n_jobs), run.workers.memory_limit
            at_once = tasks_at_once(self.held[task.name], workers, limit)
        with self.stage(task.name, run):
            run_tasks(task, count, self.store, run, at_once, ended)

    def once(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """What a small step on this machine makes, kept as a task is."""
        if not self.store.has(name, 0):
            with ONE_BLAS_THREAD:
                self.store.put(name, 0, make())
        return self.store.get(name, 0)

    def landmarks(self, run: Run) -> Rows:
        """The landmarks, each once."""
        given, layout = self.solver.landmarks, self.layout
        seed = int(run.random("landmarks").integers(2**63))

        def choose() -> Arrays:
            if given is None:
                return {"numbers": sampled_rows(layout.n_samples, self.solver.n_landmarks, seed)}
            points = np.asarray(given)
            return {"numbers": np.zeros(0, np.int64) if points.ndim == 2 else np.unique(points)}

        self.once("chosen", choose)
        self.run_stage(Sample(self.source, layout), layout.n_blocks, run)

        def gather() -> Arrays:
            if given is not None and np.ndim(given) == 2:
                return {"rows": np.asarray(given)}
            parts = [self.store.get("sample", block)["rows"] for block in range(layout.n_blocks)]
            rows: NDArray[Any] = np.concatenate(parts)
            return {"rows": rows[find_duplicates(Rows(rows)).first]}

        found = self.once("landmarks", gather)["rows"]
        self.store.drop("sample")
        if given is None:
            run.chosen("landmarks", f"{len(found)} rows", "those whose numbers have the smallest hash")
        return Rows(found)
