"""`sweep`: checks what it was given and goes through seeds and points."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import validation
from ..core.events import Events, Listener, LogLines
from ..core.messages import DATA
from ..core.places import Place
from ..core.rules import Either, Function, Instance, Nothing, Rule, Truth, Whole
from ..core.run import Run, Workers
from ..core.shared import Shared
from ..data.rows import Rows
from ..engine.places_to_work import is_using
from ..errors import InputError, LowdimWarning
from ..estimators.base import Estimator
from ..store.checkpoint import keeping
from ..store.identity import Identity
from ..store.task_checkpoint import task_store
from .as_tasks import TaskedFits, part_of, split_of
from .choose import choose_judges
from .fits import Fits
from .grid import Grid, Point, expand, repeats_graphs, widest
from .inputs import read_labels, read_truth, resolve_seeds
from .measures import Known, LabelError, Part
from .result import FitRecord, Sweep
from .split import Portion

RULES: Mapping[str, Rule] = {
    "checkpoint": Either(Instance(str, os.PathLike), Nothing()),
    "callback": Either(Function(), Nothing()),
    "verbose": Either(Truth(), Whole(0)),
}


def sweep(
    estimator: Estimator,
    grid: Grid,
    X: Any,
    y: Any = None,
    score: Any = "auto",
    *,
    truth: Any = None,
    test: Portion | None = None,
    out_of_sample: Portion | None = None,
    seeds: Any = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Listener | None = None,
    verbose: int = 0,
) -> Sweep:
    """Fit an estimator at every point of a grid of parameters and judge each fit.

    What the fits have in common is computed once: the neighbours at the largest ``n_neighbors`` of the grid, the
    weights on the landmarks and, where coordinates do not depend on their number, all values of ``n_components``.
    The scores are those of separate fits. A point that fails is a row that says why. Ctrl-C returns what is done so
    far, with a warning.

    Within `lowdim.using` the fits run as tasks on its workers, each on one thread, and the table is the same; see
    docs/scale.md.

    Parameters
    ----------
    estimator
        Any estimator of lowdim; it is not changed. Its ``n_jobs`` is that of the whole sweep.
    grid
        Values of each parameter by name, or a list of such mappings; all combinations of each are tried. Beside the
        parameters of the estimator: ``perplexity`` (of ``affinity=Entropic(perplexity)``), ``n_landmarks`` and
        ``n_landmark_neighbors`` (K_Z) of its landmark solver, and fields as ``solver__smooth`` or ``affinity__sigma``.
    X
        The data, in any form that the estimator takes.
    y
        Labels for ``score="labels"`` (classes), or for a function of your own.
    score
        ``"labels"``: 1-NN error in the embedding, of test rows and of rows out of sample. ``"truth"``: Procrustes error
        against ``truth``. ``"quality"``: how well neighbours are kept, see `lowdim.score`; or one of its figures by
        name, to decide by it. A function ``score(fitted, X, y)`` that returns a number or numbers by name, higher
        being better unless it is called an error, loss, stress or distance (`lowdim.selection.Score` says it
        otherwise). A list of these; the first figure of the first decides. ``"auto"`` goes by what is given.
    truth
        True coordinates, a row for each row of X.
    test
        Rows that are embedded with the others but whose labels are hidden: a share, a number, or indices. Default
        with labels: a fifth.
    out_of_sample
        Rows that are left out of the fit and go through ``transform``, in the same forms. Default with labels: a fifth.
    seeds
        Repetitions: a number (the estimator's ``random_state`` and the numbers after it), or a list of seeds. Each seed
        is that of the split and of the estimator.
    checkpoint
        Folder in which the sweep keeps the fits that are done, what they share, and how far the next one is: the same
        sweep goes on from there after it was killed. None: nothing is kept. See docs/checkpoints.md.
    callback
        Called with each event of the sweep and of its fits.
    verbose
        1 or True logs a line for each fit (logger "lowdim", else standard error), 2 progress and the time left too.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits")
    >>> found = lowdim.sweep(
    ...     lowdim.LaplacianEigenmaps(10), {"n_neighbors": [5, 10, 40]}, digits.data, digits.labels
    ... )
    >>> sorted(found.best)
    ['n_neighbors']
    """
    own = {"checkpoint": checkpoint, "callback": callback, "verbose": verbose}
    validation.check_parameters("sweep", own, RULES)
    if not isinstance(estimator, Estimator):
        raise InputError(
            f"estimator of sweep must be an estimator of lowdim, such as LaplacianEigenmaps(); got {estimator!r}."
        )
    if estimator.checkpoint is not None:
        raise InputError(
            f"checkpoint={estimator.checkpoint!r} of the estimator would be that of every fit. Give it to the sweep: "
            "sweep(..., checkpoint=...)."
        )
    points = expand(estimator, grid)
    judges = choose_judges(estimator, score, y, truth, test, out_of_sample)
    rows = validation.check_block(X, DATA)
    labels, codes = read_labels(
        y, rows.n_rows, classes=any(isinstance(measure, LabelError) for measure in judges.measures)
    )
    known = Known(labels, codes, read_truth(truth, rows.n_rows))
    repetitions = resolve_seeds(seeds, estimator.random_state)
    listeners: list[Listener] = [LogLines(verbose)] if verbose else []
    listeners += [] if callback is None else [callback]
    fits = Fits(estimator, points, judges, () if callback is None else (callback,))
    events = Events(*listeners)

    def identity() -> Identity:
        """What decides the result."""
        others = {
            "grid": [point.named for point in points],
            "score": score,
            "test": test,
            "out_of_sample": out_of_sample,
            "seeds": repetitions,
        }
        data = {"X": rows.values, "y": None if y is None else np.asarray(y), "truth": known.truth}
        return Identity(
            f"sweep of {type(estimator).__name__}", estimator.get_params(deep=False) | others, data
        )

    if is_using():
        with task_store(checkpoint, identity, events) as store:
            return _run_tasks(TaskedFits(fits, rows, known, repetitions, store), events)
    with keeping(checkpoint, identity, events) as place:
        return _run(fits, rows, known, repetitions, events, place)


def _run_tasks(tasked: TaskedFits, events: Events) -> Sweep:
    """The same as tasks on the workers of `lowdim.using`."""
    began, fits, choice = time.perf_counter(), tasked.fits, tasked.fits.judges.choice
    total, complete = len(fits.points) * len(tasked.seeds), True
    with events.stage("sweep"):
        if choice is not None:
            events.chosen(choice.what, choice.choice, choice.why)
        try:
            tasked.run(Run(events, Workers(fits.estimator.n_jobs)))
        except KeyboardInterrupt:
            complete = False
        runs = list(tasked.runs())
        if not complete and not runs:
            raise KeyboardInterrupt
        _tell(fits.points, runs, total, events)
    return _swept(fits, tasked.rows, tasked.seeds, runs, time.perf_counter() - began, complete)


def _run(fits: Fits, rows: Rows, known: Known, seeds: tuple[int, ...], events: Events, place: Place) -> Sweep:
    """Every point with every seed, until all are done or the user stops it."""
    began = time.perf_counter()
    runs: list[FitRecord] = []
    points, choice = fits.points, fits.judges.choice
    total, complete = len(points) * len(seeds), True
    with events.stage("sweep"):
        if choice is not None:
            events.chosen(choice.what, choice.choice, choice.why)
        try:
            for part, shared in _parts(fits, rows, known, seeds, place):
                for run in fits.runs(part, shared, events, place):
                    runs.append(run)
                    left = (time.perf_counter() - began) / len(runs) * (total - len(runs))
                    message = f"{len(runs)} of {total}, about {left:.0f} s left"
                    events.emit("progress", message, done=len(runs), total=total, seconds_left=left)
        except KeyboardInterrupt:
            place.mark_unfinished()
            if not runs:
                raise
            complete = False
        _tell(points, runs, total, events)
    return _swept(fits, rows, seeds, runs, time.perf_counter() - began, complete)


def _swept(
    fits: Fits, rows: Rows, seeds: tuple[int, ...], runs: list[FitRecord], seconds: float, complete: bool
) -> Sweep:
    points, choice = fits.points, fits.judges.choice
    return Sweep(
        estimator=fits.estimator,
        shape=rows.shape,
        parameters=tuple(dict.fromkeys(name for point in points for name in point.named)),
        scores=fits.judges.scores,
        points=tuple(point.named for point in points),
        seeds=seeds,
        runs=tuple(runs),
        choices=() if choice is None else (choice,),
        seconds=seconds,
        complete=complete,
    )


def _parts(
    fits: Fits, rows: Rows, known: Known, seeds: tuple[int, ...], place: Place
) -> Iterator[tuple[Part, Shared]]:
    """The data of each repetition; those with the same rows share what was computed for them."""
    last: Part | None = None
    shared = Shared()
    for seed in seeds:
        split = split_of(fits, rows.n_rows, seed)
        if last is None or not split.same_data(last.split):
            shared = Shared(
                widest(fits.estimator, fits.points, split.fitted.size),
                place=place.inside("shared", seed),
                is_repeated=repeats_graphs(fits.points),
            )
            last = part_of(fits, rows, known, split, seed)
        last = replace(last, split=split, seed=seed)
        yield last, shared


def _tell(points: tuple[Point, ...], runs: list[FitRecord], total: int, events: Events) -> None:
    """One warning for what the table lacks."""
    if len(runs) < total:
        events.warned(
            f"The sweep was interrupted after {len(runs)} of {total} fits; the result holds these.",
            LowdimWarning,
        )
    if bad := [run for run in runs if run.status != "ok"]:
        where = f"{points[bad[0].point]}, seed {bad[0].seed}"
        events.warned(
            f"{len(bad)} of {len(runs)} fits of the sweep failed; the column 'status' says why. The first ({where}): "
            f"{bad[0].status}",
            LowdimWarning,
        )
