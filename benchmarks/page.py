"""The saved page of very many points in headless Chromium that draws in software: how soon it opens and answers."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import lowdim

from .harness import table

TITLE = "The saved page, software drawing"
MAP = "document.querySelector('.ld').map"
DEEDS = {
    "zoom": f"{MAP}.zoom(1.3), 1",
    "move": f"{MAP}.pan(20, 20), 1",
    "point under the pointer": f"{MAP}.hover({MAP}.under(400 + 20 * Math.random(), 400)), 1",
    "colour by a quantity": f"{MAP}.colourBy('quantity'), 1",
    "colour by classes": f"{MAP}.colourBy('label'), 1",
    "select by a box, and clear": f"{MAP}.selection.within([[300, 200], [600, 200], [600, 500], [300, 500]], ''), "
    f"{MAP}.unselect(), 1",
    "new positions": f"{MAP}.setPositions({MAP}.points.slice().reverse(), {{ milliseconds: 0 }}), 1",
}
REPEATS = 5


def report(quick: bool) -> str:
    """Seconds by the clock, which a shared machine makes longer, and of all the browser's processes."""
    return "\n\n".join(_one(count) for count in ([20_000] if quick else [70_000, 1_000_000]))


def _one(count: int) -> str:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plotting"))
    from browser import Browser

    with tempfile.TemporaryDirectory() as folder:
        path = _page(Path(folder), count)
        browser = Browser(Path(folder) / "browser")
        try:
            rows = [_timed(browser, "open", lambda: browser.open(path))]
            rows += [
                _timed(browser, name, lambda code=code: _do(browser, code)) for name, code in DEEDS.items()
            ]
            heap = browser.run("performance.memory.usedJSHeapSize")
        finally:
            browser.close()
        size = path.stat().st_size
    head = ["", "median s", "most s", "processor s"]
    about = f"{count:,} points: {size / 1e6:.1f} MB, heap {heap / 1e6:.0f} MB, load {os.getloadavg()[0]:.1f}"
    return f"{about}\n\n{table(head, rows)}"


def _page(folder: Path, count: int) -> Path:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, count)
    middles = 6.0 * rng.standard_normal((20, 2))
    points = middles[codes] + rng.standard_normal((count, 2))
    columns = {"quantity": np.exp(rng.standard_normal(count)).astype(np.float32)}
    lowdim.plot(points, codes, path=folder / "page.html", columns=columns)
    return folder / "page.html"


def _do(browser: Any, code: str) -> None:
    browser.run(code)
    browser.settle()


def _timed(browser: Any, name: str, work: Any) -> list[str]:
    clock, spent = [], []
    for _ in range(REPEATS):
        began, used = time.perf_counter(), _processor_seconds(browser.process.pid)
        work()
        clock.append(time.perf_counter() - began)
        spent.append(_processor_seconds(browser.process.pid) - used)
    return [name, f"{median(clock):.2f}", f"{max(clock):.2f}", f"{median(spent):.2f}"]


def _processor_seconds(top: int) -> float:
    """Seconds of a process and of all that came of it (Linux)."""
    parents, seconds = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(entry.parent.name)
        parents[process] = int(fields[1])
        seconds[process] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_below(process: int) -> bool:
        while process not in (top, 0, 1):
            process = parents.get(process, 0)
        return process == top

    return sum(value for process, value in seconds.items() if is_below(process))
