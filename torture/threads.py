"""Fits in several threads at once, in every kind of child process, after every order of imports; threads are counted.

The number of threads of the operating system during a fit follows one rule: those before it, plus ``n_jobs`` - 1 that
help the calling thread, plus at most one where the calling thread only waits (a k-d tree). What the libraries
below keep for themselves, OpenBLAS's pools above all, was there before.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .catalogue import Arrays, Points, methods
from .determinism import compare

ROOT = Path(__file__).parents[1]
CLASHING = ("sklearn", "numba", "pyarrow", "torch")
SPARE = 2
"""Threads that a fit may have beyond those asked for."""
HANDLERS = 3
"""Threads with which joblib looks after its pool of threads."""
PATIENCE = 300.0
"""Seconds after which a child process counts as hanging."""


def results(names: Sequence[str], points: Points, n_jobs: int = 2) -> dict[str, Arrays]:
    """What some methods find."""
    known = methods(2)
    return {name: known[name](points, n_jobs) for name in names}


def at_once(names: Sequence[str], many: Sequence[Points]) -> Iterator[str]:
    """Where fits in threads at once, one thread for each set of points, differ from fits one after the other."""
    alone = [results(names, points) for points in many]
    together: list[dict[str, Arrays] | BaseException] = [{} for _ in many]
    ready = threading.Barrier(len(many))

    def work(place: int) -> None:
        ready.wait()
        try:
            together[place] = results(names, many[place])
        except BaseException as failure:  # noqa: BLE001 - told below
            together[place] = failure

    with warnings.catch_warnings(action="ignore"):
        threads = [threading.Thread(target=work, args=(place,)) for place in range(len(many))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for one, other in zip(alone, together, strict=True):
        if isinstance(other, BaseException):
            yield f"at once: {other!r}"
        else:
            for name in names:
                yield from map(str, compare(name, one[name], other[name], "alone and at once", 0.0))


def _child(pipe: Any, names: Sequence[str], points: Points) -> None:
    with warnings.catch_warnings(action="ignore"):
        pipe.send(results(names, points))


def in_child(how: str, names: Sequence[str], points: Points) -> Iterator[str]:
    """Where a child process, begun after a fit here, differs from this one, dies or hangs."""
    here = results(names, points)
    context: Any = multiprocessing.get_context(how)
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sending, names, points))
    child.start()
    sending.close()
    try:
        if not receiving.poll(PATIENCE):
            yield f"{how}: no answer after {PATIENCE:.0f} s"
            return
        there = receiving.recv()
    except EOFError:
        child.join()
        yield f"{how}: the child died, exit code {child.exitcode}"
        return
    finally:
        child.kill()
        child.join()
    for name in names:
        yield from map(str, compare(name, here[name], there[name], f"here and in a child by {how}", 0.0))


_AFTER_IMPORTS = """
import sys
from importlib import import_module
for name in sys.argv[1].split():
    import_module(name)
from torture.catalogue import Points, methods
known = methods(2)
for name in ("neighbours blocked", "LaplacianEigenmaps lll", "SpectralClustering", "TSNE fft"):
    print(name, [values.tobytes().hex()[:64] for values in known[name](Points.draw(300), 2).values()])
"""


def after_imports(modules: Sequence[str]) -> str:
    """What a new process that imports modules in this order says of its fits."""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _AFTER_IMPORTS, " ".join(modules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return ended.stdout if ended.returncode == 0 else f"exit code {ended.returncode}: {ended.stderr[-500:]}"


def import_orders(modules: Iterable[str] = CLASHING) -> list[tuple[str, ...]]:
    """Every order of lowdim and of those modules that are installed."""
    from importlib.util import find_spec

    return list(
        itertools.permutations(("lowdim", *(name for name in modules if find_spec(name) is not None)))
    )


_COUNTED = """
import os, sys, warnings
warnings.simplefilter("ignore")
from torture.surroundings import load_others
from torture.threads import SCENES
load_others()
for name in sys.argv[1].split(";"):
    act = SCENES[name]()
    act()
    print(f"begin {name}", flush=True)
    sys.stdin.readline()
    act()
    print(f"end {name}", flush=True)
    sys.stdin.readline()
