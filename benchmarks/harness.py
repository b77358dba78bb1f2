"""Runs one contestant in a new process with pinned threads, and brings back seconds, memory and quality.

Every run of a table gets the same environment: as many threads for every library, the same data from the same file.
The first fit of a process is reported apart from the later, warm ones, whose median counts.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

THREADS = 2
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Run:
    """What one contestant did: seconds of its first and of its warm fits, peak bytes, figures of quality."""

    name: str
    first: float = float("nan")
    warm: list[float] = field(default_factory=list)
    peak: int = 0
    figures: dict[str, Any] = field(default_factory=dict)
    failure: str = ""

    @property
    def seconds(self) -> float:
        """Median of the warm fits, or the first where there was only that one."""
        return median(self.warm) if self.warm else self.first


def environment(cache: str | None = None) -> dict[str, str]:
    """The environment of every run: threads pinned for each library, and a kernel cache to begin from."""
    pinned = {
        name: str(THREADS)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    }
    return {
        **os.environ,
        **pinned,
        "PYTHONWARNINGS": "ignore",
        **({"NUMBA_CACHE_DIR": cache} if cache else {}),
    }


def run(
    module: str, name: str, size: int, *, repeats: int = 3, timeout: float = 900, cache: str | None = None
) -> Run:
    """Run contestant ``name`` of a benchmark module on ``size`` points, in a new process."""
    with tempfile.NamedTemporaryFile(suffix=".json") as answer:
        command = [
            sys.executable,
            "-m",
            "benchmarks.worker",
            module,
            name,
            str(size),
            str(repeats),
            answer.name,
        ]
        try:
            subprocess.run(
                command,
                env=environment(cache),
                timeout=timeout,
                check=True,
                stderr=subprocess.PIPE,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return Run(name, failure=f"> {timeout:.0f} s")
        except subprocess.CalledProcessError as error:
            lines = (error.stderr or "").strip().splitlines()
            return Run(name, failure=lines[-1][:120] if lines else f"exit {error.returncode}")
        return Run(name, **json.loads(Path(answer.name).read_text()))


def row(base: Run, other: Run, figures: list[str]) -> list[str]:
    """One line of a table: seconds, how many times as long as lowdim, memory, figures."""
    if other.failure:
        return [other.name, other.failure, "", "", *["" for _ in figures]]
    ratio = other.seconds / base.seconds if base.seconds else float("nan")
    shown = [_show(other.figures.get(figure)) for figure in figures]
    return [other.name, f"{other.seconds:.2f}", f"{ratio:.1f}", f"{other.peak / 1e6:.0f}", *shown]


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def compare(
    module: str,
    names: list[str],
    size: int,
    figures: list[str],
    *,
    repeats: int = 3,
    peer_repeats: int | None = None,
    timeout: float = 900,
) -> str:
    """Run some contestants on the same size and lay them out beside lowdim, the first of them.

    A slow peer may be given fewer warm fits; with none, its only fit counts.
    """
    run(module, names[0], size, repeats=0)  # fills lowdim's kernel cache: a cold start has a table of its own
    counts = [repeats, *[repeats if peer_repeats is None else peer_repeats] * (len(names) - 1)]
    runs = [
        run(module, name, size, repeats=count, timeout=timeout)
        for name, count in zip(names, counts, strict=True)
    ]
    header = ["", "seconds", "times lowdim's", "peak MB", *figures]
    return f"\nN = {size:,}\n\n" + table(header, [row(runs[0], other, figures) for other in runs])


def machine() -> str:
    """One line about the machine, for the head of the report."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {THREADS} threads, Python {platform.python_version()}, {platform.system()}"


def _show(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{entry:.6g}" for entry in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value if value is not None else "")
