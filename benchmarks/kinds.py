"""``auto`` on every kind of data: its seconds beside those of lowdim's own solvers and of scikit-learn's settings.

``python -m benchmarks.kinds --data roll --method LE --largest 20000`` runs some rows; with ``--store rows.jsonl
--seconds 200`` those that the file lacks, as many as fit into the time, and the table of all that it has.
``--table --auto`` runs every method on every kind at one size or two, lowdim's own choice alone beside scikit-learn's
settings, in an order in which the first rows are a fair sample of all; ``--own --processor`` lowdim's solvers in
processor seconds of one thread, which other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain
from math import exp, isfinite, log
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from .harness import environment, table
from .kinds_data import KINDS, Kind, make
from .kinds_methods import METHODS, MOST_POINTS

TITLE = "auto on every kind of data"
TIMEOUT = 60.0
#: Seconds of a named solver of lowdim's, in seconds of `auto`, and at least: a worse one is worse, by however much.
PATIENCE, LEAST = 6.0, 2.0
Job = tuple[str, str, str]
"""Method, library and setting."""


@dataclass(frozen=True)
class Way:
    """Who takes part in a row, for how long and how often, and by which clock."""

    own: bool = True
    peers: bool = True
    timeout: float = TIMEOUT
    repeats: int = 1
    processor: bool = False

    def environment(self) -> dict[str, str]:
        """Two threads, or one where processor seconds are counted."""
        pinned = environment()
        one = {name: "1" for name in pinned if name.endswith("_NUM_THREADS")} if self.processor else {}
        return pinned | one


@dataclass
class Row:
    """A method on a kind of data at a size, and what every contestant took."""

    kind: str
    size: int
    method: str
    seconds: dict[str, float] = field(default_factory=dict)
    solving: dict[str, float] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def jobs(self, way: Way) -> list[Job]:
        """Everything to run: ``auto`` first."""
        recipe = METHODS[self.method]
        solvers = ("auto", *recipe.own(self.size)) if way.own else ("auto",)
        settings = [name for name in recipe.settings if self.size <= MOST_POINTS.get(name, self.size)]
        ours = [(self.method, "lowdim", solver) for solver in solvers]
        return ours + [(self.method, "scikit-learn", name) for name in settings if way.peers]

    def own(self) -> dict[str, float]:
        """Solving seconds of lowdim's named solvers that found what ``auto`` found."""
        return {
            name.split()[1]: seconds
            for name, seconds in self.solving.items()
            if name.startswith("lowdim") and name != "lowdim auto" and self.agree(name)
        }

    def agree(self, name: str) -> bool:
        """Whether a contestant's value is that of ``auto``, or worse by little."""
        ours, theirs = self.values.get("lowdim auto"), self.values.get(name)
        if not ours or not theirs or len(ours) != len(theirs):
            return False
        # Eigenvalues of a null space are rounding errors, of whatever size.
        bound = METHODS[self.method].tolerance * max(map(abs, ours)) + 1e-12
        return all(abs(a - b) <= bound for a, b in zip(ours, theirs, strict=True))

    @property
    def is_equal(self) -> bool:
        """Whether a setting of scikit-learn's found what ``auto`` found."""
        return any(name.startswith("scikit-learn") and self.agree(name) for name in self.values)

    @property
    def regret(self) -> float:
        """Solving seconds of ``auto`` over those of the best own solver; 10 ms are nobody's regret."""
        own = self.own()
        if not own or "lowdim auto" not in self.solving:
            return float("nan")
        return (self.solving["lowdim auto"] + 0.01) / (min(own.values()) + 0.01)

    def ratio(self, best: bool) -> float:
        """scikit-learn's seconds over lowdim's, of its default or of its best setting; at least, where it was ended."""
        ended = {name: float(note.split()[1]) for name, note in self.notes.items() if note.startswith(">")}
        theirs = {n: s for n, s in {**ended, **self.seconds}.items() if n.startswith("scikit-learn")}
        chosen = min(theirs.values(), default=float("nan")) if best else theirs.get("scikit-learn default")
        return float("nan") if chosen is None else chosen / self.seconds.get("lowdim auto", float("nan"))

    def cells(self) -> list[str]:
        """One line of the table."""
        own, auto = self.own(), "lowdim auto"
        best = min(own, key=lambda name: own[name]) if own else ""
        worst = max(own, key=lambda name: own[name]) if own else ""
        peer = "scikit-learn default"
        has_theirs = any(name.startswith("scikit-learn") for name in self.values)
        same = "yes" if self.is_equal else "no" if has_theirs else ""
        return [
            f"{self.kind}, {self.size:,}",
            self.method,
            _seconds(self.seconds.get(auto), self.notes.get(auto)),
            _seconds(self.solving.get(auto)),
            f"{best} {_seconds(own[best])}" if own else "",
            f"{worst} {_seconds(own[worst])}" if own else "",
            _number(self.regret),
            _seconds(self.seconds.get(peer), self.notes.get(peer)),
            _number(self.ratio(False)),
            _number(self.ratio(True)),
            same,
            " / ".join(f"{self.memory[name] / 1e6:.0f}" for name in (auto, peer) if name in self.memory),
        ]


