"""The live explorer from slider to pixels: the program in a process of its own, the page in headless Chromium."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .data import mnist
from .harness import table

TITLE = "The live explorer, 70,000 digits x 50, software drawing, from slider to pixels"
SLIDES: dict[str, list[tuple[str, list[Any]]]] = {
    "laplacian-eigenmaps": [
        ("n_neighbors", [8, 10, 12, 14, 16, 18, 20, 9]),
        ("bandwidth", [1.0, 0.9, 0.8, 0.7, 1.2, 1.4, 1.6, 1.1]),
        ("n_landmarks", [500, 700, 900, 1100, 1300, 1500, 600, 1000]),
    ],
    "tsne": [
        ("lam", [0.8, 0.6, 0.4, 0.3, 0.5, 0.7, 0.9, 0.2]),
        ("perplexity", [10, 15, 20, 25, 30, 12, 18, 8]),
    ],
    "umap": [("min_dist", [0.2, 0.3, 0.4, 0.5, 0.05, 0.15, 0.25, 0.35])],
}
"""Values that a control is set to; bandwidths in units of the middle of their slider."""
WISHES = {
    "n_neighbors": 0.7,
    "bandwidth": 0.7,
    "n_landmarks": 0.7,
    "lam": 0.15,
    "perplexity": 0.6,
    "min_dist": 0.3,
}
"""Seconds that the median is to be below."""
PATIENCE = 300.0
# Every picture that the page draws, with the moment after its pixels were handed on.
WATCH = """(() => {
  const page = document.getElementById("explorer").explorer;
  window.drawn = [];
  const note = ({ generation, iteration }) => window.drawn.push([performance.now(), generation, iteration]);
  page.root.addEventListener("lx-drawn", ({ detail }) => requestAnimationFrame(() => setTimeout(() => note(detail))));
})()"""


class Live:
    """The program and the page."""

    def __init__(self, data: Path, method: str, *, beside: bool = False) -> None:
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plotting"))
        from browser import Browser

        self.began = time.perf_counter()
        words = [sys.executable, "-m", "lowdim", "explore", str(data), "-m", method, "--no-open"]
        self.program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.folder = tempfile.TemporaryDirectory()
        self.browser = Browser(Path(self.folder.name))
        self.browser.size(1400, 900)
        assert self.program.stdout is not None
        address = self.program.stdout.readline().strip()
        self.started = time.perf_counter() - self.began
        self.opened = time.perf_counter()
        self.browser.go(address)
        self.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        self.browser.run(WATCH)
        self.busy = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if beside else None

    def close(self) -> None:
        """End all that was started."""
        if self.busy is not None:
            self.busy.kill()
            self.busy.wait()
        self.browser.close()
        self.program.terminate()
        self.program.wait()
        self.folder.cleanup()

    def until(self, code: str) -> float:
        """Seconds until an expression holds; it is asked often."""
        began = time.perf_counter()
        while not self.browser.run(code):
            if time.perf_counter() - began > PATIENCE:
                raise TimeoutError(code)
            time.sleep(0.02)
        return time.perf_counter() - began

    def change(self, name: str, value: Any, *, motion: bool) -> float:
        """Seconds from the change of a control to the first picture of it, or to the first that has moved."""
        moved = " && iteration > 0" if motion else ""
        milliseconds: float = self.browser.run(
            f"""(async () => {{
              const page = document.getElementById("explorer").explorer;
              const began = performance.now(), before = page.generation;
              page.controls.change({name!r}, {json.dumps(value)});
              const found = () => window.drawn.find(([, generation, iteration]) => generation > before{moved});
              while (!found() && performance.now() - began < 60_000) await new Promise((done) => setTimeout(done, 5));
              return (found()?.[0] ?? Infinity) - began;
            }})()"""
        )
        if not milliseconds:
            raise TimeoutError(f"{name} = {value} gives no picture")
        return milliseconds / 1000

    def middle(self, name: str) -> float:
        """The value in the middle of a logarithmic slider."""
        made = f"document.getElementById('explorer').explorer.controls.made.get({name!r}).control"
        return float(self.browser.run(f"Math.sqrt({made}.low * {made}.high)"))

    def rest(self) -> None:
        """Wait until the picture is judged."""
        self.until(
            "(() => { const page = document.getElementById('explorer').explorer; const last ="
            " [...page.strip.cards.values()].at(-1); return last && last.state.recall !== null"
            " && page.$('stage').textContent === '' })()"
        )

    def rate(self, seconds: float) -> float:
        """Pictures a second."""
        before = self.browser.run("window.drawn.length")
        time.sleep(seconds)
        return float((self.browser.run("window.drawn.length") - before) / seconds)

    def memory(self) -> float:
        """Gigabytes that the program holds at most."""
        text = Path(f"/proc/{self.program.pid}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) / 1e6

    def heap(self) -> float:
        """Megabytes of the page's heap, after what is garbage was collected."""
        self.browser.call("HeapProfiler.collectGarbage")
        return float(self.browser.call("Runtime.getHeapUsage")["usedSize"]) / 1e6