"""


def count_threads(scenes: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """Threads of a new process before, at the peak of, and after each scene, which has run once to warm up."""
    counted: dict[str, tuple[int, int, int]] = {}
    command = [sys.executable, "-c", _COUNTED, ";".join(scenes)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        tasks = f"/proc/{process.pid}/task"
        for scene in scenes:
            assert process.stdout.readline() == f"begin {scene}\n"
            before = peak = settled(tasks, 1, 0.1)
            ended = threading.Event()
            reader = threading.Thread(target=lambda ended=ended: (process.stdout.readline(), ended.set()))
            process.stdin.write("go\n")
            process.stdin.flush()
            reader.start()
            while not ended.is_set():
                peak = max(peak, len(os.listdir(tasks)))  # noqa: PTH208
                time.sleep(2e-4)
            reader.join()
            counted[scene] = before, peak, settled(tasks, before, PATIENCE)
            process.stdin.write("go\n")
            process.stdin.flush()
    return counted


def settled(tasks: str, expected: int, seconds: float) -> int:
    """Threads after a moment in which those that have ended may go."""
    deadline = time.monotonic() + seconds
    while len(os.listdir(tasks)) > expected and time.monotonic() < deadline:  # noqa: PTH208 - every microsecond counts
        time.sleep(0.01)
    return len(os.listdir(tasks))  # noqa: PTH208


def _fit(name: str, n_jobs: int) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        points, method = Points.draw(1500), methods(2)[name]
        return lambda: method(points, n_jobs)

    return prepare


def _nested(name: str) -> Callable[[], Callable[[], object]]:
    """Two fits at once of two threads each."""

    def prepare() -> Callable[[], object]:
        from joblib import Parallel, delayed

        points, method = Points.draw(1500), methods(2)[name]
        return lambda: Parallel(2, backend="threading")(delayed(method)(points, 2) for _ in range(4))

    return prepare


def _many(name: str) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        points, method = Points.draw(300), methods(2)[name]
        return lambda: [method(points, 3) for _ in range(30)]

    return prepare


SCENES: dict[str, Callable[[], Callable[[], object]]] = {
    **{f"{name} by {jobs}": _fit(name, jobs) for name in methods(1) for jobs in (1, 4)},
    **{f"{name} nested": _nested(name) for name in methods(1)},
    **{f"{name} many": _many(name) for name in ("neighbours blocked", "neighbours tree", "TSNE fft")},
}


def asked(scene: str) -> int:
    """Threads that a scene asks for."""
    return {"1": 1, "4": 4, "nested": 4, "many": 3}[scene.rsplit(maxsplit=1)[-1]]


def too_many_threads(scenes: Sequence[str]) -> Iterator[str]:
    """Scenes with more threads than were asked for and the spare ones, or that leave some behind.

    The thread that asks is one of those asked for, but where it waits for joblib.
    """
    for scene, (before, peak, after) in count_threads(scenes).items():
        already = -HANDLERS if scene.endswith("nested") else 1
        if peak - before > asked(scene) - already + SPARE:
            yield f"{scene}: {peak} threads at the peak, {before} before, {asked(scene)} asked for"
        if after > before:
            yield f"{scene}: {after} threads afterwards, {before} before"


def run(amount: int | None = None, seed: int = 0) -> int:
    """Everything, with ``amount`` import orders (all by default); 1 if anything differs, dies, hangs or is left."""
    points, names = Points.draw(600, seed), list(methods(2))
    orders = import_orders()[:amount]
    with warnings.catch_warnings(action="ignore"):
        found = list(at_once(names, [points, points, Points.draw(700, seed + 1)]))
        for how in ("fork", "spawn", "forkserver"):
            found += in_child(how, names, points)
    found += too_many_threads(list(SCENES))
    said = {order: after_imports(order) for order in orders}
    usual = said[orders[0]]
    found += [f"imports {', '.join(order)}: {answer}" for order, answer in said.items() if answer != usual]
    if not usual.startswith("neighbours"):
        found.append(usual)
    print(f"{len(names)} methods, {len(SCENES)} scenes, {len(orders)} orders of imports: {len(found)} finds")
    for find in found:
        print(find)
    return 1 if found else 0
