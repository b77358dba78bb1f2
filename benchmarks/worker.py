"""One contestant in this process: loads the data, fits it some times, writes what it saw."""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from importlib import import_module
from pathlib import Path


def resident() -> int:
    """Bytes of this process that are in memory now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Peak:
    """Highest resident memory while it is open, above what was there when it opened."""

    def __enter__(self) -> Peak:
        self.base = self.highest = resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.highest = max(self.highest, resident())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def bytes(self) -> int:
        """The rise."""
        return self.highest - self.base


def main(module: str, name: str, size: str, repeats: str, answer: str) -> None:
    """Fit once, then ``repeats`` times more, and write the figures."""
    benchmark = import_module(f"benchmarks.{module}")
    data = benchmark.load(int(size))
    contestant = benchmark.CONTESTANTS[name]
    seconds = []
    with Peak() as peak:
        for _ in range(int(repeats) + 1):
            began = time.perf_counter()
            outcome = contestant(data)
            seconds.append(time.perf_counter() - began)
    figures = benchmark.judge(data, outcome)
    text = json.dumps({"first": seconds[0], "warm": seconds[1:], "peak": peak.bytes, "figures": figures})
    Path(answer).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
