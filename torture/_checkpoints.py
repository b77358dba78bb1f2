"""Runs that keep a checkpoint on a disk that fails: a folder of many files in the place of a job's one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.core import run as running
from lowdim.core.events import Event, Listener
from lowdim.errors import CheckpointWarning, FileError
from lowdim.store import budget, checkpoint

from . import _runs
from ._injection import Injector
from .faults import Fault, Trial

EAGER = budget.Pace(share=float("inf"), interval=0.0, worth=0.0)
"""All that can be kept is."""
PIECE_BYTES = 1 << 13
"""Bytes of a piece of rows, so that there are two of some."""
Work = Callable[[Path | None, Listener], Any]
"""From a folder, or none, and a listener to the values of the result."""


@dataclass(frozen=True)
class Run:
    """A run that keeps a checkpoint."""

    name: str
    work: Work

    def trial(self, injector: Injector, folder: Path) -> Trial:
        """The run with its checkpoint in a folder."""
        return _RunTrial(self, injector, folder)


def runs() -> dict[str, Callable[[], Run]]:
    """The runs by name."""
    works: dict[str, Work] = {
        "t-SNE": partial(_fit, partial(lowdim.TSNE, max_iter=2, perplexity=5)),
        "landmark Isomap": partial(_fit, partial(lowdim.Isomap, n_neighbors=6, landmarks=12)),
        "sweep": _sweep,
    }
    return {f"checkpoint of {name}": partial(Run, name, work) for name, work in works.items()}


def _points() -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(0).normal(size=(40, 3)).round(2)


def _fit(make: Callable[..., Any], folder: Path | None, listener: Listener) -> Any:
    return _runs.fitted_values(
        make(n_jobs=1, checkpoint=folder, callback=listener).fit(_points()), _points()[:5]
    )


def _sweep(folder: Path | None, listener: Listener) -> Any:
    return _runs.sweep_values(
        lowdim.sweep(
            lowdim.LaplacianEigenmaps(n_jobs=1),
            {"n_neighbors": [5, 9]},
            _points(),
            np.arange(40) < 20,
            seeds=1,
            checkpoint=folder,
            callback=listener,
        )
    )


class Cut(BaseException):
    """Stands for the end of the process."""


class _RunTrial(Trial):
    """One run: what it comes to, and the folders that it and another one leave."""

    befores = ("an unfinished run", "nothing", "another run")

    def __init__(self, run: Run, injector: Injector, folder: Path) -> None:
        super().__init__(f"checkpoint of {run.name}", injector, folder)
        self.run = run
        self.target = folder / "kept"
        self.found: Any = None
        self.has_begun = False
        self.said: list[str] = []
        self.wanted = self._undisturbed(None)
        self.files = {"nothing": {}, "an unfinished run": self._cut(), "another run": self._other()}

    def set(self, before: str) -> None:
        """The folder with these files; none at all where there are to be none."""
        self._remove()
        if self.files[before]:
            self.target.mkdir()
        for name, content in self.files[before].items():
            (self.target / name).write_bytes(content)

    def work(self) -> None:
        """The run, and what it says of its checkpoint."""
        self.found, self.said, self.has_begun = None, [], False
        with warnings.catch_warnings(record=True) as heard, _eager():
            warnings.simplefilter("always")
            try:
                self.found = self.run.work(self.target, self._listen)
            finally:
                self.said = [
                    str(warning.message) for warning in heard if warning.category is CheckpointWarning
                ]

    def judged(self, fault: Fault, before: str, error: BaseException | None, *, is_last: bool) -> str:
        """What is wrong with the result, with the folder, and with a next run over it."""
        is_killed = fault.mode == "kill"
        # A folder that is there need not be made; nothing hangs on the end of a mapping, nor on the lock's at the last.
        is_harmless = (fault.kind == "mkdir" and before != "nothing") or (
            fault.kind == "close" and (fault.mode == "once" or is_last)
        )
        problem = "" if is_killed else self._of_result(error, must_say=not (fault.is_passing or is_harmless))
        problem = problem or self._of_folder(before, error)
        left = self._left_over()
        if not problem and left and not is_killed and fault.kind != "unlink":
            problem = f"left {left}"
        if not problem and fault.is_passing and (error or self.said):
            problem = f"what should only be tried again failed: {error or self.said}"
        return problem or self._of_next_run()

    def _of_result(self, error: BaseException | None, *, must_say: bool) -> str:
        if error is not None and not isinstance(error, FileError):
            return f"{type(error).__name__} in the place of a FileError: {error}"
        if error is not None and self.has_begun:
            return f"the work was lost: {error}"
        if error is not None:
            return "" if str(self.target) in str(error) else f"the message does not name the folder: {error}"
        if sum("without keeping" in text for text in self.said) > 1:
            return f"said more than once: {self.said}"
        if must_say and not self.said:
            return "nothing was said"
        return self._difference(self.found)

    def _of_folder(self, before: str, error: BaseException | None) -> str:
        """Whether every file reads back, and what was kept before is still there or no longer needed."""
        if not self.target.exists():
            return ""
        there = {path.name for path in self.target.glob("[!.]*" + checkpoint.SUFFIX)}
        for name in there:
            try:
                checkpoint._read(self.target / name)
            except FileError as damage:
                return f"a partial file is in its place: {damage}"
        if before == "an unfinished run":
            return self._of_states_before(there, untouched=error is not None)
        return ""

    def _of_states_before(self, there: set[str], *, untouched: bool) -> str:
        stems = tuple(name.removesuffix("state") for name in there)
        for name, content in self.files["an unfinished run"].items():
            if name not in there and not name.startswith(stems) and name != "lock":
                return f"{name} is lost"
            if untouched and name in there and (self.target / name).read_bytes() != content:
                return f"{name} is not as it was"
        return ""

    def _of_next_run(self) -> str:
        """Whether a run that nothing disturbs comes to the same, and leaves the folder clean and finished."""
        try:
            self.work()
        except Exception as error:  # noqa: BLE001 - whatever it is, there should be none
            return f"the next run fails: {type(error).__name__}: {error}"
        if self.said:
            return f"the next run says {self.said}"
        if left := self._left_over():
            return f"the next run leaves {left}"
        if not checkpoint._read(self.target / "manifest.state")["finished"]:
            return "the next run is not finished"
        different = self._difference(self.found)
        return different and f"the next run: {different}"

    def _difference(self, found: Any) -> str:
        """Where a result is another one; what it says of its checkpoint is no part of it."""
        if "warnings" in found:
            found = found | {"warnings": tuple(text for text in found["warnings"] if text not in self.said)}
        different = _runs.difference(self.wanted, found)
        return different and f"another result: {different}"

    def _left_over(self) -> list[str]:
        return [path.name for path in self.target.glob(checkpoint.LEFT_OVER)]

    def _listen(self, event: Event) -> None:
        self.has_begun = self.has_begun or (event.kind == "started" and event.stage != "check")

    def _remove(self) -> None:
        if self.target.exists():
            for entry in self.target.iterdir():
                entry.unlink()
            self.target.rmdir()

    def _undisturbed(self, folder: Path | None) -> Any:
        with _eager():
            return self.run.work(folder, self._listen)

    def _cut(self) -> dict[str, bytes]:
        """The files of a run that ended in the midst of its writes."""
        write, written = checkpoint._Packed.write, [0]
        most: float = float("inf")

        def counted(packed: Any, path: Path) -> None:
            written[0] += 1
            if written[0] > most:
                raise Cut
            write(packed, path)

        checkpoint._Packed.write = counted  # type: ignore[method-assign]
        try:
            self._undisturbed(self.target)
            self._remove()
            most, written[0] = written[0] // 2, 0
            self._undisturbed(self.target)
        except Cut:
            return self._files()
        finally:
            checkpoint._Packed.write = write  # type: ignore[method-assign]
        raise AssertionError("a run that was to be cut was not")

    def _other(self) -> dict[str, bytes]:
        """The files of a run with other data, which is finished."""
        self._remove()
        with _eager():
            lowdim.PCA(checkpoint=self.target).fit(_points())
        return self._files()

    def _files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.target.iterdir()}


@contextmanager
def _eager() -> Iterator[None]:
    """All that can be kept is, in small pieces."""
    before = budget.PACE, running.PIECE_BYTES
    budget.PACE, running.PIECE_BYTES = EAGER, PIECE_BYTES
    try:
        yield
    finally:
        budget.PACE, running.PIECE_BYTES = before
