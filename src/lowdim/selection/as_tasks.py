"""The fits of a sweep as tasks over a store, on the workers of `lowdim.using`.

A task is a seed with the points that differ in ``n_components`` alone. The data are in the store, and so is what fits
on the same rows share: one fit for each set of rows comes first and leaves it, then the others with its seed, which
draws what is random in it, then those with other seeds. So every figure is that of a sweep in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

import numpy as np

from ..core.events import Events
from ..core.places import Place, State
from ..core.run import Run
from ..core.shared import Shared
from ..data.rows import Rows
from ..data.shards.held import Held
from ..engine import run_tasks
from ..store.identity import text
from ..store.objects import packed_state, unpacked_state
from ..store.tasks import TaskStore
from .fits import Fits
from .grid import widest
from .measures import Known, Part
from .result import FitRecord
from .split import Split, fitted_rows, outside_rows, split_rows

DATA = "data"
WORTH = 0.1
"""Seconds that something took to make from which it is read from the store instead."""
WAVES = 3


@dataclass(frozen=True, slots=True)
class Job:
    """A seed, the set of rows that it fits, the points that one task fits to them, and when: the first wave is 0."""

    seed: int
    group: int
    family: tuple[int, ...]
    wave: int


def split_of(fits: Fits, n_rows: int, seed: int) -> Split:
    """The rows that the fits of a seed see."""
    rng = np.random.default_rng(seed)
    return split_rows(n_rows, fits.judges.test, fits.judges.out_of_sample, rng)


def part_of(fits: Fits, rows: Rows, known: Known, split: Split, seed: int) -> Part:
    """The data of a seed."""
    pairwise = bool(fits.estimator.__sklearn_tags__().input_tags.pairwise)
    return Part(
        fitted_rows(rows, split, pairwise=pairwise),
        outside_rows(rows, split, pairwise=pairwise),
        split,
        known,
        seed,
        fits.estimator.n_jobs,
    )


def jobs_of(fits: Fits, n_rows: int, seeds: tuple[int, ...]) -> list[Job]:
    """All jobs in the order of a sweep in one process."""
    jobs: list[Job] = []
    last: Split | None = None
    group = -1
    for seed in seeds:
        split = split_of(fits, n_rows, seed)
        is_new = last is None or not split.same_data(last)
        group += is_new
        last = split
        for place, family in enumerate(fits.families()):
            wave = (0 if place == 0 else 1) if is_new else 2
            jobs.append(Job(seed, group, tuple(family), wave))
    return jobs


@dataclass(frozen=True)
class FitTask:
    """Fits and judges the points of a job, and leaves the runs."""

    name: str
    fits: Fits
    known: Known
    jobs: tuple[Job, ...]
    held: Held = field(default_factory=Held, compare=False, repr=False)

    def __call__(self, store: TaskStore, number: int) -> None:
        """Do a job."""
        job = self.jobs[number]
        # One copy for all threads of a process.
        rows = self.held.get(store.root, lambda: Rows(unpacked_state(store.get(DATA, 0), Run())["X"]))
        split = split_of(self.fits, rows.n_rows, job.seed)
        part = part_of(self.fits, rows, self.known, split, job.seed)
        owner = f"{self.name}-{number}"
        place = SharedPlace(store, f"shared-{job.group}", owner)
        shared = Shared(widest(self.fits.estimator, self.fits.points, split.fitted.size), place=place)
        fits = replace(self.fits, judges=replace(self.fits.judges, scores={}))
        runs = list(fits.family_runs(list(job.family), part, shared, Events(), NamedPlace(owner)))
        state = {
            "runs": [{part.name: getattr(run, part.name) for part in fields(run)} for run in runs],
            "scores": fits.judges.scores,
        }
        store.put(self.name, number, packed_state(state))


class NamedPlace(Place):
    """Keeps nothing, and has the name of a task: what fits share says who made it."""

    def __init__(self, name: str) -> None:
        self.name = name


class SharedPlace(Place):
    """Where fits of several tasks keep what they share, each thing whole: nothing of what is inside it.

    Its name is that of the task, wherever it is: what one task has made is told again, and drawn again, by it alone.
    """

    is_active = True

    def __init__(self, store: TaskStore, folder: str, name: str) -> None:
        self._store, self._folder, self.name = store, folder, name

    def inside(self, name: str, key: object = "") -> Place:
        """The place of a thing."""
        digest = sha256(text((name, key)).encode()).hexdigest()[:16]
        return _SharedThing(self._store, f"{self._folder}-{digest}", self.name)


class _SharedThing(SharedPlace):
    """One thing that is shared."""

    def inside(self, name: str, key: object = "") -> Place:
        """A place that keeps nothing."""
        return NamedPlace(self.name)

    def find(self) -> State | None:
        """What some task left here."""
        if not self._store.has(self._folder, 0):
            return None
        return unpacked_state(self._store.get(self._folder, 0), Run())

    def save_result(
        self, state: Callable[[], State], *, size: int | None = None, seconds: float = float("inf")
    ) -> None:
        """Leave it, if that is worth it."""
        if seconds >= WORTH:
            self._store.put(self._folder, 0, packed_state(state()))


@dataclass(frozen=True, slots=True)
class TaskedFits:
    """The fits of a sweep, whose runs are left in a store."""

    fits: Fits
    rows: Rows
    known: Known
    seeds: tuple[int, ...]
    store: TaskStore

    def run(self, run: Run) -> None:
        """Do all jobs that are not done."""
        if not (self.store.has(DATA, 0) or all(self.store.is_finished(_name(wave)) for wave in range(WAVES))):
            self.store.put(DATA, 0, packed_state({"X": self.rows.values}))
        for wave, jobs in enumerate(self._waves()):
            task = FitTask(_name(wave), self._alone(), self.known, jobs)
            with run.events.stage(task.name):
                run_tasks(task, len(jobs), self.store, run)
        for folder in (DATA, *self.store.names("shared-")):
            self.store.drop(folder)

    def runs(self) -> Iterator[FitRecord]:
        """The runs of the jobs that are done, in the order of a sweep in one process."""
        numbers = dict.fromkeys(range(WAVES), 0)
        for job in jobs_of(self.fits, self.rows.n_rows, self.seeds):
            number = numbers[job.wave]
            numbers[job.wave] += 1
            if not self.store.has(_name(job.wave), number):
                continue
            found: dict[str, Any] = unpacked_state(self.store.get(_name(job.wave), number), Run())
            for name, is_less in found["scores"].items():
                self.fits.judges.scores.setdefault(name, is_less)
            yield from (FitRecord(**each) for each in found["runs"])

    def _waves(self) -> list[tuple[Job, ...]]:
        jobs = jobs_of(self.fits, self.rows.n_rows, self.seeds)
        return [tuple(job for job in jobs if job.wave == wave) for wave in range(WAVES)]

    def _alone(self) -> Fits:
        """The same for a worker: each fit on one thread, heard by nobody."""
        settings = {"n_jobs": 1, "callback": None, "verbose": 0}
        estimator = type(self.fits.estimator)(**(self.fits.estimator.get_params(deep=False) | settings))
        return replace(self.fits, estimator=estimator, listeners=())


def _name(wave: int) -> str:
    return f"fits-{wave}"