def report(quick: bool) -> str:
    """A row for each thing measured: median and 95th percentile, and what was wished for."""
    size = 3_000 if quick else 70_000
    rows: list[list[str]] = []

    def note(what: str, seconds: list[float], wish: str = "") -> None:
        rows.append([what, f"{np.median(seconds):.2f}", f"{np.quantile(seconds, 0.95):.2f}", wish, _load()])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "X.npy"
        np.save(data, mnist(size).X.astype(np.float32))
        _guarded(lambda: _spectral(data, note, beside=False), rows)
        _guarded(lambda: _slides(data, "umap", note), rows)
        _guarded(lambda: _motion(data, note), rows)
        _guarded(lambda: _spectral(data, note, beside=True), rows)
    return table(["", "median", "95th percentile", "wished for", "load"], rows)


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _guarded(work: Callable[[], None], rows: list[list[str]]) -> None:
    """What fails is a row of the table, and the others are measured."""
    try:
        work()
    except (TimeoutError, RuntimeError, OSError) as error:
        rows.append([f"failed: {str(error)[:80]}", "", "", "", _load()])
        print(rows[-1], file=sys.stderr, flush=True)


def _motion(data: Path, note: Any) -> None:
    """t-SNE from the start of the program on."""
    live = Live(data, "tsne")
    try:
        note("program started: its address, s", [live.started])
        live.until("new Set(document.getElementById('explorer').explorer.map.points.slice(0, 40)).size > 4")
        note("first picture after the page is opened, s", [time.perf_counter() - live.opened], "3")
        live.until("window.drawn.some(([, , iteration]) => iteration > 0)")
        note("t-SNE moves after the page is opened, s", [time.perf_counter() - live.opened], "8")
        note("pictures a second of the fit", [live.rate(5.0)], "15 or more")
        live.rest()
        _slide(live, "tsne", note)
        before = live.heap()
        drawn = live.browser.run("window.drawn.length")
        values = np.random.default_rng(0)
        while live.browser.run("window.drawn.length") - drawn < 500:
            live.change("lam", float(values.uniform(0.2, 0.9)), motion=True)
            live.rate(3.0)
        live.rest()
        note("browser heap after 500 pictures less that before, MB", [live.heap() - before], "flat")
        note("browser heap, MB", [live.heap()])
        note("the program's memory at its peak, GB", [live.memory()], "1.5")
    finally:
        live.close()


def _slide(live: Live, method: str, note: Any, words: str = "") -> None:
    is_moving = method != "laplacian-eigenmaps"
    for name, values in SLIDES[method]:
        found = []
        unit = live.middle(name) if name == "bandwidth" else 1
        for value in values:
            found.append(live.change(name, value * unit, motion=is_moving))
            if is_moving:
                live.rate(1.0)
        note(f"{method}, {name}{words}, s", found, str(WISHES[name] if not words else 2))
        if is_moving:
            note(f"pictures a second of a preview by {name}", [live.rate(3.0)], "15 or more")
        live.rest()


def _slides(data: Path, method: str, note: Any) -> None:
    live = Live(data, method)
    try:
        live.rest()
        _slide(live, method, note)
    finally:
        live.close()


def _spectral(data: Path, note: Any, *, beside: bool) -> None:
    """Laplacian eigenmaps by landmarks, and ten changes within a second."""
    live = Live(data, "laplacian-eigenmaps", beside=beside)
    try:
        live.rest()
        _slide(live, "laplacian-eigenmaps", note, ", one core taken" if beside else "")
        if beside:
            return
        found = []
        for repetition in range(4):
            for value in range(9):
                live.browser.run(
                    "document.getElementById('explorer').explorer.controls.change('n_neighbors',"
                    f" {8 + value + repetition})"
                )
                time.sleep(0.1)
            found.append(live.change("n_neighbors", 20 + repetition, motion=False))
            live.rest()
        note("ten changes in a second: the last is shown after, s", found, "1.5")
    finally:
        live.close()
