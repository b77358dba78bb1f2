"""Progress in a notebook: a box under the cell that follows the stages of a fit."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

from .events import Event, Listener, LogLines
from .markup import Markup, bar, box, plain_table, tag

_LEAST_SECONDS = 0.2


def is_notebook() -> bool:
    """Whether this runs in a notebook's kernel; IPython is not imported to find out."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(running, "kernel", None) is not None


def listener_for(verbose: int) -> Listener:
    """What ``verbose`` shows: a box in a notebook, lines of the log elsewhere."""
    return NotebookProgress() if is_notebook() else LogLines(verbose)


class NotebookProgress:
    """Listener that shows stages, a bar with the time left, choices and warnings, and renews itself in place.

    Parameters
    ----------
    show
        Called with HTML, the first time and whenever it changes; None: IPython's display.
    every
        Seconds between two pictures at least; the end of a stage is always shown.
    """

    def __init__(self, show: Callable[[str], object] | None = None, every: float = _LEAST_SECONDS) -> None:
        self._show = show or _display()
        self._every = every
        self._stages: list[list[Any]] = []
        self._open: list[int] = []
        self._notes: list[str] = []
        self._bar: tuple[int, int, float] | None = None
        self._shown = -math.inf  # a clock may begin with the machine: nothing was ever shown at 0 of it

    def __call__(self, event: Event) -> None:
        """Note an event and show it, unless something was shown just now."""
        if event.kind == "started":
            self._open.append(len(self._stages))
            self._stages.append([event.stage, None, len(self._open) - 1, event.seconds])
            self._bar = None
        elif event.kind in ("finished", "failed") and self._open:
            self._stages[self._open.pop()][1] = event.data["took"]
            self._bar = None
        elif event.kind == "progress":
            self._bar = (event.data["done"], event.data["total"], event.seconds)
        elif event.kind == "iteration":
            return
        if event.kind in ("chosen", "warned", "failed"):
            self._notes.append(f"{event.kind}: {event.message}")
        now = time.monotonic()
        if event.kind in ("progress", "started") and now - self._shown < self._every:
            return
        self._shown = now
        self._show(self.html(event.seconds))

    def html(self, seconds: float) -> str:
        """The box as it stands."""
        rows = []
        for place, (name, took, depth, since) in enumerate(self._stages):
            spent = f"{seconds - since if took is None else took:.2f} s"
            running = took is None and self._open[-1:] == [place]
            rows.append([" " * (4 * depth) + name, spent, self._left() if running else ""])
        title = "lowdim" if self._open or not self._stages else f"lowdim: done in {seconds:.2f} s"
        notes = [tag("div", note, style="opacity:0.75") for note in self._notes]
        return box(title, plain_table(["", "", ""], rows), *notes)

    def _left(self) -> Markup:
        """A bar and the time left of the stage that runs, where its progress is known."""
        if self._bar is None or not self._bar[1]:
            return tag("span", "…")
        done, total, at = self._bar
        spent = at - self._stages[self._open[-1]][3]
        left = f" {spent * (total - done) / done:.0f} s left" if done else ""
        return tag("div", bar(done / total), tag("span", f"{done:,} of {total:,}{left}"))


def _display() -> Callable[[str], object]:
    """A function that shows HTML and afterwards renews it in place."""
    from IPython.display import HTML, display

    handles: list[Any] = []

    def show(html: str) -> None:
        if handles:
            handles[0].update(HTML(html))
        else:
            handles.append(display(HTML(html), display_id=True))

    return show