HEADER = [
    "data",
    "method",
    "auto",
    "of it solving",
    "best own",
    "worst own",
    "regret",
    "scikit-learn",
    "ratio",
    "to its best",
    "equal",
    "MB, theirs",
]


def rows(data: list[str], methods: list[str], largest: int, *, table: bool = False) -> list[Row]:
    """The rows that were asked for, at the sizes that fit, or at those of the table."""
    return [
        Row(kind, size, method)
        for method in METHODS
        if not methods or method in methods
        for kind, made in KINDS.items()
        if not data or any(part.lower() in kind.lower() for part in data)
        if made.metric == "euclidean" or METHODS[method].has_metric
        for size in (_of_the_table(made, method, largest) if table else _all_sizes(made, method, largest))
    ]


def _all_sizes(made: Kind, method: str, largest: int) -> list[int]:
    return sorted({min(size, largest, METHODS[method].limit) for size in made.sizes})


def _of_the_table(made: Kind, method: str, largest: int) -> list[int]:
    """A kind that has fewer rows than the table wants comes once, with all that it has."""
    first, *others = METHODS[method].table
    return sorted(
        {min(size, max(made.sizes), largest) for size in (first, *(n for n in others if n in made.sizes))}
    )


def spread(chosen: list[Row]) -> list[Row]:
    """The same rows in an order in which each method has had its share of them whenever time ends."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(chosen):
        places.setdefault(row.method, []).append(place)
    # Multiples of the golden section go through the kinds of a method evenly, whose neighbours are alike.
    turns = {
        place: (turn + 0.5) / len(found)
        for found in places.values()
        for turn, place in enumerate(sorted(found, key=lambda place: found.index(place) * 0.6180339887 % 1))
    }
    return [chosen[place] for place in sorted(turns, key=turns.__getitem__)]


def fill(row: Row, way: Way) -> None:
    """Run every contestant of a row; one that takes too long is ended and the others go on without it."""
    jobs = row.jobs(way)
    while jobs:
        for outcome in _work(row, list(jobs), way):
            name = " ".join(jobs.pop(0)[1:])
            if "seconds" in outcome:
                row.seconds[name], row.solving[name] = outcome["seconds"], outcome["solving"]
                row.values[name], row.memory[name] = outcome["values"], outcome["memory"]
            else:
                row.notes[name] = outcome["failure"]


def _work(row: Row, jobs: list[Job], way: Way) -> Iterator[dict[str, Any]]:
    """Outcomes of the jobs in order from one process, until one of them fails to come in time."""
    order = json.dumps([row.kind, row.size, way.repeats, way.processor, jobs])
    command = [sys.executable, "-m", "benchmarks.kinds", "--work", order]
    with subprocess.Popen(command, env=way.environment(), stdout=subprocess.PIPE, text=True) as process:
        lines: Queue[str] = Queue()
        stream = process.stdout
        assert stream is not None
        reader = Thread(target=lambda: [lines.put(line) for line in chain(stream, [""])], daemon=True)
        reader.start()
        for job in jobs:
            auto = row.seconds.get("lowdim auto")
            is_other = job[1] == "lowdim" and job[2] != "auto" and auto is not None
            limit = min(way.timeout, max(LEAST, PATIENCE * (auto or 0.0))) if is_other else way.timeout
            try:
                # The first line of a process waits for the data to be made as well.
                line = lines.get(timeout=limit + (30 if job is jobs[0] else 0))
            except Empty:
                process.kill()
                yield {"failure": f"> {limit:.0f} s"}
                return
            yield json.loads(line) if line else {"failure": "ended"}
            if not line:
                return


def work(kind: str, size: int, repeats: int, processor: bool, jobs: list[Job]) -> None:
    """In a process of its own: make the data, run the jobs, print a line for each."""
    warnings.simplefilter("ignore")
    if processor:
        # lowdim's stages ask the same clock.
        time.perf_counter = time.process_time
    X, metric = make(kind, size), KINDS[kind].metric
    for method, library, setting in jobs:
        recipe = METHODS[method]
        seconds, solving, values = [], [], []
        before = _held()
        try:
            # The first fit of all fills lowdim's kernel cache: a cold start has a table of its own.
            cold = setting == "auto"
            for turn in range(repeats + cold):
                began = time.perf_counter()
                if library == "lowdim":
                    values, inside = recipe.ours(X, setting, metric)
                else:
                    values, inside = recipe.peer(X, recipe.settings[setting]), float("nan")
                if turn >= cold:
                    seconds.append(time.perf_counter() - began)
                    solving.append(inside)
        except Exception as error:  # noqa: BLE001
            print(json.dumps({"failure": type(error).__name__}), flush=True)
            continue
        memory = _peak() - before
        # What takes long to judge is judged after the clock has stopped.
        values = values() if callable(values) else values
        found = {"seconds": min(seconds), "solving": min(solving), "values": values, "memory": memory}
        print(json.dumps(found), flush=True)


def _held() -> float:
    """Bytes that the process holds, from where its peak is counted anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _peak() -> float:
    """The most bytes since then."""
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def summary(done: list[Row]) -> str:
    """How often the targets are held."""
    regrets = sorted(row.regret for row in done if isfinite(row.regret))
    lines = []
    if regrets:
        held = [sum(regret <= bound for regret in regrets) for bound in (1.3, 2)]
        lines.append(
            f"Regret: at most 1.3 in {held[0]} of {len(regrets)}, at most 2 in {held[1]}, largest {regrets[-1]:.1f}."
        )
    for best, what in ((False, "default"), (True, "best setting")):
        ratios = [row.ratio(best) for row in done if isfinite(row.ratio(best))]
        if ratios:
            mean = exp(sum(map(log, ratios)) / len(ratios))
            slower = [
                f"{row.kind} {row.size:,} {row.method}"
                for row in done
                if row.seconds.get("lowdim auto", 0) > 0.2 and row.ratio(best) < 1 and row.is_equal
            ]
            ended = sum(any(note.startswith(">") for note in row.notes.values()) for row in done)
            lines.append(
                f"Against scikit-learn's {what}: geometric mean {mean:.1f} over {len(ratios)} rows "
                f"({_by_method(done, best)}), in {ended} of which somebody was ended and counts for the limit; "
                f"slower with equal values above 0.2 s in: {'; '.join(slower) or 'none'}."
            )
    return "\n\n".join(lines)


