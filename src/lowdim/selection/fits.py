"""The fits of one repetition: what they can share is shared, and a failure becomes a run that says why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from ..core.blas_threads import ONE_BLAS_THREAD
from ..core.events import Event, Events, Listener
from ..core.parallel import count_workers, map_blocks
from ..core.places import Place
from ..core.rules import Whole
from ..core.run import Store
from ..core.shared import Shared
from ..errors import CheckpointWarning, ConvergenceWarning, InterruptedWarning, LowdimError, LowdimWarning
from ..estimators.base import Estimator
from .choose import Judges
from .fewer_components import is_sharp, may_nest
from .grid import Point, configure
from .measures import Fit, Part
from .out_of_sample import place_outside
from .result import FitRecord

QUICK = 5.0
"""Seconds up to which fits are made side by side: an interrupt waits for those that have begun."""
TURNS = 2
"""Fits of each thread that are made before any is judged: the threads wait for the last of them, and all are held."""
FAILURES = (LowdimError, LowdimWarning, ValueError, ArithmeticError, MemoryError)


@dataclass(slots=True)
class Watch:
    """Listener of one fit: seconds of its outermost stages and its warnings; hands every event on."""

    others: tuple[Listener, ...]
    stages: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    converged: bool = True
    interrupted: bool = False
    depth: int = 0

    def __call__(self, event: Event) -> None:
        """Note what belongs in the table."""
        if event.kind == "started":
            self.depth += 1
        elif event.kind in ("finished", "failed"):
            self.depth -= 1
            if self.depth == 0:
                self.stages[event.stage] = self.stages.get(event.stage, 0.0) + event.data["took"]
        elif event.kind == "warned":
            self.warnings.append(event.message)
            self.converged &= event.data["category"] != ConvergenceWarning.__name__
            self.interrupted |= event.data["category"] == InterruptedWarning.__name__
        for listener in self.others:
            listener(event)


@dataclass(frozen=True, slots=True)
class Fits:
    """An estimator, the points to fit it at, and what judges the fits."""

    estimator: Estimator
    points: tuple[Point, ...]
    judges: Judges
    listeners: tuple[Listener, ...]

    def runs(self, part: Part, shared: Shared, events: Events, top: Place) -> Iterator[FitRecord]:
        """A run for each point on one part of the data.

        The first fit makes what all share, on all threads. Quick ones by landmarks after it are made side by side, each
        on a thread of its own, where nobody listens to them and nothing is kept: most of such a fit are steps that gain
        little from threads. They are judged one after the other, in the order of the points and in the calling thread.
        """
        families, width = self.families(), self._at_once(events, top)
        begun = 0
        while begun < len(families):
            some = [family[0] for family in families[begun : begun + width]]
            if (
                begun == 0
                or len(some) == 1
                or any(len(family) > 1 for family in families[begun : begun + width])
            ):
                for run in self.family_runs(families[begun], part, shared, events, top):
                    width = width if run.seconds <= QUICK else 1
                    yield run
                begun += 1
            else:
                yield from self._together(some, part, shared, top)
                begun += len(some)

    def _at_once(self, events: Events, top: Place) -> int:
        """Fits that may be made before they are judged, on as many threads as there are.

        By landmarks only: the dense problems of an exact fit may end in other last digits with one thread of BLAS.
        """
        is_by_landmarks = hasattr(getattr(self.estimator, "solver", None), "n_landmarks")
        if not is_by_landmarks or any("solver" in point.named for point in self.points):
            return 1
        is_heard = events.listeners or self.listeners or self.estimator.verbose
        if is_heard or self.estimator.callback is not None or top.is_active:
            return 1
        workers = count_workers(self.estimator.n_jobs)
        return TURNS * workers if workers > 1 else 1

    def _together(self, places: list[int], part: Part, shared: Shared, top: Place) -> Iterator[FitRecord]:
        """Fits of some points, each on one thread; then their runs."""

        def fit(which: slice) -> tuple[Fit | None, Watch, str, float]:
            watch, began = Watch(()), time.perf_counter()
            try:
                found = self._fit(self.points[places[which.start]], part, shared, watch, top)
            except FAILURES as error:
                return None, watch, str(error) or type(error).__name__, time.perf_counter() - began
            return found, watch, "ok", time.perf_counter() - began

        # The threads of BLAS wait for each other in a spin: with two in each of two fits most of their time goes there.
        with ONE_BLAS_THREAD:
            fits = map_blocks(fit, len(places), n_jobs=self.estimator.n_jobs, block_rows=1)
        for place, (found, watch, failure, took) in zip(places, fits, strict=True):
            figures: dict[str, float] = {}
            status, began = failure, time.perf_counter()
            if found is not None:
                try:
                    figures = self.judges.figures(found, part)
                    watch.stages["score"] = time.perf_counter() - began
                except FAILURES as error:
                    status = str(error) or type(error).__name__
            seconds = took + time.perf_counter() - began
            yield FitRecord(place, part.seed, figures, seconds, watch.stages, tuple(watch.warnings), status)

    def families(self) -> list[list[int]]:
        """Places of the points that differ in ``n_components`` alone."""
        families: dict[tuple[int, ...], list[int]] = {}
        for place, point in enumerate(self.points):
            families.setdefault(point.family, []).append(place)
        return list(families.values())

    def family_runs(
        self, family: list[int], part: Part, shared: Shared, events: Events, top: Place
    ) -> Iterator[FitRecord]:
        """Runs of points that differ in ``n_components`` alone; what a sweep before this one did is taken over."""
        wide: Fit | None = None
        known: int | None = None
        for place in self._widest_first(family):
            kept_at = top.inside("fit", (part.seed, place))
            if (found := kept_at.find()) is not None:
                wide, known = (None, place) if found["is_wide"] else (wide, known)
                self.judges.scores |= found["scores"]
                yield FitRecord(**found["run"])
                continue
            if wide is None and known is not None:
                # Narrower ones were to be cut from a fit that is known by its run alone: it is fitted again.
                wide = self._run(known, None, part, shared, Events(), kept_at.inside("wide"))[1]
            run, fit = self._run(place, wide, part, shared, events, kept_at)
            state = {
                "run": {part_of.name: getattr(run, part_of.name) for part_of in fields(run)},
                "is_wide": fit is not None,
                "scores": dict(self.judges.scores),
            }
            kept_at.save_result(lambda state=state: state)  # type: ignore[misc]
            wide = fit or wide
            yield run

    def _widest_first(self, family: list[int]) -> list[int]:
        """Points that differ in ``n_components`` alone, the largest first where one fit may serve all."""
        values = [self.points[place].named.get("n_components") for place in family]
        if len(family) == 1 or self.judges.need_estimator or not all(map(Whole(1).allows, values)):
            return family
        return sorted(family, key=lambda place: -self.points[place].named["n_components"])

    def _run(
        self, place: int, wide: Fit | None, part: Part, shared: Shared, events: Events, kept_at: Place
    ) -> tuple[FitRecord, Fit | None]:
        """One point: its run, and its fit where narrower ones can be cut from it."""
        point, began = self.points[place], time.perf_counter()
        own = self.estimator.callback
        watch = Watch((*self.listeners, *([] if own is None else [own])))
        figures: dict[str, float] = {}
        status, kept = "ok", None
        try:
            with events.stage(f"{point}, seed {part.seed}"):
                fit = self._cut(wide, point, part) or self._fit(point, part, shared, watch, kept_at)
                judged = time.perf_counter()
                figures = self.judges.figures(fit, part)
                watch.stages["score"] = time.perf_counter() - judged
            if fit.estimator is not None and watch.converged and not self.judges.need_estimator:
                kept = fit if may_nest(fit.estimator, part.rows) else None
        except CheckpointWarning:  # made an error by the user: it is the sweep's, whichever fit it came in
            raise
        except FAILURES as error:
            status = str(error) or type(error).__name__
        seconds = time.perf_counter() - began
        run = FitRecord(place, part.seed, figures, seconds, watch.stages, tuple(watch.warnings), status)
        return run, kept

    def _cut(self, wide: Fit | None, point: Point, part: Part) -> Fit | None:
        """The fit with fewer coordinates out of a wider one, where that is as good as a fit of its own."""
        if (
            wide is None
            or wide.estimator is None
            or not may_nest(configure(self.estimator, point.named), part.rows)
        ):
            return None
        n_components = point.named["n_components"]
        return wide.first(n_components) if is_sharp(wide.estimator, n_components) else None

    def _fit(self, point: Point, part: Part, shared: Shared, watch: Watch, kept_at: Place) -> Fit:
        fitted = configure(self.estimator, point.named, random_state=part.seed, callback=watch)
        fitted._fit(part.rows.values, Store(kept_at, shared))
        if watch.interrupted:
            raise KeyboardInterrupt
        fitted.callback = self.estimator.callback
        outside = None
        if part.outside is not None:
            began = time.perf_counter()
            outside = place_outside(fitted, part.outside, shared)
            watch.stages["transform"] = time.perf_counter() - began
        return Fit(fitted.embedding_, outside, fitted)
