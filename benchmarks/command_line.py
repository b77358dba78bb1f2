"""What a person waits for: ``lowdim --help``, ``lowdim embed digits.csv`` from a new process, a large file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .harness import environment, table

TITLE = "The command line, from a new process"
LOWDIM = [sys.executable, "-m", "lowdim"]


def seconds(arguments: list[str], folder: str, repeats: int) -> list[float]:
    """Seconds of each run of a command, sorted."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([*LOWDIM, *arguments], cwd=folder, env=environment(), check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return sorted(times)


def write_digits(path: Path) -> None:
    """The 8 x 8 digits as a table with a label."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    header = ",".join([*(f"pixel{i}" for i in range(64)), "digit"])
    np.savetxt(path, np.column_stack([X, y]), fmt="%d", delimiter=",", header=header, comments="")


def write_large(path: Path, n_rows: int, n_columns: int) -> None:
    """Rows on a curved sheet, in single precision, a block at a time."""
    rng = np.random.default_rng(0)
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    basis = rng.standard_normal((3, n_columns))
    for start in range(0, n_rows, 50_000):
        block = array[start : start + 50_000]
        angle, height = rng.uniform(4, 14, len(block)), rng.uniform(0, 20, len(block))
        sheet = np.stack([angle * np.cos(angle), height, angle * np.sin(angle)], axis=1)
        block[:] = sheet @ basis + 0.01 * rng.standard_normal((len(block), n_columns))
    array.flush()


def peak_of(arguments: list[str], folder: str) -> tuple[float, int, int]:
    """Seconds of a command, its peak memory in all, and the peak of what is its own rather than the mapped file's."""
    watcher = (
        "import resource, subprocess, sys, time\n"
        "began = time.perf_counter()\n"
        "process = subprocess.Popen(sys.argv[1:])\n"
        "own = 0\n"
        "while process.poll() is None:\n"
        "    try:\n"
        "        for line in open(f'/proc/{process.pid}/status'):\n"
        "            if line.startswith('RssAnon'):\n"
        "                own = max(own, int(line.split()[1]) * 1024)\n"
        "    except (OSError, ProcessLookupError):\n"
        "        pass\n"
        "    time.sleep(0.02)\n"
        "assert process.returncode == 0\n"
        "whole = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024\n"
        "print(time.perf_counter() - began, whole, own)\n"
    )
    command = [sys.executable, "-c", watcher, *LOWDIM, *arguments]
    answer = subprocess.run(
        command, cwd=folder, env=environment(), check=True, capture_output=True, text=True
    )
    took, whole, own = answer.stdout.split()
    return float(took), int(whole), int(own)


def report(quick: bool) -> str:
    """Start-up, the digits, and a large file."""
    repeats = 2 if quick else 7
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        write_digits(Path(folder) / "digits.csv")
        rows = []
        for arguments, target in [
            (["--help"], 0.7),
            (["embed", "--help"], 0.7),
            (["embed", "--method", "isomap", "--help"], 0.7),
            (["embed", "digits.csv", "--label", "digit", "--force"], 5.0),
            (["embed", "digits.csv", "--label", "digit", "--force", "--plot", "digits.png", "-v"], 5.0),
            (["embed", "digits.csv", "--label", "digit", "--force", "-m", "laplacian-eigenmaps"], 5.0),
        ]:
            if "digits.csv" in arguments:
                seconds(arguments, folder, 1)  # fills the kernel cache
            times = seconds(arguments, folder, repeats)
            rows.append(
                [
                    f"`lowdim {' '.join(arguments)}`",
                    f"{times[0]:.2f}",
                    f"{times[len(times) // 2]:.2f}",
                    f"{target}",
                ]
            )
        started = table(["command", "best, s", "median, s", "target, s"], rows)
        n_rows, n_columns = (50_000, 100) if quick else (2_500_000, 200)
        write_large(Path(folder) / "large.npy", n_rows, n_columns)
        size = (Path(folder) / "large.npy").stat().st_size
        rows = []
        for method in (["-m", "pca"], ["-m", "lle", "--solver", "landmark-z", "--landmarks", "1000"]):
            arguments = ["embed", "large.npy", *method, "-o", "out.npy", "--force"]
            took, whole, own = peak_of(arguments, folder)
            rows.append(
                [f"`lowdim {' '.join(arguments)}`", f"{took:.1f}", f"{own / 1e9:.2f}", f"{whole / 1e9:.2f}"]
            )
        header = ["command", "seconds", "own memory, GB", "with the mapped file, GB"]
        large = table(header, rows)
    return f"\n{started}\n\nA file of {size / 1e9:.2f} GB ({n_rows:,} x {n_columns}, single precision):\n\n{large}"