def _by_method(done: list[Row], best: bool) -> str:
    """The mean of each method's rows alone."""
    means = []
    for method in METHODS:
        logs = [log(row.ratio(best)) for row in done if row.method == method and isfinite(row.ratio(best))]
        if logs:
            means.append(f"{method} {exp(sum(logs) / len(logs)):.1f}")
    return ", ".join(means)


def run(
    chosen: list[Row],
    *,
    way: Way,
    store: Path | None = None,
    seconds: float = float("inf"),
) -> str:
    """The table of some rows, printed as it grows; those in the store are not run again."""
    done = [] if store is None or not store.exists() else [Row(**json.loads(line)) for line in store.open()]
    known, began = {(row.kind, row.size, row.method) for row in done}, time.perf_counter()
    for row in chosen:
        if (row.kind, row.size, row.method) in known or time.perf_counter() - began > seconds:
            continue
        fill(row, way)
        done.append(row)
        print("| " + " | ".join(row.cells()) + " |", flush=True)
        if store is not None:
            with store.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    return "\n" + table(HEADER, [row.cells() for row in done]) + "\n\n" + summary(done)


def report(quick: bool) -> str:
    """All rows; the quick form is a dozen of small ones."""
    if quick:
        small = ["Swiss roll, noise 0.1", "8 x 8", "chain", "mixed", "10 Gaussians in 50"]
        return run(rows(small, ["LE", "LLE"], 2000), way=Way(timeout=20))
    return run(rows([], [], 100_000), way=Way())


def _seconds(seconds: float | None, note: str | None = None) -> str:
    return note or "" if seconds is None else f"{seconds:.2f}"


def _number(ratio: float) -> str:
    return f"{ratio:.1f}" if isfinite(ratio) else ""


def main() -> None:
    """Some rows by hand, or the work of one process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kinds", description=__doc__)
    parser.add_argument("--data", action="append", default=[], help=f"part of a name: {', '.join(KINDS)}")
    parser.add_argument("--method", action="append", default=[], choices=list(METHODS))
    parser.add_argument("--largest", type=int, default=100_000, help="most points of a row")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds of one contestant")
    parser.add_argument("--repeats", type=int, default=1, help="warm fits, of which the quickest counts")
    parser.add_argument("--own", action="store_true", help="lowdim alone")
    parser.add_argument("--auto", action="store_true", help="of lowdim's solvers the one that it chooses")
    parser.add_argument("--processor", action="store_true", help="processor seconds of one thread")
    parser.add_argument("--table", action="store_true", help="the sizes of the table, rows spread evenly")
    parser.add_argument("--store", type=Path, help="file of rows that are done, to go on with")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="after which no more rows are begun"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*json.loads(options.work))
        return
    chosen = rows(options.data, options.method, options.largest, table=options.table)
    way = Way(not options.auto, not options.own, options.timeout, options.repeats, options.processor)
    print(
        run(
            spread(chosen) if options.table else chosen, way=way, store=options.store, seconds=options.seconds
        )
    )


if __name__ == "__main__":
    main()
